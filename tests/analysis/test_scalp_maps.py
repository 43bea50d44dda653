"""Maps of recordings: voltage over time through the display filter, its mean, band power, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from analysis.electrodes import position_of
from analysis.errors import AnalysisError
from analysis.filtering import DisplayFilter
from analysis.measured_tables import topography_table
from analysis.recording import Window
from analysis.scalp_maps import (
    AS_RECORDED,
    CONTACTS,
    SCALP,
    electrode_montage,
    electrodes_of,
    map_band_power,
    map_mean_voltage,
    map_voltage,
    maps_of,
    samples_window,
)
from analysis.signal_blocks import BlockSource
from analysis.spectra import BANDS
from analysis.topography import build_head_map, scalp_layout

SFREQ = 128.0
NAMES = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()
ALPHA = BANDS[2]


@pytest.fixture
def recording(make_recording, make_channel):
    """19 electrodes: 10 Hz of 30 µV at O1 and O2, a hertz of noise everywhere, an offset of the reference."""

    def make(gaps=(), sfreq=SFREQ):
        rng = np.random.default_rng(0)
        time = np.arange(round(40 * SFREQ)) / SFREQ
        data = rng.standard_normal((19, time.size)) + 100 * np.sin(2 * np.pi * 3 * time)
        data[-2:] += 30 * np.sin(2 * np.pi * 10 * time)
        channels = [make_channel(n, sfreq=sfreq, site=n, position=position_of(n)) for n in NAMES]
        return make_recording(data, SFREQ, channels, gaps=gaps)

    return make


def head_of(recording):
    return build_head_map(scalp_layout(recording), 16)


def test_voltage_follows_time_through_the_display_filter_and_without_the_reference(recording):
    made = recording()
    head = head_of(made)
    source = BlockSource(made, electrode_montage(head), DisplayFilter(1.0, 30.0))
    found = map_voltage(source, head, Window(10.0, 20.0))
    page = source.page(Window(10.0, 20.0))
    i = round((14.3 - page.first_time) * page.sfreq)
    np.testing.assert_allclose(found.at(14.3), page.data[i] - page.data[i].mean(), atol=1e-4)
    assert abs(found.at(14.3)).max() < 40  # the 100 µV that all electrodes share are gone
    assert found.peak == pytest.approx(max(abs(found.at(t)).max() for t in page.first_time + np.arange(1281) / SFREQ))
    greatest = np.sort([abs(found.at(t)).max() for t in page.first_time + np.arange(page.data.shape[0]) / SFREQ])
    assert found.usual == pytest.approx(greatest[round(0.98 * greatest.size)], rel=0.02)
    assert found.at(25.0) is None
    assert found.at(None) is None
    assert found.request.options["filter"] == "1–30 Hz, notch off"


def test_nothing_is_shown_in_a_gap(recording):
    made = recording(gaps=((12.0, 13.0),))
    head = head_of(made)
    found = map_voltage(BlockSource(made, electrode_montage(head), DisplayFilter()), head, Window(10.0, 20.0))
    assert found.at(12.5) is None
    assert found.at(11.0) is not None


def test_mean_voltage_is_the_mean_of_the_samples_of_the_span(recording):
    made = recording(gaps=((12.0, 13.0),))
    head = head_of(made)
    source = BlockSource(made, electrode_montage(head), DisplayFilter(None, None, None))
    found = map_mean_voltage(source, head, Window(11.0, 15.0))
    part = made.data[:, round(11 * SFREQ) : round(15 * SFREQ)].astype(float)
    mean = np.nanmean(part, axis=1)
    np.testing.assert_allclose(found.values, mean - mean.mean(), atol=1e-4)
    assert found.count == 3 * SFREQ
    assert found.at(None) is found.values


def test_band_power_is_that_of_scipy_on_the_average_referenced_unfiltered_signal(recording):
    made = recording()
    head = head_of(made)
    found = map_band_power(made, head, Window(4.0, 34.0), ALPHA)
    part = made.data[:, round(4 * SFREQ) : round(34 * SFREQ)].astype(float)
    frequencies, density = signal.welch(part - part.mean(axis=0), SFREQ, nperseg=512)
    expected = density[:, (frequencies >= 8) & (frequencies < 13)].sum(axis=1) * 0.25
    np.testing.assert_allclose(found.values, expected, rtol=1e-4)
    assert found.values[-2:] == pytest.approx((30 * 17 / 19) ** 2 / 2, rel=0.05)
    assert found.unit == "µV²"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda r, h: map_band_power(r, h, Window(0, 0.5), ALPHA), "at least 1 s"),
        (lambda r, h: map_band_power(r, h, Window(12, 16), ALPHA), "free of gaps"),
        (lambda r, h: map_band_power(r, h, Window(0, 30), BANDS[4]), "gamma reaches 80 Hz, and the recording 64 Hz"),
        (lambda r, h: mean_of(r, h, Window(12.2, 15.5)), "no signal in this span"),
        (lambda r, h: mean_of(r, h, Window(0, 600)), "more than 60 s"),
    ],
)
def test_what_has_no_map_is_told_why(recording, make, sentence):
    made = recording(gaps=((12.0, 16.0),))
    with pytest.raises(AnalysisError, match=sentence):
        make(made, head_of(made))


def mean_of(recording, head, window):
    return map_mean_voltage(BlockSource(recording, electrode_montage(head), DisplayFilter()), head, window)


@pytest.mark.parametrize(
    ("page", "time", "expected"),
    [
        (Window(10, 20), 15.0, Window(10, 20)),
        (Window(0, 3600), 1800.0, Window(1790, 1810)),
        (Window(0, 3600), 3.0, Window(0, 20)),
        (Window(0, 3600), 3599.0, Window(3580, 3600)),
    ],
)
def test_of_a_long_page_what_lies_around_the_cursor_is_read(page, time, expected):
    assert samples_window(page, time, 3600.0) == expected


def test_a_table_has_a_line_for_each_electrode(recording):
    made = recording()
    head = head_of(made)
    found = map_voltage(BlockSource(made, electrode_montage(head), DisplayFilter()), head, Window(0, 10))
    lines = topography_table(found, 5.0, found.at(5.0)).splitlines()
    assert "at 5.0000 s; standard positions" in lines[0]
    assert "average reference" in lines[0]
    assert lines[1].split("\t") == ["electrode", "value (µV)", "x", "y", "z"]
    assert [line.split("\t")[0] for line in lines[2:]] == NAMES
    assert float(lines[2].split("\t")[1]) == pytest.approx(float(found.at(5.0)[0]), rel=1e-4)


CONTACT_NAMES = [f"{letters}{n}" for letters in ("LA", "LB") for n in range(1, 7)]


@pytest.fixture
def implanted(make_recording, make_channel):
    """12 contacts on two shafts, the same noise as for the scalp and 20 Hz at LB3; recorded `between` two or singly."""

    def make(between=False, more=()):
        rng = np.random.default_rng(1)
        time = np.arange(round(40 * SFREQ)) / SFREQ
        data = rng.standard_normal((12 + len(more), time.size)) + 50 * np.sin(2 * np.pi * 3 * time)
        data[CONTACT_NAMES.index("LB3")] += 40 * np.sin(2 * np.pi * 20 * time)
        pairs = [(name, f"{name[:2]}{int(name[2:]) + 1}") for name in CONTACT_NAMES]
        channels = [
            make_channel("-".join(pair) if between else name, "seeg", SFREQ, pair=pair if between else None)
            for name, pair in zip(CONTACT_NAMES, pairs, strict=True)
        ]
        return make_recording(data, SFREQ, [*channels, *more])

    return make


def test_contacts_have_the_same_numbers_against_their_average(implanted):
    made = implanted()
    contacts = electrodes_of(made, CONTACTS, {"LA2": "flat"})
    found = map_band_power(made, contacts, Window(4.0, 34.0), BANDS[3])
    assert found.head is None
    assert found.layout is found.contacts is contacts
    kept = [i for i, name in enumerate(CONTACT_NAMES) if name != "LA2"]
    part = made.data[kept, round(4 * SFREQ) : round(34 * SFREQ)].astype(float)
    frequencies, density = signal.welch(part - part.mean(axis=0), SFREQ, nperseg=512)
    band = (frequencies >= BANDS[3].low) & (frequencies < BANDS[3].high)
    np.testing.assert_allclose(found.values, density[:, band].sum(axis=1) * 0.25, rtol=1e-4)
    assert contacts.ch_names[int(np.argmax(found.values))] == "LB3"
    lines = topography_table(found, None, found.values).splitlines()
    assert "left out LA2 (flat)" in lines[0]
    assert lines[1].split("\t") == ["contact", "value (µV^2)", "shaft", "number"]
    assert lines[2 + contacts.ch_names.index("LB3")].split("\t")[2:] == ["LB", "3"]


def test_differences_of_contacts_stay_as_they_were_recorded(implanted):
    made = implanted(between=True)
    contacts = electrodes_of(made, CONTACTS)
    source = BlockSource(made, electrode_montage(contacts), DisplayFilter(None, None, None))
    found = map_voltage(source, contacts, Window(10.0, 20.0))
    page = source.page(Window(10.0, 20.0))
    np.testing.assert_array_equal(found.at(14.0), page.data[round((14.0 - page.first_time) * page.sfreq)])
    assert found.request.options["reference"] == AS_RECORDED


@pytest.mark.parametrize(
    ("scalp", "contacts", "maps"),
    [
        (19, 0, (SCALP,)),
        (19, 12, (SCALP, CONTACTS)),
        (8, 12, (CONTACTS, SCALP)),
        (3, 12, (CONTACTS,)),
        (3, 2, (SCALP,)),
    ],
)
def test_a_recording_is_asked_for_the_map_of_most_of_its_electrodes_first(
    make_recording, make_channel, scalp, contacts, maps
):
    channels = [make_channel(n, site=n, position=position_of(n)) for n in NAMES[:scalp]]
    channels += [make_channel(name, "seeg") for name in CONTACT_NAMES[:contacts]]
    made = make_recording(np.zeros((len(channels), 256)), 256.0, channels)
    assert maps_of(made) == maps
