"""`serve`, `work`: the memory server, and its thinking alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thinkback.cli.command import CommandCall, register_command
from thinkback.errors import MissingExtra

if TYPE_CHECKING:
    from types import ModuleType

    from thinkback.server.processes.start import ServerInfo

APP_FACTORY = "thinkback.server.app:create"
LogLevelOption = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option("--log-level", help="The least that is logged, on standard error."),
]
GraceOption = Annotated[
    float, typer.Option("--grace", metavar="SECONDS", min=0.0, help="For what is in hand when asked to stop.")
]


def register(app: typer.Typer) -> None:
    models = ("embedder", "preset", "llm", "summary_llm", "think")
    register_command(app, *models, per_user=False)(serve)
    register_command(app, *models, per_user=False)(work)


def serve(
    call: CommandCall,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; other than loopback needs a key."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Its port; 0 takes a free one.")
    ] = 8765,
    upstream: Annotated[
        str | None,
        typer.Option(
            "--upstream",
            metavar="URL",
            help="The base URL of the models; its key is OPENAI_API_KEY. [env: OPENAI_BASE_URL]",
        ),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes that answer.")] = 1,
    recallers: Annotated[
        int,
        typer.Option(
            "--recallers",
            metavar="N",
            min=0,
            help="Processes that recall for chats with an upstream; 0: those that answer do.",
        ),
    ] = 1,
    thinkers: Annotated[
        int,
        typer.Option("--thinkers", metavar="N", min=0, help="Processes that think; 0: see `thinkback work`."),
    ] = 1,
    recalled: Annotated[
        int, typer.Option("--recalled", metavar="N", min=0, help="Memories a chat is given at most.")
    ] = 5,
    recall_ms: Annotated[
        float,
        typer.Option("--recall-ms", metavar="MS", min=0.0, help="Recall that takes longer is skipped."),
    ] = 250.0,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A further name this server goes by; repeat it."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="URL", help="A page that may call from a browser; repeat it."),
    ] = None,
    rate: Annotated[
        float,
        typer.Option("--rate", metavar="N", min=0.0, help="Requests a second for one key; 0: no limit."),
    ] = 0.0,
    backlog: Annotated[
        int,
        typer.Option(
            "--backlog", metavar="N", min=0, help="Turns to think over beyond which writing waits; 0: none."
        ),
    ] = 20_000,
    grace: GraceOption = 20.0,
    log_level: LogLevelOption = "info",
) -> None:
    """Serve memory to any chat application: change its base_url, and it remembers.

    It speaks OpenAI's API in front of any model server (--upstream), or of the local model; beside it
    REST, mem0's surface and MCP. A chat passes through even where memory is slow or broken. On this
    machine alone it runs open; make a key before you let others in. With --json it says on standard
    output where it listens. Ctrl-C (or SIGTERM) finishes what is in hand; again, at once.

    \b
    Examples:
      thinkback serve
      thinkback serve --upstream http://127.0.0.1:11434/v1
      OPENAI_API_KEY=... thinkback serve --upstream https://api.openai.com/v1 --workers 2
    \b
    Then, in Python:
      client = openai.OpenAI(base_url="http://127.0.0.1:8765/v1")
    or by hand:
      curl http://127.0.0.1:8765/v1/chat/completions -H "X-Thinkback-User: ann" -d
        '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "I moved to Lyon."}]}'
    """
    start = _import_server()
    from thinkback.config import API_KEY_NAME, read_config_text
    from thinkback.server.options import Options

    settings = call.settings
    options = Options(
        host=host,
        port=port,
        workers=workers,
        recallers=recallers,
        thinkers=thinkers,
        upstream=settings.base_url if upstream is None else upstream,
        upstream_key=read_config_text(API_KEY_NAME).text,
        recall_limit=recalled,
        recall_timeout_seconds=recall_ms / 1000,
        backlog=backlog,
        allow_hosts=tuple(allow_host or ()),
        allow_origins=tuple(allow_origin or ()),
        rate=rate,
        grace_seconds=grace,
        log_level=log_level,
    )
    told = _announce_json if call.json else _announce
    raise typer.Exit(start.serve(settings, options, create=APP_FACTORY, on_started=told))


def work(
    call: CommandCall,
    thinkers: Annotated[
        int, typer.Option("--thinkers", metavar="N", min=1, help="Processes that think.")
    ] = 1,
    grace: GraceOption = 20.0,
    log_level: LogLevelOption = "info",
) -> None:
    """Think over what servers on the same database have been told, until Ctrl-C.

    `thinkback serve` does so by itself; this is for a server that was started with --thinkers 0,
    to think with another model or at another time.

    \b
    Examples:
      thinkback work
      thinkback work --llm openai:gpt-4o-mini --thinkers 2
    """
    start = _import_server()
    from thinkback.server.options import Options

    options = Options(thinkers=thinkers, grace_seconds=grace, log_level=log_level)
    raise typer.Exit(start.work(call.settings, options))


def _import_server() -> ModuleType:
    try:
        from thinkback.server.processes import start
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("thinkback"):
            raise
        raise MissingExtra("The server", "server") from error
    return start


def _announce_json(started: ServerInfo) -> None:
    from dataclasses import asdict

    from thinkback.cli import output

    output.print_json(asdict(started), indent=None)
    _announce(started)


def _announce(started: ServerInfo) -> None:
    """Where it listens and what that means, on standard error; as one event where no person looks."""
    from thinkback import __version__

    if not sys.stderr.isatty():
        _log_started(started)
        return
    from thinkback.cli.output import printable

    models = started.upstream or (f"{started.llm} on this machine" if started.llm else "none: memory answers")
    lines = (
        ("listens", started.url),
        ("memory", f"{started.database} ({started.embedder})"),
        ("models", models),
        (
            "processes",
            f"{started.workers} answering, {started.recallers} recalling, {started.thinkers} thinking",
        ),
        ("access", started.access),
        ("use it", f'openai.OpenAI(base_url="{started.url}/v1")'),
    )
    sys.stderr.write(f"thinkback {__version__}\n")
    sys.stderr.write("".join(f"  {name:10} {printable(value)}\n" for name, value in lines))
    sys.stderr.flush()


def _log_started(started: ServerInfo) -> None:
    from dataclasses import asdict

    from thinkback.server.telemetry.logs import EventLog

    EventLog(sys.stderr)(20, "listening", **asdict(started))
