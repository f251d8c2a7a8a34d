"""Days without a month ("on the 15th", 15号) and days of the next or last month, in messages of a writer who
had not seen the code: `scenarios/dates/days.jsonl`. The set was read after its first run, which found 31 of
40.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from thinkback.language.spoken_dates import add_dates

MESSAGES = Path(__file__).parents[3] / "scenarios" / "dates" / "days.jsonl"
MIN_FOUND = 37  # of 40
_WRITTEN = re.compile(r"\((\d{4}-\d\d-\d\d)\)")


def read_messages() -> list[dict[str, Any]]:
    return [json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]


def written_dates(message: dict[str, Any]) -> list[str]:
    """The dates that are written beside the words of a message."""
    at = datetime.fromisoformat(message["at"]).replace(hour=12, tzinfo=UTC)
    return _WRITTEN.findall(add_dates(message["text"], at))


def test_days_of_other_writers_get_the_right_date() -> None:
    dated = [message for message in read_messages() if message["date"]]
    wrong = [message["text"] for message in dated if written_dates(message) not in ([], [message["date"]])]
    found = sum(written_dates(message) == [message["date"]] for message in dated)
    print(f"days: {found} of {len(dated)} found, {len(wrong)} wrong")
    assert not wrong
    assert found >= MIN_FOUND


@pytest.mark.parametrize("message", [each for each in read_messages() if not each["date"]], ids=str)
def test_numbers_that_are_no_days_get_no_date(message: dict[str, Any]) -> None:
    assert not written_dates(message)


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        # the weekday decides: 24 April 2026 is a Friday, 24 March is a Tuesday
        ("the cake is for friday the 24th", "the cake is for friday the 24th (2026-04-24)"),
        ("i moved out on the 24th", "i moved out on the 24th (2026-03-24)"),
        ("down to three days since the 1st", "down to three days since the 1st (2026-03-01)"),
        # a month named beside it is probably that of the day
        ("明年五一办事儿，定的2号", "明年五一办事儿，定的2号"),
        ("手术改到3号了", "手术改到3号 (2026-04-03)了"),
        ("on the 31st of next month", "on the 31st of next month (2026-04)"),  # April has 30 days
        ("2月15号生的，这个月31号满月", "2月15号 (2026-02-15)生的，这个月31号 (2026-03-31)满月"),
    ],
)
def test_what_decides_about_the_month(text: str, dated: str) -> None:
    assert add_dates(text, datetime(2026, 3, 30, 9, tzinfo=UTC)) == dated
