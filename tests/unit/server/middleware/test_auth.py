"""The access table."""

from __future__ import annotations

import pytest

from thinkback.server.middleware.auth import AccessTable


@pytest.mark.parametrize(
    ("method", "path", "need"),
    [
        ("GET", "/health", "nothing"),
        ("HEAD", "/ready", "nothing"),
        ("POST", "/health", None),
        ("GET", "/healthy", None),
        ("GET", "/metrics", "operator"),
        ("POST", "/v1/chat/completions", "any"),
        ("GET", "/v1/models", "any"),
        ("GET", "/v1/models/org/name", "any"),
        ("DELETE", "/v1/models/x", None),
        ("DELETE", "/mcp", "any"),
        ("GET", "/v1/memory/thoughts/7/why", "read"),
        ("POST", "/v1/memory/recall", "read"),
        ("POST", "/v1/memory/recall/", "read"),
        ("DELETE", "/v1/memory/recall", "write"),
        ("POST", "/v1/memory/turns", "write"),
        ("BREW", "/v1/memory/turns", "write"),
        ("GET", "/v1/memory/audit", "read"),
        ("GET", "/v1/memory/users", "admin"),
        ("GET", "/v1/memoryx", None),
        ("GET", "/memories/1/history", "read"),
        ("DELETE", "/memories", "write"),
        ("POST", "/search", "read"),
        ("GET", "/", "nothing"),
        ("POST", "/", None),
        ("GET", "/assets/index-1.js", "nothing"),
        ("GET", "/assets/a/b", None),
        ("DELETE", "/v1/web/session", "optional"),
        ("GET", "/v1/web/keys", "admin"),
        ("POST", "/v1/clinic/patients/p01/consult", "change"),
        ("DELETE", "/v1/memory/thoughts/7", "change"),
        ("POST", "/v1/memory/thoughts/7/correct", "write"),
        ("PUT", "/v1/memory/summary", "change"),
        ("GET", "/v1/lab/runs", "admin"),
        ("GET", "", None),
    ],
)
def test_required_access_of_requests(method: str, path: str, need: str | None) -> None:
    assert AccessTable().required_access(method, path) == need


def test_first_matching_rule_applies_and_name_is_one_segment() -> None:
    access = AccessTable((("GET", "/a/{id}/b", "admin"), ("*", "/a/**", "read")))
    assert access.required_access("GET", "/a/1/b") == "admin"
    assert access.required_access("GET", "/a/1/2/b") == "read"
    assert access.required_access("GET", "/a/./b") == "admin"
    assert access.allowed_methods("/a/1/b") == ["*", "GET"]
    assert access.allowed_methods("/c") == []
