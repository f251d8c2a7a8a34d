"""Command `web`: open the web page in the browser, and start a server first if none is running."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command
from thinkback.cli.serve import APP_FACTORY, RunsOption, announce_server, import_server

if TYPE_CHECKING:
    from thinkback.server.processes.start import ServerInfo

HOST = "127.0.0.1"
CHECK_TIMEOUT_SECONDS = 2.0
START_TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.2


def register(app: typer.Typer) -> None:
    register_command(app, "embedder", "preset", "llm", "summary_llm", "think", per_user=False)(web)


def web(
    call: CommandCall,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port of the server on this machine.")
    ] = 8765,
    runs: RunsOption = "",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the address.")
    ] = True,
) -> None:
    """Open the web page: chat, memory, timeline, map, journal, health, clinic and laboratory.

    If a server is running on the port, its page is opened. Otherwise one is started here, on this machine
    only; Ctrl-C stops it. The page asks for a key if the server has keys.

    \b
    Examples:
      thinkback web
      thinkback web --port 9000 --no-browser
    """
    url = f"http://{HOST}:{port}"
    if port and is_running(url):
        if call.json:
            output.print_json({"url": url, "started": False})
        else:
            output.print_line(url)
        if browser:
            _open_browser(url)
        return
    start = import_server()
    from thinkback.config import API_KEY_NAME, read_config_text
    from thinkback.server.services import Options

    settings = call.settings
    options = Options(
        host=HOST,
        port=port,
        upstream=settings.base_url,
        upstream_key=read_config_text(API_KEY_NAME).text,
        runs=runs,
    )

    def on_started(started: ServerInfo) -> None:
        announce_server(started)
        if call.json:
            output.print_json({"url": started.url, "started": True}, indent=None)
        if browser:
            threading.Thread(target=_open_when_ready, args=(started.url,), daemon=True).start()

    raise typer.Exit(start.serve(settings, options, create=APP_FACTORY, on_started=on_started))


def is_running(url: str) -> bool:
    """Whether a thinkback server with a web page answers at this address."""
    answer = _get_json(f"{url}/v1/web/session")
    return isinstance(answer, dict) and "authenticated" in answer and "version" in answer


def _get_json(url: str) -> object:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy
    try:
        with opener.open(url, timeout=CHECK_TIMEOUT_SECONDS) as response:
            value: object = json.load(response)
    except (OSError, ValueError, urllib.error.URLError):
        return None
    return value


def _open_when_ready(url: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if is_running(url):
            _open_browser(url)
            return
        time.sleep(POLL_SECONDS)


def _open_browser(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        output.print_note(f"No browser could be opened: open {url} yourself.")
