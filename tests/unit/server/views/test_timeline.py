"""Times of the timeline."""

from __future__ import annotations

from datetime import UTC, datetime

from thinkback.server.views.timeline import _isoformat


def test_latest_time_has_a_text() -> None:
    latest = datetime.max.replace(tzinfo=UTC)
    assert _isoformat(latest.timestamp()).startswith("9999-12-31T23:59:59")
