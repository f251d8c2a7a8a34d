"""Draws the pictures of the app: `python -m thinkback.apps.tui.screenshots --out docs/images`.

A short conversation without a language model, in a database that is gone afterwards; real answers of a real
memory, drawn by Textual as SVG.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len
from textual.pilot import Pilot

from thinkback.apps.tui.app import DARK, LIGHT, TerminalApp
from thinkback.apps.tui.side import TABS
from thinkback.memory import Memory

BEFORE = ("I live in Paris.", "I moved to Lyon.", "My sister Clara is a doctor.")
TOLD = (
    "I need a laptop for travel.",
    "It must weigh at most 1.2 kg.",
    "Not a Macbook, because I need Linux.",
    "预算不超过八千元。",
    "What does my sister do?",
)
PATIENCE_S = 60.0
_FONT = re.compile(r"@font-face \{[^}]*\}\s*")
_TEXT = re.compile(r'(<text[^>]*? textLength=")[\d.]+("[^>]*>)([^<]*)')
_CELL = re.compile(r'textLength="([\d.]+)"[^>]*>([^<]+)')


class Picture(NamedTuple):
    name: str
    size: tuple[int, int]
    theme: str
    tab: str


PICTURES = (
    Picture("tui-dark", (100, 30), DARK, TABS[0]),
    Picture("tui-light", (100, 30), LIGHT, TABS[1]),
    Picture("tui-dark-80x24", (80, 24), DARK, TABS[3]),
    Picture("tui-light-80x24", (80, 24), LIGHT, TABS[0]),
)


async def draw(memory: Memory) -> list[tuple[str, str]]:
    """Hold the conversation, then show it in every size and light."""
    for told in BEFORE:
        memory.remember(told, session="hello")
    app = TerminalApp(memory, "a laptop for travel")
    app.animation_level = "none"
    drawn: list[tuple[str, str]] = []
    async with app.run_test(size=PICTURES[0].size) as pilot:
        app.entry.cursor_blink = False
        await _calm(app, pilot)
        for told in TOLD:
            app.entry.insert(told)
            await pilot.press("enter")
            await _calm(app, pilot)
        for picture in PICTURES:
            app.theme = picture.theme
            await pilot.resize_terminal(*picture.size)
            app.side.show_tab(picture.tab)
            await pilot.pause(0.2)
            drawn.append((picture.name, tidy(app.export_screenshot(title="thinkback tui"))))
    return drawn


def tidy(svg: str) -> str:
    """The picture without fonts from elsewhere, and with two cells for each wide character."""
    first = _CELL.search(svg)
    if first is None:
        return svg
    cell = float(first[1]) / len(html.unescape(first[2]))

    def widened(found: re.Match[str]) -> str:
        return f"{found[1]}{cell * cell_len(html.unescape(found[3])):.1f}{found[2]}{found[3]}"

    return _TEXT.sub(widened, _FONT.sub("", svg)).strip() + "\n"


async def _calm(app: TerminalApp, pilot: Pilot[None]) -> None:
    """Until the answer is there and thought over."""
    async with asyncio.timeout(PATIENCE_S):
        while app.answering or app.thinking or not all(worker.is_finished for worker in app.workers):
            await pilot.pause(0.02)


def write(folder: Path, embedder: str) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="thinkback-tui-") as place,
        Memory.open(Path(place) / "memory.db", user="ann", embedder=embedder) as memory,
    ):
        drawn = asyncio.run(draw(memory))
    for name, svg in drawn:
        path = folder / f"{name}.svg"
        path.write_text(svg, encoding="utf-8")
        yield path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m thinkback.apps.tui.screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"), help="the folder for the pictures")
    parser.add_argument("--embedder", default="minilm", help="as of the command line")
    chosen = parser.parse_args()
    for path in write(chosen.out, chosen.embedder):
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
