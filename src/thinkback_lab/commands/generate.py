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
from thinkback_lab.models import opened
from thinkback_lab.progress import progress
from thinkback_lab.worlds.counts import counts
from thinkback_lab.worlds.files import names, write
from thinkback_lab.worlds.validate import findings, mended
from thinkback_lab.worlds.variety import memories, questions
from thinkback_lab.worlds.world import Lang, World

if TYPE_CHECKING:
    from rich.table import Table

    from thinkback_lab.worlds.by_llm import Author

By = Literal["grammar", "llm"]
REPLIES, REVIEW = "replies", "review.jsonl"
SHOWN = 20  # findings, in the summary


def generate(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder, or one with a world.")],
    characters: Annotated[int, typer.Option("--characters", metavar="N", min=1, help="So many.")] = 30,
    lang: Annotated[Lang, typer.Option("--lang", help="The language of the world.")] = "en",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Another seed, another world.")] = 0,
    by: Annotated[By, typer.Option("--by", help="Who writes: rules, or the model of --llm.")] = "grammar",
    llm: options.Llm = "none",
    as_json: options.AsJson = False,
) -> None:
    """A persona world in PerLTQA's format: characters, their memories, and questions with exact gold.

    By grammar it needs no model, and the same seed gives the same bytes. By a model it asks for every part
    with the prompts of the package; replies are kept in DIR/replies, so that a run that was stopped goes on
    where it stood, and pairs that somebody should look at stand in DIR/review.jsonl. The world is checked for
    the faults of seed 004's table 8 and mended; status 1 if one is left that rules cannot mend.

    \b
    Examples:
      thinkback-lab generate --characters 30 --lang zh --seed 7 --out worlds/zh
      thinkback-lab generate --characters 3 --by llm --llm openai:gpt-4o-mini --out worlds/told
      thinkback-lab eval perltqa --data worlds/zh --lang zh
    """
    with options.one_line_errors():
        _refuse_strangers(out)
        if by == "llm":
            world, made = _by_llm(characters, lang, seed, llm, out)
        else:
            world, made = _by_grammar(characters, lang, seed), {}
        faults = findings(world)
        world = mended(world)
        left = findings(world)
        commonest = max(memories(world), questions(world), key=lambda each: each.share)
        write(world, out)
    settings = {"characters": characters, "lang": lang, "seed": seed, "by": by}
    summary: dict[str, Any] = {
        "world": str(out),
        "settings": settings,
        "counts": counts(world),
        **made,
        "largest_template_share": round(commonest.share, 5),
        "largest_template": commonest.commonest,
        "mended": len(faults) - len(left),
        "findings": len(left),
        "first_findings": [each.line for each in left[:SHOWN]],
    }
    if as_json:
        options.show_json(summary)
    else:
        options.show_table(_table(summary), _last_line(summary))
    if left:
        raise typer.Exit(1)


def _refuse_strangers(out: Path) -> None:
    """A folder that holds anything but worlds is not ours to write into."""
    if out.exists() and not out.is_dir():
        raise LabError(f"{out}: not a folder. Name a new one")
    ours = {*names("en"), *names("zh"), REPLIES, REVIEW}
    strangers = sorted(each.name for each in out.iterdir() if each.name not in ours) if out.is_dir() else []
    if strangers:
        raise LabError(f"{out}: holds something else ({strangers[0]!r}). Name a new folder")


def _by_grammar(characters: int, lang: Lang, seed: int) -> World:
    from thinkback_lab.worlds.grammar import generate as by_grammar

    with progress("world"):
        return by_grammar(characters, lang, seed)


def _by_llm(characters: int, lang: Lang, seed: int, llm: str, out: Path) -> tuple[World, dict[str, Any]]:
    from thinkback_lab.worlds.by_llm import Author

    if llm == "none":
        raise LabError("--by llm needs a model: --llm openai:MODEL or --llm local:NAME_OR_PATH")
    with opened(llm) as model, progress("steps") as report:
        author = Author(model, out / REPLIES, report=report)
        world = author.generate(characters, lang, seed)
    _keep_review(author, out)
    made = {"llm": llm, "receipt": author.receipt.told, "review": len(author.review)}
    return world, {**made, "dropped": len(author.dropped), "first_dropped": author.dropped[:SHOWN]}


def _keep_review(author: Author, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in author.review]
    (out / REVIEW).write_text("".join(lines), encoding="utf-8")


def _table(summary: Mapping[str, Any]) -> Table:
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


def _last_line(summary: Mapping[str, Any]) -> str:
    if summary["findings"]:
        return "\n".join(summary["first_findings"])
    where, lang = shlex.quote(summary["world"]), summary["settings"]["lang"]
    return f"thinkback-lab eval perltqa --data {where} --lang {lang}"
