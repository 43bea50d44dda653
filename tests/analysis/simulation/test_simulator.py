"""Simulated recordings against the ranges of real ones, their own truth, and themselves."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import signal, stats

from analysis.errors import AnalysisError
from analysis.simulation import artefacts
from analysis.simulation.background import STEP
from analysis.simulation.draws import stream
from analysis.simulation.sensors import ELECTRODES_19, ELECTRODES_64, REGIONS, SHAFTS, reference_matrix, sensors_of
from analysis.simulation.simulator import Settings, Simulated, simulate_blocks, simulate_recording

SHORT = Settings(duration=150, seizures=1, length=(25, 30))
MNE_HEAD = 0.779  # a head of 9.5 cm, on which the study measured distances, over the template's


def filtered(made: Simulated) -> np.ndarray:
    centred = (made.data - made.data.mean(0)).astype(float)
    return signal.sosfiltfilt(signal.butter(4, (1, 45), "bandpass", fs=made.sfreq, output="sos"), centred, axis=1)


def figures(made: Simulated) -> dict[str, float]:
    """The quantities of the study's table of checks."""
    x, fs = filtered(made), made.sfreq
    sd = x.reshape(len(x), -1, 10 * fs).std(2)
    f, power = signal.welch(x, fs, nperseg=4 * fs)
    fitted = ((f >= 2) & (f <= 6.5)) | ((f >= 15) & (f <= 40))
    places = np.array([made.truth.positions[name] for name in made.ch_names]) * MNE_HEAD
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    near = np.triu(distance < 0.05, 1)
    return {
        "sd": np.median(sd),
        "sd 95 %": np.percentile(sd, 95),
        "99.9 %": np.percentile(np.abs(x), 99.9),
        "kurtosis": np.median(stats.kurtosis(x, axis=1, fisher=False)),
        "slope": np.polyfit(np.log(f[fitted]), np.log(np.median(power, 0)[fitted]), 1)[0],
        "correlation": np.median(np.corrcoef(x)[near]),
    }


RANGES = {
    "sd": (8, 35),
    "sd 95 %": (11, 110),
    "99.9 %": (45, 420),
    "kurtosis": (3.5, 12),
    "slope": (-2.7, -1.5),
    "correlation": (0.5, 0.9),
}


def test_the_median_of_thirty_lies_in_the_ranges_of_real_recordings(thirty_simulated):
    measured = [figures(made) for made in thirty_simulated]
    medians = {name: float(np.median([one[name] for one in measured])) for name in RANGES}
    outside = {name: value for name, value in medians.items() if not RANGES[name][0] <= value <= RANGES[name][1]}
    assert outside == {}, medians


def test_seizures_slow_down_and_grow(thirty_simulated):
    frequencies, sizes = [], []
    for made in thirty_simulated:
        (seizure,), fs, x = made.truth.events, made.sfreq, filtered(made)
        focus = x[made.ch_names.index(seizure.focus_channel)]
        parts = np.array_split(focus[round(seizure.onset * fs) : round(seizure.stop * fs)], 5)
        quiet = focus[: round((seizure.onset - 1) * fs)]
        f, before = signal.welch(quiet, fs, nperseg=2 * fs)
        spectra = [signal.welch(part, fs, nperseg=2 * fs)[1] / before for part in parts]
        seen = (f >= 1.5) & (f <= 25)
        frequencies.append([f[seen][np.argmax(one[seen])] for one in spectra])
        sizes.append([part.std() for part in parts])
    hertz, microvolts = np.median(frequencies, axis=0), np.median(sizes, axis=0)
    assert (np.diff(hertz[:4]) < 0).all(), hertz
    assert hertz[4] <= hertz[3]
    assert hertz[0] > 6 > 3.5 > hertz[4]
    assert (np.diff(microvolts[:4]) > 0).all(), microvolts
    assert microvolts[4] > 2 * microvolts[0]


