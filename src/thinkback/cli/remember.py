"""`remember`, `think`: what is told is kept, then thought over."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli.command import (
    STDIO_MARKER,
    AtOption,
    CommandCall,
    LaterOption,
    read_stdin,
    register_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thinkback.memory import Memory
    from thinkback.types import ThinkResult, Thought


def register(app: typer.Typer) -> None:
    register_command(app, "embedder", "llm", "think")(remember)
    register_command(app, "embedder", "llm", "think")(think)
    register_command(app, "embedder", "llm", "think")(organise)


def remember(
    call: CommandCall,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What was said; - reads it from standard input.")
    ],
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="What was answered, if anything.")] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="The conversation it belongs to.")
    ] = "default",
    at: AtOption = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Told twice under one key, kept once.")
    ] = None,
    later: LaterOption = False,
) -> None:
    """Keep one turn: what was said and, if anything, what was answered.

    The turn is safe on disk before it is thought over, so nothing is lost if thinking fails.

    \b
    Examples:
      thinkback remember "I moved to Lyon." "How exciting!"
      thinkback remember "My flight leaves at nine." --at 2024-05-31T18:30 --session travel
      thinkback remember - < letter.txt
    """
    from thinkback import json_output
    from thinkback.cli import output

    said = read_stdin() if query == STDIO_MARKER else query
    with call.open_memory(with_llm=not later) as memory:
        turn = memory.remember(said, response, at=at, session=session, key=key)
        if not call.json:
            output.print_line(f"remembered {turn.ref}")
        over = None if later else run_post_think(memory)
        pending = memory.stats().pending
        thoughts = [thought for action in over.actions for thought in action.changed] if over else []
        if call.json:
            kept = [json_output.dump_thought(thought) for thought in thoughts if thought.current]
            output.print_json({"turn": json_output.dump_turn(turn), "thoughts": kept, "pending": pending})
            return
    _print_thoughts(thoughts)
    if pending:
        output.print_note(f"{pending} to be thought over: thinkback think")


def think(
    call: CommandCall,
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
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory(with_llm=True) as memory:
        retried = memory.retry_failures() if retry_failed else 0
        over = run_post_think(memory, limit)
        failures, pending = memory.failures(), memory.stats().pending
    if call.json:
        output.print_json(
            {
                "turns": over.turns,
                "failed": over.failed,
                "retried": retried,
                "pending": pending,
                "actions": [json_output.dump_action(action) for action in over.actions],
                "failures": [asdict(failure) for failure in failures],
                "problems": list(over.problems),
                "receipt": asdict(over.usage),
            }
        )
    else:
        output.print_line(f"thought over: {over.turns}, actions: {len(over.actions)}, still to do: {pending}")
        _print_thoughts(thought for action in over.actions for thought in action.changed)
        if spent := over.usage.llm_calls:
            tokens = f"{over.usage.prompt_tokens} + {over.usage.completion_tokens} tokens"
            output.print_note(f"the model was asked {spent} times: {tokens}", "")
        for problem in over.problems:
            output.print_note(output.one_line(problem), "")
        for failure in failures:
            reason = output.one_line(failure.reason)
            output.print_note(
                f"given up: turn:{failure.turn} after {failure.attempts} attempts: {reason}", ""
            )
        if failures:
            output.print_note("thinkback think --retry-failed tries them again")
    if over.failed:
        raise typer.Exit(1)


def organise(
    call: CommandCall,
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
    from thinkback import json_output
    from thinkback.cli import output
    from thinkback.cli.output import show_progress

    with call.open_memory(with_llm=True) as memory, show_progress("organising") as report:
        done = memory.organise(group=group, progress=report)
    if call.json:
        actions = [json_output.dump_action(action) for action in done.actions]
        output.print_json({"actions": actions, "receipt": asdict(done.usage)})
        return
    output.print_line(f"actions: {len(done.actions)}")
    _print_thoughts(thought for action in done.actions for thought in action.changed)


def run_post_think(memory: Memory, limit: int | None = None) -> ThinkResult:
    """Post-think what is pending, with a progress bar."""
    from thinkback.cli.output import show_progress

    with show_progress("thinking") as report:
        return memory.post_think(limit=limit, progress=report)


def _print_thoughts(thoughts: Iterable[Thought]) -> None:
    from thinkback.cli import output

    for thought in thoughts:
        before = "" if thought.current else "no longer: "
        output.print_line(f"  {thought.ref}  {before}{output.one_line(thought.sentence)}  ({thought.kind})")
