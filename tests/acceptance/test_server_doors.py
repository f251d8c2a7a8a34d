"""Every route of the whole server x {no key, a wrong one, a read-only one, another tenant's}."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.doors import Doors, every_route, prove_doors
from tests.house import House, house

from thinkback.apps.server import health, ids, proxy
from thinkback.apps.server.app import documented
from thinkback.apps.server.mcp.mounting import mount

CANARY = b"canary"
TOLD = 30  # so that ids in the middle are more than a stranger comes to in its own space


def routes(home: House) -> list[tuple[str, str]]:
    """Told by the rooms themselves, so that a route nobody thought of is among them."""
    services = home.services
    rooms = [
        *proxy.routes(services, proxy.chosen(services), proxy.clerk(services)),
        *health.routes(services),
        *mount(services)[0],
    ]
    assert not any(isinstance(route, Mount) for route in rooms)
    return [*every_route(rooms), *every_route(documented(services).routes)]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as home:
        yield home


def test_no_route_has_an_open_door(home: House) -> None:
    memory = home.services.memories.tenant("acme").for_user("default")
    for number in range(TOLD):
        memory.remember(f"I have a canary called Bird{number}.", "Another canary?")
    memory.post_think()
    thought = memory.thoughts()[-1]
    assert thought.id > TOLD // 2
    doors = Doors(
        wrong="tb_000000000000_" + "x" * 43,
        reader=home.key("acme", "read"),
        stranger=home.keys["globex"],
        ids={
            "memory_id": ids.named("default", thought.ref),
            "ref": str(thought.ref),
            "id": str(TOLD // 2),
            "turn": str(TOLD // 2),
        },
        canary=CANARY,
    )
    found = routes(home)
    seen = home.run(lambda: prove_doors(home.app, found, doors))
    assert len(found) > 40
    assert seen["401"] == 2 * seen["stranger"]
    assert seen["403"] >= 10
    assert seen["404"] >= 5
    assert memory.stats().turns == TOLD, "nobody changed it from outside"


def test_the_app_serves_these_routes_and_no_others(home: House) -> None:
    inner = home.app._app.rooms  # type: ignore[attr-defined]
    assert isinstance(inner, Starlette)
    *own, last = inner.routes
    assert isinstance(last, Mount)
    served = {*every_route(own), *every_route(last.app.routes)}  # type: ignore[attr-defined]
    assert served == set(routes(home))
