"""Text of reports is set within the page, and all of it."""

from __future__ import annotations

from analysis.reports.content import HEADERS, Report
from analysis.reports.text_pages import BOTTOM, HEIGHT, LEFT, MONO, TOP, WIDTH, TextPages, set_text


def report(rows: int) -> Report:
    events = tuple(
        (f"{i:05d}", "12:00:00", "1 min 05 s", f"Seizure number {i} with a long description of it", "C3, C4, F3, F4",
         "recording", "0.50", "accepted", "Ada 2021-01-02", f"comment {i}") for i in range(rows)
    )  # fmt: skip
    facts = (("format", "EDF+"), ("warning", "word " * 80))
    return Report(
        "a.edf", facts, ("note",), events, (), ("kappa      0.91 " + "over many segments " * 12,), facts, facts
    )


def test_everything_is_set_within_the_page_and_in_order() -> None:
    pages = set_text(report(150))
    assert len(pages) > 3
    for page in pages:
        assert all(piece.y >= TOP and piece.y + piece.style.line <= HEIGHT - BOTTOM + 1e-9 for piece in page)
        for piece in page:
            letter = (0.6 if piece.style.mono else 0.53) * piece.style.size * 25.4 / 72
            assert piece.x + len(piece.text) * letter <= WIDTH - LEFT + 1e-6, piece
    onsets = [p.text for page in pages for p in page if p.text.isdigit() and len(p.text) == 5]
    assert onsets == [f"{i:05d}" for i in range(150)]


def test_each_page_of_the_table_names_its_columns() -> None:
    pages = set_text(report(150))
    for page in pages[1:]:
        assert [piece.text for piece in page[: len(HEADERS)]] == list(HEADERS)


def test_columns_in_which_nothing_stands_are_left_out() -> None:
    (page,) = set_text(Report("a.edf", (), (), (("0", "", "", "eyes open", "", "", "", "", "", ""),), (), (), (), ()))
    assert [piece.text for piece in page[-4:]] == ["Onset", "What", "0", "eyes open"]


def test_lines_of_one_width_go_on_below_their_text() -> None:
    out = TextPages()
    out.line("rule      " + "word " * 60, MONO)
    first, second = out.pages[0][:2]
    assert first.text.startswith("rule      word")
    assert second.text.startswith("          word")
