"""`web`: opens a running server, or starts one and opens it when it is ready."""

from __future__ import annotations

import json
import threading
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from tests.unit.cli.test_serve import STARTED
from typer.testing import CliRunner

from thinkback.cli import web
from thinkback.cli.app import app
from thinkback.config import Settings
from thinkback.server.processes import start
from thinkback.server.processes.start import ServerInfo
from thinkback.server.services import Options


class Session(BaseHTTPRequestHandler):
    answer = b'{"authenticated": false, "version": "0"}'

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class names it
        """Silent."""


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Session)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    urls: list[str] = []

    def open_url(url: str) -> bool:
        urls.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", open_url)
    return urls


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    options_seen: list[Options] = []

    def serve(
        settings: Settings, options: Options, *, create: str, on_started: Callable[[ServerInfo], None]
    ) -> int:
        options_seen.append(options)
        on_started(replace(STARTED, url=f"http://127.0.0.1:{options.port}"))
        return 0

    monkeypatch.setattr(start, "serve", serve)
    return options_seen


def test_page_of_a_running_server_is_opened(port: int, opened: list[str], started: list[Options]) -> None:
    result = CliRunner().invoke(app, ["web", "--port", str(port), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"url": f"http://127.0.0.1:{port}", "started": False}
    assert opened == [f"http://127.0.0.1:{port}"]
    assert started == []


def test_another_program_on_the_port_is_not_opened(
    port: int, opened: list[str], started: list[Options], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "answer", b"<html>")
    result = CliRunner().invoke(app, ["web", "--port", str(port), "--no-browser"])
    assert result.exit_code == 0
    assert [options.port for options in started] == [port], "the server itself reports that it is in use"
    assert opened == []


def test_server_is_started_on_loopback_only(
    opened: list[str], started: list[Options], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = threading.Event()

    def open_url(url: str) -> bool:
        opened.append(url)
        ready.set()
        return True

    monkeypatch.setattr(web, "is_running", lambda url: bool(started))
    monkeypatch.setattr(webbrowser, "open", open_url)
    result = CliRunner().invoke(app, ["web", "--port", "9", "--runs", "runs"])
    assert result.exit_code == 0, result.output
    assert ready.wait(10)
    assert opened == ["http://127.0.0.1:9"]
    assert [(options.host, options.runs) for options in started] == [("127.0.0.1", "runs")]
