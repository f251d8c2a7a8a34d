"""Invalid addresses are reported before the server starts, without their secrets."""

from __future__ import annotations

import pytest

from thinkback.errors import InvalidInput
from thinkback.server.processes import start
from thinkback.server.services import Options


@pytest.mark.parametrize(
    "upstream",
    [
        "http://127.0.0.1:8765/v1",
        "http://localhost:8765",
        "http://LOCALHOST:8765/v1/",
        "http://[::1]:8765/v1",
        "http://memory.example:8765/v1",
    ],
)
def test_server_as_its_own_upstream_is_refused(upstream: str) -> None:
    """OPENAI_BASE_URL is easily set for the server as well; every chat would then loop for ever."""
    with pytest.raises(InvalidInput, match="is this server itself"):
        start.validate_options(Options(upstream=upstream, host="memory.example"))


@pytest.mark.parametrize("upstream", ["", "http://127.0.0.1:8080/v1", "https://models.example/v1"])
def test_other_upstreams_are_accepted(upstream: str) -> None:
    start.validate_options(Options(upstream=upstream))


@pytest.mark.parametrize("upstream", ["models.example", "ftp://models.example", "http://", "http://h:port/"])
def test_upstream_must_be_a_url(upstream: str) -> None:
    with pytest.raises(InvalidInput, match="--upstream"):
        start.validate_options(Options(upstream=upstream))


def test_several_workers_are_refused_if_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "supports_workers", lambda: False)
    start.validate_options(Options(workers=1))
    with pytest.raises(InvalidInput, match="--workers 2"):
        start.validate_options(Options(workers=2))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ann:secret@models.example/v1?key=secret#secret", "https://models.example/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_redact_url_removes_secrets(url: str, shown: str) -> None:
    assert start.redact_url(url) == shown
