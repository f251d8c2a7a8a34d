"""Commands that run a server: `serve`, `work` and `mcp`."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command
from thinkback.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from thinkback.memory import Memory
    from thinkback.server.processes.start import ServerInfo


APP_FACTORY = "thinkback.server.app:create_app"
LogLevelOption = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option("--log-level", help="Minimum level of the log on standard error."),
]
GraceOption = Annotated[
    float,
    typer.Option("--grace", metavar="SECONDS", min=0.0, help="Time to finish running requests on shutdown."),
]
RunsOption = Annotated[
    str,
    typer.Option(
        "--runs",
        metavar="DIR",
        envvar="THINKBACK_RUNS",
        show_envvar=True,
        help="Folder of finished runs of thinkback-lab, shown to administrators on the web page.",
    ),
]


def register(app: typer.Typer) -> None:
    models = ("embedder", "preset", "llm", "summary_llm", "think")
    register_command(app, *models, per_user=False)(serve)
    register_command(app, *models, per_user=False)(work)


def serve(
    call: CommandCall,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Address to listen on; non-loopback needs a key."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 chooses a free one.")
    ] = 8765,
    upstream: Annotated[
        str | None,
        typer.Option(
            "--upstream",
            metavar="URL",
            help="Base URL of the model server; its key is OPENAI_API_KEY. [env: OPENAI_BASE_URL]",
        ),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="HTTP worker processes.")] = 1,
    recallers: Annotated[
        int,
        typer.Option(
            "--recallers",
            metavar="N",
            min=0,
            help="Recall processes for chats with an upstream; 0: the HTTP workers recall.",
        ),
    ] = 1,
    thinkers: Annotated[
        int,
        typer.Option(
            "--thinkers", metavar="N", min=0, help="Post-think processes; 0: use `thinkback work` instead."
        ),
    ] = 1,
    recalled: Annotated[
        int,
        typer.Option("--recalled", metavar="N", min=0, help="Maximum number of memories per chat request."),
    ] = 5,
    recall_ms: Annotated[
        float,
        typer.Option(
            "--recall-ms", metavar="MS", min=0.0, help="Recall timeout; a slower recall is skipped."
        ),
    ] = 250.0,
    max_tokens: Annotated[
        int,
        typer.Option(
            "--max-tokens",
            metavar="N",
            min=1,
            help="Answer limit of the local model for requests that name none (no upstream).",
        ),
    ] = 512,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Additional allowed Host name; repeatable."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="URL", help="Allowed browser Origin (CORS); repeatable."),
    ] = None,
    rate: Annotated[
        float,
        typer.Option("--rate", metavar="N", min=0.0, help="Requests per second per key; 0: unlimited."),
    ] = 0.0,
    backlog: Annotated[
        int,
        typer.Option(
            "--backlog", metavar="N", min=0, help="Reject writes above this many pending turns; 0: never."
        ),
    ] = 20_000,
    runs: RunsOption = "",
    grace: GraceOption = 20.0,
    log_level: LogLevelOption = "info",
) -> None:
    """Run the memory server: web page, OpenAI-compatible proxy, REST, a mem0-compatible API and MCP.

    The web page at the printed address shows, searches and corrects memories (`thinkback web` opens it).
    Set the base_url of a chat application to this server and it remembers. Chats are forwarded to the model
    server given by --upstream, or answered by the local model. They succeed even if the memory is slow or
    fails. On loopback no key is needed; create one with `thinkback keys create` before you listen on another
    address. With --json the address is printed on standard output. Ctrl-C or SIGTERM shuts down gracefully, a
    second one immediately.

    \b
    Examples:
      thinkback serve
      thinkback serve --upstream http://127.0.0.1:11434/v1
      OPENAI_API_KEY=... thinkback serve --upstream https://api.openai.com/v1 --workers 2

    \b
    Use it from Python:
      client = openai.OpenAI(base_url="http://127.0.0.1:8765/v1")
    or with curl:
      curl http://127.0.0.1:8765/v1/chat/completions -H "X-Thinkback-User: ann" -d
        '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "I moved to Lyon."}]}'
    """
    start = import_server()
    from thinkback.config import API_KEY_NAME, read_config_text
    from thinkback.server.services import Options

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
        max_tokens=max_tokens,
        backlog=backlog,
        allow_hosts=tuple(allow_host or ()),
        allow_origins=tuple(allow_origin or ()),
        rate=rate,
        runs=runs,
        grace_seconds=grace,
        log_level=log_level,
    )
    announce = _announce_json if call.json else announce_server
    raise typer.Exit(start.serve(settings, options, create=APP_FACTORY, on_started=announce))


def work(
    call: CommandCall,
    thinkers: Annotated[
        int, typer.Option("--thinkers", metavar="N", min=1, help="Post-think processes.")
    ] = 1,
    grace: GraceOption = 20.0,
    log_level: LogLevelOption = "info",
) -> None:
    """Extract thoughts from turns that servers store in the same database, until Ctrl-C.

    `thinkback serve` does this itself unless it was started with --thinkers 0, for example to run
    post-thinking with another model or on another schedule.

    \b
    Examples:
      thinkback work
      thinkback work --llm openai:gpt-4o-mini --thinkers 2
    """
    start = import_server()
    from thinkback.server.services import Options

    options = Options(thinkers=thinkers, grace_seconds=grace, log_level=log_level)
    raise typer.Exit(start.work(call.settings, options))


def import_server() -> ModuleType:
    try:
        from thinkback.server.processes import start
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("thinkback"):
            raise
        raise MissingExtra("The server", "server") from error
    return start


def _announce_json(started: ServerInfo) -> None:
    from dataclasses import asdict

    output.print_json(asdict(started), indent=None)
    announce_server(started)


def announce_server(started: ServerInfo) -> None:
    """Describe the running server on standard error: as text on a terminal, otherwise as one log event."""
    from thinkback import __version__

    if not sys.stderr.isatty():
        _log_started(started)
        return
    model = f"{started.llm} on this machine" if started.llm else "none: answers come from memory"
    lines = (
        ("address", f"{started.url} (web page)"),
        ("memory", f"{started.database} ({started.embedder})"),
        ("models", started.upstream or model),
        (
            "processes",
            f"{started.workers} HTTP, {started.recallers} recall, {started.thinkers} post-think",
        ),
        ("access", started.access),
        ("usage", f'openai.OpenAI(base_url="{started.url}/v1")'),
    )
    sys.stderr.write(f"thinkback {__version__}\n")
    sys.stderr.write("".join(f"  {name:10} {output.printable(value)}\n" for name, value in lines))
    sys.stderr.flush()


def _log_started(started: ServerInfo) -> None:
    from dataclasses import asdict

    from thinkback.server.telemetry.logs import EventLog

    EventLog(sys.stderr)(20, "listening", **asdict(started))


def register_mcp(app: typer.Typer) -> None:
    register_command(app, "embedder", "preset", "llm", "summary_llm", "think")(mcp)


def mcp(call: CommandCall) -> None:
    """Serve one user's memory over the Model Context Protocol, on standard input and output.

    The assistant starts this command itself and stops it by closing standard input. It can search, add,
    correct, explain and forget memories of this user only. New turns are processed in the background. With
    --json the command prints the assistant's configuration and exits.

    \b
    Examples:
      thinkback mcp --user ann
      thinkback mcp --user ann --json
    """
    if call.json:
        _print_configuration(call)
        return
    with redirect_stdout(sys.stderr):  # standard output belongs to the protocol; libraries print when loading
        serve = _import_stdio_server()
        memory = call.open_memory(with_llm=True, background=True)
    with memory:
        serve(memory)


def _import_stdio_server() -> Callable[[Memory], None]:
    from importlib.util import find_spec

    from thinkback.errors import MissingExtra

    if find_spec("mcp") is None:
        raise MissingExtra("thinkback mcp", "server")
    from thinkback.server.mcp.server import serve_stdio

    return serve_stdio


def _print_configuration(call: CommandCall) -> None:
    """Print the `mcpServers` entry that assistants read, with the current flags and settings."""
    from pathlib import Path

    settings = call.settings
    database = settings.db if "://" in settings.db else str(Path(settings.db).absolute())
    arguments = ["-m", "thinkback", "mcp", "--db", database, "--user", settings.user]
    for name, value in call.flags.items():
        if value is not None and name not in ("db", "user"):
            arguments += [f"--{name.replace('_', '-')}", value]
    output.print_json({"mcpServers": {"thinkback": {"command": sys.executable, "args": arguments}}})
