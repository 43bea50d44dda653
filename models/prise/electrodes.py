"""The electrodes PRiSE-EEG knows, and the groups of regions and networks they belong to (spec sections 2 and 4.1).

The 90 names are the 10-10 system with T1 and T2. Regions and networks are our definition; the networks are rough
projections onto the scalp and are shown as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ELECTRODES: tuple[str, ...] = tuple(
    (
        "FP1 FPZ FP2 AF9 AF7 AF5 AF3 AF1 AFZ AF2 AF4 AF6 AF8 AF10 "
        "T1 F9 F7 F5 F3 F1 FZ F2 F4 F6 F8 F10 T2 "
        "FT9 FT7 FC5 FC3 FC1 FCZ FC2 FC4 FC6 FT8 FT10 "
        "A1 T9 T7 C5 C3 C1 CZ C2 C4 C6 T8 T10 A2 "
        "TP9 TP7 CP5 CP3 CP1 CPZ CP2 CP4 CP6 TP8 TP10 "
        "P9 P7 P5 P3 P1 PZ P2 P4 P6 P8 P10 "
        "PO9 PO7 PO5 PO3 PO1 POZ PO2 PO4 PO6 PO8 PO10 O1 OZ O2 I1 IZ I2"
    ).split()
)
ALIASES: Mapping[str, str] = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8", "M1": "A1", "M2": "A2"}
MIN_CHANNELS = 4

_VISUAL = "PO9 PO7 PO5 PO3 PO1 POZ PO2 PO4 PO6 PO8 PO10 O1 OZ O2 I1 IZ I2"
REGIONS: Mapping[str, tuple[str, ...]] = {
    name: tuple(members.split())
    for name, members in {
        "prefrontal": "FP1 FPZ FP2 AF9 AF7 AF5 AF3 AF1 AFZ AF2 AF4 AF6 AF8 AF10",
        "frontal L": "F9 F7 F5 F3 F1 FZ FC5 FC3 FC1",
        "frontal R": "F10 F8 F6 F4 F2 FZ FC6 FC4 FC2",
        "central L": "FCZ FC1 FC3 C5 C3 C1 CZ CP3 CP1 CPZ",
        "central R": "FCZ FC2 FC4 C6 C4 C2 CZ CP4 CP2 CPZ",
        "temporal L": "FT9 FT7 T9 T7 TP9 TP7 T1 A1",
        "temporal R": "FT10 FT8 T10 T8 TP10 TP8 T2 A2",
        "parietal L": "CP5 CP3 CP1 CPZ P9 P7 P5 P3 P1 PZ",
        "parietal R": "CP6 CP4 CP2 CPZ P10 P8 P6 P4 P2 PZ",
        "occipital": _VISUAL,
    }.items()
}
NETWORKS: Mapping[str, tuple[str, ...]] = {
    name: tuple(members.split())
    for name, members in {
        "DMN": "FPZ AFZ AF1 AF2 PZ POZ P1 P2 CP5 P5 P3 CP6 P6 P4 TP7 TP8",
        "ECN": "AF3 F3 F5 FC3 AF4 F4 F6 FC4 CP3 P3 CP4 P4",
        "SN": "FZ FCZ CZ F7 FT7 FC5 F8 FT8 FC6",
        "DAN": "FC1 FC2 FC3 FC4 CP1 CP2 P1 P2 P3 P4 PO3 PO4",
        "VAN": "F6 F8 FC6 FT8 CP6 TP8 P6 P8",
        "somatomotor": "FC3 FC1 FCZ FC2 FC4 C5 C3 C1 CZ C2 C4 C6 CP3 CP1 CPZ CP2 CP4",
        "visual": _VISUAL,
        "language": "F7 F5 FC5 FT7 T7 C5 TP7 CP5 P5",
    }.items()
}
STATIC_GROUPS: Mapping[str, tuple[str, ...]] = {**REGIONS, **NETWORKS}

WINDOWS = 4
WINDOW_SAMPLES = 64
LAGS: tuple[int, ...] = (0, 4, 8, 12, 16, 24)  # samples at 256 Hz
SAMPLES_PER_SECOND = 256
N_STATIC, N_DYNAMIC = len(STATIC_GROUPS), WINDOWS * len(LAGS)

_INDEX = {name: i for i, name in enumerate(ELECTRODES)}


def dynamic_group_names() -> tuple[str, ...]:
    """Names of the dynamic groups, window by window: when in the second, and at which lag."""
    length = 1000 * WINDOW_SAMPLES // SAMPLES_PER_SECOND
    return tuple(
        f"{w * length}-{(w + 1) * length} ms, lag {1000 * lag / SAMPLES_PER_SECOND:.0f} ms"
        for w in range(WINDOWS)
        for lag in LAGS
    )


def electrode_index(name: str) -> int | None:
    """Where a channel name stands among the electrodes, whatever its case; None where it is not one of them."""
    upper = name.strip().upper()
    return _INDEX.get(ALIASES.get(upper, upper))


def channel_indices(channels: Sequence[str]) -> list[int]:
    """Places of all channels; ValueError names those that are no electrode of the set, or come twice."""
    found = [electrode_index(name) for name in channels]
    unknown = [name for name, place in zip(channels, found, strict=True) if place is None]
    if unknown:
        raise ValueError(f"PRiSE-EEG has no electrode {', '.join(unknown)}")
    places = [place for place in found if place is not None]
    if len(set(places)) < len(places):
        twice = [name for name, place in zip(channels, places, strict=True) if places.count(place) > 1]
        raise ValueError(f"these channels are the same electrode: {', '.join(twice)}")
    return places
