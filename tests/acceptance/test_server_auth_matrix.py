"""Every route of the whole server x {no key, a wrong one, a read-only one, another tenant's}."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.auth_matrix import Credentials, check_all_routes, list_routes
from tests.server_app import ServerApp, open_server_app

from thinkback.server import ids, proxy
from thinkback.server.app import create_api
from thinkback.server.mcp.server import mount_http
from thinkback.server.routes import health

CANARY = b"canary"
TOLD = 30  # so that ids in the middle are more than a stranger comes to in its own space


def routes(home: ServerApp) -> list[tuple[str, str]]:
    """Told by the rooms themselves, so that a route nobody thought of is among them."""
    services = home.services
    rooms = [
        *proxy.create_routes(services, proxy.choose_upstream(services), proxy.create_recall_client(services)),
        *health.create_routes(services),
        *mount_http(services)[0],
    ]
    assert not any(isinstance(route, Mount) for route in rooms)
    return [*list_routes(rooms), *list_routes(create_api(services).routes)]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[ServerApp]:
    with open_server_app(tmp_path) as home:
        yield home


def test_no_route_has_an_open_door(home: ServerApp) -> None:
    memory = home.services.memories.for_tenant("acme").for_user("default")
    for number in range(TOLD):
        memory.remember(f"I have a canary called Bird{number}.", "Another canary?")
    memory.post_think()
    thought = memory.thoughts()[-1]
    assert thought.id > TOLD // 2
    doors = Credentials(
        wrong="tb_000000000000_" + "x" * 43,
        reader=home.key("acme", "read"),
        stranger=home.keys["globex"],
        ids={
            "memory_id": ids.encode_id("default", thought.ref),
            "ref": str(thought.ref),
            "id": str(TOLD // 2),
            "turn": str(TOLD // 2),
        },
        canary=CANARY,
    )
    found = routes(home)
    seen = home.run(lambda: check_all_routes(home.app, found, doors))
    assert len(found) > 40
    assert seen["401"] == 2 * seen["stranger"]
    assert seen["403"] >= 10
    assert seen["404"] >= 5
    assert memory.stats().turns == TOLD, "nobody changed it from outside"


def test_the_app_serves_these_routes_and_no_others(home: ServerApp) -> None:
    inner = home.app._app.app  # type: ignore[attr-defined]
    assert isinstance(inner, Starlette)
    *own, last = inner.routes
    assert isinstance(last, Mount)
    served = {*list_routes(own), *list_routes(last.app.routes)}  # type: ignore[attr-defined]
    assert served == set(routes(home))
