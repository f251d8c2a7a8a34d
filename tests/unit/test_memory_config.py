"""`MemoryConfig`, the constructor of `Memory`, and the method aliases."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from thinkback import AsyncMemory, Memory, MemoryConfig
from thinkback.embedders.hashing import HashingEmbedder
from thinkback.errors import InvalidInput
from thinkback.memory_config import MemoryOptions
from thinkback.presets import HYBRID
from thinkback.storage import connect

CONFIG = MemoryConfig(embedder="hashing", background=False)


def test_config_is_frozen_and_has_the_same_options_as_the_keyword_arguments() -> None:
    with pytest.raises(FrozenInstanceError):
        CONFIG.user = "ann"  # type: ignore[misc]
    options = get_type_hints(MemoryOptions)
    assert {field.name for field in fields(MemoryConfig)} == options.keys()
    assert get_type_hints(MemoryConfig) == options


@pytest.mark.parametrize("make", [Memory, Memory.open])
def test_memory_opens_a_file_with_config_and_keyword_arguments(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with make(path, CONFIG, user="ann") as memory:
        assert memory.user == "ann"
        memory.remember("I live in Lyon.")
    with make(str(path), replace(CONFIG, user="ann")) as memory:
        assert [turn.query for turn in memory.turns()] == ["I live in Lyon."]
    with make(path, embedder="hashing", background=False) as memory:
        assert memory.user == "default"
        assert memory.turns() == []


def test_memory_open_accepts_url_as_a_keyword(tmp_path: Path) -> None:
    with Memory.open(url=tmp_path / "memory.db", embedder="hashing", background=False) as memory:
        assert memory.turns() == []


def test_keyword_arguments_override_the_config() -> None:
    with Memory(":memory:", replace(CONFIG, user="ann"), user="bob", preset=HYBRID) as memory:
        assert memory.user == "bob"


def test_memory_uses_an_open_store_and_closes_it(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    for tenant in ("", "acme"):
        store = connect(path)
        embedder = HashingEmbedder()
        with Memory(store, embedder=embedder, background=False, tenant=tenant) as memory:
            assert memory.tenant == tenant
            memory.remember(f"said to {tenant!r}")
            assert [turn.query for turn in memory.turns()] == [f"said to {tenant!r}"]
        with pytest.raises(Exception, match="closed"):
            store.users()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"user": " "}, "user="),
        ({"tenant": "a\nb"}, "tenant="),
        ({"preset": "best"}, "no preset 'best'"),
        ({"embedder": "nothing"}, "nothing"),
        ({"think": "hard"}, "think='hard'"),
        ({"think": "llm"}, "needs a language model"),
    ],
)
def test_invalid_options_are_rejected_and_leave_no_database_open(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    with pytest.raises(InvalidInput, match=message):
        Memory(path, CONFIG, **options)
    with Memory(path, CONFIG) as memory:
        assert memory.turns() == []


def test_unknown_options_are_rejected() -> None:
    with pytest.raises(TypeError, match="colour"):
        Memory(":memory:", CONFIG, colour="red")  # type: ignore[call-arg]


def test_aliases_of_the_main_methods() -> None:
    with Memory(":memory:", CONFIG) as memory:
        turn = memory.add("I live in Lyon.", "Nice.", key="k")
        assert turn == memory.remember("I live in Lyon.", "Nice.", key="k")
        memory.post_think()
        found = memory.search("Where do I live?", k=3)
        assert [item.ref for item in found] == [item.ref for item in memory.recall("Where do I live?", k=3)]
        assert memory.ask("Where do I live?").text == memory.synthesise("Where do I live?").text
    for name, alias in {"remember": "add", "recall": "search", "synthesise": "ask"}.items():
        assert getattr(Memory, alias) is getattr(Memory, name)
        assert getattr(AsyncMemory, alias) is getattr(AsyncMemory, name)
