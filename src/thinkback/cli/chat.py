"""`chat`, `tui`: talking to a memory, line by line, on a terminal, or in an app that shows what it thinks."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli.command import CommandCall, register_command
from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.memory import Memory


def register(app: typer.Typer) -> None:
    for function in (chat, tui):
        register_command(app, "llm", "summary_llm", "embedder", "preset", "think")(function)


SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="NAME", help="Go on with this conversation; else a new one begins."),
]
RecallLimitOption = Annotated[
    int, typer.Option("--k", "-k", metavar="N", min=1, help="Recall at most so many memories an answer.")
]
WaitOption = Annotated[
    float,
    typer.Option(
        "--wait", metavar="SECONDS", min=0, help="At the end, think on for at most so many seconds."
    ),
]


def chat(
    call: CommandCall, session: SessionOption = None, k: RecallLimitOption = 5, wait: WaitOption = 20.0
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
    from thinkback.cli import conversation, output

    name = session or f"chat {datetime.now():%Y-%m-%d %H:%M:%S}"
    with call.open_memory(with_llm=True, background=True) as memory:
        who = memory.llm.name if memory.llm else "no language model: memory itself answers"
        output.print_note(f"{who}; user {memory.user!r}, session {name!r}")
        talk = conversation.Conversation(memory, name, k)
        if call.json:
            conversation.answer_lines_json(talk, sys.stdin.buffer)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            conversation.run_terminal_chat(talk)
        else:
            conversation.answer_lines(talk, sys.stdin.buffer)
        _finish_thinking(memory, wait)


def tui(
    call: CommandCall, session: SessionOption = None, k: RecallLimitOption = 5, wait: WaitOption = 20.0
) -> None:
    """Talk in an app on the terminal; beside the conversation it shows what memory makes of it.

    The session's summary, what was recalled and why, thoughts by group, and the journal with undo. F1 shows
    the keys; works from 80x24, with a mouse or without. It needs: pip install 'thinkback[tui]'

    \b
    Examples:
      thinkback tui
      thinkback tui --session trip --llm openai:gpt-4o-mini
    """
    from thinkback.tui import load_app

    app = load_app()
    if call.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("the app draws on a terminal; `thinkback chat` reads and writes lines, or JSON")
    with call.open_memory(with_llm=True, background=True) as memory:
        running = app(memory, session, k)
        running.run()
        _finish_thinking(memory, wait)
    if running.return_code:
        raise typer.Exit(running.return_code)


def _finish_thinking(memory: Memory, seconds: float) -> None:
    """Think over what is pending, for a while. The bank is the queue: the rest is done another time."""
    from thinkback.cli import output

    memory.wait(seconds)
    if pending := memory.stats().pending:
        output.print_note(f"{pending} to be thought over, next time or by: thinkback think")
