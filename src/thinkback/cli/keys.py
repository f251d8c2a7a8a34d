"""Commands `keys create`, `keys list` and `keys revoke`: API keys of the server."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command

if TYPE_CHECKING:
    from datetime import datetime

    from thinkback.types import ApiKey


def register(app: typer.Typer) -> None:
    group = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
    for function, name in ((create_key, "create"), (list_keys, "list"), (revoke_key, "revoke")):
        register_command(group, name=name)(function)
    app.add_typer(group, name="keys", help="Create, list or revoke API keys of the server.")


def create_key(
    call: CommandCall,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope", metavar="SCOPE", help="read, write or admin; repeatable. Default: read and write."
        ),
    ] = None,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="Description shown by `thinkback keys list`.")
    ] = "",
    expires: Annotated[
        int | None, typer.Option("--expires", metavar="DAYS", min=1, help="Days until the key expires.")
    ] = None,
) -> None:
    """Create an API key for a tenant and print it. It is shown only once; only a digest is stored.

    With --user the key is limited to that user of the tenant. Without --tenant it gives access to the
    memories that the command line uses.

    \b
    Examples:
      thinkback keys create --tenant acme --label "the shop's chat"
      thinkback keys create --tenant acme --user ann --scope read --expires 30
    """
    from thinkback import api_keys
    from thinkback.config import open_store
    from thinkback.schemas import to_json
    from thinkback.times import utc_now

    settings, now = call.settings, utc_now()
    text, key = api_keys.create_key(
        settings.tenant,
        scope or ("read", "write"),
        now,
        user=call.flags["user"],
        label=label,
        expires_at=None if expires is None else now + timedelta(days=expires),
    )
    with closing(open_store(settings)) as store:
        store.add_key(key)
    if call.json:
        output.print_json({"key": text, **to_json(key)})
        return
    output.print_line(text)
    output.print_note(
        f"Key {key.id} of {_describe_owner(key)}. Save it now: it is not stored and cannot be shown again."
    )


def list_keys(call: CommandCall) -> None:
    """List the API keys of all tenants or of one, including revoked and expired ones.

    \b
    Examples:
      thinkback keys list
      thinkback keys list --tenant acme --json
    """
    from thinkback.config import open_store
    from thinkback.schemas import to_json
    from thinkback.times import utc_now

    settings, now = call.settings, utc_now()
    with closing(open_store(settings)) as store:
        keys = store.keys(settings.tenant or None)
    if call.json:
        output.print_json([{**to_json(key), "state": _key_state(key, now)} for key in keys])
        return
    rows = [
        (
            key.id,
            key.tenant,
            key.user or "",
            ", ".join(to_json(key)["scopes"]),
            f"{key.created_at.astimezone():%Y-%m-%d}",
            "" if key.expires_at is None else f"{key.expires_at.astimezone():%Y-%m-%d}",
            _key_state(key, now),
            key.label,
        )
        for key in keys
    ]
    columns = ("id", "tenant", "user", "scopes", "created", "expires", "state", "label")
    output.print_table(columns, rows, fold=("tenant", "label"))


def revoke_key(
    call: CommandCall,
    id_: Annotated[str, typer.Argument(metavar="ID", help="The key's id, or the key itself.")],
) -> None:
    """Revoke an API key permanently. Running servers reject it from now on.

    \b
    Examples:
      thinkback keys revoke 3f9a1c0b7e55
    """
    from thinkback import api_keys
    from thinkback.config import open_store
    from thinkback.schemas import to_json
    from thinkback.times import utc_now

    now = utc_now()
    with closing(open_store(call.settings)) as store:
        key = store.revoke_key(api_keys.parse_key_id(id_), now)
    if call.json:
        output.print_json({**to_json(key), "state": _key_state(key, now)})
        return
    output.print_line(f"revoked: key {key.id} of {_describe_owner(key)}")


def _describe_owner(key: ApiKey) -> str:
    tenant = f"tenant {key.tenant!r}" if key.tenant else "no tenant (the command line's own memories)"
    return tenant if key.user is None else f"user {key.user!r}, {tenant}"


def _key_state(key: ApiKey, now: datetime) -> str:
    from thinkback.api_keys import is_active

    if key.revoked_at is not None:
        return "revoked"
    return "open" if is_active(key, now) else "expired"
