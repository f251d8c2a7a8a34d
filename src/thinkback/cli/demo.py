"""`demo`: the story of memory, told by a real one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from thinkback.cli.command import CommandCall, register_command

if TYPE_CHECKING:
    from thinkback.cli.demo_scenes import Scene


def register(app: typer.Typer) -> None:
    register_command(app, "llm", "embedder", "preset")(demo)


def demo(call: CommandCall) -> None:
    """Tell the story of memory in under a minute: told, recalled, updated, explained, undone, erased.

    Every line is the answer of a real memory, in a database of its own that is gone afterwards (or in
    --db, as a new --user). A local language model words the answers if one is pulled; none is needed.

    \b
    Examples:
      thinkback demo
      thinkback demo --llm none
    """
    from thinkback.cli import demo_scenes, output
    from thinkback.config import NONE, llm_spec

    settings = call.settings
    # No key, no bill: a model elsewhere is asked only if the flag names it.
    local = (llm_spec(settings) or "").startswith("local:") or settings.origin("llm") == "flag --llm"
    with tempfile.TemporaryDirectory(prefix="thinkback-demo-") as folder:
        mine = call.flags["db"] is None
        chosen = call.with_flags(
            db=str(Path(folder) / "memory.db") if mine else settings.db,
            user=call.flags["user"] or "demo",
            llm=settings.llm if local else NONE,
        )
        scenes = demo_scenes.play_scenes(chosen.settings)
        if call.json:
            output.print_json([{"title": scene.title, "lines": list(scene.lines)} for scene in scenes])
            return
        for number, scene in enumerate(scenes, start=1):
            _print_scene(number, scene)


def _print_scene(number: int, scene: Scene) -> None:
    from thinkback.cli import output

    output.print_line(f"\n{number}. {scene.title}", "bold cyan")
    for line in scene.lines:
        output.print_line(f"   {line}", "dim" if line.startswith("  ") else "")
