"""The page around the figures: safe pieces of HTML, put into one file that loads nothing.

A piece is an `Html`, and only `text` makes one from somebody's words: what a data set, a memory or a model
said is shown as it is, and never becomes markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NewType

from thinkback_lab.report import svg

Html = NewType("Html", str)

# Nothing may be loaded or run, whatever stands in the page; the style is the page's own.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


def escape(told: object) -> Html:
    return Html(svg.escape_text(str(told)))


def quoted(told: str, max_length: int = 400) -> Html:
    """Words of others: set apart, so that their direction and length disturb nothing around them."""
    cut = told if len(told) <= max_length else told[:max_length].rstrip() + "…"
    return Html(f'<span class="data" dir="auto">{escape(cut)}</span>')


def join_html(pieces: Iterable[str]) -> Html:
    return Html("\n".join(pieces))


def paragraph(inside: Html, class_: str = "") -> Html:
    return Html(f'<p class="{class_}">{inside}</p>' if class_ else f"<p>{inside}</p>")


def section(name: str, title: str, *inside: Html) -> Html:
    return Html(f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{join_html(inside)}\n</section>')


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[Html]], caption: str, *, text_columns: Sequence[int] = (0,)
) -> Html:
    """The first column names its row; columns not among `words` are numbers, set to the right."""
    top = "".join(
        f'<th scope="col"{"" if at in text_columns else _NUMBER_CLASS}>{escape(name)}</th>'
        for at, name in enumerate(head)
    )
    body = "\n".join(f"<tr>{_table_row(row, text_columns)}</tr>" for row in rows)
    return Html(
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def figure(chart: str, caption: str, more: Html = Html("")) -> Html:
    return Html(
        f'<figure><div class="wide">{chart}</div>\n<figcaption>{escape(caption)}</figcaption>{more}</figure>'
    )


def details(summary: str, inside: Html) -> Html:
    return Html(f"<details><summary>{escape(summary)}</summary>\n{inside}\n</details>")


def settings_list(told: Iterable[tuple[str, object]]) -> Html:
    pairs = "".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in told)
    return Html(f'<dl class="settings">{pairs}</dl>')


def table_of_contents(sections: Sequence[tuple[str, str]]) -> Html:
    links = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in sections)
    return Html(f'<nav aria-label="Contents"><ul>{links}</ul></nav>')


def html_page(title: str, head: Html, body: Html) -> str:
    """The whole file."""
    style = files("thinkback_lab.report").joinpath("style.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_CONTENT_SECURITY_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n{head}\n</header>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


_NUMBER_CLASS = ' class="n"'


def _table_row(row: Sequence[Html], words: Sequence[int]) -> str:
    first, *rest = row
    cells = (
        f"<td{'' if at in words else _NUMBER_CLASS}>{cell}</td>" for at, cell in enumerate(rest, start=1)
    )
    return f'<th scope="row">{first}</th>' + "".join(cells)
