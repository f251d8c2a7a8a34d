"""The commands `doctor` (configuration and self-test) and `audit` (questionable memories)."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit, urlunsplit

import typer

from thinkback import __version__
from thinkback import config as configured
from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command
from thinkback.cli.remember import PENDING_NOTE
from thinkback.config import Settings
from thinkback.errors import ThinkbackError

CheckState = Literal["ok", "note", "broken", "skipped"]
HUB_VARIABLE = "HF_TOKEN"
PENDING_ERASURE_NOTE = (
    "bytes of erased memories are still in the files, because another process is reading or the disk is "
    "full; the server, or the next command, removes them"
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of the report; its fields are the JSON keys of `thinkback doctor --json`."""

    state: CheckState
    what: str
    detail: str


def display_setting(settings: Settings, name: str) -> str:
    """The value of a setting for display; credentials and query are removed from URLs."""
    if name == "db":
        return configured.database_name(settings)
    value = str(getattr(settings, name))
    if name != "base_url":
        return value
    parts = urlsplit(value)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def run_checks(settings: Settings, *, offline: bool = False, verify: bool = False) -> list[CheckResult]:
    """Run every check. A check that raises is reported as `broken` with the error message."""
    checks: tuple[tuple[str, Callable[[Settings], Iterator[CheckResult]]], ...] = (
        ("versions", _check_versions),
        ("file", _check_config_file),
        ("secrets", _check_secrets),
        ("embedder", _check_embedder),
        ("database", partial(_check_database, verify=verify)),
        ("models", _check_pulled_models),
        ("language model", _skip_llm_check if offline else _check_llm),
        ("post-thinking", _check_post_think),
    )
    results: list[CheckResult] = []
    for what, check in checks:
        try:
            results += check(settings)
        except (ThinkbackError, OSError) as error:
            results.append(CheckResult("broken", what, str(error)))
    return results


def _check_versions(settings: Settings) -> Iterator[CheckResult]:
    import sqlite3

    versions = (("thinkback", __version__), ("python", platform.python_version()))
    for what, version in (*versions, ("sqlite", sqlite3.sqlite_version)):
        yield CheckResult("ok", what, version)


def _check_config_file(settings: Settings) -> Iterator[CheckResult]:
    path = configured.config_path()
    yield CheckResult(
        "ok" if path.exists() else "note", "file", f"{path}{'' if path.exists() else ' (none)'}"
    )


def _check_secrets(settings: Settings) -> Iterator[CheckResult]:
    secrets = {
        configured.API_KEY_NAME: configured.read_config_text(configured.API_KEY_NAME).text,
        HUB_VARIABLE: os.environ.get(HUB_VARIABLE),
    }
    for name, secret in secrets.items():
        yield CheckResult("ok" if secret else "note", name, "set" if secret else "not set")


def _check_embedder(settings: Settings) -> Iterator[CheckResult]:
    started = time.perf_counter()
    embedder = configured.create_embedder(settings)
    vector = embedder.embed(["Does it embed?"])[0]
    elapsed_ms = (time.perf_counter() - started) * 1000
    yield CheckResult(
        "ok", "embedder", f"{embedder.name}: {len(vector)} dimensions, ready in {elapsed_ms:.0f} ms"
    )


def _check_database(settings: Settings, *, verify: bool) -> Iterator[CheckResult]:
    if "://" not in settings.db and not Path(settings.db).exists():
        yield CheckResult("note", "database", f"{settings.db} does not exist yet; the first turn creates it")
        return
    store = configured.open_store(settings)
    try:
        problems = store.verify() if verify else store.check()
        for problem in problems:
            yield CheckResult("broken", "database", problem)
        if not problems:
            checked = "integrity check passed" + ", all rows and links verified" * verify
            yield CheckResult("ok", "database", f"opens, schema version is known, {checked}")
        if store.finish_erasures():
            yield CheckResult("note", "database", PENDING_ERASURE_NOTE)
        yield from _check_database_embedder(settings, store.embedder())
        tenant_store = store.for_tenant(settings.tenant)
        for user in tenant_store.users():
            stats = tenant_store.stats(user)
            yield CheckResult("ok", f"user {user}", f"{stats.turns} turns, {stats.thoughts} thoughts")
            if stats.pending:
                yield CheckResult("note", f"user {user}", PENDING_NOTE.format(stats.pending))
            for failure in tenant_store.failures(user):
                yield CheckResult(
                    "note", f"user {user}", f"turn:{failure.turn} was given up: {failure.reason}"
                )
    finally:
        store.close()


def _check_database_embedder(settings: Settings, stored_name: str | None) -> Iterator[CheckResult]:
    name = configured.create_embedder(settings).name
    if stored_name not in (None, name):
        detail = (
            f"written with embedder {stored_name!r}, not {name!r}; use that one or run: thinkback reembed"
        )
        yield CheckResult("broken", "database", detail)


def _check_pulled_models(settings: Settings) -> Iterator[CheckResult]:
    from thinkback.llms.catalogue import list_installed_models, models_folder

    names = ", ".join(model.name for model in list_installed_models())
    yield CheckResult("ok" if names else "note", "local models", names or f"none in {models_folder()}")


def _skip_llm_check(settings: Settings) -> Iterator[CheckResult]:
    yield CheckResult("skipped", "language model", f"{configured.llm_spec(settings) or 'none'} (--offline)")


