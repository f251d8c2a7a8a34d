"""Commands `chat` (line-based chat) and `tui` (full-screen terminal app)."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command
from thinkback.errors import InvalidInput, ThinkbackError

if TYPE_CHECKING:
    from thinkback.config import Settings
    from thinkback.memory import Memory

DECLINED_FILE = "local-model-declined"  # in the data folder: the user does not want to be asked again


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


OfferModelOption = Annotated[
    bool,
    typer.Option(
        "--offer-model", help="On a terminal without a model, ask once whether to download one (1.1 GB)."
    ),
]


VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="List what was recalled for each answer; on a terminal this is always done."
    ),
]


def chat(
    call: CommandCall,
    session: SessionOption = None,
    k: RecallLimitOption = 5,
    wait: WaitOption = 20.0,
    offer_model: OfferModelOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Chat with a model that remembers; without a model, memory itself answers.

    Without a model, questions about what you told are answered in your own words, statements are
    acknowledged with what was understood, and everything else needs a model: thinkback pull
    qwen-coder-1.5b, or an API key.

    On a terminal the chat is interactive; /help lists its commands. Otherwise each line of standard input
    is one message, and what was recalled for an answer is listed only with --verbose. With --json each answer
    is one JSON object per line.

    \b
    Examples:
      thinkback chat
      thinkback chat --llm openai:gpt-4o-mini --user ann
      printf 'I live in Lyon.\\nWhere do I live?\\n' | thinkback chat --llm none
    """
    from thinkback.cli import conversation

    if offer_model and sys.stdin.isatty() and sys.stderr.isatty():
        offer_local_model(call.settings)
    name = session or f"chat {datetime.now():%Y-%m-%d %H:%M:%S}"
    with call.open_memory(with_llm=True, background=True) as memory:
        model = memory.llm.name if memory.llm else "no language model: answers come from memory"
        output.print_note(f"{model}; user {memory.user!r}, session {name!r}")
        if memory.llm is None:
            output.print_note("for general questions: thinkback pull qwen-coder-1.5b, or --llm openai:MODEL")
        on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        chat_session = conversation.Conversation(memory, name, k, show_recalled=verbose or on_terminal)
        if call.json:
            conversation.answer_lines_json(chat_session, sys.stdin.buffer)
        elif on_terminal:
            conversation.run_terminal_chat(chat_session)
        else:
            conversation.answer_lines(chat_session, sys.stdin.buffer)
        _finish_thinking(memory, wait)


def offer_local_model(settings: Settings) -> None:
    """Ask whether to download the default local model, unless there is a model or the answer was no before.

    A download that fails or is interrupted is reported, and the chat works without a model.
    """
    from importlib.util import find_spec

    from thinkback.config import AUTO, DEFAULT_LOCAL_MODEL, data_folder, llm_spec
    from thinkback.llms.catalogue import get_catalogue_model
    from thinkback.llms.pull import pull_model

    declined = data_folder() / DECLINED_FILE
    if (
        settings.llm != AUTO
        or llm_spec(settings) is not None
        or declined.exists()
        or not find_spec("xllamacpp")
    ):
        return
    model = get_catalogue_model(DEFAULT_LOCAL_MODEL)
    output.print_note(
        f"No language model is installed: memory itself answers. {model.name} answers general questions too; "
        "it runs on this machine."
    )
    if not typer.confirm(f"Download it now ({model.size / 1e9:.1f} GB)?", default=False, err=True):
        declined.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        declined.touch()
        output.print_note(f"You can get it later: thinkback pull {model.name}")
        return
    try:
        with output.show_progress(f"pulling {model.name}", in_bytes=True) as report:
            pull_model(model.name, progress=lambda done, total, _: report(done, total))
    except (ThinkbackError, KeyboardInterrupt) as error:
        reason = str(error) or "interrupted"
        output.print_note(f"The download stopped: {reason} It resumes with: thinkback pull {model.name}")


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
