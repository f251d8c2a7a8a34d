"""Takes the screenshots of the documentation: `python -m thinkback.tui.screenshots --out docs/images`.

The app runs a short conversation without a language model in a temporary database; Textual exports it as SVG.
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
    """One picture: its file name, the terminal's columns and rows, the theme and the open tab."""

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
    """Run the conversation, then export it in every size and theme. Returns pairs of name and SVG."""
    for message in EARLIER_MESSAGES:
        memory.remember(message, session="hello")
    app = TerminalApp(memory, "a laptop for travel")
    app.animation_level = "none"
    pictures: list[tuple[str, str]] = []
    async with app.run_test(size=SCREENSHOTS[0].size) as pilot:
        app.message_input.cursor_blink = False
        await _wait_until_idle(app, pilot)
        for message in MESSAGES:
            app.message_input.insert(message)
            await pilot.press("enter")
            await _wait_until_idle(app, pilot)
        for screenshot in SCREENSHOTS:
            app.theme = screenshot.theme
            await pilot.resize_terminal(*screenshot.size)
            app.sidebar.show_tab(screenshot.tab)
            await pilot.pause(0.2)
            pictures.append((screenshot.name, clean_svg(app.export_screenshot(title="thinkback tui"))))
    return pictures


def clean_svg(svg: str) -> str:
    """Remove web fonts and correct the text length of wide (Chinese) characters to two cells each."""
    first_text = _CELL_WIDTH_RE.search(svg)
    if first_text is None:
        return svg
    cell_width = float(first_text[1]) / len(html.unescape(first_text[2]))

    def correct_length(match: re.Match[str]) -> str:
        return f"{match[1]}{cell_width * cell_len(html.unescape(match[3])):.1f}{match[2]}{match[3]}"

    return _TEXT_ELEMENT_RE.sub(correct_length, _FONT_FACE_RE.sub("", svg)).strip() + "\n"


async def _wait_until_idle(app: TerminalApp, pilot: Pilot[None]) -> None:
    """Wait until the answer is complete and post-thinking has finished."""
    async with asyncio.timeout(IDLE_TIMEOUT_SECONDS):
        while app.answering or app.thinking or not all(worker.is_finished for worker in app.workers):
            await pilot.pause(0.02)


def write_screenshots(folder: Path, embedder: str) -> Iterator[Path]:
    """Write all screenshots into the folder and yield their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="thinkback-tui-") as database_folder,
        Memory.open(Path(database_folder) / "memory.db", user="ann", embedder=embedder) as memory,
    ):
        pictures = asyncio.run(take_screenshots(memory))
    for name, svg in pictures:
        path = folder / f"{name}.svg"
        path.write_text(svg, encoding="utf-8")
        yield path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m thinkback.tui.screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"), help="output folder")
    parser.add_argument("--embedder", default="minilm", help="embedder spec, as for `thinkback --embedder`")
    arguments = parser.parse_args()
    for path in write_screenshots(arguments.out, arguments.embedder):
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
