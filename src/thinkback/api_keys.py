"""The keys of a server: made here, shown once, and known afterwards by a digest alone.

A key is `tb_<id>_<secret>`. The id is public: it names the key in lists and logs. The secret is 32 random
bytes, so a digest by SHA-256 gives nothing away: slow hashes (bcrypt, argon2) protect what people can think
of and others can guess, and here they would only let anybody who sends wrong keys keep a server busy.
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
MAX_KEY_CHARS = 128  # characters of a key; ours have 59
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
    """A new key: the text to hand over, which is kept nowhere, and what a store keeps of it."""
    wanted = set(scopes)
    if not wanted or not wanted <= set(KEY_SCOPES):
        raise InvalidInput(f"scope {', '.join(sorted(wanted)) or 'none'}: choose of {', '.join(KEY_SCOPES)}")
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("a key that has expired already opens nothing: give a later time")
    if len(label) > MAX_LABEL_CHARS:
        raise InvalidInput(f"the label has {len(label)} characters; the most is {MAX_LABEL_CHARS}")
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
    """Of the whole key, so that a secret opens nothing under another id."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def parse_key_id(text: str) -> str:
    """The id of a key, given as the whole of it or as the id alone: what leaked can be named by itself."""
    form = _KEY_PATTERN.fullmatch(text.strip()[: MAX_KEY_CHARS + 1])
    return form[1] if form else text.strip()


def looks_like_key(text: str) -> bool:
    """Whether it has the form of one, whoever's it is."""
    return _KEY_PATTERN.match(text.strip()) is not None


def is_active(key: ApiKey, now: datetime) -> bool:
    """Whether it is neither revoked nor expired."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def verify_key(text: object, find: Callable[[str], ApiKey | None], now: datetime) -> ApiKey | None:
    """The key that `text` is, if it is a good one now. Whatever else comes in is no key, and no error.

    The comparison takes as long whether there is such an id or not, and wherever the first difference is.
    """
    said = text[: MAX_KEY_CHARS + 1] if isinstance(text, str) else ""
    form = _KEY_PATTERN.fullmatch(said) if len(said) <= MAX_KEY_CHARS else None
    key = find(form[1]) if form else None
    right = hmac.compare_digest(key_digest(said), _DUMMY_DIGEST if key is None else key.digest)
    return key if key is not None and right and is_active(key, now) else None


_DUMMY_DIGEST = key_digest("")  # not of the form of a key
