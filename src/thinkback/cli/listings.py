"""Commands that list what is stored: `thoughts`, `turns`, `journal`, `entities`, `history` and more."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import AsOfOption, CommandCall, KnownAtOption, LimitOption, register_command


def register(app: typer.Typer) -> None:
    for function in (thoughts, turns, instructions, journal, users, stats):
        register_command(app, "embedder")(function)


def thoughts(
    call: CommandCall,
    subject: Annotated[
        str | None,
        typer.Option("--subject", metavar="NAME", help="Only about this entity (any of its names)."),
    ] = None,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="NAME", help="Only with this relation.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include retired thoughts.")] = False,
    retired: Annotated[bool, typer.Option("--retired", help="Only retired thoughts.")] = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    limit: LimitOption = 100,
) -> None:
    """List the thoughts, each with its source.

    \b
    Examples:
      thinkback thoughts
      thinkback thoughts --subject Anna --all
      thinkback thoughts --as-of 2023-01-01
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        matching = memory.thoughts(
            subject=subject,
            relation=relation,
            current=not (everything or retired),
            as_of=as_of,
            known_at=known_at,
        )
    shown = [thought for thought in matching if not (retired and thought.current)][-limit:]
    if call.json:
        output.print_json([to_json(thought) for thought in shown])
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
        for thought in shown
    ]
    output.print_table(("ref", "thought", "kind", "since", "retired", "said by"), rows, fold=("thought",))


def turns(
    call: CommandCall,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Only turns of this session.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include hidden turns.")] = False,
    limit: LimitOption = 20,
) -> None:
    """List the turns, oldest first. Turns marked * have not been processed yet, those marked - are hidden.

    \b
    Examples:
      thinkback turns
      thinkback turns --session travel --limit 100 --json
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        newest = memory.turns(session=session, limit=limit, newest=True, hidden=everything)
    if call.json:
        output.print_json([to_json(turn) for turn in newest])
        return
    rows = [
        (
            f"{turn.ref}{'-' if turn.hidden else '' if turn.thought_at else '*'}",
            f"{turn.at.astimezone():%Y-%m-%d %H:%M}",
            turn.session,
            turn.query,
            turn.response,
        )
        for turn in newest
    ]
    output.print_table(("ref", "at", "session", "query", "response"), rows, fold=("query", "response"))


def instructions(call: CommandCall) -> None:
    """List the standing wishes of the user, which every context carries. The last one holds.

    Say them in a conversation ("always answer in German"); `thinkback forget` takes one back.

    \b
    Examples:
      thinkback instructions
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        wishes = memory.instructions()
    if call.json:
        output.print_json([to_json(thought) for thought in wishes])
        return
    rows = [
        (thought.ref, thought.sentence, f"{thought.recorded_at.astimezone():%Y-%m-%d %H:%M}")
        for thought in wishes
    ]
    output.print_table(("ref", "instruction", "since"), rows, fold=("instruction",))


def journal(
    call: CommandCall,
    thought: Annotated[
        int | None, typer.Option("--thought", metavar="N", min=1, help="Only actions on this thought.")
    ] = None,
    limit: LimitOption = 50,
) -> None:
    """List the actions on thoughts, with their reasons. `thinkback undo` reverts one.

    \b
    Examples:
      thinkback journal
      thinkback journal --thought 7
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        actions = memory.journal(thought=thought)[-limit:]
    if call.json:
        output.print_json([to_json(action) for action in actions])
        return
    rows = [
        (
            action.ref,
            f"{action.at.astimezone():%Y-%m-%d %H:%M}",
            f"{action.action}{' (undone)' if action.undone_by else ''}",
            ", ".join(
                (*(str(thought.ref) for thought in action.changed), *(f"turn:{id_}" for id_ in action.hides))
            ),
            action.actor,
            action.reason,
        )
        for action in actions
    ]
    output.print_table(("ref", "at", "action", "thoughts", "by", "reason"), rows, fold=("reason", "thoughts"))


def users(call: CommandCall) -> None:
    """List the users in the database, with counts.

    \b
    Examples:
      thinkback users
      thinkback users --json
    """
    with call.open_memory() as memory:
        all_stats = [memory.store.stats(user) for user in memory.store.users()]
    if call.json:
        output.print_json([asdict(stats) for stats in all_stats])
        return
    rows = [(stats.user, stats.turns, stats.thoughts, stats.pending) for stats in all_stats]
    output.print_table(("user", "turns", "thoughts", "pending"), rows)


def stats(call: CommandCall) -> None:
    """Show the counts of one user's memory.

    \b
    Examples:
      thinkback stats
      thinkback stats --user ann --json
    """
    with call.open_memory() as memory:
        counts = asdict(memory.stats())
    if call.json:
        output.print_json(counts)
        return
    for name, value in counts.items():
        output.print_line(f"{name.replace('_', ' '):14} {value}")


def register_history(app: typer.Typer) -> None:
    for function in (history, entities):
        register_command(app, "embedder")(function)


def history(
    call: CommandCall,
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="For example: user, Anna, my sister.")
    ] = "user",
    relation: Annotated[
        str | None,
        typer.Argument(metavar="RELATION", help="Only this relation, as shown by `thinkback thoughts`."),
    ] = None,
) -> None:
    """Show how the facts about a subject changed: every value, when it was true, and the actions on it.

    \b
    Examples:
      thinkback history user "lives in"
      thinkback history Anna --json
    """
    from thinkback.history import describe_validity
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        versions = memory.history(subject, relation)
    if call.json:
        output.print_json([to_json(version) for version in versions])
        return
    if not versions:
        output.print_line(f"no thoughts about {subject!r}")
    for version in versions:
        thought = version.thought
        output.print_line(
            f"{thought.ref}  {output.one_line(thought.sentence)}", "" if thought.current else "dim"
        )
        output.print_line(f"  {describe_validity(thought)}")
        for action in version.actions:
            undone = " (undone)" if action.undone_by else ""
            event = f"{action.at.astimezone():%Y-%m-%d %H:%M} {action.ref} {action.action}{undone}"
            output.print_line(f"  {event} by {action.actor}: {output.one_line(action.reason)}")


def entities(call: CommandCall) -> None:
    """List the people and things that thoughts are about, with all their names.

    The decision that two names mean the same entity is itself a thought: `thinkback why` explains it,
    `thinkback forget` or `thinkback undo` reverts it.

    \b
    Examples:
      thinkback entities
      thinkback entities --json
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        known = memory.entities()
    if call.json:
        output.print_json([to_json(entity) for entity in known])
        return
    rows = [
        (
            entity.name,
            ", ".join(entity.aliases),
            "; ".join(f"{decision.ref} {decision.sentence}" for decision in entity.decisions),
        )
        for entity in known
    ]
    output.print_table(("name", "aliases", "decided by"), rows, fold=("aliases", "decided by"))
