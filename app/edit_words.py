"""What the menus and the status line call an edit of a mark."""

from __future__ import annotations

from dataclasses import replace

from analysis.annotation import Annotation
from analysis.time_words import elapsed
from viewers.mark_words import channel_words


def edit_label(before: Annotation, after: Annotation) -> str:
    """What a menu calls the change of one mark into another, such as `Move end of Seizure to 00:23.4`."""
    name = before.title or "mark"
    moved_start, moved_stop = after.onset != before.onset, abs(after.stop - before.stop) > 1e-9
    same_text = after.description == before.description
    rest = replace(after, onset=before.onset, duration=before.duration, extras=before.extras, review=before.review)
    if rest == before and after.review == before.review and (moved_start or moved_stop):
        if moved_start and moved_stop:
            return f"Move {name} to {elapsed(after.onset, 1)}"
        side, time = ("start", after.onset) if moved_start else ("end", after.stop)
        if before.duration == 0:
            return f"Lengthen {name} to {after.duration:.1f} s"
        return f"Move {side} of {name} to {elapsed(time, 1)}"
    if not (moved_start or moved_stop):
        only_tag = replace(after.review, tag=before.review.tag) == before.review
        if not same_text and only_tag and replace(rest, description=before.description) == before:
            return f"Change {name} to {after.title or 'mark'}"
        if rest == before and replace(after.review, comment=before.review.comment) == before.review:
            return f"Comment on {name}"
        if replace(rest, ch_names=before.ch_names) == before and after.review == before.review:
            return f"Change channels of {name} to {channel_words(after.ch_names, 3)}"
    return f"Edit {name}"
