"""`context`, `summary`: what a model would be given now, and what a session has come to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli.command import STDIO_MARKER, CommandCall, read_stdin, register_command

if TYPE_CHECKING:
    from thinkback.session.context import Context
    from thinkback.types import Summary, SummaryEdit, SummaryUpdate

SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="NAME", help="Which conversation; else the last one.")
]


def register(app: typer.Typer) -> None:
    register_command(app, "embedder", "preset")(context)
    register_command(app, "embedder")(summary)


def context(
    call: CommandCall,
    message: Annotated[
        str,
        typer.Argument(metavar="MESSAGE", help="What would be said next; - reads it from standard input."),
    ],
    session: SessionOption = None,
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
    from thinkback.cli import output
    from thinkback.session.context import diff_contexts

    with call.open_memory() as memory:
        name = _choose_session(memory.store.sessions(memory.user), session)
        made = memory.context(read_stdin() if message == STDIO_MARKER else message, session=name)
        before = memory.context_before(session=name) if diff else None
    if diff:
        lines = (
            diff_contexts(before, made) if before else [f"+ {part.name}: {part.text}" for part in made.parts]
        )
        if call.json:
            output.print_json({"session": name, "tokens": made.tokens, "diff": lines})
            return
        for line in lines:
            output.print_line(line)
        return
    if call.json:
        output.print_json({"session": name, **asdict(made)})
        return
    _print_context(made)


def summary(
    call: CommandCall,
    session: SessionOption = None,
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
    from thinkback.cli import output

    with call.open_memory() as memory:
        name = _choose_session(memory.store.sessions(memory.user), session)
        found = memory.summary(name)
        updates = memory.summary_history(name) if history else []
    if call.json:
        from thinkback import codec

        shown = codec.summary_to_json(found)
        told = {"updates": [codec.summary_update_to_json(update) for update in updates]} if history else {}
        output.print_json({**shown, **told})
        return
    if history:
        _print_history(updates)
        return
    _print_summary(found)


def _choose_session(known: list[str], wanted: str | None) -> str:
    return wanted if wanted is not None else known[-1] if known else "default"


def _print_context(context: Context) -> None:
    from thinkback.cli import output

    for message in context.messages:
        output.print_line(f"[{message.role}]", "bold")
        output.print_line(message.content)
    output.print_line()
    rows = [(part.name, part.tokens) for part in context.parts]
    output.print_table(("part", "tokens"), [*rows, ("all that is sent", context.tokens)])


def _print_summary(summary: Summary) -> None:
    from thinkback.cli import output
    from thinkback.session.render import FIELD_HEADINGS, iter_items

    output.print_line(
        f"session {summary.session!r}: {summary.talk}; version {summary.version}, as of turn:{summary.turn}",
        "bold",
    )
    items = list(iter_items(summary))
    for name, heading in FIELD_HEADINGS.items():
        lines = [item.text for item in items if item.field == name]
        if lines:
            output.print_line(heading, "bold")
        for line in lines:
            output.print_line(f"  {output.one_line(line)}")


def _print_history(updates: list[SummaryUpdate]) -> None:
    from thinkback.cli import output

    for update in updates:
        output.print_line(f"version {update.version} after turn:{update.turn}, by {update.actor}", "bold")
        for edit in update.edits:
            output.print_line(f"  {output.one_line(_edit_line(edit))}")
        if update.problem:
            output.print_line(f"  refused: {output.one_line(update.problem)}")


def _edit_line(edit: SummaryEdit) -> str:
    change = (
        f"{edit.old!r} -> {edit.new!r}"
        if edit.old and edit.new
        else f"+ {edit.new}"
        if edit.new
        else f"- {edit.old}"
    )
    return f"{edit.field}: {change}{f' ({edit.reason})' if edit.reason else ''}"
