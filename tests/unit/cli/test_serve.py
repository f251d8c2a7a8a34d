"""`serve` and `work`: how flags, settings and environment become server options."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from thinkback.cli.app import app
from thinkback.config import Settings
from thinkback.server.processes import start
from thinkback.server.processes.start import ServerInfo
from thinkback.server.services import Options

STARTED = ServerInfo(
    url="http://127.0.0.1:9",
    database="memory.db",
    upstream="",
    llm="",
    embedder="hashing",
    workers=1,
    recallers=0,
    thinkers=1,
    open=True,
    access="no keys",
)


class Seen:
    """Records the arguments of `serve` and `work` instead of starting processes."""

    options: Options
    settings: Settings
    create: str = ""

    def serve(
        self, settings: Settings, options: Options, *, create: str, on_started: Callable[[ServerInfo], None]
    ) -> int:
        self.settings, self.options, self.create = settings, options, create
        on_started(STARTED)
        return 0

    def work(self, settings: Settings, options: Options) -> int:
        self.settings, self.options = settings, options
        return 3


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Seen:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "THINKBACK_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    one = Seen()
    monkeypatch.setattr(start, "serve", one.serve)
    monkeypatch.setattr(start, "work", one.work)
    return one


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), prog_name="thinkback")


def test_options_default_without_flags(seen: Seen) -> None:
    assert run("serve").exit_code == 0
    assert seen.options == Options()
    assert seen.create == "thinkback.server.app:create_app"


def test_every_flag_sets_its_option(seen: Seen) -> None:
    words = "--host ::1 --port 0 --workers 2 --thinkers 3 --recalled 7 --recall-ms 50 --rate 9.5"
    more = "--allow-host a.example --allow-host b.example --allow-origin https://c.example"
    rest = "--backlog 4 --grace 1.5 --log-level error --db x.db --embedder hashing --upstream http://d.example/v1"
    assert run("serve", *words.split(), *more.split(), *rest.split()).exit_code == 0
    assert seen.options == Options(
        host="::1",
        port=0,
        workers=2,
        thinkers=3,
        recall_limit=7,
        recall_timeout_seconds=0.05,
        rate=9.5,
        allow_hosts=("a.example", "b.example"),
        allow_origins=("https://c.example",),
        backlog=4,
        grace_seconds=1.5,
        log_level="error",
        upstream="http://d.example/v1",
    )
    assert (seen.settings.db, seen.settings.embedder) == ("x.db", "hashing")


def test_upstream_and_key_come_from_openai_variables(
    seen: Seen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://models.example/v1")
    (tmp_path / "OPENAI_API_KEY").write_text("sk-canary", "utf-8")
    done = run("serve", "--json")
    assert (seen.options.upstream, seen.options.upstream_key) == ("http://models.example/v1", "sk-canary")
    assert "canary" not in repr(seen.options) + done.stdout + done.stderr
    run("serve", "--upstream", "")
    assert seen.options.upstream == ""


def test_json_prints_the_address(seen: Seen) -> None:
    done = run("serve", "--json")
    assert json.loads(done.stdout)["url"] == STARTED.url
    assert json.loads(done.stderr)["event"] == "listening"


def test_announcement_on_a_terminal(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    from thinkback.cli import serve

    written: list[str] = []

    class Terminal:
        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> None:
            written.append(text)

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stderr", Terminal())
    serve.announce_server(STARTED)
    told = "".join(written)
    assert 'base_url="http://127.0.0.1:9/v1"' in told
    assert "no keys" in told
    assert "answers come from memory" in told


def test_work_starts_only_thinkers(seen: Seen) -> None:
    assert run("work", "--thinkers", "2", "--grace", "5").exit_code == 3
    assert (seen.options.thinkers, seen.options.grace_seconds) == (2, 5)


def test_missing_extra_names_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "thinkback.server.processes.start")
    monkeypatch.delattr("thinkback.server.processes.start")
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    for name in [each for each in sys.modules if each.startswith("thinkback.server.telemetry")]:
        monkeypatch.delitem(sys.modules, name)
    done = run("serve")
    assert done.exit_code == 1
    assert "pip install 'thinkback[server]'" in done.stderr
