"""The web page and its session: static files, login, CSRF protection, revocation, keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.auth_matrix import AppResponse, send_request
from tests.server_app import ServerApp, open_server_app

from thinkback import api_keys
from thinkback.server import web_page
from thinkback.server.middleware import auth
from thinkback.server.web_sessions import (
    COOKIE_NAME,
    SESSION_LABEL,
    read_session_cookie,
    start_session,
    verify_session,
)
from thinkback.times import utc_now
from thinkback.types import KEY_SCOPES

CSRF = (b"x-thinkback-web", b"1")
JSON = (b"content-type", b"application/json")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerApp]:
    monkeypatch.setattr(auth, "KEY_CACHE_SECONDS", 0.0)  # a revocation is seen by the next request
    with open_server_app(tmp_path) as server:
        yield server


def cookie(token: str) -> tuple[bytes, bytes]:
    return b"cookie", f"theme=dark; {COOKIE_NAME}={token}".encode()


async def log_in(server: ServerApp, key: str, *headers: tuple[bytes, bytes]) -> AppResponse:
    body = json.dumps({"key": key}).encode()
    return await server.request("POST", "/v1/web/session", body=body, headers=[JSON, CSRF, *headers])


def token_of(response: AppResponse) -> str:
    said = response.header("set-cookie") or ""
    return said.partition(";")[0].partition("=")[2]


def test_session_has_the_tenant_and_scopes_of_its_key(server: ServerApp) -> None:
    async def work() -> tuple[AppResponse, AppResponse, AppResponse, AppResponse]:
        before = await server.request("GET", "/v1/web/session")
        login = await log_in(server, server.key("acme", "read", user="ann"))
        with_cookie = [cookie(token_of(login))]
        return (
            before,
            login,
            await server.request("GET", "/v1/web/session", headers=with_cookie),
            await server.request("GET", "/v1/memory/stats?user=bob", headers=with_cookie),
        )

    before, login, after, other_user = server.run(work)
    assert (before.status, before.json()["authenticated"], before.json()["open"]) == (200, False, False)
    assert before.json()["tenant"] is None
    assert login.status == 201
    said = login.header("set-cookie") or ""
    assert "HttpOnly" in said
    assert "SameSite=strict" in said
    assert "Secure" not in said
    assert after.json()["tenant"] == "acme"
    assert after.json()["user"] == "ann"
    assert after.json()["scopes"] == ["read"]
    assert after.json()["expires_at"] > utc_now().isoformat()
    assert other_user.status == 403


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ([b'prefs={"a":1}; thinkback_session=abc'], "abc"),
        ([b"thinkback_session=abc; =; x y=z; ;;"], "abc"),
        ([b"thinkback_session=abc", b"thinkback_session=abc"], "abc"),
        ([b"thinkback_session=abc", b"thinkback_session=other"], ""),
        ([b"thinkback_session=abc; thinkback_session=other"], ""),
        ([b"other=abc"], ""),
    ],
)
def test_session_is_read_among_other_cookies(headers: list[bytes], token: str) -> None:
    assert read_session_cookie(headers) == token


def test_cookie_is_secure_behind_tls(server: ServerApp) -> None:
    host = b"127.0.0.1:8765"
    origin = (b"origin", b"https://" + host)
    response = server.run(lambda: log_in(server, server.keys["acme"], origin))
    assert response.status == 201
    assert "Secure" in (response.header("set-cookie") or "")


@pytest.mark.parametrize("key", ["", "x", "tb_000000000000_" + "x" * 43, "x" * 2000])
def test_wrong_key_starts_no_session(server: ServerApp, key: str) -> None:
    response = server.run(lambda: log_in(server, key))
    assert response.status in (401, 422)
    assert response.header("set-cookie") is None


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([CSRF], 201),
        ([], 403),
        ([CSRF, (b"origin", b"https://evil.example")], 403),
        ([CSRF, (b"origin", b"http://127.0.0.1:3000")], 403),
        ([CSRF, (b"sec-fetch-site", b"cross-site")], 401),
        ([CSRF, (b"sec-fetch-site", b"same-site")], 401),
        ([CSRF, (b"sec-fetch-site", b"same-origin")], 201),
    ],
)
def test_unsafe_request_with_cookie_needs_the_page(
    server: ServerApp, headers: list[tuple[bytes, bytes]], status: int
) -> None:
    async def work() -> AppResponse:
        token = token_of(await log_in(server, server.keys["acme"]))
        said = b'{"query": "I moved to Lyon."}'
        return await server.request(
            "POST", "/v1/memory/turns", body=said, headers=[JSON, cookie(token), *headers]
        )

    assert server.run(work).status == status


def test_allowed_cross_origin_page_cannot_use_the_cookie(tmp_path: Path) -> None:
    with open_server_app(tmp_path, allow_origins=("https://chat.example",)) as server:

        async def work() -> AppResponse:
            token = token_of(await log_in(server, server.keys["acme"]))
            headers = [cookie(token), (b"origin", b"https://chat.example")]
            return await server.request("GET", "/v1/memory/stats", headers=headers)

        assert server.run(work).status == 401


def test_session_ends_with_logout_and_with_its_key(server: ServerApp) -> None:
    async def status(token: str) -> int:
        return (await server.request("GET", "/v1/memory/stats", headers=[cookie(token)])).status

    async def work() -> list[int]:
        first = token_of(await log_in(server, server.keys["acme"]))
        second = token_of(await log_in(server, server.keys["acme"]))
        seen = [await status(first), await status(second)]
        ended = await server.request("DELETE", "/v1/web/session", headers=[cookie(first), CSRF])
        assert ended.status == 204
        assert "Max-Age=0" in (ended.header("set-cookie") or "")
        seen += [await status(first), await status(second)]
        id_ = server.keys["acme"].split("_")[1]
        admin = server.key("acme")
        revoked = await server.request("DELETE", f"/v1/web/keys/{id_}", key=admin)
        assert revoked.json()["revoked_at"] is not None
        return [*seen, await status(second)]

    assert server.run(work) == [200, 200, 401, 200, 401]


def test_session_is_valid_on_every_server_of_the_database(tmp_path: Path) -> None:
    with open_server_app(tmp_path) as first, open_server_app(tmp_path) as second:
        token = token_of(first.run(lambda: log_in(first, first.keys["acme"])))

        async def work() -> list[int]:
            with_cookie = [cookie(token), CSRF]
            return [
                (await second.request("GET", "/v1/memory/stats", headers=with_cookie)).status,
                (await second.request("DELETE", "/v1/web/session", headers=with_cookie)).status,
            ]

        assert second.run(work) == [200, 204]
        store = first.services.memories.root.store
        assert verify_session(token, store.key, utc_now()) is None


def test_session_expires_and_is_stored_as_digest_only(server: ServerApp) -> None:
    store, now = server.services.memories.root.store, utc_now()
    key = store.keys("acme")[0]
    token, session = start_session(store, key, now)
    assert verify_session(token, store.key, now) == session
    assert verify_session(token, store.key, now + timedelta(hours=12)) is None
    other = store.keys("globex")[0]
    assert verify_session(f"{other.id}.{token.partition('.')[2]}", store.key, now) is None
    assert verify_session(token.partition(".")[2], store.key, now) is None
    database = b"".join(path.read_bytes() for path in Path(store._db.path).parent.iterdir())  # type: ignore[attr-defined]
    assert token.rpartition("_")[2].encode() not in database


def test_session_credential_is_no_api_key(server: ServerApp) -> None:
    async def work() -> list[int]:
        token = token_of(await log_in(server, server.keys["acme"]))
        tried = [token, token.partition(".")[2]]
        return [(await server.request("GET", "/v1/memory/stats", key=key)).status for key in tried]

    assert server.run(work) == [401, 401]


def test_keys_belong_to_their_tenant(server: ServerApp) -> None:
    async def ask(method: str, path: str, tenant: str, body: Any = None) -> AppResponse:
        said = {"body": json.dumps(body).encode(), "headers": [JSON]} if body is not None else {}
        return await server.request(method, path, key=server.keys[tenant], **said)

    async def work() -> None:
        created = await ask("POST", "/v1/web/keys", "acme", {"label": "<b>x</b>", "scopes": ["read"]})
        assert created.status == 201
        text, id_ = created.json()["text"], created.json()["key"]["id"]
        assert (await server.request("GET", "/v1/memory/stats", key=text)).status == 200
        assert (await server.request("GET", "/v1/web/keys", key=text)).status == 403
        listed = (await ask("GET", "/v1/web/keys", "acme")).json()["items"]
        assert [key["label"] for key in listed] == ["<b>x</b>", ""]
        assert [key["mine"] for key in listed] == [False, True]
        assert id_ not in (await ask("GET", "/v1/web/keys", "globex")).body.decode()
        assert (await ask("DELETE", f"/v1/web/keys/{id_}", "globex")).status == 404
        assert (await ask("DELETE", f"/v1/web/keys/{id_}", "acme")).status == 200
        assert (await server.request("GET", "/v1/memory/stats", key=text)).status == 401

    server.run(work)


def test_key_cannot_create_a_stronger_key(server: ServerApp) -> None:
    admin = server.key("acme", "read", "admin", user="ann")

    async def create(**body: Any) -> AppResponse:
        said = json.dumps(body).encode()
        return await server.request("POST", "/v1/web/keys", key=admin, body=said, headers=[JSON])

    async def work() -> list[int]:
        seen = [(await create(scopes=["write"])).status, (await create(scopes=["read"], user="bob")).status]
        made = await create(scopes=["read"])
        assert made.json()["key"]["user"] == "ann"
        return [*seen, made.status]

    assert server.run(work) == [403, 403, 201]


def test_sessions_do_not_hide_keys(server: ServerApp) -> None:
    store, now = server.services.memories.root.store, utc_now()
    key = store.keys("acme")[0]
    _, expired = start_session(store, key, now - timedelta(days=2))
    _, running = start_session(store, key, now - timedelta(hours=1))

    async def work() -> tuple[AppResponse, list[AppResponse]]:
        await log_in(server, server.keys["acme"])
        listed = await server.request("GET", "/v1/web/keys?limit=2", key=server.keys["acme"])
        labels = [f"{SESSION_LABEL}{key.id}", f"  {SESSION_LABEL}x"]
        return listed, [
            await server.request(
                "POST",
                "/v1/web/keys",
                key=server.keys["acme"],
                body=json.dumps({"label": label}).encode(),
                headers=[JSON],
            )
            for label in labels
        ]

    listed, refused = server.run(work)
    assert [each["id"] for each in listed.json()["items"]] == [key.id]
    assert [response.status for response in refused] == [422, 422]
    stored = {each.id for each in store.keys("acme")}
    assert expired.id not in stored
    assert {running.id, key.id} <= stored


def test_key_does_not_outlive_its_maker(server: ServerApp) -> None:
    store, now = server.services.memories.root.store, utc_now()
    end = now + timedelta(hours=1)
    maker, key = api_keys.create_key("acme", KEY_SCOPES, now, expires_at=end)
    store.add_key(key)

    async def expiry(**body: str) -> str:
        said = json.dumps(body).encode()
        made = await server.request("POST", "/v1/web/keys", key=maker, body=said, headers=[JSON])
        return str(made.json()["key"]["expires_at"])

    async def work() -> list[str]:
        wanted = [end + timedelta(days=1), end - timedelta(minutes=30)]
        return [await expiry(), *[await expiry(expires_at=at.isoformat()) for at in wanted]]

    found = [datetime.fromisoformat(text) for text in server.run(work)]
    assert found == [end, end, end - timedelta(minutes=30)]


# --- the page ---


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "assets" / "index-a1B2c3D4.js").write_text("export {}")
    (folder / "assets" / ".hidden").write_text("secret")
    (folder / "assets" / "notes.txt").write_text("secret")
    (folder / "secret.js").write_text("secret")
    monkeypatch.setattr(web_page, "page_folder", lambda: folder)
    return folder


def test_page_is_served_with_strict_headers(tmp_path: Path, page: Path) -> None:
    with open_server_app(tmp_path) as server:

        async def work() -> list[AppResponse]:
            return [await server.request("GET", path) for path in ("/", "/assets/index-a1B2c3D4.js")]

        index, script = server.run(work)
    assert index.status == 200
    assert b"<title>page</title>" in index.body
    assert index.header("cache-control") == "no-store"
    assert script.header("cache-control") == web_page.IMMUTABLE
    assert script.header("content-type") == "text/javascript; charset=utf-8"
    for response in (index, script):
        policy = response.header("content-security-policy") or ""
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.header("x-content-type-options") == "nosniff"
        assert response.header("x-frame-options") == "DENY"
        assert response.header("referrer-policy") == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/notes.txt",
        "/assets/.hidden",
        "/assets/../secret.js",
        "/assets/..%2fsecret.js",
        "/assets/nothing.js",
        "/favicon.svg",
    ],
)
def test_other_files_are_not_served(tmp_path: Path, page: Path, path: str) -> None:
    with open_server_app(tmp_path) as server:
        response = server.run(lambda: send_request(server.app, "GET", path))
    assert response.status in (401, 404)
    assert b"secret" not in response.body


def test_missing_build_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_page, "page_folder", lambda: tmp_path / "nothing")
    with open_server_app(tmp_path) as server:
        response = server.run(lambda: send_request(server.app, "GET", "/"))
    assert response.status == 503
    assert b"make web" in response.body
