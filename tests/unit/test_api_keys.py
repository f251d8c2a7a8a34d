"""Keys: made at random, known by a digest, and refused in the same time whatever is wrong with them."""

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


def test_a_key_opens_what_it_was_made_for() -> None:
    assert api_keys.verify_key(TEXT, find, NOW) == KEY
    assert (KEY.tenant, sorted(KEY.scopes)) == ("acme", ["read", "write"])
    assert (KEY.user, KEY.label) == ("ann", "laptop")


def test_nothing_that_is_kept_gives_the_secret_away() -> None:
    secret = TEXT.removeprefix(f"tb_{KEY.id}_")
    assert len(secret) >= 43  # 32 bytes in base64
    assert secret not in repr(KEY)
    assert secret.encode() not in KEY.digest
    assert KEY.digest.hex() not in repr(KEY)


def test_no_two_keys_are_alike() -> None:
    made = [api_keys.create_key("acme", ["read"], NOW) for _ in range(200)]
    assert len({text for text, _ in made}) == len({key.id for _, key in made}) == 200
    assert len({key.digest for _, key in made}) == 200


@pytest.mark.parametrize("at", range(3, len(TEXT), 7))
def test_one_wrong_character_is_a_wrong_key(at: int) -> None:
    other = "0" if TEXT[at] != "0" else "1"
    assert api_keys.verify_key(TEXT[:at] + other + TEXT[at + 1 :], find, NOW) is None


def test_a_secret_opens_nothing_under_another_id() -> None:
    text, key = api_keys.create_key("umbra", ["admin"], NOW)
    swapped = f"tb_{key.id}_{TEXT.split('_', 2)[2]}"
    assert api_keys.verify_key(swapped, {KEY.id: KEY, key.id: key}.get, NOW) is None
    assert api_keys.verify_key(text, {KEY.id: KEY, key.id: key}.get, NOW) == key


def test_what_is_revoked_or_expired_opens_nothing() -> None:
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
def test_garbage_is_no_key_and_no_error(garbage: Any) -> None:
    asked: list[str] = []

    def watched(id_: str) -> ApiKey | None:
        asked.append(id_)
        return find(id_)

    found = api_keys.verify_key(garbage, watched, NOW)
    assert found == (KEY if garbage == TEXT else None)
    assert all(len(id_) == 12 and id_.isascii() and id_.isalnum() for id_ in asked)  # fit for any database


@pytest.mark.parametrize(
    "text",
    [TEXT + "A" * 10_000_000, "tb_" * 1_000_000, "_" * 129, TEXT + "\n", TEXT + " "],
    ids=["longer", "prefixes", "underscores", "newline", "space"],
)
def test_length_and_what_follows_do_not_help(text: str) -> None:
    assert api_keys.verify_key(text, find, NOW) is None


@pytest.mark.parametrize(
    "text",
    [TEXT, TEXT[:-1] + "!", f"tb_{'0' * 12}_{TEXT[16:]}", "", "x" * 999, None],
    ids=["right", "wrong secret", "unknown id", "empty", "too long", "none"],
)
def test_every_answer_costs_one_comparison_of_digests(text: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_key_that_could_not_be_used_is_not_made(tenant: str, scopes: Any, more: Any) -> None:
    with pytest.raises(InvalidInput):
        api_keys.create_key(tenant, scopes, NOW, **more)


def test_the_librarys_own_memories_can_have_a_key() -> None:
    assert api_keys.create_key("", ["read"], NOW)[1].tenant == ""