def test_the_focus_is_where_its_field_says(thirty_simulated):
    for made in thirty_simulated:
        (seizure,) = made.truth.events
        field = np.array([seizure.topography[name] for name in made.ch_names])
        against = field - field.mean()
        order = np.argsort(-np.abs(against))
        assert seizure.focus_rank == tuple(made.ch_names[i] for i in order[:3])
        assert against[order[0]] == pytest.approx(1)
        assert seizure.sources[0].kind == "focus"
        assert seizure.sources[0].channel == seizure.focus_channel
        assert all(source.delay >= seizure.fast_s for source in seizure.sources[1:])


def test_what_is_added_by_a_seizure_is_its_focus_alone_while_it_is_fast():
    """Same seed, another contrast: the difference is the seizure, and in its fast part a multiple of one field."""
    quiet, loud = (simulate_recording(replace(SHORT, contrast=(c, c), reference="none"), 5) for c in (2.0, 4.0))
    (seizure,) = loud.truth.events
    first = round((seizure.onset + 0.2) * 256)
    last = round((seizure.onset + seizure.fast_s) * 256) - 1
    added = (loud.data - quiet.data)[:, first:last].astype(float)
    u, sizes, _ = np.linalg.svd(added, full_matrices=False)
    assert sizes[1] < 1e-4 * sizes[0]
    field = np.array([seizure.topography[name] for name in loud.ch_names])
    assert abs(u[:, 0] @ field) == pytest.approx(np.linalg.norm(field), rel=1e-5)


def test_most_foci_lie_nearest_to_the_electrode_of_their_region():
    settings = Settings(duration=140, seizures=1)
    truths = [simulate_blocks(settings, seed)[0] for seed in range(40)]
    hits = sum(REGIONS[truth.events[0].region] == truth.events[0].focus_channel for truth in truths)
    assert hits >= 28


def test_regions_that_are_asked_for_are_kept():
    settings = Settings(duration=140, seizures=1, regions=("occipital-left",))
    regions = {simulate_blocks(settings, seed)[0].events[0].region for seed in range(5)}
    assert regions == {"occipital-left"}


@pytest.mark.parametrize(("electrodes", "sfreq"), [("10-20", 200), ("64", 256), ("ieeg", 512)])
def test_a_seed_gives_the_same_bytes_and_another_seed_others(electrodes, sfreq):
    settings = Settings(duration=140, sfreq=sfreq, electrodes=electrodes, seizures=1)
    once, again, other = (simulate_recording(settings, seed) for seed in (3, 3, 4))
    assert once.data.tobytes() == again.data.tobytes()
    assert once.truth == again.truth
    assert once.data[0].tobytes() != other.data[0].tobytes()
    assert np.isfinite(once.data).all()
    assert once.data.shape == (len(once.ch_names), 140 * sfreq)


def test_the_sets_of_electrodes():
    assert simulate_blocks(Settings(duration=20, seizures=0), 0)[0].channels == ELECTRODES_19
    wide = simulate_blocks(Settings(duration=20, seizures=0, electrodes="64"), 0)[0]
    assert wide.channels == ELECTRODES_64
    assert len(set(ELECTRODES_64)) == 64
    inside = simulate_blocks(Settings(duration=20, seizures=0, electrodes="ieeg"), 0)[0]
    counts = [sum(name.startswith(shaft) for name in inside.channels) for shaft in SHAFTS]
    assert len(counts) == 8
    assert all(4 <= count <= 8 for count in counts)
    assert inside.reference == "screw"
    assert not {one.kind for one in inside.artefacts} & {"blink", "eye-movement"}


def test_contacts_near_to_the_focus_see_more_of_it():
    settings = Settings(duration=140, sfreq=512, electrodes="ieeg", seizures=1)
    for seed in range(6):
        truth, _ = simulate_blocks(settings, seed)
        (seizure,) = truth.events
        distance = [np.linalg.norm(np.subtract(truth.positions[n], seizure.focus_xyz)) for n in truth.channels]
        assert seizure.focus_channel.startswith(seizure.region)
        nearest = truth.channels[int(np.argmin(distance))]
        assert nearest in seizure.focus_rank
        assert seizure.f_start >= 40


