"""`keys`, --tenant, and erasing a tenant."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import run

from thinkback.api_keys import verify_key
from thinkback.storage import connect
from thinkback.times import utc_now


def texts(*words: str) -> list[str]:
    return [turn["query"] for turn in run("turns", "--json", *words).ok().json]


def test_key_is_shown_once_and_has_its_scopes(home: Path) -> None:
    made = run(
        "keys", "create", "--tenant", "acme", "--user", "ann", "--scope", "read", "--label", "laptop"
    ).ok()
    text = made.out.strip()
    assert "not stored" in made.err
    store = connect(str(home / "memory.db"))
    try:
        key = verify_key(text, store.key, utc_now())
    finally:
        store.close()
    assert key is not None
    assert (key.tenant, key.user, sorted(key.scopes), key.label) == ("acme", "ann", ["read"], "laptop")
    secret = text.split("_", 2)[2]
    shown = run("keys", "list").ok().out + run("keys", "list", "--json").ok().out
    assert key.id in shown
    assert secret not in shown
    assert key.digest.hex() not in shown
    assert all(secret.encode() not in file.read_bytes() for file in home.iterdir())


def test_key_defaults_to_read_and_write_without_tenant() -> None:
    made = run("keys", "create", "--json").ok().json
    assert (made["tenant"], made["user"], made["expires_at"]) == ("", None, None)
    assert made["scopes"] == ["read", "write"]


def test_key_can_expire() -> None:
    made = run("keys", "create", "--expires", "30", "--scope", "read", "--scope", "admin", "--json").ok().json
    lasts = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert lasts == timedelta(days=30)
    assert made["scopes"] == ["read", "admin"]
    run("keys", "create", "--expires", "0").failed(2)


def test_keys_are_listed_and_revoked_by_id_or_key() -> None:
    first = run("keys", "create", "--tenant", "acme", "--json").ok().json
    second = run("keys", "create", "--tenant", "umbra", "--json").ok().json
    assert [key["id"] for key in run("keys", "list", "--json").ok().json] == [first["id"], second["id"]]
    only = run("keys", "list", "--tenant", "umbra", "--json").ok().json
    assert [key["id"] for key in only] == [second["id"]]
    assert first["id"] in run("keys", "revoke", first["id"]).ok().out
    assert run("keys", "revoke", second["key"], "--json").ok().json["state"] == "revoked"
    assert [key["state"] for key in run("keys", "list", "--json").ok().json] == ["revoked", "revoked"]
    run("keys", "revoke", "nobody").failed()


@pytest.mark.parametrize("scope", ["", "root", "READ"])
def test_unknown_scope_is_rejected(scope: str) -> None:
    assert "read, write, admin" in run("keys", "create", "--scope", scope).failed().err
    assert run("keys", "list", "--json").ok().json == []


def test_tenant_option_selects_the_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "I live in Lyon.", "--user", "ann").ok()
    run("remember", "I live in Oslo.", "--user", "ann", "--tenant", "acme").ok()
    found = run("thoughts", "--tenant", "acme", "--user", "ann", "--json").ok().json
    assert [thought["sentence"] for thought in found] == ["The user lives in Oslo."]
    assert "Oslo" in run("recall", "Where do I live?", "--tenant", "acme", "--user", "ann").ok().out
    assert texts("--user", "ann") == ["I live in Lyon."]
    assert texts("--user", "ann", "--tenant", "umbra") == []
    monkeypatch.setenv("THINKBACK_TENANT", "acme")
    assert texts("--user", "ann") == ["I live in Oslo."]
    assert texts("--user", "ann", "--tenant", "") == ["I live in Lyon."]
    assert "user ann" in run("doctor", "--offline", "--llm", "none").ok().out


def test_erase_tenant_only_when_explicit(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tenant in ("acme", ""):
        for user in ("ann", "bob"):
            run("remember", "my canary sings", "--later", "--user", user, "--tenant", tenant).ok()
    run("keys", "create", "--tenant", "acme").ok()
    run("keys", "create", "--tenant", "umbra").ok()
    run("erase", "--tenant", "acme", "--user", "ann", "--yes").failed(2)
    run("erase", "--tenant", "", "--yes").failed(2)
    with monkeypatch.context() as shell:
        shell.setenv("THINKBACK_TENANT", "acme")
        run("erase", "--yes").failed(2)
    assert "--yes" in run("erase", "--tenant", "acme").failed(2).err
    assert texts("--tenant", "acme", "--user", "bob") == ["my canary sings"]
    assert (
        run("erase", "--tenant", "acme", "--user", "ann", "--all", "--yes", "--json").ok().json["turns"] == 1
    )
    assert texts("--tenant", "acme", "--user", "bob") == ["my canary sings"]
    assert run("erase", "--tenant", "acme", "--yes", "--json").ok().json["turns"] == 1
    assert [key["tenant"] for key in run("keys", "list", "--json").ok().json] == ["umbra"]
    assert texts("--user", "ann") == texts("--user", "bob") == ["my canary sings"]
    assert b"acme" not in (home / "memory.db").read_bytes()
    run("erase", "--tenant", "acme", "--yes").failed()
