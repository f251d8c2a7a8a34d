"""Errors as clients see them: status, message, and OpenAI's format."""

from __future__ import annotations

import json

import pytest

from thinkback import errors
from thinkback.server.errors import RequestRefused, busy, error_response, forbidden


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.InvalidInput("k=0"), 422, "invalid_input"),
        (errors.NotFound("no thought:7"), 404, "not_found"),
        (errors.LeaseLost("gone"), 409, "conflict"),
        (errors.StoreUnavailable("locked"), 503, "store_unavailable"),
        (errors.DiskFull("full"), 507, "disk_full"),
        (errors.CorruptStore("damaged"), 500, "store_error"),
        (errors.RateLimited("wait", 3), 429, "rate_limited"),
        (errors.ModelTimeout("slow"), 504, "model_timeout"),
        (errors.BadReply("empty"), 502, "model_error"),
        (errors.MissingExtra("x", "server"), 501, "missing_extra"),
        (errors.ThinkbackError("odd"), 500, "error"),
        (forbidden("not yours"), 403, "forbidden"),
        (busy("later", 2.6), 503, "busy"),
    ],
)
def test_status_of_each_error(error: errors.ThinkbackError, status: int, code: str) -> None:
    answer = error_response(error)
    body = json.loads(bytes(answer.body))
    assert answer.status_code == status
    assert body["error"]["code"] == code
    assert body["error"]["message"] == body["detail"]
    assert (body["detail"] == str(error)) is not isinstance(error, errors.StoreError)
    assert body["error"]["type"] == ("server_error" if status >= 500 else "invalid_request_error")


def test_busy_has_retry_after() -> None:
    assert error_response(busy("later", 2.6)).headers["Retry-After"] == "3"
    assert error_response(busy("later", 0.1)).headers["Retry-After"] == "1"


def test_every_error_class_has_a_response() -> None:
    def tree(kind: type[errors.ThinkbackError]) -> list[type[errors.ThinkbackError]]:
        return [kind, *(below for child in kind.__subclasses__() for below in tree(child))]

    special = {errors.MissingExtra, RequestRefused}
    assert all(
        error_response(kind("x")).status_code >= 400
        for kind in tree(errors.ThinkbackError)
        if kind not in special and kind.__module__ == errors.__name__
    )
