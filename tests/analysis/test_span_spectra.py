"""Spectra of spans of recordings: which rows, which span, through which filter, against scipy.signal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from analysis.errors import AnalysisError
from analysis.filtering import DisplayFilter
from analysis.measured_tables import band_rows, spectrogram_table, spectrum_table
from analysis.montage import Derivation, Montage
from analysis.recording import Window
from analysis.span_spectra import measure_spectrogram, measure_spectrum

SFREQ = 256.0
MONTAGE = Montage(
    "LB-18.1",
    (
        Derivation("F7-T7", "F7", ("T7",), "left"),
        Derivation("T7-P7", "T7", ("P7",), "left"),
        Derivation("F8-T8", "F8", ("T8",), "right"),
        Derivation("ECG", "ECG", (), "other", 1),
    ),
)
NAMES = ("F7", "T7", "P7", "F8", "T8", "ECG")


@pytest.fixture
def recording(make_recording, make_channel):
    """Six channels of 60 s: 10 Hz in F7, white noise everywhere, a heart."""

    def make(gaps=(), **rates):
        rng = np.random.default_rng(3)
        data = 5 * rng.standard_normal((6, round(60 * SFREQ)))
        data[0] += 40 * np.sin(2 * np.pi * 10 * np.arange(data.shape[1]) / SFREQ)
        kinds = [make_channel(n, "ecg" if n == "ECG" else "eeg", rates.get(n, SFREQ)) for n in NAMES]
        return make_recording(data, SFREQ, kinds, gaps=gaps)

    return make


def test_each_row_is_the_spectrum_of_its_difference_unfiltered(recording):
    made = recording()
    found = measure_spectrum(made, MONTAGE, Window(12.0, 32.0))
    part = made.data[:, round(12 * SFREQ) : round(32 * SFREQ)].astype(float)
    frequencies, expected = signal.welch(part[0] - part[1], SFREQ, nperseg=1024)
    curve = found.curve("F7-T7")
    np.testing.assert_allclose(curve.frequencies, frequencies)
    np.testing.assert_allclose(curve.power, expected, rtol=1e-4, atol=1e-9)
    assert (curve.count, found.resolution) == (9, 0.25)


def test_means_are_those_of_good_rows_of_the_brain(recording):
    found = measure_spectrum(recording(), MONTAGE, Window(0.0, 20.0), left_out=["P7"])
    assert found.curve("all").ch_names == ("F7-T7", "F8-T8")
    assert found.curve("left").ch_names == ("F7-T7",)
    mean = (found.curve("F7-T7").power + found.curve("F8-T8").power) / 2
    np.testing.assert_allclose(found.curve("all").power, mean, rtol=1e-12)
    assert found.curve("ECG").ch_names == ("ECG",)


def test_a_sine_has_its_power_in_alpha_and_the_shares_add_up(recording):
    curve = measure_spectrum(recording(), MONTAGE, Window(0.0, 60.0)).curve("F7-T7")
    rows = {band.name: (power, share) for band, power, share, _ in band_rows(curve)}
    noise = 2 * 25.0 / (SFREQ / 2)  # two electrodes of 25 µV² over the whole spectrum, a hertz
    assert rows["alpha"][0] == pytest.approx(800.0 + 5 * noise, rel=0.01)
    assert sum(share for _, share in rows.values()) == pytest.approx(1.0, abs=1e-12)


def test_through_the_display_filter_the_mains_are_gone(recording):
    plain = measure_spectrum(recording(), MONTAGE, Window(0, 30)).curve("F8-T8")
    display = DisplayFilter(0.5, 70.0, 50.0)
    found = measure_spectrum(recording(), MONTAGE, Window(0, 30), display)
    filtered = found.curve("F8-T8")
    at = int(np.argmin(np.abs(plain.frequencies - 50)))
    assert filtered.power[at] < 0.05 * plain.power[at]
    gain = display.response(plain.frequencies, SFREQ) ** 2
    np.testing.assert_allclose(filtered.power[40:160], (plain.power * gain)[40:160], rtol=0.03)
    assert found.request.options["filter"] == "0.5–70 Hz, notch 50 Hz"


def test_a_row_ends_where_its_slowest_channel_was_sampled(recording):
    found = measure_spectrum(recording(P7=64.0), MONTAGE, Window(0, 20))
    assert found.curve("T7-P7").frequencies[-1] == 32.0
    assert found.curve("F7-T7").frequencies[-1] == 128.0
    assert found.curve("left").frequencies[-1] == 32.0


def test_a_gap_costs_the_windows_that_hold_it(recording):
    found = measure_spectrum(recording(gaps=((10.0, 14.0),)), MONTAGE, Window(0, 30))
    clean = [s for s in range(0, 27, 2) if not (s < 14 and s + 4 > 10)]
    assert found.curve("F7-T7").count == len(clean)


@pytest.mark.parametrize(
    ("window", "rows", "sentence"),
    [
        (Window(1.0, 1.5), "all", r"at least 1 s, and this span is 0\.50 s"),
        (Window(58.0, 59.0), "right", "no row of this montage lies on the right"),
        (Window(10.5, 13.5), "all", "free of gaps"),
    ],
)
def test_what_cannot_be_measured_is_told_why(recording, window, rows, sentence):
    montage = Montage("left only", MONTAGE.derivations[:2])
    with pytest.raises(AnalysisError, match=sentence):
        measure_spectrum(recording(gaps=((10.0, 14.0),)), montage, window).curve(rows)


def test_a_spectrogram_is_that_of_the_row_or_of_all(recording):
    made = recording()
    found = measure_spectrogram(made, MONTAGE, Window(20.0, 30.0), "F7-T7")
    assert found.seconds == 1.0
    assert found.times[0] == pytest.approx(20.5)
    assert found.times[-1] <= 29.5
    assert (found.frequencies[found.power.argmax(axis=1)] == 10.0).all()
    together = measure_spectrogram(made, MONTAGE, Window(20.0, 30.0), "all")
    assert together.ch_names == ("F7-T7", "T7-P7", "F8-T8")
    with pytest.raises(AnalysisError, match="choose a row"):
        measure_spectrogram(made, MONTAGE, Window(20.0, 30.0), "Cz-Pz")


def test_tables_carry_what_they_were_made_from(recording):
    found = measure_spectrum(recording(), MONTAGE, Window(0, 20))
    curves = [found.curve("left"), found.curve("right")]
    lines = spectrum_table(found, curves).splitlines()
    assert lines[0].startswith("# spectrum: recording made; span 0.000 to 20.000 s; montage LB-18.1; filter none; ")
    assert "Hann windows of 4 s" in lines[0]
    cells = {line.split("\t")[0]: line.split("\t")[1:] for line in lines if "\t" in line}
    assert cells["band"] == ["low (Hz)", "high (Hz)", "left (uV^2)", "left (share)", "right (uV^2)", "right (share)"]
    assert float(cells["alpha"][2]) == pytest.approx(band_rows(curves[0])[2][1], rel=1e-5)
    assert float(cells["peak alpha (Hz)"][2]) == pytest.approx(10.0, abs=0.02)
    assert float(cells["10"][0]) == pytest.approx(curves[0].power[40], rel=1e-5)
    table = spectrogram_table(measure_spectrogram(recording(), MONTAGE, Window(0, 10), "all")).splitlines()
    assert len({line.count("\t") for line in table[1:]}) == 1
