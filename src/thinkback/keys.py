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

from thinkback.checks import checked_name, checked_tenant, checked_text
from thinkback.errors import InvalidInput
from thinkback.types import SCOPES, Key

SECRET_BYTES = 32
LONGEST = 128  # characters of a key; ours have 59
MAX_LABEL = 256

_FORM = re.compile(r"tb_([0-9a-f]{12})_[A-Za-z0-9_-]{32,}", re.ASCII)


def make(
    tenant: str,
    scopes: Iterable[str],
    now: datetime,
    *,
    user: str | None = None,
    label: str = "",
    expires_at: datetime | None = None,
) -> tuple[str, Key]:
    """A new key: the text to hand over, which is kept nowhere, and what a store keeps of it."""
    wanted = set(scopes)
    if not wanted or not wanted <= set(SCOPES):
        raise InvalidInput(f"scope {', '.join(sorted(wanted)) or 'none'}: choose of {', '.join(SCOPES)}")
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("a key that has expired already opens nothing: give a later time")
    if len(label) > MAX_LABEL:
        raise InvalidInput(f"the label has {len(label)} characters; the most is {MAX_LABEL}")
    id_ = secrets.token_hex(6)
    text = f"tb_{id_}_{secrets.token_urlsafe(SECRET_BYTES)}"
    key = Key(
        id=id_,
        tenant=checked_tenant(tenant),
        scopes=frozenset(scope for scope in SCOPES if scope in wanted),
        digest=digest(text),
        label=checked_text(label, "label").strip(),
        user=None if user is None else checked_name(user, "user"),
        created_at=now,
        expires_at=expires_at,
    )
    return text, key


def digest(text: str) -> bytes:
    """Of the whole key, so that a secret opens nothing under another id."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def id_of(text: str) -> str:
    """The id of a key, given as the whole of it or as the id alone: what leaked can be named by itself."""
    form = _FORM.fullmatch(text.strip()[: LONGEST + 1])
    return form[1] if form else text.strip()


def is_key(text: str) -> bool:
    """Whether it has the form of one, whoever's it is."""
    return _FORM.match(text.strip()) is not None


def open_now(key: Key, now: datetime) -> bool:
    """Whether it is neither revoked nor expired."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def verify(text: object, find: Callable[[str], Key | None], now: datetime) -> Key | None:
    """The key that `text` is, if it is a good one now. Whatever else comes in is no key, and no error.

    The comparison takes as long whether there is such an id or not, and wherever the first difference is.
    """
    said = text[: LONGEST + 1] if isinstance(text, str) else ""
    form = _FORM.fullmatch(said) if len(said) <= LONGEST else None
    key = find(form[1]) if form else None
    right = hmac.compare_digest(digest(said), _NOBODYS if key is None else key.digest)
    return key if key is not None and right and open_now(key, now) else None


_NOBODYS = digest("")  # not of the form of a key
