"""Safe HTML fragments, and the page that contains them.

Only `escape` turns text into `Html`, so text of data sets, memories and models never becomes markup. The page
loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NewType

from thinkback_lab.report import svg

Html = NewType("Html", str)

# Nothing may be loaded or executed; only the inline style is allowed.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


def escape(value: object) -> Html:
    return Html(svg.escape_text(str(value)))


def quoted(value: str, max_length: int = 400) -> Html:
    """Text from data: isolated, so that its direction and length do not affect the layout."""
    cut = value if len(value) <= max_length else value[:max_length].rstrip() + "…"
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
    """A table; the first column names the row, columns not in `text_columns` are right-aligned numbers."""
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


def settings_list(pairs_given: Iterable[tuple[str, object]]) -> Html:
    pairs = "".join(
        f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in pairs_given
    )
    return Html(f'<dl class="settings">{pairs}</dl>')


def table_of_contents(sections: Sequence[tuple[str, str]]) -> Html:
    links = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in sections)
    return Html(f'<nav aria-label="Contents"><ul>{links}</ul></nav>')


def html_page(title: str, head: Html, body: Html) -> str:
    """The complete HTML file."""
    style = files("thinkback_lab.report").joinpath("style.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_CONTENT_SECURITY_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n{head}\n</header>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


_NUMBER_CLASS = ' class="n"'


def _table_row(row: Sequence[Html], text_columns: Sequence[int]) -> str:
    first, *rest = row
    cells = (
        f"<td{'' if at in text_columns else _NUMBER_CLASS}>{cell}</td>"
        for at, cell in enumerate(rest, start=1)
    )
    return f'<th scope="row">{first}</th>' + "".join(cells)
