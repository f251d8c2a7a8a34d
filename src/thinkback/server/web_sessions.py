"""Sessions of the web page: a short-lived credential in a cookie, created with an API key.

A session is stored like an API key (only a digest, see `thinkback.api_keys`), so every server process can
verify it, `thinkback keys list` shows it, and it can be revoked. The credential is `KEY_ID.SESSION_KEY`. The
digest covers both parts: a session belongs to one key, and ends when that key is revoked or expires.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from starlette.requests import cookie_parser

from thinkback import api_keys
from thinkback.protocols import Store
from thinkback.types import ApiKey

COOKIE_NAME = "thinkback_session"
CSRF_HEADER = "X-Thinkback-Web"
SESSION_HOURS = 12
SESSION_LABEL = "web session of key "

_TOKEN = re.compile(r"([0-9a-f]{12})\.(tb_([0-9a-f]{12})_[A-Za-z0-9_-]{32,64})", re.ASCII)
_NO_DIGEST = api_keys.key_digest("")  # compared with when there is no such session


@dataclass(frozen=True, slots=True)
class WebSession:
    """A session and the API key it was created with."""

    id: str
    key: ApiKey
    expires_at: datetime | None


def start_session(store: Store, key: ApiKey, now: datetime) -> tuple[str, WebSession]:
    """Store a new session of a valid key and delete its former ones that have ended.

    Returns the credential, which is not stored, and the session.
    """
    label = f"{SESSION_LABEL}{key.id}"
    for former in store.keys(key.tenant):
        if former.label == label and not api_keys.is_active(former, now):
            store.delete_key(former.id)
    expires_at = now + timedelta(hours=SESSION_HOURS)
    if key.expires_at is not None:
        expires_at = min(expires_at, key.expires_at)
    text, session = api_keys.create_key(
        key.tenant,
        key.scopes,
        now,
        user=key.user,
        label=label,
        expires_at=expires_at,
    )
    token = f"{key.id}.{text}"
    store.add_key(replace(session, digest=api_keys.key_digest(token)))
    return token, WebSession(session.id, key, expires_at)


def verify_session(token: str, find: Callable[[str], ApiKey | None], now: datetime) -> WebSession | None:
    """The session of a credential; None if it is unknown, has ended, or its key is no longer valid."""
    match = _TOKEN.fullmatch(token)
    session = find(match[3]) if match else None
    digest = _NO_DIGEST if session is None else session.digest
    equal = hmac.compare_digest(api_keys.key_digest(token), digest)
    if match is None or session is None or not equal or not api_keys.is_active(session, now):
        return None
    key = find(match[1])
    if key is None or not api_keys.is_active(key, now):
        return None
    return WebSession(session.id, key, session.expires_at)


def end_session(store: Store, session: WebSession) -> None:
    """Delete a session."""
    store.delete_key(session.id)


def is_session(key: ApiKey) -> bool:
    """Whether a stored key is a session of the web page."""
    return key.label.startswith(SESSION_LABEL)


def read_session_cookie(headers: list[bytes]) -> str:
    """The session credential in the Cookie headers of a request; empty if there is none or several."""
    tokens: set[str] = set()
    for header in headers:
        for part in header.decode("latin-1").split(";"):
            cookie = cookie_parser(part)
            if COOKIE_NAME in cookie:
                tokens.add(cookie[COOKIE_NAME])
    return tokens.pop() if len(tokens) == 1 else ""
