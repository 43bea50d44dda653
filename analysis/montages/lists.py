"""Which electrodes each scalp montage subtracts from which: the lists of the clinical sheet, section 2, as they stand.

"Fp1-F7" is input 1 minus input 2, `|` begins a block, "F7-A1+A2" subtracts the mean of two electrodes.
"""

from __future__ import annotations

LB_18_1, LB_18_2, LB_18_3 = "LB-18.1", "LB-18.2", "LB-18.3"
PARASAGITTAL_FIRST = "parasagittal first"
TB_18_1, TB_18_2 = "TB-18.1", "TB-18.2"
EAR, LINKED_EARS, CONTRALATERAL_EAR = "ear referential", "linked ears", "contralateral ear"
CZ, R_18_3 = "Cz reference", "R-18.3"
HAT_BAND, HAT_BAND_MIDLINE = "hat band", "hat band with midline"
TUH_TCP, CHB_MIT = "TUH TCP", "CHB-MIT"

_LEFT_TEMPORAL, _RIGHT_TEMPORAL = "Fp1-F7 F7-T7 T7-P7 P7-O1", "Fp2-F8 F8-T8 T8-P8 P8-O2"
_LEFT_PARASAGITTAL, _RIGHT_PARASAGITTAL = "Fp1-F3 F3-C3 C3-P3 P3-O1", "Fp2-F4 F4-C4 C4-P4 P4-O2"
_MIDLINE = "Fz-Cz Cz-Pz"
_RING = "Fp2-F8 F8-T8 T8-P8 P8-O2 O2-O1 O1-P7 P7-T7 T7-F7 F7-Fp1 Fp1-Fp2"

# Electrodes one by one, left before right, as the referential family of the ACNS has them.
SITE_BLOCKS = ("F7 T7 P7", "Fp1 F3 C3 P3 O1", "Fz Cz Pz", "Fp2 F4 C4 P4 O2", "F8 T8 P8")
TEN_TWENTY = tuple(site for block in SITE_BLOCKS for site in block.split())


def _against(left: str, midline: str, right: str) -> str:
    """Every electrode minus the reference of its side; an electrode that is its own reference has no row."""
    references = (left, left, midline, right, right)
    blocks = [
        " ".join(f"{site}-{reference}" for site in block.split() if site != reference)
        for block, reference in zip(SITE_BLOCKS, references, strict=True)
    ]
    return " | ".join(blocks)


def _joined(*blocks: str) -> str:
    return " | ".join(blocks)


LISTS: dict[str, str] = {
    LB_18_1: _joined(_LEFT_TEMPORAL, _LEFT_PARASAGITTAL, _MIDLINE, _RIGHT_PARASAGITTAL, _RIGHT_TEMPORAL),
    LB_18_2: _joined(_MIDLINE, _LEFT_PARASAGITTAL, _RIGHT_PARASAGITTAL, _LEFT_TEMPORAL, _RIGHT_TEMPORAL),
    LB_18_3: _joined(_LEFT_TEMPORAL, _RIGHT_TEMPORAL, _LEFT_PARASAGITTAL, _RIGHT_PARASAGITTAL, _MIDLINE),
    PARASAGITTAL_FIRST: _joined(_LEFT_PARASAGITTAL, _RIGHT_PARASAGITTAL, _LEFT_TEMPORAL, _RIGHT_TEMPORAL, _MIDLINE),
    TB_18_1: _joined(
        "F7-Fp1 Fp1-Fp2 Fp2-F8",
        "F7-F3 F3-Fz Fz-F4 F4-F8",
        "T7-C3 C3-Cz Cz-C4 C4-T8",
        "P7-P3 P3-Pz Pz-P4 P4-P8",
        "P7-O1 O1-O2 O2-P8",
    ),
    TB_18_2: _joined(
        "Fp1-Fp2",
        "F7-F3 F3-Fz Fz-F4 F4-F8",
        "A1-T7 T7-C3 C3-Cz Cz-C4 C4-T8 T8-A2",
        "P7-P3 P3-Pz Pz-P4 P4-P8",
        "O1-O2",
        _MIDLINE,
    ),
    # The midline has no side of its own: it goes with the ear that the left has.
    EAR: _against("A1", "A1", "A2"),
    LINKED_EARS: _against("A1+A2", "A1+A2", "A1+A2"),
    CONTRALATERAL_EAR: _against("A2", "A2", "A1"),
    CZ: _against("Cz", "Cz", "Cz"),
    R_18_3: (
        "F7-T1 F8-T2 T7-T1 T8-T2 P7-T1 P8-T2 Fp1-T1 Fp2-T2 F3-T1 F4-T2 C3-T1 C4-T2 P3-T1 P4-T2 O1-T1 O2-T2 Fz-T1 Pz-T2"
    ),
    HAT_BAND: _RING,
    HAT_BAND_MIDLINE: _joined(_RING, _MIDLINE),
    TUH_TCP: _joined(
        _LEFT_TEMPORAL,
        _RIGHT_TEMPORAL,
        "A1-T7 T7-C3 C3-Cz Cz-C4 C4-T8 T8-A2",
        _LEFT_PARASAGITTAL,
        _RIGHT_PARASAGITTAL,
    ),
    CHB_MIT: _joined(
        _LEFT_TEMPORAL,
        _LEFT_PARASAGITTAL,
        _RIGHT_PARASAGITTAL,
        _RIGHT_TEMPORAL,
        _MIDLINE,
        "P7-T7 T7-FT9 FT9-FT10 FT10-T8 T8-P8",
    ),
}
# The order of a data set is part of what it is: sides are never exchanged there.
FIXED_ORDER = frozenset({TUH_TCP, CHB_MIT})

SZCORE_SITES = tuple("Fp1 F3 C3 P3 O1 F7 T7 P7 Fz Cz Pz Fp2 F4 C4 P4 O2 F8 T8 P8".split())

# Neighbours for the source derivation; electrodes at the edge have neighbours on one side only and are biased.
NEIGHBOURS: dict[str, str] = {
    "Fp1": "Fp2 F3 F7",
    "Fp2": "Fp1 F4 F8",
    "Fz": "F3 F4 Cz",
    "F7": "Fp1 F3 T7",
    "F8": "Fp2 F4 T8",
    "Cz": "C3 C4 Fz Pz",
    "F3": "Fp1 F7 C3 Fz",
    "F4": "Fp2 F8 C4 Fz",
    "Pz": "P3 P4 Cz",
    "T7": "F7 C3 P7",
    "T8": "F8 C4 P8",
    "O1": "O2 P3 P7",
    "C3": "F3 T7 P3 Cz",
    "C4": "F4 T8 P4 Cz",
    "O2": "O1 P4 P8",
    "P3": "C3 P7 O1 Pz",
    "P4": "C4 P8 O2 Pz",
    "P7": "T7 P3 O1",
    "P8": "T8 P4 O2",
}
