"""The cache of maps."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from thinkback.server.views import projection


def test_map_of_one_space_does_not_wait_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    started, release = threading.Event(), threading.Event()

    def make(memory: Any, snapshot: Any) -> dict[str, Any]:
        if memory.user == "slow":
            started.set()
            release.wait(10)
        return {"user": memory.user}

    monkeypatch.setattr(projection, "make_map", make)
    cache, done = projection.MapCache(), threading.Event()

    def get(user: str) -> None:
        memory: Any = SimpleNamespace(tenant="acme", user=user)
        snapshot: Any = SimpleNamespace(stamp=1)
        assert cache.get(memory, snapshot) == {"user": user}
        if user == "quick":
            done.set()

    threads = [threading.Thread(target=get, args=(user,)) for user in ("slow", "quick")]
    threads[0].start()
    assert started.wait(5)
    threads[1].start()
    finished = done.wait(3)
    release.set()
    for thread in threads:
        thread.join()
    assert finished
