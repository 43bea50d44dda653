"""A report as one web page that needs nothing else: its pictures are inside it."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from analysis.figures.page import draw_page
from analysis.figures.scalp import draw_topography
from analysis.figures.style import INK, MUTED, RESEARCH_ONLY, styled
from analysis.progress import Progress
from analysis.reports.content import HEADERS, EventPage, Pairs, Report, used_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MM = 25.4
_SCALP_MM = (90.0, 80.0)
_STYLE = f"""
body {{ font: 14px/1.45 sans-serif; color: {INK}; background: #fff; max-width: 1100px; margin: 2em auto }}
h1 {{ font-size: 1.6em; margin-bottom: .2em }} h2 {{ font-size: 1.15em; margin-top: 1.8em }}
table {{ border-collapse: collapse; }} td, th {{ text-align: left; vertical-align: top; padding: .15em .9em .15em 0; }}
th {{ color: {MUTED}; font-weight: normal; }}
.events td, .events th {{ border-bottom: 1px solid #e3e7ec; font-size: 12px; }}
.use {{ color: {MUTED}; }} pre {{ font-size: 12px; }} img {{ max-width: 100%; }} section {{ break-before: page; }}
"""


def write_html(report: Report, progress: Progress | None = None) -> str:
    """The report as a web page; the same report gives the same text."""
    progress = progress or Progress()
    parts = [
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(report.title)}</title>',
        f"<style>{_STYLE}</style></head><body>",
        f'<h1>{escape(report.title)}</h1><p class="use">{RESEARCH_ONLY}</p>',
        *[f"<p>{escape(note)}</p>" for note in report.notes],
        f"<h2>Recording</h2>{_pairs(report.facts)}<h2>Settings</h2>{_pairs(report.settings)}",
    ]
    if report.agreement:
        parts.append(f"<h2>Agreement</h2><pre>{escape(chr(10).join(report.agreement))}</pre>")
    parts.append(f"<h2>Made with</h2>{_pairs(report.versions)}")
    parts.append(f"<h2>Events ({len(report.events):,})</h2>{_table(report.events)}")
    for number, page in enumerate(report.pages):
        progress.report(number, len(report.pages), "drawing events")
        parts.append(_event(page))
    return "\n".join([*parts, f'<p class="use">{RESEARCH_ONLY}</p></body></html>', ""])


def _pairs(pairs: Pairs) -> str:
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in pairs)
    return f"<table>{rows}</table>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    columns = used_columns(rows)
    head = "".join(f"<th>{escape(HEADERS[i])}</th>" for i in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(row[i])}</td>" for i in columns) + "</tr>" for row in rows)
    return f'<table class="events"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _event(page: EventPage) -> str:
    facts = " · ".join(f"{name} {value}" for name, value in page.facts)
    parts = [f"<section><h3>{escape(page.heading)}</h3><p>{escape(facts)}</p>"]
    parts.append(_picture(draw_page(page.page), f"Traces around {page.heading}"))
    parts.append(f"<p>{escape(page.scalp_words)}</p>")
    if page.scalp is not None:
        from matplotlib.figure import Figure

        with styled():
            figure = Figure(figsize=(_SCALP_MM[0] / _MM, _SCALP_MM[1] / _MM))
            drawn = draw_topography(figure.add_axes((0, 0, 1, 1)), page.scalp, page.scalp_time)
        parts.append(_picture(figure, page.scalp_heading) if drawn else "")
    return "".join([*parts, "</section>"])


def _picture(figure: Figure, words: str) -> str:
    buffer = io.BytesIO()
    with styled():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<p><img alt="{escape(words)}" src="data:image/svg+xml;base64,{data}"></p>'