def _check_llm(settings: Settings) -> Iterator[CheckResult]:
    from thinkback.types import Message

    llm = configured.create_llm(settings)
    if llm is None:
        hint = "answers come from memory"
        if settings.llm != configured.NONE:
            hint += f"; for general questions run: thinkback pull {configured.DEFAULT_LOCAL_MODEL}"
        yield CheckResult("note", "language model", f"none; {hint}")
        return
    started = time.perf_counter()
    reply = llm.complete([Message("user", "Say the word: hello")], max_tokens=16)
    text = " ".join(reply.text.split())
    yield CheckResult(
        "ok", "language model", f"{llm.name} replied {text!r} in {time.perf_counter() - started:.1f} s"
    )


def _check_post_think(settings: Settings) -> Iterator[CheckResult]:
    name = configured.create_reader(settings).name
    when = "in the background of chat and library, or with: thinkback think"
    yield CheckResult("ok", "post-thinking", f"by {name}, {when}")


_MODEL_OPTIONS = ("embedder", "preset", "llm", "summary_llm", "think")


def register(app: typer.Typer) -> None:
    register_command(app, *_MODEL_OPTIONS)(config)
    register_command(app, *_MODEL_OPTIONS)(doctor)


def config(call: CommandCall) -> None:
    """Show every setting and where its value comes from.

    Precedence: flags, environment, configuration file, defaults. OPENAI_API_KEY, INSTRUCTION_CONVERSATION
    and INSTRUCTION_SUMMARY are read from the environment, then from a file of that name in the working
    folder, then from one beside the configuration file; their content is not shown.

    \b
    Examples:
      thinkback config
      thinkback config --llm openai:gpt-4o-mini --json
    """
    settings = call.settings
    values = {
        name: (display_setting(settings, name), settings.origin(name)) for name in configured.SETTING_NAMES
    }
    for name in (configured.API_KEY_NAME, *configured.INSTRUCTION_NAMES):
        entry = configured.read_config_text(name)
        size = "set" if name == configured.API_KEY_NAME else f"{len(entry.text)} characters"
        values[name] = (size if entry.text else "", entry.origin if entry.text else "not set")
    if call.json:
        output.print_json(
            {name: {"value": value, "origin": origin} for name, (value, origin) in values.items()}
        )
        return
    rows = [(name, value or "-", origin) for name, (value, origin) in values.items()]
    output.print_table(("setting", "value", "from"), rows, fold=("value", "from"))


def doctor(
    call: CommandCall,
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not send a test request to the language model.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Read every row of the database and check that the rows agree."),
    ] = False,
) -> None:
    """Show the settings and check that everything works.

    Precedence of settings: flags, environment, the file $THINKBACK_CONFIG (by default thinkback/config.toml
    in the user's configuration folder), defaults. Exit code 1 if a check fails.

    --verify reads the whole database: integrity of the file, links between rows, the search index against
    turns and thoughts, thoughts against the journal. For a damaged file there are `thinkback restore` and
    `thinkback salvage`.

    \b
    Examples:
      thinkback doctor
      thinkback doctor --verify --offline
      thinkback doctor --offline --json
    """
    settings = call.settings
    results = run_checks(settings, offline=offline, verify=verify)
    broken = any(result.state == "broken" for result in results)
    if call.json:
        values = {
            name: {"value": display_setting(settings, name), "origin": settings.origin(name)}
            for name in configured.SETTING_NAMES
        }
        output.print_json(
            {"ok": not broken, "settings": values, "checks": [asdict(result) for result in results]}
        )
    else:
        rows = [
            (name, display_setting(settings, name) or "-", settings.origin(name))
            for name in configured.SETTING_NAMES
        ]
        output.print_table(("setting", "value", "from"), rows, fold=("value", "from"))
        output.print_line()
        checks = [(result.state, result.what, result.detail) for result in results]
        output.print_table(("state", "check", "detail"), checks, fold=("detail",))
    if broken:
        raise typer.Exit(1)


CONCERN_ADVICE = {
    "duplicate": "the same thought is stored more than once; retire the copies with `thinkback forget`",
    "loop": "the same text was stored again and again; check the program that writes to this memory",
    "quarantined": "stored but never recalled; `thinkback erase` deletes the turn permanently",
    "stale": "no longer valid; retire it with `thinkback forget`",
    "unsupported": "no turn supports it; `thinkback why` shows its origin",
}


def register_audit(app: typer.Typer) -> None:
    register_command(app, "embedder")(audit)


def audit(
    call: CommandCall,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if anything is found.")] = False,
) -> None:
    """List problems in the memory: duplicates, loops, quarantined turns, stale and unsupported thoughts.

    Quarantined turns contain instructions to the assistant or secrets. They are stored but never recalled,
    and shown here in redacted form.

    \b
    Examples:
      thinkback audit
      thinkback audit --user ann --strict --json
    """
    from thinkback.schemas import to_json

    with call.open_memory() as memory:
        report = memory.audit()
    if call.json:
        output.print_json(to_json(report))
    else:
        if report.findings:
            rows = [
                (finding.concern, ", ".join(str(ref) for ref in finding.refs), finding.reason, finding.text)
                for finding in report.findings
            ]
            output.print_table(
                ("concern", "where", "reason", "redacted"), rows, fold=("where", "reason", "redacted")
            )
            output.print_line()
            for concern in dict.fromkeys(finding.concern for finding in report.findings):
                output.print_line(f"{concern}: {CONCERN_ADVICE[concern]}")
        counts = ", ".join(f"{count} {concern}" for concern, count in report.counts.items())
        output.print_line(f"{report.turns} turns, {report.thoughts} thoughts: {counts}")
    if strict and report.findings:
        raise typer.Exit(1)
