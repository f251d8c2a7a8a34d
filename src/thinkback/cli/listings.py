"""`thoughts`, `turns`, `journal`, `users`, `stats`: everything that is kept, listed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from thinkback.cli.command import AsOfOption, CommandCall, KnownAtOption, LimitOption, register_command


def register(app: typer.Typer) -> None:
    for function in (thoughts, turns, journal, users, stats):
        register_command(app, "embedder")(function)


def thoughts(
    call: CommandCall,
    subject: Annotated[
        str | None, typer.Option("--subject", metavar="NAME", help="Only about this one, by any name.")
    ] = None,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="NAME", help="Only of this relation.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what is held true no longer.")] = False,
    retired: Annotated[bool, typer.Option("--retired", help="Only what is held true no longer.")] = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    limit: LimitOption = 100,
) -> None:
    """List what was understood: one thought a line, with who said it where.

    \b
    Examples:
      thinkback thoughts
      thinkback thoughts --subject Anna --all
      thinkback thoughts --as-of 2023-01-01      what held then
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = memory.thoughts(
            subject=subject,
            relation=relation,
            current=not (everything or retired),
            as_of=as_of,
            known_at=known_at,
        )
    found = [thought for thought in found if not (retired and thought.current)][-limit:]
    if call.json:
        output.print_json([json_output.dump_thought(thought) for thought in found])
        return
    rows = [
        (
            thought.ref,
            thought.sentence,
            thought.kind,
            f"{thought.valid_from.astimezone():%Y-%m-%d}" if thought.valid_from else "",
            "" if thought.retired_at is None else f"{thought.retired_at.astimezone():%Y-%m-%d}",
            ", ".join(f"{source.speaker}, turn:{source.turn}" for source in thought.sources),
        )
        for thought in found
    ]
    output.print_table(("ref", "thought", "kind", "since", "retired", "said by"), rows, fold=("thought",))


def turns(
    call: CommandCall,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Only of this conversation.")
    ] = None,
    limit: LimitOption = 20,
) -> None:
    """List what was said, oldest first. A turn marked * is still to be thought over.

    \b
    Examples:
      thinkback turns
      thinkback turns --session travel --limit 100 --json
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = memory.turns(session=session, limit=limit, newest=True)
    if call.json:
        output.print_json([json_output.dump_turn(turn) for turn in found])
        return
    rows = [
        (
            f"{turn.ref}{'' if turn.thought_at else '*'}",
            f"{turn.at.astimezone():%Y-%m-%d %H:%M}",
            turn.session,
            turn.query,
            turn.response,
        )
        for turn in found
    ]
    output.print_table(("ref", "said", "session", "query", "response"), rows, fold=("query", "response"))


def journal(
    call: CommandCall,
    thought: Annotated[
        int | None, typer.Option("--thought", metavar="N", min=1, help="Only of this thought.")
    ] = None,
    limit: LimitOption = 50,
) -> None:
    """List every action on the thoughts, with its reason; `thinkback undo` takes one back.

    \b
    Examples:
      thinkback journal
      thinkback journal --thought 7
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = memory.journal(thought=thought)[-limit:]
    if call.json:
        output.print_json([json_output.dump_action(action) for action in found])
        return
    rows = [
        (
            action.ref,
            f"{action.at.astimezone():%Y-%m-%d %H:%M}",
            f"{action.action}{' (undone)' if action.undone_by else ''}",
            ", ".join(str(thought.ref) for thought in action.changed),
            action.actor,
            action.reason,
        )
        for action in found
    ]
    output.print_table(("ref", "at", "action", "thoughts", "by", "reason"), rows, fold=("reason", "thoughts"))


def users(call: CommandCall) -> None:
    """List whose memories the database holds.

    \b
    Examples:
      thinkback users
      thinkback users --json
    """
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = [memory.store.stats(user) for user in memory.store.users()]
    if call.json:
        output.print_json([asdict(each) for each in found])
        return
    rows = [(each.user, each.turns, each.thoughts, each.pending) for each in found]
    output.print_table(("user", "turns", "thoughts", "pending"), rows)


def stats(call: CommandCall) -> None:
    """Show one user's memory in numbers.

    \b
    Examples:
      thinkback stats
      thinkback stats --user ann --json
    """
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = asdict(memory.stats())
    if call.json:
        output.print_json(found)
        return
    for name, value in found.items():
        output.print_line(f"{name.replace('_', ' '):14} {value}")
