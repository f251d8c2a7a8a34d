"""`context`, `summary`: what a model would be given now, and what a session has come to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import Call, command
from thinkback.apps.cli.options import STDIN, read_stdin

if TYPE_CHECKING:
    from thinkback.types import Edit, Summary, SummaryUpdate
    from thinkback.working.types import Context

Session = Annotated[
    str | None, typer.Option("--session", metavar="NAME", help="Which conversation; else the last one.")
]


def register(app: typer.Typer) -> None:
    command(app, "embedder", "preset")(context)
    command(app, "embedder")(summary)


def context(
    call: Call,
    message: Annotated[
        str,
        typer.Argument(metavar="MESSAGE", help="What would be said next; - reads it from standard input."),
    ],
    session: Session = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Only what changed since the last turn's context.")
    ] = False,
) -> None:
    """Print what a model would be given for a message, with the tokens of each part.

    Instructions, the session's summary, facts and history that matter, the last words of both sides, the
    message: bounded, however long the conversation is. Nothing is remembered of it. A very small local model
    is given its facts alone.

    \b
    Examples:
      thinkback context "Which database shall we take?"
      thinkback context "那我们选哪个？" --session trip --diff
    """
    from thinkback.apps.cli import printing
    from thinkback.working.context import changes

    with call.memory() as memory:
        name = _session(memory.store.sessions(memory.user), session)
        made = memory.context(read_stdin() if message == STDIN else message, session=name)
        before = memory.context_before(session=name) if diff else None
    if diff:
        lines = changes(before, made) if before else [f"+ {part.name}: {part.text}" for part in made.parts]
        if call.json:
            printing.print_json({"session": name, "tokens": made.tokens, "diff": lines})
            return
        for line in lines:
            printing.say(line)
        return
    if call.json:
        printing.print_json({"session": name, **asdict(made)})
        return
    _print_context(made)


def summary(
    call: Call,
    session: Session = None,
    history: Annotated[
        bool, typer.Option("--history", help="Every update of it: what changed, why, and what was refused.")
    ] = False,
) -> None:
    """Print what a conversation has come to: topic, needs, constraints, exclusions, facts, open questions.

    It is brought up to date after each turn, by rules or by the model that --summary-llm of `chat` names.

    \b
    Examples:
      thinkback summary
      thinkback summary --session trip --history
    """
    from thinkback.apps.cli import printing

    with call.memory() as memory:
        name = _session(memory.store.sessions(memory.user), session)
        found = memory.summary(name)
        updates = memory.summary_history(name) if history else []
    if call.json:
        from thinkback import codec

        shown = codec.summary_to_json(found)
        told = {"updates": [codec.update_to_json(update) for update in updates]} if history else {}
        printing.print_json({**shown, **told})
        return
    if history:
        _print_history(updates)
        return
    _print_summary(found)


def _session(known: list[str], wanted: str | None) -> str:
    return wanted if wanted is not None else known[-1] if known else "default"


def _print_context(made: Context) -> None:
    from thinkback.apps.cli import printing

    for message in made.messages:
        printing.say(f"[{message.role}]", "bold")
        printing.say(message.content)
    printing.say()
    rows = [(part.name, part.tokens) for part in made.parts]
    printing.table(("part", "tokens"), [*rows, ("all that is sent", made.tokens)])


def _print_summary(found: Summary) -> None:
    from thinkback.apps.cli import printing
    from thinkback.working.show import HEADINGS, every

    printing.say(
        f"session {found.session!r}: {found.talk}; version {found.version}, as of turn:{found.turn}", "bold"
    )
    items = list(every(found))
    for name, heading in HEADINGS.items():
        lines = [item.text for item in items if item.field == name]
        if lines:
            printing.say(heading, "bold")
        for line in lines:
            printing.say(f"  {printing.one_line(line)}")


def _print_history(updates: list[SummaryUpdate]) -> None:
    from thinkback.apps.cli import printing

    for update in updates:
        printing.say(f"version {update.version} after turn:{update.turn}, by {update.actor}", "bold")
        for edit in update.edits:
            printing.say(f"  {printing.one_line(_told(edit))}")
        if update.problem:
            printing.say(f"  refused: {printing.one_line(update.problem)}")


def _told(edit: Edit) -> str:
    change = (
        f"{edit.old!r} -> {edit.new!r}"
        if edit.old and edit.new
        else f"+ {edit.new}"
        if edit.new
        else f"- {edit.old}"
    )
    return f"{edit.field}: {change}{f' ({edit.reason})' if edit.reason else ''}"
