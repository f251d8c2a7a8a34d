"""By which name, and from which page: Host and Origin, so that no web page asks behind its reader's back.

A page can make its own name point at 127.0.0.1 (DNS rebinding), so a name is believed only if it is known.
A literal address cannot be rebound: a server on all addresses goes by any of them.
"""

from __future__ import annotations

import ipaddress
import re

from thinkback.errors import InvalidInput
from thinkback.server.errors import RequestRefused, forbidden
from thinkback.server.options import Options

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(rf"(https?)://({_HOST.pattern})")
_DEFAULT_PORT = {"http": "80", "https": "443"}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what is bound there."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_exposure(options: Options, has_keys: bool) -> None:
    """Refuse to be open to others, or to pages nobody named."""
    if not has_keys and not is_loopback(options.host):
        raise InvalidInput(
            f"{options.host} can be reached from other machines and there is no key to ask for: make one with"
            " `thinkback keys create`, or bind to 127.0.0.1"
        )
    for origin in options.allow_origins:
        if not _ORIGIN.fullmatch(origin.rstrip("/")):
            raise InvalidInput(
                f"{origin!r} is no origin that can be allowed: name it whole, as https://chat.example"
            )
    for name in options.allow_hosts:
        if split_host(name) is None:
            raise InvalidInput(
                f"{name!r} is no host that can be allowed: name it as memory.example or memory.example:8443"
            )


def describe_open_access(options: Options) -> str:
    """What a server without keys says of itself."""
    return (
        f"no keys: open to everything on this machine that can reach {options.host}:{options.port};"
        " `thinkback keys create` closes it"
    )


def split_host(host: str) -> tuple[str, str] | None:
    """A Host header's name, in lower case and without brackets, and its port ("" where it has none)."""
    found = _HOST.fullmatch(host)
    if not found:
        return None
    name, port = found[1].lower(), found[2] or ""
    if int(port or 0) > 65535:
        return None
    return name.strip("[]") if name[0] == "[" else name.removesuffix("."), port


class HostPolicy:
    """The names and pages one server knows."""

    def __init__(self, options: Options) -> None:
        self._names = LOOPBACK_NAMES | {options.host.strip("[]").lower()}
        self._hosts = frozenset(known for name in options.allow_hosts if (known := split_host(name)))
        self._origins = frozenset(origin.rstrip("/").lower() for origin in options.allow_origins)
        self._any_address = _is_unspecified(options.host)

    def check_host(self, hosts: list[bytes]) -> str:
        """The Host a request came by; refused unless it is this server's."""
        if len(hosts) != 1:
            raise RequestRefused(400, "a request names its host once", "bad_host")
        host = hosts[0].decode("latin-1")
        known = split_host(host)
        if known is None:
            raise RequestRefused(400, "the Host of this request cannot be read", "bad_host")
        name, _ = known
        if name in self._names or known in self._hosts or (name, "") in self._hosts:
            return host
        if self._any_address and _is_ip_address(name):
            return host
        raise RequestRefused(
            421, f"this server does not go by {name[:100]!r}: start it with --allow-host", "unknown_host"
        )

    def check_origin(self, origins: list[bytes], host: str) -> str | None:
        """The page's origin that is to be answered, None for one of this server; other pages are refused."""
        if not origins:
            return None
        origin = origins[0].decode("latin-1").lower()
        if len(origins) == 1 and origin in self._origins:
            return origin
        if len(origins) == 1 and _is_same_origin(origin, host):
            return None
        raise forbidden("pages of this origin may not call the server: start it with --allow-origin")


def _is_same_origin(origin: str, host: str) -> bool:
    """Whether a page is of this server. The scheme is not ours to know: a proxy before us may speak TLS."""
    found = _ORIGIN.fullmatch(origin)
    if not found:
        return False
    page, here, default = split_host(found[2]), split_host(host), _DEFAULT_PORT[found[1]]
    return (
        page is not None
        and here is not None
        and page[0] == here[0]
        and (page[1] or default) == (here[1] or default)
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
