"""API keys of the server: creation and verification. Only a digest of a key is stored.

A key is `tb_<id>_<secret>`. The id is public and names the key in lists and logs. The secret is 32 random
bytes, so SHA-256 is enough: slow hashes (bcrypt, argon2) protect guessable passwords, and here they would
only let clients with wrong keys keep the server busy.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime

from thinkback.errors import InvalidInput
from thinkback.types import KEY_SCOPES, ApiKey
from thinkback.validation import checked_name, checked_tenant, checked_text

SECRET_BYTES = 32
MAX_KEY_CHARS = 128  # generated keys have 59
MAX_LABEL_CHARS = 256

_KEY_PATTERN = re.compile(r"tb_([0-9a-f]{12})_[A-Za-z0-9_-]{32,}", re.ASCII)


def create_key(
    tenant: str,
    scopes: Iterable[str],
    now: datetime,
    *,
    user: str | None = None,
    label: str = "",
    expires_at: datetime | None = None,
) -> tuple[str, ApiKey]:
    """Create a key. Returns its text, which is not stored anywhere, and the value to store.

    Raises:
        InvalidInput: unknown scopes, an expiry in the past, or a label that is too long.
    """
    wanted = set(scopes)
    if not wanted or not wanted <= set(KEY_SCOPES):
        raise InvalidInput(
            f"scope {', '.join(sorted(wanted)) or 'none'}: choose from {', '.join(KEY_SCOPES)}"
        )
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("the expiry time is in the past")
    if len(label) > MAX_LABEL_CHARS:
        raise InvalidInput(f"the label has {len(label)} characters, more than the limit of {MAX_LABEL_CHARS}")
    id_ = secrets.token_hex(6)
    text = f"tb_{id_}_{secrets.token_urlsafe(SECRET_BYTES)}"
    key = ApiKey(
        id=id_,
        tenant=checked_tenant(tenant),
        scopes=frozenset(scope for scope in KEY_SCOPES if scope in wanted),
        digest=key_digest(text),
        label=checked_text(label, "label").strip(),
        user=None if user is None else checked_name(user, "user"),
        created_at=now,
        expires_at=expires_at,
    )
    return text, key


def key_digest(text: str) -> bytes:
    """SHA-256 of the whole key, so that a secret is not valid with another id."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def parse_key_id(text: str) -> str:
    """The id, from a whole key (for example a leaked one) or from the id itself."""
    match = _KEY_PATTERN.fullmatch(text.strip()[: MAX_KEY_CHARS + 1])
    return match[1] if match else text.strip()


def looks_like_key(text: str) -> bool:
    """Whether a text has the form of a key, valid or not."""
    return _KEY_PATTERN.match(text.strip()) is not None


def is_active(key: ApiKey, now: datetime) -> bool:
    """Whether a key is neither revoked nor expired."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def is_stored_key_active(id_: str, find: Callable[[str], ApiKey | None], now: datetime) -> bool:
    """Whether the key with this id exists and is active."""
    key = find(id_)
    return key is not None and is_active(key, now)


def verify_key(text: object, find: Callable[[str], ApiKey | None], now: datetime) -> ApiKey | None:
    """The stored key for `text` if it is valid now, else None. Never raises.

    Takes the same time whether the id exists or not, so that ids cannot be probed.
    """
    candidate = text[: MAX_KEY_CHARS + 1] if isinstance(text, str) else ""
    match = _KEY_PATTERN.fullmatch(candidate) if len(candidate) <= MAX_KEY_CHARS else None
    key = find(match[1]) if match else None
    equal = hmac.compare_digest(key_digest(candidate), _DUMMY_DIGEST if key is None else key.digest)
    return key if key is not None and equal and is_active(key, now) else None


_DUMMY_DIGEST = key_digest("")  # compared with when there is no such key
