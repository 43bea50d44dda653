"""The panel of lesions: recall of each class with electrodes covered, and accuracy as more of them are deleted."""

from __future__ import annotations

import numpy as np

from viewers.panels.lesion import Lesion

RECALL = np.array([[[0.8, 0.6], [0.6, 0.6]], [[0.5, 0.7], [0.5, 0.7]]])  # covers, seeds, classes


def test_recalls_are_coloured_by_their_change_and_name_what_is_covered(shown, make_analysis):
    arrays = {
        "recall": (RECALL, ("cover", "seed", "class"), "1", "recall of a linear probe", "paper"),
        "recall_change": ([[0.0, 0.0], [-0.2, 0.1]], ("cover", "class"), "1", "change of recall", "paper"),
        "covered": ([[0, 0, 0], [1, 0, 1]], ("cover", "channel"), "1", "1 for what is covered", "our definition"),
        "deletion": ([[0.7, 0.6], [0.5, 0.7]], ("share", "seed"), "1", "balanced accuracy", "paper"),
    }
    labels = {"cover": ("none", "left"), "class": ("T1", "T2"), "channel": ("C3", "Cz", "FC5"), "share": ("0%", "50%")}
    panel = shown(Lesion, make_analysis("lesion", arrays, {**labels, "seed": ("0", "1")}, {"n_windows": 9}))
    assert panel.recall.texts == (("0.70", "0.60"), ("0.50 (−0.20)", "0.70 (+0.10)"))
    np.testing.assert_allclose(panel.recall.values, [[0, 0], [-0.2, 0.1]], rtol=1e-6)
    np.testing.assert_allclose(panel.recall.limits, (-0.2, 0.2), rtol=1e-6)
    assert panel._covered.text() == "left: C3, FC5"
    assert panel.deletion.limit == (0.5, "chance 0.50")
    assert panel.deletion.describe_layer(1) == "deleted 50%\nbalanced accuracy 0.600 ± 0.100"
    lines = panel.table().splitlines()
    assert sum(line.startswith("# lesion") for line in lines) == 1
    assert "left\t-0.2\t0.1" in lines
