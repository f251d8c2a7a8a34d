"""The checks of `doctor`, one function each; a check finds, it changes nothing."""

from __future__ import annotations

import os
import platform
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from thinkback import __version__
from thinkback import config as configured
from thinkback.config import Settings
from thinkback.errors import ThinkbackError

CheckState = Literal["ok", "note", "broken", "skipped"]
HUB_TOKEN_VARIABLE = "HF_TOKEN"


@dataclass(frozen=True, slots=True)
class CheckResult:
    state: CheckState
    what: str
    detail: str


def display_setting(settings: Settings, name: str) -> str:
    """A setting as it may be printed: a URL without a password or key in it."""
    value = str(getattr(settings, name))
    if name != "base_url":
        return value
    parts = urlsplit(value)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def run_checks(settings: Settings, *, offline: bool = False) -> list[CheckResult]:
    """Every check; one that raises is broken, with the error as its detail."""
    language = _check_llm if not offline else _skip_llm_check
    checks: tuple[tuple[str, Callable[[Settings], Iterator[CheckResult]]], ...] = (
        ("versions", _check_versions),
        ("file", _check_config_file),
        ("secrets", _check_secrets),
        ("embedder", _check_embedder),
        ("database", _check_database),
        ("models", _check_pulled_models),
        ("language model", language),
        ("post-thinking", _check_post_think),
    )
    found: list[CheckResult] = []
    for what, check in checks:
        try:
            found += check(settings)
        except (ThinkbackError, OSError) as error:
            found.append(CheckResult("broken", what, str(error)))
    return found


def _check_versions(settings: Settings) -> Iterator[CheckResult]:
    versions = (("thinkback", __version__), ("python", platform.python_version()))
    for what, version in (*versions, ("sqlite", sqlite3.sqlite_version)):
        yield CheckResult("ok", what, version)


def _check_config_file(settings: Settings) -> Iterator[CheckResult]:
    path = configured.config_path()
    yield CheckResult(
        "ok" if path.exists() else "note", "file", f"{path}{'' if path.exists() else ' (none)'}"
    )


def _check_secrets(settings: Settings) -> Iterator[CheckResult]:
    found = {
        configured.API_KEY_NAME: configured.read_config_text(configured.API_KEY_NAME).text,
        HUB_TOKEN_VARIABLE: os.environ.get(HUB_TOKEN_VARIABLE),
    }
    for name, secret in found.items():
        yield CheckResult("ok" if secret else "note", name, "set" if secret else "not set")


def _check_embedder(settings: Settings) -> Iterator[CheckResult]:
    started = time.perf_counter()
    embedder = configured.create_embedder(settings)
    vector = embedder.embed(["Does it embed?"])[0]
    spent = (time.perf_counter() - started) * 1000
    yield CheckResult("ok", "embedder", f"{embedder.name}: {len(vector)} dimensions, ready in {spent:.0f} ms")


def _check_database(settings: Settings) -> Iterator[CheckResult]:
    if "://" not in settings.db and not Path(settings.db).exists():
        yield CheckResult("note", "database", f"{settings.db} is not there yet: the first turn makes it")
        return
    store = configured.open_store(settings)
    try:
        problems = store.check()
        for problem in problems:
            yield CheckResult("broken", "database", problem)
        if not problems:
            yield CheckResult("ok", "database", "opens, its schema is known, its integrity check is clean")
        yield from _check_database_embedder(settings, store.embedder())
        mine = store.for_tenant(settings.tenant)
        for user in mine.users():
            stats = mine.stats(user)
            yield CheckResult("ok", f"user {user}", f"{stats.turns} turns, {stats.thoughts} thoughts")
            if stats.pending:
                yield CheckResult(
                    "note", f"user {user}", f"{stats.pending} to be thought over: thinkback think"
                )
            for failure in mine.failures(user):
                yield CheckResult(
                    "note", f"user {user}", f"turn:{failure.turn} was given up: {failure.reason}"
                )
    finally:
        store.close()


def _check_database_embedder(settings: Settings, stored_name: str | None) -> Iterator[CheckResult]:
    name = configured.create_embedder(settings).name
    if stored_name not in (None, name):
        detail = f"written with the embedder {stored_name!r}, not {name!r}: choose that one, or run thinkback reembed"
        yield CheckResult("broken", "database", detail)


def _check_pulled_models(settings: Settings) -> Iterator[CheckResult]:
    from thinkback.llms.catalogue import list_installed_models, models_folder

    names = ", ".join(model.name for model in list_installed_models())
    yield CheckResult("ok" if names else "note", "models pulled", names or f"none in {models_folder()}")


def _skip_llm_check(settings: Settings) -> Iterator[CheckResult]:
    yield CheckResult("skipped", "language model", f"{configured.llm_spec(settings) or 'none'} (--offline)")


def _check_llm(settings: Settings) -> Iterator[CheckResult]:
    from thinkback.types import Message

    llm = configured.create_llm(settings)
    if llm is None:
        hint = (
            ": memory itself answers" if settings.llm == configured.NONE else "; try thinkback pull smollm2"
        )
        yield CheckResult("note", "language model", f"none{hint}")
        return
    started = time.perf_counter()
    reply = llm.complete([Message("user", "Say the word: hello")], max_tokens=16)
    said = " ".join(reply.text.split())
    yield CheckResult(
        "ok", "language model", f"{llm.name} said {said!r} in {time.perf_counter() - started:.1f} s"
    )


def _check_post_think(settings: Settings) -> Iterator[CheckResult]:
    name = configured.create_generator(settings).name
    where = "in the background of chat and of the library, by hand: thinkback think"
    yield CheckResult("ok", "post-thinking", f"by {name}, {where}")
