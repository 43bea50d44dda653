"""The lane of both streams: whole decades, no line over gaps, one mean a pixel on long pages, where it has come to."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.recording import Window
from viewers.overlays.stream_rates import StreamOverlay
from viewers.stream_lane import StreamCurves, StreamLane, _thinned, _unbroken, fast_ink, rate_range


def curves(fast, slow):
    times = 0.5 * np.arange(len(fast))
    return StreamCurves(
        times, np.array(fast), times[3::4], np.array(slow), 0.5, 2.0, (0.0,), float(times[-1]) + 0.5, ""
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fast", "slow", "expected"),
    [
        ([0.05] * 8, [0.008] * 2, (-3.0, -1.0)),
        ([0.3] * 8, [0.2] * 2, (-1.0, 0.0)),
        ([0.1] * 8, [0.1] * 2, (-1.0, 0.0)),
        ([np.nan] * 8, [np.nan] * 2, (-2.0, 0.0)),
    ],
)
def test_the_axis_has_whole_decades(fast, slow, expected):
    assert rate_range(curves(fast, slow)) == expected


def test_no_line_where_there_is_no_signal_or_no_rate():
    times = np.array([0.0, 0.5, 1.0, 9.0, 9.5, 10.0])
    values = np.array([np.nan, 1.0, 2.0, 3.0, np.nan, 4.0])
    assert _unbroken(times, values, 0.5) == [(1, 3), (3, 4), (5, 6)]


def test_one_mean_a_pixel_where_there_are_many():
    x, y = _thinned(np.array([0.1, 0.4, 0.9, 1.5, 3.2]), np.array([1.0, 2.0, 6.0, 5.0, 7.0]))
    np.testing.assert_allclose(y, [3.0, 5.0, 7.0])
    np.testing.assert_allclose(x, [1.4 / 3, 1.5, 3.2])
    apart = np.array([0.0, 3.0, 6.0])
    assert _thinned(apart, apart)[0] is apart


def test_the_curve_ends_where_the_stream_has_come_to(streams, qtbot):
    overlay = StreamOverlay()
    overlay.set_result(streams())
    lane = overlay.make_lane()
    assert isinstance(lane, StreamLane)
    qtbot.addWidget(lane)
    lane.resize(800, lane.height())
    lane.set_window(Window(100.0, 120.0))
    lane.set_curve(overlay.curve())
    picture = lane.grab().toImage()
    ink, area = fast_ink(lane.theme), lane.plot_rect
    rows = range(int(area.top()) + 14, int(area.bottom()) - 14)  # between the names above and the dots below

    def has_ink(x):
        colours = (picture.pixelColor(int(area.left() + x), y) for y in rows)
        return any(
            abs(c.red() - ink.red()) + abs(c.green() - ink.green()) + abs(c.blue() - ink.blue()) < 60 for c in colours
        )

    to = area.width() * 8 / 20
    assert sum(has_ink(x) for x in range(20, int(to) - 5)) > 0.5 * to
    assert not any(has_ink(x) for x in range(int(to) + 3, int(area.width()) - 70))
