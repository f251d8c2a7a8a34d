"""`remember`, `think`: what is told is kept, then thought over."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import Call, command
from thinkback.apps.cli.options import STDIN, At, Later, read_stdin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thinkback.memory import Memory
    from thinkback.types import Thought, ThoughtOver


def register(app: typer.Typer) -> None:
    command(app, "embedder", "llm", "think")(remember)
    command(app, "embedder", "llm", "think")(think)
    command(app, "embedder", "llm", "think")(organise)


def remember(
    call: Call,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What was said; - reads it from standard input.")
    ],
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="What was answered, if anything.")] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="The conversation it belongs to.")
    ] = "default",
    at: At = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Told twice under one key, kept once.")
    ] = None,
    later: Later = False,
) -> None:
    """Keep one turn: what was said and, if anything, what was answered.

    The turn is safe on disk before it is thought over, so nothing is lost if thinking fails.

    \b
    Examples:
      thinkback remember "I moved to Lyon." "How exciting!"
      thinkback remember "My flight leaves at nine." --at 2024-05-31T18:30 --session travel
      thinkback remember - < letter.txt
    """
    from thinkback.apps import values
    from thinkback.apps.cli import printing

    said = read_stdin() if query == STDIN else query
    with call.memory(thinks=not later) as memory:
        turn = memory.remember(said, response, at=at, session=session, key=key)
        if not call.json:
            printing.say(f"remembered {turn.ref}")
        over = None if later else think_over(memory)
        pending = memory.stats().pending
        thoughts = [thought for action in over.actions for thought in action.changed] if over else []
        if call.json:
            kept = [values.thought(thought) for thought in thoughts if thought.current]
            printing.print_json({"turn": values.turn(turn), "thoughts": kept, "pending": pending})
            return
    _print_thoughts(thoughts)
    if pending:
        printing.note(f"{pending} to be thought over: thinkback think")


def think(
    call: Call,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many turns.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again what was given up before.")
    ] = False,
) -> None:
    """Think over the turns that wait for it: thoughts are drawn from them and organised.

    Exit code 1 if a turn could not be thought over; it stays recallable as it was said.

    \b
    Examples:
      thinkback think
      thinkback think --llm openai:gpt-4o-mini --retry-failed
    """
    from thinkback.apps import values
    from thinkback.apps.cli import printing

    with call.memory(thinks=True) as memory:
        retried = memory.retry_failures() if retry_failed else 0
        over = think_over(memory, limit)
        failures, pending = memory.failures(), memory.stats().pending
    if call.json:
        printing.print_json(
            {
                "turns": over.turns,
                "failed": over.failed,
                "retried": retried,
                "pending": pending,
                "actions": [values.action(action) for action in over.actions],
                "failures": [asdict(failure) for failure in failures],
                "problems": list(over.problems),
                "receipt": asdict(over.receipt),
            }
        )
    else:
        printing.say(f"thought over: {over.turns}, actions: {len(over.actions)}, still to do: {pending}")
        _print_thoughts(thought for action in over.actions for thought in action.changed)
        if spent := over.receipt.llm_calls:
            tokens = f"{over.receipt.prompt_tokens} + {over.receipt.completion_tokens} tokens"
            printing.note(f"the model was asked {spent} times: {tokens}", "")
        for problem in over.problems:
            printing.note(printing.one_line(problem), "")
        for failure in failures:
            reason = printing.one_line(failure.reason)
            printing.note(f"given up: turn:{failure.turn} after {failure.attempts} attempts: {reason}", "")
        if failures:
            printing.note("thinkback think --retry-failed tries them again")
    if over.failed:
        raise typer.Exit(1)


def organise(
    call: Call,
    group: Annotated[
        int | None, typer.Option("--group", metavar="N", min=0, help="Only this group; else all, one by one.")
    ] = None,
) -> None:
    """Put thoughts in order now: merge what belongs together, retire what a newer one speaks against.

    The background does so by itself whenever a group has doubled. With a language model that is able enough,
    it proposes and is guarded; every action can be undone.

    \b
    Examples:
      thinkback organise
      thinkback organise --llm openai:gpt-4o-mini --json
    """
    from thinkback.apps import values
    from thinkback.apps.cli import printing
    from thinkback.apps.cli.progress import progress

    with call.memory(thinks=True) as memory, progress("organising") as report:
        done = memory.organise(group=group, progress=report)
    if call.json:
        actions = [values.action(action) for action in done.actions]
        printing.print_json({"actions": actions, "receipt": asdict(done.receipt)})
        return
    printing.say(f"actions: {len(done.actions)}")
    _print_thoughts(thought for action in done.actions for thought in action.changed)


def think_over(memory: Memory, limit: int | None = None) -> ThoughtOver:
    """Post-think what is pending, with a progress bar."""
    from thinkback.apps.cli.progress import progress

    with progress("thinking") as report:
        return memory.post_think(limit=limit, progress=report)


def _print_thoughts(thoughts: Iterable[Thought]) -> None:
    from thinkback.apps.cli import printing

    for thought in thoughts:
        before = "" if thought.current else "no longer: "
        printing.say(f"  {thought.ref}  {before}{printing.one_line(thought.sentence)}  ({thought.kind})")
