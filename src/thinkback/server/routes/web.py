"""`/v1/web`: the session of the web page, and the API keys of a tenant for its administrators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Request
from pydantic import Field
from starlette.responses import Response

from thinkback import __version__, api_keys
from thinkback.errors import InvalidInput, NotFound
from thinkback.memory import Memory
from thinkback.protocols import Store
from thinkback.schemas import to_json
from thinkback.server.errors import forbidden
from thinkback.server.identity import Principal, get_principal
from thinkback.server.middleware.auth import unauthorized
from thinkback.server.routes.dependencies import (
    JSON_MEDIA_TYPE,
    AdminAccess,
    encode_json,
    json_reply,
    make_offset_page,
    tagged_router,
)
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import After, DateTime, Limit, Name, RequestModel
from thinkback.server.routes.responses import Page, ResponseModel
from thinkback.server.services import Services
from thinkback.server.web_sessions import (
    COOKIE_NAME,
    SESSION_HOURS,
    SESSION_LABEL,
    WebSession,
    end_session,
    is_session,
    start_session,
    verify_session,
)
from thinkback.times import utc_now
from thinkback.types import KEY_SCOPES, ApiKey, KeyScope

router = tagged_router("web")

KeyId = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="The id of a key.")]


def _default_scopes() -> list[KeyScope]:
    return ["read", "write"]


class LoginRequest(RequestModel):
    key: Annotated[str, Field(min_length=1, max_length=api_keys.MAX_KEY_CHARS)]


class NewKeyRequest(RequestModel):
    label: Annotated[str, Field(max_length=api_keys.MAX_LABEL_CHARS)] = ""
    scopes: list[KeyScope] = Field(default_factory=_default_scopes, min_length=1, max_length=len(KEY_SCOPES))
    user: Name | None = None
    expires_at: DateTime | None = None


class SessionResponse(ResponseModel):
    """Who uses the page, and what this server can do. `open`: the server has no keys and needs none."""

    open: bool
    authenticated: bool
    tenant: str | None
    user: str | None
    scopes: list[KeyScope]
    key: str | None
    expires_at: datetime | None
    version: str
    upstream: bool
    model: str | None
    embedder: str
    laboratory: bool


class KeyResponse(ResponseModel):
    """A key without its secret. `session`: a session of the web page; `mine`: the key of this request."""

    id: str
    tenant: str
    user: str | None
    scopes: list[KeyScope]
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    session: bool
    mine: bool


class NewKeyResponse(ResponseModel):
    """A new key. `text` is the key itself: it is not stored, and shown only here."""

    key: KeyResponse
    text: str


@router.get("/session", response_model=SessionResponse)
async def get_session(request: Request) -> Response:
    """Who is logged in. Needs no key."""
    services: Services = request.state.services
    principal = get_principal(request.scope)
    token = request.scope["state"].get("session")

    def make() -> bytes:
        store = services.memories.root.store
        session = verify_session(token, store.key, utc_now()) if token else None
        return encode_json(_describe_session(services, principal, session))

    return Response(await services.pool.run(make), media_type=JSON_MEDIA_TYPE)


@router.post("/session", status_code=201, response_model=SessionResponse, responses=WRITE_ERRORS)
async def log_in(request: Request, body: LoginRequest) -> Response:
    """Log in with a key: sets a session cookie, which scripts cannot read."""
    services: Services = request.state.services

    def make() -> tuple[str, bytes]:
        store, now = services.memories.root.store, utc_now()
        key = api_keys.verify_key(body.key.strip(), store.key, now)
        if key is None:
            raise unauthorized("this key is unknown, expired or revoked")
        token, session = start_session(store, key, now)
        principal = Principal(key.tenant, key.scopes, key.id, key.user)
        return token, encode_json(_describe_session(services, principal, session))

    token, content = await services.pool.run(make)
    response = Response(content, 201, media_type=JSON_MEDIA_TYPE)
    _set_cookie(response, request, token, SESSION_HOURS * 3600)
    return response


@router.delete("/session", status_code=204, response_class=Response, responses=WRITE_ERRORS)
async def log_out(request: Request) -> Response:
    """End the session. The key it was made with stays valid."""
    services: Services = request.state.services
    token = request.scope["state"].get("session")
    if token:

        def end() -> None:
            store = services.memories.root.store
            session = verify_session(token, store.key, utc_now())
            if session is not None:
                end_session(store, session)

        await services.pool.run(end)
    response = Response(status_code=204)
    _set_cookie(response, request, "", 0)
    return response


@router.get("/keys", response_model=Page[KeyResponse])
async def list_keys(ctx: AdminAccess, after: After = 0, limit: Limit = 100) -> Response:
    """List the keys of the tenant, newest first, with revoked ones and without sessions. Needs `admin`."""

    def make(memory: Memory) -> dict[str, Any]:
        visible = _visible_keys(memory.store, ctx.principal)
        keys = [key for key in reversed(visible) if not is_session(key)]
        return make_offset_page(keys, after, limit, lambda key: _describe_key(key, ctx.principal))

    return await json_reply(ctx, make)


@router.post("/keys", status_code=201, response_model=NewKeyResponse, responses=WRITE_ERRORS)
async def create_key(ctx: AdminAccess, body: NewKeyRequest) -> Response:
    """Create a key of the tenant. It is shown only here. The first key closes a server without keys.

    It expires when the key that creates it does, or earlier.
    """
    principal = ctx.principal
    if not set(body.scopes) <= principal.scopes:
        raise forbidden("a key can only create keys with its own scopes")
    if principal.user is not None and body.user not in (None, principal.user):
        raise forbidden(f"this key can only act for the user {principal.user!r}")

    def make(memory: Memory) -> bytes:
        maker = memory.store.key(principal.key) if principal.key else None
        ends = [at for at in (body.expires_at, maker.expires_at if maker else None) if at is not None]
        text, key = api_keys.create_key(
            principal.tenant,
            body.scopes,
            utc_now(),
            user=principal.user or body.user,
            label=body.label,
            expires_at=min(ends, default=None),
        )
        if is_session(key):
            raise InvalidInput(f"a label must not begin with {SESSION_LABEL!r}: choose another")
        memory.store.add_key(key)
        return encode_json({"key": _describe_key(key, principal), "text": text})

    return Response(await ctx.run(make), 201, media_type=JSON_MEDIA_TYPE)


@router.delete("/keys/{key}", response_model=KeyResponse, responses=WRITE_ERRORS)
async def revoke_key(ctx: AdminAccess, key: KeyId) -> Response:
    """Revoke a key of the tenant, and with it the sessions that were made with it."""

    def make(memory: Memory) -> dict[str, Any]:
        if not any(known.id == key for known in _visible_keys(memory.store, ctx.principal)):
            raise NotFound(f"no key {key!r}")
        return _describe_key(memory.store.revoke_key(key, utc_now()), ctx.principal)

    return await json_reply(ctx, make)


def _visible_keys(store: Store, principal: Principal) -> list[ApiKey]:
    """The keys of the principal's tenant; of one bound to a user, those of this user."""
    keys = [key for key in store.keys(principal.tenant) if key.tenant == principal.tenant]
    return keys if principal.user is None else [key for key in keys if key.user == principal.user]


