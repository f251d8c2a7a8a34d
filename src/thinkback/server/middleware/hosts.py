"""Host and Origin checks (protection against DNS rebinding and CSRF).

A web page can point its own host name at 127.0.0.1, so a host name is only accepted if it is configured.
IP addresses cannot be rebound: a server that listens on all addresses accepts any of them.
"""

from __future__ import annotations

import ipaddress
import re

from thinkback.errors import InvalidInput
from thinkback.server.errors import RequestRefused, forbidden
from thinkback.server.services import Options

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(rf"(https?)://({_HOST.pattern})")
_DEFAULT_PORT = {"http": "80", "https": "443"}


def is_loopback(host: str) -> bool:
    """Whether a server bound to this host can only be reached from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_exposure(options: Options, has_keys: bool) -> None:
    """Raise `InvalidInput` if the server would be open to other machines, or an allowed name is invalid."""
    if not has_keys and not is_loopback(options.host):
        raise InvalidInput(
            f"{options.host} can be reached from other machines, but there is no API key: create one with"
            " `thinkback keys create`, or bind to 127.0.0.1"
        )
    for origin in options.allow_origins:
        if not _ORIGIN.fullmatch(origin.rstrip("/")):
            raise InvalidInput(f"{origin!r} is not a valid origin: write it like https://chat.example")
    for name in options.allow_hosts:
        if split_host(name) is None:
            raise InvalidInput(
                f"{name!r} is not a valid host: write it like memory.example or memory.example:8443"
            )


def describe_open_access(options: Options) -> str:
    """The notice that a server without keys prints at start."""
    return (
        f"no keys: open to every program on this machine that can reach {options.host}:{options.port};"
        " `thinkback keys create` restricts access"
    )


def split_host(host: str) -> tuple[str, str] | None:
    """Split a Host header into lower-case name and port ("" if absent); None if it is invalid."""
    match = _HOST.fullmatch(host)
    if not match:
        return None
    name, port = match[1].lower(), match[2] or ""
    if int(port or 0) > 65535:
        return None
    return name.strip("[]") if name[0] == "[" else name.removesuffix("."), port


class HostPolicy:
    """The host names and web origins that one server accepts."""

    def __init__(self, options: Options) -> None:
        self._names = LOOPBACK_NAMES | {options.host.strip("[]").lower()}
        self._hosts = frozenset(host for name in options.allow_hosts if (host := split_host(name)))
        self._origins = frozenset(origin.rstrip("/").lower() for origin in options.allow_origins)
        self._any_address = _is_unspecified(options.host)

    def check_host(self, hosts: list[bytes]) -> str:
        """Return the Host of a request; raise `RequestRefused` unless it is a name of this server."""
        if len(hosts) != 1:
            raise RequestRefused(400, "send exactly one Host header", "bad_host")
        host = hosts[0].decode("latin-1")
        parsed = split_host(host)
        if parsed is None:
            raise RequestRefused(400, "the Host header cannot be parsed", "bad_host")
        name, _ = parsed
        if name in self._names or parsed in self._hosts or (name, "") in self._hosts:
            return host
        if self._any_address and _is_ip_address(name):
            return host
        raise RequestRefused(
            421,
            f"{name[:100]!r} is not a host name of this server: start it with --allow-host",
            "unknown_host",
        )

    def check_origin(self, origins: list[bytes], host: str) -> str | None:
        """Return an allowed cross-origin caller, None for the same origin; other origins are refused."""
        if not origins:
            return None
        origin = origins[0].decode("latin-1").lower()
        if len(origins) == 1 and origin in self._origins:
            return origin
        if len(origins) == 1 and _is_same_origin(origin, host):
            return None
        raise forbidden("this origin may not call the server: start it with --allow-origin")


def _is_same_origin(origin: str, host: str) -> bool:
    """Whether an origin is this server. The scheme is ignored: TLS may end at a reverse proxy before us."""
    match = _ORIGIN.fullmatch(origin)
    if not match:
        return False
    page, server, default_port = split_host(match[2]), split_host(host), _DEFAULT_PORT[match[1]]
    return (
        page is not None
        and server is not None
        and page[0] == server[0]
        and (page[1] or default_port) == (server[1] or default_port)
    )


def _is_unspecified(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host


def _is_ip_address(name: str) -> bool:
    try:
        return not ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False