def test_another_kind_of_artefact_changes_none_of_the_others(monkeypatch):
    settings = Settings(duration=120, seizures=0)
    before = simulate_recording(settings, 8)
    shown = artefacts.Kind("shiver", (4, 4), artefacts.KINDS[5].draw)
    monkeypatch.setattr(artefacts, "KINDS", (shown, *artefacts.KINDS))
    after = simulate_recording(settings, 8)
    assert tuple(one for one in after.truth.artefacts if one.kind != "shiver") == before.truth.artefacts
    shivers = [one for one in after.truth.artefacts if one.kind == "shiver"]
    assert shivers
    untouched = np.ones(before.data.shape[1], bool)
    for one in shivers:
        untouched[round(one.onset * 256) - 1 : round((one.onset + one.duration) * 256) + 2] = False
    assert untouched.sum() > 256
    assert np.abs(after.data - before.data)[:, untouched].max() < 1e-3
    assert np.abs(after.data - before.data)[:, ~untouched].max() > 5


def test_without_artefacts_there_are_none():
    truth, _ = simulate_blocks(Settings(duration=120, seizures=0, artefacts=False), 8)
    assert truth.artefacts == ()


def test_every_kind_of_artefact_comes_and_says_where_it_is():
    truth, _ = simulate_blocks(Settings(duration=14_400, seizures=0), 21)
    seen = {one.kind for one in truth.artefacts}
    drowsy = {kind.name for kind in artefacts.KINDS if kind.state == "drowsy"}
    assert seen | drowsy == {kind.name for kind in artefacts.KINDS}
    for one in truth.artefacts:
        assert one.channels
        assert set(one.channels) <= set(truth.channels)
        assert 0 <= one.onset < one.onset + one.duration <= truth.duration_s + 0.01


def artefact(name: str, seed: int = 0, inside: str = "10-20") -> tuple[artefacts.Drawn, np.ndarray]:
    kind = next(kind for kind in artefacts.KINDS if kind.name == name)
    sensors = sensors_of(inside, 0)
    rng = stream(seed, name)
    drawn = kind.draw(rng, sensors, 14.0)
    return drawn, drawn.shape(rng, 256)


@pytest.mark.parametrize("name", [kind.name for kind in artefacts.KINDS])
def test_an_artefact_reaches_the_peak_that_the_truth_tells(name):
    for seed in range(5):
        drawn, shape = artefact(name, seed)
        top = np.abs(drawn.field[:19]).max()
        seen = np.abs(shape).max() if shape.ndim == 2 else np.abs(shape).max() * top
        assert top == pytest.approx(1, abs=0.35)
        assert 0.8 * drawn.peak <= seen <= 1.4 * drawn.peak


def test_a_blink_is_positive_at_the_front_and_hardly_seen_behind():
    drawn, shape = artefact("blink")
    field = dict(zip(ELECTRODES_19, drawn.field[:19], strict=True))
    assert min(field["Fp1"], field["Fp2"]) > 0.9
    assert max(abs(field[name]) for name in ("O1", "O2", "P3", "P4", "Pz")) < 0.1
    assert field["Fp1"] > field["F3"] > field["C3"]
    assert shape.min() >= 0


def test_eyes_that_move_sideways_have_opposite_signs_left_and_right():
    field = dict(zip(ELECTRODES_19, artefact("eye-movement")[0].field[:19], strict=True))
    assert field["F7"] * field["F8"] < -0.5
    assert abs(field["Fz"]) < 0.1


def test_rhythmic_movement_keeps_its_frequency():
    for seed in range(8):
        drawn, shape = artefact("rhythmic-movement", seed)
        if drawn.duration < 12:
            continue
        halves = np.array_split(shape, 2)
        peaks = [np.argmax(np.abs(np.fft.rfft(half, 8 * len(half)))) / (8 * len(half) / 256) for half in halves]
        assert peaks[0] == pytest.approx(peaks[1], abs=0.6)


