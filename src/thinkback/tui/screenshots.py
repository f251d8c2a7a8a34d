"""Draws the pictures of the app: `python -m thinkback.tui.screenshots --out docs/images`.

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

from thinkback.memory import Memory
from thinkback.tui.app import DARK_THEME, LIGHT_THEME, TerminalApp
from thinkback.tui.sidebar import TAB_IDS

EARLIER_MESSAGES = ("I live in Paris.", "I moved to Lyon.", "My sister Clara is a doctor.")
MESSAGES = (
    "I need a laptop for travel.",
    "It must weigh at most 1.2 kg.",
    "Not a Macbook, because I need Linux.",
    "预算不超过八千元。",
    "What does my sister do?",
)
IDLE_TIMEOUT_SECONDS = 60.0
_FONT_FACE_RE = re.compile(r"@font-face \{[^}]*\}\s*")
_TEXT_ELEMENT_RE = re.compile(r'(<text[^>]*? textLength=")[\d.]+("[^>]*>)([^<]*)')
_CELL_WIDTH_RE = re.compile(r'textLength="([\d.]+)"[^>]*>([^<]+)')


class Screenshot(NamedTuple):
    name: str
    size: tuple[int, int]
    theme: str
    tab: str


SCREENSHOTS = (
    Screenshot("tui-dark", (100, 30), DARK_THEME, TAB_IDS[0]),
    Screenshot("tui-light", (100, 30), LIGHT_THEME, TAB_IDS[1]),
    Screenshot("tui-dark-80x24", (80, 24), DARK_THEME, TAB_IDS[3]),
    Screenshot("tui-light-80x24", (80, 24), LIGHT_THEME, TAB_IDS[0]),
)


async def take_screenshots(memory: Memory) -> list[tuple[str, str]]:
    """Hold the conversation, then show it in every size and light."""
    for told in EARLIER_MESSAGES:
        memory.remember(told, session="hello")
    app = TerminalApp(memory, "a laptop for travel")
    app.animation_level = "none"
    drawn: list[tuple[str, str]] = []
    async with app.run_test(size=SCREENSHOTS[0].size) as pilot:
        app.message_input.cursor_blink = False
        await _wait_until_idle(app, pilot)
        for told in MESSAGES:
            app.message_input.insert(told)
            await pilot.press("enter")
            await _wait_until_idle(app, pilot)
        for picture in SCREENSHOTS:
            app.theme = picture.theme
            await pilot.resize_terminal(*picture.size)
            app.sidebar.show_tab(picture.tab)
            await pilot.pause(0.2)
            drawn.append((picture.name, clean_svg(app.export_screenshot(title="thinkback tui"))))
    return drawn


def clean_svg(svg: str) -> str:
    """The picture without fonts from elsewhere, and with two cells for each wide character."""
    first = _CELL_WIDTH_RE.search(svg)
    if first is None:
        return svg
    cell = float(first[1]) / len(html.unescape(first[2]))

    def widened(found: re.Match[str]) -> str:
        return f"{found[1]}{cell * cell_len(html.unescape(found[3])):.1f}{found[2]}{found[3]}"

    return _TEXT_ELEMENT_RE.sub(widened, _FONT_FACE_RE.sub("", svg)).strip() + "\n"


async def _wait_until_idle(app: TerminalApp, pilot: Pilot[None]) -> None:
    """Until the answer is there and thought over."""
    async with asyncio.timeout(IDLE_TIMEOUT_SECONDS):
        while app.answering or app.thinking or not all(worker.is_finished for worker in app.workers):
            await pilot.pause(0.02)


def write_screenshots(folder: Path, embedder: str) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="thinkback-tui-") as place,
        Memory.open(Path(place) / "memory.db", user="ann", embedder=embedder) as memory,
    ):
        drawn = asyncio.run(take_screenshots(memory))
    for name, svg in drawn:
        path = folder / f"{name}.svg"
        path.write_text(svg, encoding="utf-8")
        yield path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m thinkback.tui.screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"), help="the folder for the pictures")
    parser.add_argument("--embedder", default="minilm", help="as of the command line")
    chosen = parser.parse_args()
    for path in write_screenshots(chosen.out, chosen.embedder):
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
