"""`forget`, `undo`, `erase`: changing one's mind."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli.command import CommandCall, YesOption, confirm, register_command

if TYPE_CHECKING:
    from thinkback.types import Action, EraseResult


def register(app: typer.Typer) -> None:
    for function in (forget, undo, erase):
        register_command(app, "embedder")(function)


def forget(
    call: CommandCall,
    thought: Annotated[str, typer.Argument(metavar="THOUGHT", help="thought:7, or 7 alone.")],
    reason: Annotated[str, typer.Argument(metavar="REASON", help="Why; it is kept in the journal.")],
) -> None:
    """Hold a thought true no longer: it is not recalled any more. `thinkback undo` brings it back.

    What was said stays; `thinkback erase` removes that too.

    \b
    Examples:
      thinkback forget thought:7 "I never said that"
    """
    with call.open_memory() as memory:
        action = memory.forget(thought, reason)
    _print_action(call, action)


def undo(
    call: CommandCall,
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="action:4, or 4 alone; `thinkback journal` lists them.")
    ],
) -> None:
    """Take back one action of the journal; undoing the undo does it again.

    \b
    Examples:
      thinkback undo action:4
    """
    with call.open_memory() as memory:
        done = memory.undo(action)
    _print_action(call, done)


def erase(
    call: CommandCall,
    turn: Annotated[
        str | None, typer.Option("--turn", metavar="TURN", help="One turn: turn:3, or 3 alone.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="One whole conversation.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that is known of the user.")] = False,
    yes: YesOption = False,
) -> None:
    """Delete for good: a turn, a session, a user or a tenant, with everything derived from it. No byte stays.

    This cannot be undone. To stop believing something, use `thinkback forget`. `--tenant` alone erases that
    tenant wholly, its users and its keys; with another option it says whose turn, session or user is meant.

    \b
    Examples:
      thinkback erase --turn 3
      thinkback erase --session travel --yes
      thinkback erase --user ann --all
      thinkback erase --tenant acme
    """
    settings = call.settings
    if turn is None and session is None and not everything:
        if not call.flags["tenant"] or call.flags["user"] is not None:
            raise typer.BadParameter("say what: --turn, --session or --all", param_hint="erase")
        _erase_tenant(call, call.flags["tenant"], yes=yes)
        return
    named = " and ".join(
        [f"turn {turn}"] * (turn is not None)
        + [f"the session {session!r}"] * (session is not None)
        + ["everything"] * everything
    )
    confirm(f"Erase {named} of user {settings.user!r} for good?", yes=yes)
    with call.open_memory() as memory:
        gone = memory.erase(turn=turn, session=session, user=settings.user if everything else None)
    _print_erased(call, gone)


def _erase_tenant(call: CommandCall, tenant: str, *, yes: bool) -> None:
    from thinkback.config import open_store
    from thinkback.times import utc_now

    confirm(f"Erase the tenant {tenant!r} with all its users and keys for good?", yes=yes)
    with closing(open_store(call.settings)) as store:
        gone = store.erase_tenant(tenant, utc_now())
    _print_erased(call, gone)


def _print_erased(call: CommandCall, erased: EraseResult) -> None:
    from thinkback.cli import output

    if call.json:
        output.print_json({**asdict(erased), "quoted_in": list(erased.quoted_in)})
        return
    output.print_line(f"erased: turns {erased.turns}, thoughts {erased.thoughts}, actions {erased.actions}")
    if erased.requeued:
        output.print_line(f"{erased.requeued} other turns will be thought over again: thinkback think")
    if erased.quoted_in:
        quoting = ", ".join(f"turn:{number}" for number in erased.quoted_in)
        output.print_line(
            f"answers given with it in mind remain in {quoting}; erase those too if they repeat it"
        )


def _print_action(call: CommandCall, action: Action) -> None:
    from thinkback import json_output
    from thinkback.cli import output

    if call.json:
        output.print_json(json_output.dump_action(action))
        return
    output.print_line(f"{action.ref} {action.action}: {output.one_line(action.reason)}")
    for thought in action.after:
        state = "held true" if thought.current else "held true no longer"
        output.print_line(f"  {thought.ref}  {output.one_line(thought.sentence)}  ({state})")
