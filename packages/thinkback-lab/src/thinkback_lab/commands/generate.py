"""`thinkback-lab generate`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from thinkback_lab.commands import options
from thinkback_lab.errors import LabError
from thinkback_lab.llms import open_llm
from thinkback_lab.progress import progress
from thinkback_lab.worlds.files import file_names, write_world
from thinkback_lab.worlds.statistics import count_world, memory_variety, question_variety
from thinkback_lab.worlds.validation import find_faults, repair_world
from thinkback_lab.worlds.world import Lang, World

if TYPE_CHECKING:
    from rich.table import Table

    from thinkback_lab.worlds.llm_generator import WorldWriter

Writer = Literal["grammar", "llm"]
REPLIES_DIR, REVIEW_FILE = "replies", "review.jsonl"
MAX_SHOWN_FINDINGS = 20


def generate(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="A new folder, or one with a generated world.")
    ],
    characters: Annotated[
        int, typer.Option("--characters", metavar="N", min=1, help="Number of characters.")
    ] = 30,
    lang: Annotated[Lang, typer.Option("--lang", help="The language of the world.")] = "en",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the random generator.")] = 0,
    by: Annotated[Writer, typer.Option("--by", help="Generator: rules, or the model of --llm.")] = "grammar",
    llm: options.LlmOption = "none",
    as_json: options.JsonOption = False,
) -> None:
    """Generate a persona world in PerLTQA's format: characters, their memories, and questions with exact
    gold.

    With `--by grammar` no model is needed, and the same seed gives the same bytes. With `--by llm` a model
    writes every part; its replies are cached in DIR/replies, so that an interrupted run can be resumed, and
    question-answer pairs that need review are written to DIR/review.jsonl. The world is checked for the
    faults of PerLTQA's table 8 and repaired; the exit status is 1 if faults remain that rules cannot repair.

    \b
    Examples:
      thinkback-lab generate --characters 30 --lang zh --seed 7 --out worlds/zh
      thinkback-lab generate --characters 3 --by llm --llm openai:gpt-4o-mini --out worlds/told
      thinkback-lab eval perltqa --data worlds/zh --lang zh
    """
    with options.exit_on_error():
        _check_output_folder(out)
        if by == "llm":
            world, details = _generate_by_llm(characters, lang, seed, llm, out)
        else:
            world, details = _generate_by_grammar(characters, lang, seed), {}
        faults = find_faults(world)
        world = repair_world(world)
        left = find_faults(world)
        commonest = max(memory_variety(world), question_variety(world), key=lambda each: each.share)
        write_world(world, out)
    settings = {"characters": characters, "lang": lang, "seed": seed, "by": by}
    summary: dict[str, Any] = {
        "world": str(out),
        "settings": settings,
        "counts": count_world(world),
        **details,
        "largest_template_share": round(commonest.share, 5),
        "largest_template": commonest.commonest,
        "mended": len(faults) - len(left),
        "findings": len(left),
        "first_findings": [each.line for each in left[:MAX_SHOWN_FINDINGS]],
    }
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_summary_table(summary), _closing_line(summary))
    if left:
        raise typer.Exit(1)


def _check_output_folder(out: Path) -> None:
    """Refuse to write into a folder that contains anything but generated worlds."""
    if out.exists() and not out.is_dir():
        raise LabError(f"{out} is not a folder: choose another one")
    expected = {*file_names("en"), *file_names("zh"), REPLIES_DIR, REVIEW_FILE}
    unexpected = (
        sorted(each.name for each in out.iterdir() if each.name not in expected) if out.is_dir() else []
    )
    if unexpected:
        raise LabError(f"{out} contains other files ({unexpected[0]!r}): choose a new folder")


def _generate_by_grammar(characters: int, lang: Lang, seed: int) -> World:
    from thinkback_lab.worlds.grammar import generate as by_grammar

    with progress("world"):
        return by_grammar(characters, lang, seed)


def _generate_by_llm(
    characters: int, lang: Lang, seed: int, llm: str, out: Path
) -> tuple[World, dict[str, Any]]:
    from thinkback_lab.worlds.llm_generator import WorldWriter

    if llm == "none":
        raise LabError("--by llm needs a model: --llm openai:MODEL or --llm local:NAME_OR_PATH")
    with open_llm(llm) as model, progress("steps") as report:
        author = WorldWriter(model, out / REPLIES_DIR, report=report)
        world = author.generate(characters, lang, seed)
    _write_review(author, out)
    details = {"llm": llm, "receipt": author.usage.as_dict, "review": len(author.review)}
    return world, {
        **details,
        "dropped": len(author.dropped),
        "first_dropped": author.dropped[:MAX_SHOWN_FINDINGS],
    }


def _write_review(author: WorldWriter, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in author.review]
    (out / REVIEW_FILE).write_text("".join(lines), encoding="utf-8")


def _summary_table(summary: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table("", "number")
    for name, number in summary["counts"].items():
        grid.add_row(name.replace("_", " "), f"{number:,}")
    for name, number in summary.get("receipt", {}).items():
        grid.add_row(f"model: {name.replace('_', ' ')}", f"{number:,}")
    for name in ("review", "dropped", "mended", "findings"):
        if name in summary:
            grid.add_row(name, f"{summary[name]:,}")
    grid.add_row("largest share of a template", f"{summary['largest_template_share']:.2%}")
    return grid


def _closing_line(summary: Mapping[str, Any]) -> str:
    if summary["findings"]:
        return "\n".join(summary["first_findings"])
    where, lang = shlex.quote(summary["world"]), summary["settings"]["lang"]
    return f"thinkback-lab eval perltqa --data {where} --lang {lang}"
