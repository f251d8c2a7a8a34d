"""Documentation tests: README code runs, links resolve, and the described layout is the real one."""

from __future__ import annotations

import json
import os
import re
import shlex
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.proxy_app import run_proxy
from tests.server_app import open_server_app
from typer.testing import CliRunner

from thinkback.cli.app import app
from thinkback.embedders.hashing import HashingEmbedder
from thinkback.server.proxy import MemoryOnlyUpstream
from thinkback.server.thread_pool import ThreadPool

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text("utf-8")
PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def shell_commands() -> list[list[str]]:
    """The words of every command in the README's console blocks, in order."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in lines)
    commands: list[list[str]] = []
    for line in lines:
        words = shlex.split(line.removeprefix("$ ").replace(";", " ; "), comments=True)
        for is_end, part in groupby(words, lambda word: word == ";"):
            commands += [] if is_end else [list(part)]
    return commands


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new machine: no configuration, no key, nothing remembered."""
    for name in [each for each in os.environ if each.startswith(("THINKBACK_", "OPENAI_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_readme_python_runs_twice_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        for block in blocks("python")[:1]:
            exec(compile(block, "README.md", "exec"), {})
        printed = capsys.readouterr().out
        assert "The user lives in Paris" in printed
        assert "The user lives in Lyon (since 2" in printed
        assert 'replaces "The user lives in Paris."' in printed


def test_readme_openai_client_runs(tmp_path: Path) -> None:
    (block,) = blocks("python")[1:]
    url = re.search(r'base_url="([^"]+)"', block)
    assert url is not None
    pool = ThreadPool(2)
    with run_proxy(tmp_path / "m.db", MemoryOnlyUpstream(pool, HashingEmbedder(), 5)) as proxy:
        proxy.memory.remember("I live in Lyon.")
        names: dict[str, Any] = {}
        exec(compile(block.replace(url[1], proxy.url), "README.md", "exec"), names)
        names["client"].close()
        assert [turn.query for turn in proxy.memory.turns()] == ["I live in Lyon.", "Where do I live?"]
    pool.close()


def test_readme_commands_run_in_order(own_home: Path) -> None:
    """Those that serve, need a terminal or install something are only parsed."""
    first = run_chat("my sister Anna is moving to Turku in May")
    assert first.startswith("Noted: your sister Anna is moving")
    printed: dict[str, str] = {}
    for program, *words in shell_commands():
        if program == "make":
            assert re.search(rf"^{words[0]}:", (PROJECT / "Makefile").read_text("utf-8"), re.MULTILINE)
        elif program == "thinkback" and words[0] in ("serve", "tui", "mcp"):
            command = typer.main.get_command(app)
            with command.make_context("thinkback", words, resilient_parsing=True) as context:
                command.commands[words[0]].make_context(words[0], words[1:], parent=context).close()  # type: ignore[attr-defined]
        elif program == "thinkback":
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, (words, result.output)
            printed[words[0]] = result.stdout
        else:
            assert program == "pip"
    assert "The user lives in Paris." in printed["recall"]
    assert "Paris" in printed["ask"]
    assert "Paris" in printed["thoughts"]
    assert "Paris" in printed["history"]
    assert "action:1" in printed["undo"]
    # What was told in "the first five minutes" is not touched by the blocks after it.
    assert run_chat("where is anna moving to?").startswith("Your sister Anna is moving to Turku")
    assert run_chat("what is my shoe size?") == "You have not told me that."


def run_chat(message: str) -> str:
    result = CliRunner().invoke(app, ["chat", "--llm", "none"], input=f"{message}\n")
    (answer,) = [line for line in result.stdout.splitlines() if line.startswith("memory: ")]
    return answer.removeprefix("memory: ")


def test_readme_mcp_configuration_starts_the_command() -> None:
    (server,) = [json.loads(block)["mcpServers"]["thinkback"] for block in blocks("json")]
    assert server["command"] == "thinkback"
    command = typer.main.get_command(app)
    assert server["args"][0] in command.commands  # type: ignore[attr-defined]


def test_readme_says_which_options_every_command_has() -> None:
    sentence = (
        "Every command has `--help` with examples, `--db` and `--json`; those that work on the memory of one "
        "user also have `--user`."
    )
    assert sentence in README  # tests/acceptance/test_cli_help.py checks the commands


@pytest.mark.parametrize(
    "page", [PROJECT / "README.md", PROJECT / "docs" / "server.md"], ids=lambda p: p.name
)
def test_server_has_the_routes_that_are_named(page: Path, tmp_path: Path) -> None:
    named = set(
        re.findall(r"`(?:(?:GET|POST|DELETE|PATCH) )?(/[a-z0-9/._-]+[a-z0-9])[`?]", page.read_text("utf-8"))
    )
    assert named
    with open_server_app(tmp_path) as server:

        async def missing() -> list[str]:
            key = server.keys["acme"]
            statuses = {
                path: [(await server.request(method, path, key=key)).status for method in ("GET", "POST")]
                for path in sorted(named)
            }
            return [path for path, (get, post) in statuses.items() if get == post == 404]

        assert server.run(missing) == []


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_tree_names_every_package() -> None:
    tree = README[README.index("## Where things are") :]
    for path in sorted((PROJECT / "src" / "thinkback").iterdir()):
        if path.is_dir() and path.name != "__pycache__":
            assert f"{path.name}/" in tree, f"{path.name}/ is missing from the tree in the README"


def test_architecture_names_every_package_and_top_level_module() -> None:
    text = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
    for path in sorted((PROJECT / "src" / "thinkback").iterdir()):
        if path.name not in ("__pycache__", "__init__.py", "__main__.py", "py.typed"):
            assert path.name in text, f"{path.name} is missing from docs/architecture.md"


def test_every_decision_is_listed() -> None:
    index = (PROJECT / "docs" / "decisions" / "README.md").read_text("utf-8")
    for page in (PROJECT / "docs" / "decisions").glob("0*.md"):
        assert page.name in index


def test_glossary_names_files_that_exist() -> None:
    glossary = (PROJECT / "docs" / "glossary.md").read_text("utf-8")
    for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", glossary):
        lab = name.startswith("thinkback_lab/")
        root = PROJECT / "packages/thinkback-lab/src" if lab else PROJECT / "src/thinkback"
        assert (root / name).exists(), name
