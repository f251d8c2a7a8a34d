"""Commands `remember`, `think` and `organise`: store turns, extract thoughts, consolidate thoughts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.cluster import RateOption, RayOption, open_cluster, think_on_cluster
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


PENDING_NOTE = "turns still to be processed: {} (run: thinkback think)"


def register(app: typer.Typer) -> None:
    for function in (remember, think, organise):
        register_command(app, "embedder", "llm", "think")(function)


def remember(
    call: CommandCall,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The user's message; - reads it from standard input.")
    ],
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="The assistant's response.")] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="The session the turn belongs to.")
    ] = "default",
    at: AtOption = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="Idempotency key: a second turn with it is not stored."),
    ] = None,
    later: LaterOption = False,
) -> None:
    """Store one turn: a user message and an optional response.

    The turn is on disk before thoughts are extracted from it, so nothing is lost if that fails.

    \b
    Examples:
      thinkback remember "I moved to Lyon." "How exciting!"
      thinkback remember "My flight leaves at nine." --at 2024-05-31T18:30 --session travel
      thinkback remember - < letter.txt
    """
    from thinkback.schemas import to_json

    message = read_stdin() if query == STDIO_MARKER else query
    with call.open_memory(with_llm=not later) as memory:
        turn = memory.remember(message, response, at=at, session=session, key=key)
        if not call.json:
            output.print_line(f"remembered {turn.ref}")
        result = None if later else run_post_think(memory)
        pending = memory.stats().pending
        thoughts = [thought for action in result.actions for thought in action.changed] if result else []
        if call.json:
            current = [to_json(thought) for thought in thoughts if thought.current]
            output.print_json({"turn": to_json(turn), "thoughts": current, "pending": pending})
            return
    _print_thoughts(thoughts)
    if pending:
        output.print_note(PENDING_NOTE.format(pending))


def think(
    call: CommandCall,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Process at most N turns.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Also retry turns that failed too often before.")
    ] = False,
    ray: RayOption = None,
    rate: RateOption = None,
) -> None:
    """Extract thoughts from all turns that have not been processed yet.

    Exit code 1 if a turn failed. Its text can still be recalled. With --ray, a cluster does it for all users
    of the tenant, or for --user; this needs PostgreSQL.

    \b
    Examples:
      thinkback think
      thinkback think --llm openai:gpt-4o-mini --retry-failed
      thinkback think --llm openai:gpt-4o-mini --ray 10.0.0.1:6379 --requests-per-minute 500
    """
    from thinkback.schemas import to_json

    if ray is not None:
        if limit is not None:
            raise typer.BadParameter("cannot be combined with --ray", param_hint="--limit")
        _think_on_cluster(call, ray, retry_failed, rate)
        return
    with call.open_memory(with_llm=True) as memory:
        retried = memory.retry_failures() if retry_failed else 0
        result = run_post_think(memory, limit)
        failures, pending = memory.failures(), memory.stats().pending
    if call.json:
        output.print_json(
            {
                "turns": result.turns,
                "failed": result.failed,
                "retried": retried,
                "pending": pending,
                "actions": [to_json(action) for action in result.actions],
                "failures": [asdict(failure) for failure in failures],
                "problems": list(result.problems),
                "receipt": asdict(result.usage),
            }
        )
    else:
        output.print_line(
            f"turns processed: {result.turns}, actions: {len(result.actions)}, pending: {pending}"
        )
        _print_thoughts(thought for action in result.actions for thought in action.changed)
        if calls := result.usage.llm_calls:
            tokens = (
                f"{result.usage.prompt_tokens} prompt + {result.usage.completion_tokens} completion tokens"
            )
            output.print_note(f"language model calls: {calls} ({tokens})", "")
        for problem in result.problems:
            output.print_note(output.one_line(problem), "")
        for failure in failures:
            reason = output.one_line(failure.reason)
            output.print_note(
                f"given up: turn:{failure.turn} after {failure.attempts} attempts: {reason}", ""
            )
        if failures:
            output.print_note("run `thinkback think --retry-failed` to retry them")
    if result.failed:
        raise typer.Exit(1)


def _think_on_cluster(call: CommandCall, address: str, retry_failed: bool, rate: int | None) -> None:
    from thinkback.bulk.thinking import require_shared_database

    require_shared_database(call.settings)
    retried = 0
    with call.open_memory() as memory:
        users = None if call.flags["user"] is None else [memory.user]
        if retry_failed:
            names = memory.store.users() if users is None else users
            retried = sum(memory.for_space(name).retry_failures() for name in names)
    with open_cluster(address) as cluster:
        result = think_on_cluster(cluster, call.settings, users, rate)
    if call.json:
        output.print_json(
            {
                "users": result.users,
                "turns": result.turns,
                "failed": result.failed,
                "retried": retried,
                "pending": result.pending,
                "problems": list(result.problems),
                "receipt": asdict(result.usage),
            }
        )
    else:
        output.print_line(
            f"users: {result.users}, turns processed: {result.turns}, actions: {result.actions}, "
            f"pending: {result.pending}"
        )
        for problem in result.problems:
            output.print_note(output.one_line(problem), "")
    if result.failed or result.pending:
        raise typer.Exit(1)


def organise(
    call: CommandCall,
    group: Annotated[
        int | None,
        typer.Option("--group", metavar="N", min=0, help="Only this group; by default all groups."),
    ] = None,
) -> None:
    """Consolidate the thoughts: merge related ones, retire those that newer ones contradict.

    This also happens in the background whenever a group has doubled in size. A capable language model
    proposes the changes if one is configured; rules check them, and every action can be undone.

    \b
    Examples:
      thinkback organise
      thinkback organise --llm openai:gpt-4o-mini --json
    """
    from thinkback.schemas import to_json

    with call.open_memory(with_llm=True) as memory, output.show_progress("organising") as report:
        result = memory.organise(group=group, progress=report)
    if call.json:
        actions = [to_json(action) for action in result.actions]
        output.print_json({"actions": actions, "receipt": asdict(result.usage)})
        return
    output.print_line(f"actions: {len(result.actions)}")
    _print_thoughts(thought for action in result.actions for thought in action.changed)


def run_post_think(memory: Memory, limit: int | None = None) -> ThinkResult:
    """Extract thoughts from pending turns, with a progress bar."""
    with output.show_progress("thinking") as report:
        return memory.post_think(limit=limit, progress=report)


def _print_thoughts(thoughts: Iterable[Thought]) -> None:
    for thought in thoughts:
        prefix = "" if thought.current else "retired: "
        output.print_line(f"  {thought.ref}  {prefix}{output.one_line(thought.sentence)}  ({thought.kind})")
