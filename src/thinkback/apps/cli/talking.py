"""`chat`: talking to a memory, line by line or on a terminal."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import Call, command

if TYPE_CHECKING:
    from thinkback.memory import Memory


def register(app: typer.Typer) -> None:
    command(app, "llm", "summary_llm", "embedder", "preset", "think")(chat)


def chat(
    call: Call,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="NAME", help="Go on with this conversation; else a new one begins."
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("--k", "-k", metavar="N", min=1, help="Recall at most so many memories an answer.")
    ] = 5,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="At the end, think on for at most so many seconds."
        ),
    ] = 20.0,
) -> None:
    """Talk to a model that remembers; without a model, memory itself answers.

    On a terminal: type, and /help shows what else there is. Otherwise each line of standard input is a
    message and each is answered; with --json, by one JSON object a line.

    \b
    Examples:
      thinkback chat
      thinkback chat --llm openai:gpt-4o-mini --user ann
      printf 'I live in Lyon.\\nWhere do I live?\\n' | thinkback chat --llm none
    """
    from thinkback.apps.cli import conversation, printing, terminal

    name = session or f"chat {datetime.now():%Y-%m-%d %H:%M:%S}"
    with call.memory(thinks=True, background=True) as memory:
        who = memory.llm.name if memory.llm else "no language model: memory itself answers"
        printing.note(f"{who}; user {memory.user!r}, session {name!r}")
        talk = conversation.Conversation(memory, name, k)
        if call.json:
            conversation.answer_lines_json(talk, sys.stdin.buffer)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            terminal.converse(talk)
        else:
            conversation.answer_lines(talk, sys.stdin.buffer)
        _finish(memory, wait)


def _finish(memory: Memory, seconds: float) -> None:
    """Think over what is pending, for a while. The bank is the queue: the rest is done another time."""
    from thinkback.apps.cli import printing

    memory.wait(seconds)
    if pending := memory.stats().pending:
        printing.note(f"{pending} to be thought over, next time or by: thinkback think")
