"""API keys: creation, verification in constant time, rejection of invalid keys."""

from __future__ import annotations

import hmac
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import NOW, minute

from thinkback import api_keys
from thinkback.errors import InvalidInput
from thinkback.types import ApiKey

TEXT, KEY = api_keys.create_key("acme", ["read", "write"], NOW, user="ann", label="laptop")


def find(id_: str) -> ApiKey | None:
    return KEY if id_ == KEY.id else None


def test_new_key_is_valid() -> None:
    assert api_keys.verify_key(TEXT, find, NOW) == KEY
    assert (KEY.tenant, sorted(KEY.scopes)) == ("acme", ["read", "write"])
    assert (KEY.user, KEY.label) == ("ann", "laptop")


def test_stored_key_does_not_contain_the_secret() -> None:
    secret = TEXT.removeprefix(f"tb_{KEY.id}_")
    assert len(secret) >= 43  # 32 bytes in base64
    assert secret not in repr(KEY)
    assert secret.encode() not in KEY.digest
    assert KEY.digest.hex() not in repr(KEY)


def test_keys_are_unique() -> None:
    made = [api_keys.create_key("acme", ["read"], NOW) for _ in range(200)]
    assert len({text for text, _ in made}) == len({key.id for _, key in made}) == 200
    assert len({key.digest for _, key in made}) == 200


@pytest.mark.parametrize("at", range(3, len(TEXT), 7))
def test_one_wrong_character_makes_a_key_invalid(at: int) -> None:
    other = "0" if TEXT[at] != "0" else "1"
    assert api_keys.verify_key(TEXT[:at] + other + TEXT[at + 1 :], find, NOW) is None


def test_secret_is_invalid_with_another_id() -> None:
    text, key = api_keys.create_key("umbra", ["admin"], NOW)
    swapped = f"tb_{key.id}_{TEXT.split('_', 2)[2]}"
    assert api_keys.verify_key(swapped, {KEY.id: KEY, key.id: key}.get, NOW) is None
    assert api_keys.verify_key(text, {KEY.id: KEY, key.id: key}.get, NOW) == key


def test_revoked_and_expired_keys_are_invalid() -> None:
    revoked = replace(KEY, revoked_at=NOW)
    assert api_keys.verify_key(TEXT, lambda _: revoked, NOW) is None
    passing = replace(KEY, expires_at=minute(10))
    assert api_keys.verify_key(TEXT, lambda _: passing, minute(9)) == passing
    assert api_keys.verify_key(TEXT, lambda _: passing, minute(10)) is None


PIECES = ("tb", "_", KEY.id, TEXT[16:], "Bearer ", " ", "\n", "\0", "\ud800", "é", "😀", "0" * 12, "%00", "'")


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(PIECES)).map("".join), st.binary(), st.integers(), st.none()
    )
)
def test_garbage_is_invalid_without_an_error(garbage: Any) -> None:
    asked: list[str] = []

    def watched(id_: str) -> ApiKey | None:
        asked.append(id_)
        return find(id_)

    found = api_keys.verify_key(garbage, watched, NOW)
    assert found == (KEY if garbage == TEXT else None)
    assert all(len(id_) == 12 and id_.isascii() and id_.isalnum() for id_ in asked)  # safe as a database key


@pytest.mark.parametrize(
    "text",
    [TEXT + "A" * 10_000_000, "tb_" * 1_000_000, "_" * 129, TEXT + "\n", TEXT + " "],
    ids=["longer", "prefixes", "underscores", "newline", "space"],
)
def test_too_long_or_extended_keys_are_invalid(text: str) -> None:
    assert api_keys.verify_key(text, find, NOW) is None


@pytest.mark.parametrize(
    "text",
    [TEXT, TEXT[:-1] + "!", f"tb_{'0' * 12}_{TEXT[16:]}", "", "x" * 999, None],
    ids=["right", "wrong secret", "unknown id", "empty", "too long", "none"],
)
def test_verification_always_compares_one_digest(text: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[int, int]] = []
    real = hmac.compare_digest

    def counted(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", counted)
    api_keys.verify_key(text, find, NOW)
    assert compared == [(32, 32)]


@pytest.mark.parametrize(
    ("tenant", "scopes", "more"),
    [
        ("acme", [], {}),
        ("acme", ["root"], {}),
        ("  ", ["read"], {}),
        ("a\nb", ["read"], {}),
        ("acme", ["read"], {"user": ""}),
        ("acme", ["read"], {"label": "x" * 257}),
        ("acme", ["read"], {"expires_at": NOW}),
        ("acme", ["read"], {"expires_at": NOW - timedelta(days=1)}),
    ],
)
def test_invalid_key_options_are_rejected(tenant: str, scopes: Any, more: Any) -> None:
    with pytest.raises(InvalidInput):
        api_keys.create_key(tenant, scopes, NOW, **more)


def test_key_for_the_empty_tenant() -> None:
    assert api_keys.create_key("", ["read"], NOW)[1].tenant == ""
