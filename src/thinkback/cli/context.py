"""Commands `context` (the prompt a model would get) and `summary` (the working memory of a session)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import STDIO_MARKER, CommandCall, read_stdin, register_command

if TYPE_CHECKING:
    from thinkback.session.context import Context
    from thinkback.types import Summary, SummaryEdit, SummaryUpdate

SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="NAME", help="The session; by default the latest one.")
]


def register(app: typer.Typer) -> None:
    register_command(app, "embedder", "preset")(context)
    register_command(app, "embedder")(summary)


def context(
    call: CommandCall,
    message: Annotated[
        str,
        typer.Argument(metavar="MESSAGE", help="The next user message; - reads it from standard input."),
    ],
    session: SessionOption = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Only the changes since the context of the last turn.")
    ] = False,
) -> None:
    """Print the prompt that a model would get for a message, with the token count of each part.

    It consists of instructions, the session summary, relevant facts and history, the latest messages and the
    new message. Its size is bounded. The message is not stored. Very small local models get only the facts.

    \b
    Examples:
      thinkback context "Which database shall we take?"
      thinkback context "那我们选哪个？" --session trip --diff
    """
    from thinkback.session.context import diff_contexts

    with call.open_memory() as memory:
        name = _choose_session(memory.store.sessions(memory.user), session)
        new = memory.context(read_stdin() if message == STDIO_MARKER else message, session=name)
        previous = memory.context_before(session=name) if diff else None
    if diff:
        lines = (
            diff_contexts(previous, new)
            if previous
            else [f"+ {part.name}: {part.text}" for part in new.parts]
        )
        if call.json:
            output.print_json({"session": name, "tokens": new.tokens, "diff": lines})
            return
        for line in lines:
            output.print_line(line)
        return
    if call.json:
        output.print_json({"session": name, **asdict(new)})
        return
    _print_context(new)


def summary(
    call: CommandCall,
    session: SessionOption = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show every update: what changed and why, what was rejected.")
    ] = False,
) -> None:
    """Print the summary of a session: topic, needs, constraints, exclusions, facts, open questions.

    It is updated after each turn, by rules or by the model set with --summary-llm of `thinkback chat`.

    \b
    Examples:
      thinkback summary
      thinkback summary --session trip --history
    """
    with call.open_memory() as memory:
        name = _choose_session(memory.store.sessions(memory.user), session)
        current = memory.summary(name)
        updates = memory.summary_history(name) if history else []
    if call.json:
        from thinkback.schemas import to_stored_json

        result = to_stored_json(current)
        if history:
            result["updates"] = [to_stored_json(update) for update in updates]
        output.print_json(result)
        return
    if history:
        _print_history(updates)
        return
    _print_summary(current)


def _choose_session(known: list[str], requested: str | None) -> str:
    """The requested session, else the latest known one, else `default`."""
    if requested is not None:
        return requested
    return known[-1] if known else "default"


def _print_context(context: Context) -> None:
    for message in context.messages:
        output.print_line(f"[{message.role}]", "bold")
        output.print_line(message.content)
    output.print_line()
    rows = [(part.name, part.tokens) for part in context.parts]
    output.print_table(("part", "tokens"), [*rows, ("total", context.tokens)])


def _print_summary(summary: Summary) -> None:
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
    for update in updates:
        output.print_line(f"version {update.version} after turn:{update.turn}, by {update.actor}", "bold")
        for edit in update.edits:
            output.print_line(f"  {output.one_line(_edit_line(edit))}")
        if update.problem:
            output.print_line(f"  rejected: {output.one_line(update.problem)}")


def _edit_line(edit: SummaryEdit) -> str:
    if edit.old and edit.new:
        change = f"{edit.old!r} -> {edit.new!r}"
    else:
        change = f"+ {edit.new}" if edit.new else f"- {edit.old}"
    return f"{edit.field}: {change}{f' ({edit.reason})' if edit.reason else ''}"
