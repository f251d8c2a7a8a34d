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
from thinkback import settings as configured
from thinkback.errors import ThinkbackError
from thinkback.settings import Settings

State = Literal["ok", "note", "broken", "skipped"]
HUB = "HF_TOKEN"


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    what: str
    detail: str


def shown(settings: Settings, name: str) -> str:
    """A setting as it may be printed: a URL without a password or key in it."""
    value = str(getattr(settings, name))
    if name != "base_url":
        return value
    parts = urlsplit(value)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def examine(settings: Settings, *, offline: bool = False) -> list[Finding]:
    """Every check; one that raises is broken, with the error as its detail."""
    language = _language_model if not offline else _language_model_unasked
    checks: tuple[tuple[str, Callable[[Settings], Iterator[Finding]]], ...] = (
        ("versions", _versions),
        ("file", _file),
        ("secrets", _secrets),
        ("embedder", _embedder),
        ("database", _database),
        ("models", _models),
        ("language model", language),
        ("post-thinking", _thinking),
    )
    found: list[Finding] = []
    for what, check in checks:
        try:
            found += check(settings)
        except (ThinkbackError, OSError) as error:
            found.append(Finding("broken", what, str(error)))
    return found


def _versions(settings: Settings) -> Iterator[Finding]:
    versions = (("thinkback", __version__), ("python", platform.python_version()))
    for what, version in (*versions, ("sqlite", sqlite3.sqlite_version)):
        yield Finding("ok", what, version)


def _file(settings: Settings) -> Iterator[Finding]:
    path = configured.config_path()
    yield Finding("ok" if path.exists() else "note", "file", f"{path}{'' if path.exists() else ' (none)'}")


def _secrets(settings: Settings) -> Iterator[Finding]:
    found = {configured.KEY: configured.given(configured.KEY).text, HUB: os.environ.get(HUB)}
    for name, secret in found.items():
        yield Finding("ok" if secret else "note", name, "set" if secret else "not set")


def _embedder(settings: Settings) -> Iterator[Finding]:
    started = time.perf_counter()
    embedder = configured.embedder(settings)
    vector = embedder.embed(["Does it embed?"])[0]
    spent = (time.perf_counter() - started) * 1000
    yield Finding("ok", "embedder", f"{embedder.name}: {len(vector)} dimensions, ready in {spent:.0f} ms")


def _database(settings: Settings) -> Iterator[Finding]:
    if "://" not in settings.db and not Path(settings.db).exists():
        yield Finding("note", "database", f"{settings.db} is not there yet: the first turn makes it")
        return
    store = configured.open_store(settings)
    try:
        problems = store.check()
        for problem in problems:
            yield Finding("broken", "database", problem)
        if not problems:
            yield Finding("ok", "database", "opens, its schema is known, its integrity check is clean")
        yield from _written_by(settings, store.embedder())
        mine = store.of_tenant(settings.tenant)
        for user in mine.users():
            stats = mine.stats(user)
            yield Finding("ok", f"user {user}", f"{stats.turns} turns, {stats.thoughts} thoughts")
            if stats.pending:
                yield Finding("note", f"user {user}", f"{stats.pending} to be thought over: thinkback think")
            for failure in mine.failures(user):
                yield Finding("note", f"user {user}", f"turn:{failure.turn} was given up: {failure.reason}")
    finally:
        store.close()


def _written_by(settings: Settings, wrote: str | None) -> Iterator[Finding]:
    name = configured.embedder(settings).name
    if wrote not in (None, name):
        detail = (
            f"written with the embedder {wrote!r}, not {name!r}: choose that one, or run thinkback reembed"
        )
        yield Finding("broken", "database", detail)


def _models(settings: Settings) -> Iterator[Finding]:
    from thinkback.models.folder import installed, models_folder

    names = ", ".join(model.name for model in installed())
    yield Finding("ok" if names else "note", "models pulled", names or f"none in {models_folder()}")


def _language_model_unasked(settings: Settings) -> Iterator[Finding]:
    yield Finding("skipped", "language model", f"{configured.llm_spec(settings) or 'none'} (--offline)")


def _language_model(settings: Settings) -> Iterator[Finding]:
    from thinkback.types import Message

    llm = configured.llm(settings)
    if llm is None:
        hint = (
            ": memory itself answers" if settings.llm == configured.NONE else "; try thinkback pull smollm2"
        )
        yield Finding("note", "language model", f"none{hint}")
        return
    started = time.perf_counter()
    reply = llm.complete([Message("user", "Say the word: hello")], max_tokens=16)
    said = " ".join(reply.text.split())
    yield Finding(
        "ok", "language model", f"{llm.name} said {said!r} in {time.perf_counter() - started:.1f} s"
    )


def _thinking(settings: Settings) -> Iterator[Finding]:
    name = configured.generator(settings).name
    where = "in the background of chat and of the library, by hand: thinkback think"
    yield Finding("ok", "post-thinking", f"by {name}, {where}")
