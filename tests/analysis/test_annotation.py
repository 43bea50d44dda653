"""Annotations that are made many at a time are those that are made one by one."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict, replace

from analysis.annotation import Annotation, number_annotations, plain_annotations


def test_many_plain_annotations_at_once_are_like_single_ones() -> None:
    many = plain_annotations([1.0, 2.5], [0.0, 3.0], ["sz", "x"])
    single = [Annotation(1.0, 0.0, "sz"), Annotation(2.5, 3.0, "x")]
    assert many == single
    assert list(map(hash, many)) == list(map(hash, single))
    assert list(map(repr, many)) == list(map(repr, single))
    assert list(map(asdict, many)) == list(map(asdict, single))
    assert replace(many[1], author="reader") == replace(single[1], author="reader")
    number_annotations(many, 7)
    for made in (many, pickle.loads(pickle.dumps(many)), copy.deepcopy(many)):
        assert made == single
        assert [mark.id for mark in made] == [7, 8]
    assert Annotation(1.0, 0.0, "sz").id == 0
    assert plain_annotations([], [], []) == []
