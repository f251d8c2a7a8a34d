"""Which headers pass: to the upstream a few that it needs, to the client all but those of one connection."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers as Given

from thinkback.apps.server.proxy.upstreams.upstream import Headers
from thinkback.keys import is_key

PASSED = (
    "content-type",
    "content-encoding",
    "accept",
    "openai-organization",
    "openai-project",
    "openai-beta",
)

_OF_ONE_CONNECTION = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection"),
    *(b"te", b"trailer", b"transfer-encoding", b"upgrade"),
}
_OF_ONE_SERVER = {b"date", b"server", b"set-cookie", b"alt-svc", b"strict-transport-security"}
_OURS = (b"x-thinkback-", b"access-control-")
"""The upstream cannot speak in our name, nor open this server to other pages."""


def outgoing(given: Given, key: str) -> dict[str, str]:
    """What the upstream is told. A key of this server never leaves it: the gate took the one it was shown,
    and whatever else has the form of one stays here."""
    headers = {name: given[name] for name in PASSED if name in given}
    headers["accept-encoding"] = "identity"
    if key:
        headers["authorization"] = f"Bearer {key}"
    elif (credential := given.get("authorization")) and not is_key(credential.rpartition(" ")[2]):
        headers["authorization"] = credential
    return headers


def incoming(headers: Headers) -> Headers:
    """What the client is told of what the upstream says."""
    each = [(name.lower(), value) for name, value in headers]
    named = {
        token.strip().lower() for name, value in each if name == b"connection" for token in value.split(b",")
    }
    dropped = _OF_ONE_CONNECTION | _OF_ONE_SERVER | named
    return [(name, value) for name, value in each if name not in dropped and not name.startswith(_OURS)]


def encoded(headers: Mapping[str, str]) -> Headers:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