def _describe_key(key: ApiKey, principal: Principal) -> dict[str, Any]:
    return {**to_json(key), "session": is_session(key), "mine": key.id == principal.key}


def _describe_session(services: Services, principal: Principal, session: WebSession | None) -> dict[str, Any]:
    memory = services.memories.root
    authenticated = bool(principal.scopes)
    expires_at = session.expires_at if session else None
    return {
        "open": authenticated and not principal.key,
        "authenticated": authenticated,
        "tenant": principal.tenant if authenticated else None,
        "user": principal.user,
        "scopes": [scope for scope in KEY_SCOPES if scope in principal.scopes],
        "key": principal.key or None,
        "expires_at": None if expires_at is None else expires_at.isoformat(),
        "version": __version__,
        "upstream": bool(services.options.upstream),
        "model": None if memory.llm is None else memory.llm.name,
        "embedder": memory.embedder.name,
        "laboratory": bool(services.options.runs),
    }


def _set_cookie(response: Response, request: Request, token: str, max_age: int) -> None:
    origin = request.headers.get("origin", "")  # https if TLS ends at a proxy before this server
    response.set_cookie(
        COOKIE_NAME,
        token,
        max_age=max_age,
        path="/",
        secure=request.url.scheme == "https" or origin.startswith("https://"),
        httponly=True,
        samesite="strict",
    )