def test_alpha_is_strongest_behind():
    settings = Settings(duration=120, seizures=0, artefacts=False, reference="none")
    ratios = []
    for seed in range(6):
        made = simulate_recording(settings, seed)
        x = made.data - made.data.mean(0)
        f, power = signal.welch(x.astype(float), 256, nperseg=1024)
        alpha = power[:, (f > 8) & (f < 12)].mean(1) / power[:, (f > 13) & (f < 15)].mean(1)
        share = dict(zip(made.ch_names, alpha, strict=True))
        ratios.append((share["O1"] + share["O2"]) / (share["F3"] + share["F4"]))
    assert np.median(ratios) > 1.3


def test_references_are_what_they_say():
    short = Settings(duration=40, seizures=0)
    made = {name: simulate_recording(replace(short, reference=name), 5).data for name in ("none", "cz-pz", "ears")}
    cz, pz = ELECTRODES_19.index("Cz"), ELECTRODES_19.index("Pz")
    expected = made["none"] - (made["none"][cz] + made["none"][pz]) / 2
    assert made["cz-pz"] == pytest.approx(expected, abs=1e-3)
    shared = made["none"] - made["ears"]
    assert np.ptp(shared, axis=0).max() < 1e-3  # the same course is taken from every channel
    assert reference_matrix(sensors_of("10-20", 0), "ears").sum(1) == pytest.approx(0)


def test_blocks_are_the_recording_and_no_seam_is_heard():
    settings = Settings(duration=2 * STEP + 30, sfreq=200, seizures=1, artefacts=False, mains=0)
    whole = simulate_recording(settings, 2)
    blocks = list(simulate_blocks(settings, 2)[1])
    assert [block.shape[1] for block in blocks] == [STEP * 200, STEP * 200, 30 * 200]
    assert np.concatenate(blocks, axis=1).tobytes() == whole.data.tobytes()
    jumps = np.abs(np.diff(whole.data, axis=1))
    seams = [STEP * 200 - 1, 2 * STEP * 200 - 1]
    assert jumps[:, seams].max() <= np.percentile(jumps, 99.99)


def test_seizures_lie_apart_and_inside():
    truth, _ = simulate_blocks(Settings(duration=3600, seizures=12), 6)
    assert len(truth.events) == 12
    assert truth.events[0].onset >= 20
    for before, after in zip(truth.events[:-1], truth.events[1:], strict=True):
        assert after.onset >= before.stop + 30
    assert truth.events[-1].stop <= 3600


def test_drawn_numbers_of_seizures_have_the_rate_that_is_asked_for():
    settings = Settings(duration=3600, per_hour=3.0, artefacts=False)
    count = sum(len(simulate_blocks(settings, seed)[0].events) for seed in range(30))
    assert count == pytest.approx(90, abs=30)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(duration=120, seizures=3), r"3 seizures do not fit into 120 s: make it at least \d+ s long"),
        (Settings(duration=5), "too short"),
        (Settings(electrodes="21"), "no set of electrodes"),
        (Settings(regions=("nowhere",)), "no region"),
        (Settings(electrodes="ieeg", regions=("midline-frontal",)), "no region"),
        (Settings(electrodes="ieeg", reference="ears"), "contacts have no reference"),
        (Settings(reference="nose"), "no reference"),
        (Settings(sfreq=50), "50 Hz"),
    ],
)
def test_what_cannot_be_simulated_is_said(settings, words):
    with pytest.raises(AnalysisError, match=words):
        simulate_recording(settings, 0)


def test_the_length_that_is_named_is_just_enough():
    settings = Settings(duration=120, seizures=3, artefacts=False)
    with pytest.raises(AnalysisError) as told:
        simulate_blocks(settings, 0)
    enough = int(re.search(r"at least (\d+) s", str(told.value))[1])
    assert len(simulate_blocks(replace(settings, duration=enough), 0)[0].events) == 3
    with pytest.raises(AnalysisError):
        simulate_blocks(replace(settings, duration=enough - 2), 0)
