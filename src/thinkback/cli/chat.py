"""Commands `chat` (line-based chat) and `tui` (full-screen terminal app)."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command
from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.memory import Memory


def register(app: typer.Typer) -> None:
    for function in (chat, tui):
        register_command(app, "llm", "summary_llm", "embedder", "preset", "think")(function)


SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="NAME", help="Session to continue; by default a new one is started."),
]
RecallLimitOption = Annotated[
    int, typer.Option("--k", "-k", metavar="N", min=1, help="Recall at most N memories per answer.")
]
WaitOption = Annotated[
    float,
    typer.Option(
        "--wait", metavar="SECONDS", min=0, help="At the end, wait at most this long for post-thinking."
    ),
]


def chat(
    call: CommandCall, session: SessionOption = None, k: RecallLimitOption = 5, wait: WaitOption = 20.0
) -> None:
    """Chat with a model that remembers; without a model, the recalled memories are the answer.

    On a terminal the chat is interactive; /help lists its commands. Otherwise each line of standard input
    is one message. With --json each answer is one JSON object per line.

    \b
    Examples:
      thinkback chat
      thinkback chat --llm openai:gpt-4o-mini --user ann
      printf 'I live in Lyon.\\nWhere do I live?\\n' | thinkback chat --llm none
    """
    from thinkback.cli import conversation

    name = session or f"chat {datetime.now():%Y-%m-%d %H:%M:%S}"
    with call.open_memory(with_llm=True, background=True) as memory:
        model = memory.llm.name if memory.llm else "no language model: answers come from memory"
        output.print_note(f"{model}; user {memory.user!r}, session {name!r}")
        chat_session = conversation.Conversation(memory, name, k)
        if call.json:
            conversation.answer_lines_json(chat_session, sys.stdin.buffer)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            conversation.run_terminal_chat(chat_session)
        else:
            conversation.answer_lines(chat_session, sys.stdin.buffer)
        _finish_thinking(memory, wait)


def tui(
    call: CommandCall, session: SessionOption = None, k: RecallLimitOption = 5, wait: WaitOption = 20.0
) -> None:
    """Chat in a full-screen terminal app that also shows the state of the memory.

    Tabs show the session summary, the recalled memories with reasons, the thoughts by group, and the journal
    with undo. F1 lists the keys. Needs a terminal of at least 80x24 and: pip install 'thinkback[tui]'

    \b
    Examples:
      thinkback tui
      thinkback tui --session trip --llm openai:gpt-4o-mini
    """
    from thinkback.tui import load_app

    app_class = load_app()
    if call.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("the app needs a terminal; use `thinkback chat` for pipes and JSON")
    with call.open_memory(with_llm=True, background=True) as memory:
        app = app_class(memory, session, k)
        app.run()
        _finish_thinking(memory, wait)
    if app.return_code:
        raise typer.Exit(app.return_code)


def _finish_thinking(memory: Memory, seconds: float) -> None:
    """Wait for post-thinking; turns that are still pending stay in the database for the next run."""
    memory.wait(seconds)
    if pending := memory.stats().pending:
        output.print_note(f"turns still to be processed: {pending} (next time, or run: thinkback think)")
