"""Commands `forget`, `correct`, `undo` (revert an action) and `erase` (delete permanently)."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, YesOption, confirm, exit_with_error, register_command

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.types import Action, EraseResult


def register(app: typer.Typer) -> None:
    for function in (forget, correct, undo, erase):
        register_command(app, "embedder")(function)


MemoryArgument = Annotated[
    str, typer.Argument(metavar="MEMORY", help="thought:7 (or just 7), turn:3, or words to search for.")
]
ReasonArgument = Annotated[
    str, typer.Argument(metavar="REASON", help="The reason, stored in the journal.", show_default=False)
]
SureOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask if only one memory matches the words.")
]
MAX_MATCHES = 9
_REF = re.compile(r"(?:(?:thought|turn):)?[0-9]+")


def forget(
    call: CommandCall, memory: MemoryArgument, reason: ReasonArgument = "", yes: SureOption = False
) -> None:
    """Forget a memory: a thought is retired, a turn is hidden, and neither is recalled any more.

    `thinkback undo` brings it back; `thinkback erase` deletes it for good. Words show the memories that match
    and ask which one is meant.

    \b
    Examples:
      thinkback forget thought:7 "I never said that"
      thinkback forget turn:3
      thinkback forget "my old address"
    """
    with call.open_memory() as opened:
        ref = _choose_memory(call, opened, memory, yes=yes)
        action = opened.forget(ref, reason or "the user asked for it")
    _print_action(call, action)


def correct(
    call: CommandCall,
    memory: MemoryArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is true instead, as you would say it.")],
    reason: ReasonArgument = "",
    yes: SureOption = False,
) -> None:
    """Correct a memory: forget it and remember a new text instead.

    \b
    Examples:
      thinkback correct thought:7 "I live in Lyon."
      thinkback correct turn:3 "My sister is called Ana." "misspelt"
    """
    from thinkback.schemas import to_json

    with call.open_memory() as opened:
        ref = _choose_memory(call, opened, memory, yes=yes)
        turn = opened.correct(ref, text, reason or "the user corrected it")
    if call.json:
        output.print_json(to_json(turn))
    else:
        output.print_line(f"{ref} is forgotten; {turn.ref} is remembered instead")


def _choose_memory(call: CommandCall, memory: Memory, what: str, *, yes: bool) -> str:
    """The ref that was given, or that of the memory that the user chooses among those found for the words."""
    if _REF.fullmatch(what.strip()):
        return what.strip()
    matches = memory.recall(what, k=MAX_MATCHES).items
    if not matches:
        exit_with_error("no memory matches these words")
    if yes and len(matches) == 1:
        return str(matches[0].ref)
    if call.json:
        output.print_json({"matches": [{"ref": str(item.ref), "text": item.text} for item in matches]})
    else:
        for number, item in enumerate(matches, start=1):
            output.print_line(f"  {number}  {item.ref}  {output.one_line(item.text)}")
    if call.json or yes or not sys.stdin.isatty():
        exit_with_error(f"{len(matches)} memories match: give the ref of the one that is meant")
    sys.stderr.write(f"Which one? [1-{len(matches)}, Enter cancels] ")
    sys.stderr.flush()
    chosen = sys.stdin.readline().strip()
    if not (chosen.isdecimal() and 1 <= int(chosen) <= len(matches)):
        sys.stderr.write("Cancelled, nothing was changed.\n")
        raise typer.Exit(1)
    return str(matches[int(chosen) - 1].ref)


def undo(
    call: CommandCall,
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="action:4, or just 4; `thinkback journal` lists them.")
    ],
) -> None:
    """Undo one action of the journal. An undo is an action itself and can be undone.

    \b
    Examples:
      thinkback undo action:4
    """
    with call.open_memory() as memory:
        undo_action = memory.undo(action)
    _print_action(call, undo_action)


def erase(
    call: CommandCall,
    turn: Annotated[
        str | None, typer.Option("--turn", metavar="TURN", help="One turn: turn:3, or just 3.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="All turns of a session.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything of the user.")] = False,
    yes: YesOption = False,
) -> None:
    """Delete data permanently: a turn, a session, a user or a tenant, with everything derived from it.

    This cannot be undone, and no bytes of the text remain in the database files. To retire a single thought,
    use `thinkback forget`. `--tenant` alone erases the whole tenant with its users and keys; combined with
    other options it selects the tenant of the turn, session or user.

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
            raise typer.BadParameter("give --turn, --session or --all", param_hint="erase")
        _erase_tenant(call, call.flags["tenant"], yes=yes)
        return
    target = " and ".join(
        [f"turn {turn}"] * (turn is not None)
        + [f"the session {session!r}"] * (session is not None)
        + ["everything"] * everything
    )
    confirm(f"Permanently erase {target} of user {settings.user!r}?", yes=yes)
    with call.open_memory() as memory:
        erased = memory.erase(turn=turn, session=session, user=settings.user if everything else None)
    _print_erased(call, erased)


def _erase_tenant(call: CommandCall, tenant: str, *, yes: bool) -> None:
    from thinkback.config import open_store
    from thinkback.times import utc_now

    confirm(f"Permanently erase the tenant {tenant!r} with all its users and keys?", yes=yes)
    with closing(open_store(call.settings)) as store:
        erased = store.erase_tenant(tenant, utc_now())
    _print_erased(call, erased)


def _print_erased(call: CommandCall, erased: EraseResult) -> None:
    if call.json:
        output.print_json({**asdict(erased), "quoted_in": list(erased.quoted_in)})
        return
    output.print_line(f"erased: turns {erased.turns}, thoughts {erased.thoughts}, actions {erased.actions}")
    if erased.bytes_pending:
        output.print_line(
            f"bytes of it are still in the files: {erased.pending_reason}. A running server, or the next "
            "command that opens this database, removes them; `thinkback doctor` says whether any are left"
        )
    if erased.requeued:
        output.print_line(f"{erased.requeued} other turns must be processed again (run: thinkback think)")
    if erased.quoted_in:
        quoting = ", ".join(f"turn:{number}" for number in erased.quoted_in)
        output.print_line(f"answers that used it remain in {quoting}; erase those too if they repeat it")


def _print_action(call: CommandCall, action: Action) -> None:
    from thinkback.schemas import to_json

    if call.json:
        output.print_json(to_json(action))
        return
    output.print_line(f"{action.ref} {action.action}: {output.one_line(action.reason)}")
    for thought in action.after:
        state = "current" if thought.current else "retired"
        output.print_line(f"  {thought.ref}  {output.one_line(thought.sentence)}  ({state})")
    for turn in action.hides:
        output.print_line(f"  turn:{turn}  (hidden)")
