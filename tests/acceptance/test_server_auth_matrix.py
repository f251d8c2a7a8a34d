"""Access rules of every route: without a key, with keys of too few scopes, and with another tenant's key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.auth_matrix import Credentials, check_all_routes, list_routes
from tests.server_app import ServerApp, open_server_app

from thinkback.server import identity, proxy, web_page
from thinkback.server.app import create_api
from thinkback.server.mcp.server import mount_http
from thinkback.server.routes import health

CANARY = b"canary"
TURNS = 30  # more than another tenant has, so that its ids do not exist there


def routes(server: ServerApp) -> list[tuple[str, str]]:
    """All routes, collected from the application itself so that none is forgotten."""
    services = server.services
    routes = [
        *proxy.create_routes(services, proxy.choose_upstream(services), proxy.create_recall_client(services)),
        *health.create_routes(services),
        *web_page.create_routes(),
        *mount_http(services)[0],
    ]
    assert not any(isinstance(route, Mount) for route in routes)
    return [*list_routes(routes), *list_routes(create_api(services).routes)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerApp]:
    with open_server_app(tmp_path) as server:
        yield server


def test_every_route_enforces_its_access_rule(server: ServerApp) -> None:
    memory = server.services.memories.for_tenant("acme").for_user("default")
    for number in range(TURNS):
        memory.remember(f"I have a canary called Bird{number}.", "Another canary?")
    memory.post_think()
    thought = memory.thoughts()[-1]
    assert thought.id > TURNS // 2
    patient = server.services.memories.for_tenant("acme").for_user("patient:p1")
    for number in range(4 * TURNS):
        patient.remember(f"I have a canary called Pip{number}.", "A canary?")
    patient.post_think()
    unused = (
        {
            "memory_id": identity.encode_id("patient:p1", known.ref),
            "ref": str(known.ref),
            "id": str(known.id),
            "turn": str(known.last_turn),
            "key": "0123456789ab",
        }
        for known in patient.thoughts()
    )
    credentials = Credentials(
        wrong="tb_000000000000_" + "x" * 43,
        reader=server.key("acme", "read"),
        writer=server.key("acme", "write", user="patient:p1"),
        stranger=server.keys["globex"],
        ids={
            "memory_id": identity.encode_id("default", thought.ref),
            "ref": str(thought.ref),
            "id": str(TURNS // 2),
            "turn": str(TURNS // 2),
            "key": "0123456789ab",
        },
        writer_ids=unused,
        canary=CANARY,
    )
    found = routes(server)
    seen = server.run(lambda: check_all_routes(server.app, found, credentials))
    assert len(found) > 40
    assert seen["401"] == 2 * seen["stranger"]
    assert seen["403"] >= 10
    assert seen["404"] >= 5
    assert memory.stats().turns == TURNS, "nobody changed it from outside"


def test_app_serves_only_the_listed_routes(server: ServerApp) -> None:
    inner = server.app._app.app  # type: ignore[attr-defined]
    assert isinstance(inner, Starlette)
    *own, last = inner.routes
    assert isinstance(last, Mount)
    served = {*list_routes(own), *list_routes(last.app.routes)}  # type: ignore[attr-defined]
    assert served == set(routes(server))
