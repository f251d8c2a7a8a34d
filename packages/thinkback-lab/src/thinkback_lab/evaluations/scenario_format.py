"""The scenario file: one JSON object per line, plain or gzipped, strictly validated.

  {"id", "lang", "category",
   "turns": [{"at", "user", "assistant"}],
   "probes": [{"question", "now", "expect": [["alt", "alternative"]], "reject": ["stale"], "k": 5}],
   "expect_thoughts": [{"s", "r", "o"}]}

Optional: `assistant`, `now` (default: time of the last turn), `expect`, `reject`, `k`, `probes` and
`expect_thoughts`. A time without a zone is UTC. Without `expect_thoughts` triples are not scored; an empty
list means that nothing should be learned. Unknown fields are errors, because a misspelt `reject` would pass
every test.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, iter_json_lines


def _to_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _check_printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("a name must be one line of printable characters")
    return value


NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[
    NonEmptyStr, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(_check_printable)
]
UtcDatetime = Annotated[datetime, AfterValidator(_to_utc)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenarioTurn(_StrictModel):
    """One turn with its time."""

    at: UtcDatetime
    user: str
    assistant: str = ""

    @model_validator(mode="after")
    def _says_something(self) -> ScenarioTurn:
        if not self.user.strip() and not self.assistant.strip():
            raise ValueError("a turn needs a user or an assistant message")
        return self


class Probe(_StrictModel):
    """A question; one alternative of each list in `expect` must be recalled, and no thought may contain a
    `reject` string.
    """

    question: NonEmptyStr
    now: UtcDatetime | None = None
    expect: tuple[Annotated[tuple[NonEmptyStr, ...], Field(min_length=1)], ...] = ()
    reject: tuple[NonEmptyStr, ...] = ()
    k: Annotated[int, Field(ge=1)] = 5


class ExpectedTriple(_StrictModel):
    """A thought that must exist at the end; the relation of a negated one starts with "not "."""

    s: NonEmptyStr
    r: NonEmptyStr
    o: NonEmptyStr


class Scenario(_StrictModel):
    """One test case: turns to replay, probes to recall, thoughts to expect."""

    id: Name
    lang: Name
    category: Name
    turns: Annotated[tuple[ScenarioTurn, ...], Field(min_length=1)]
    probes: tuple[Probe, ...] = ()
    expect_thoughts: tuple[ExpectedTriple, ...] | None = None


def read_scenarios(paths: Iterable[Path]) -> list[Scenario]:
    """Read all scenarios of files and folders (`*.jsonl`, `*.jsonl.gz`), in order; ids must be unique."""
    scenarios: list[Scenario] = []
    locations: dict[str, str] = {}
    for where, line in iter_json_lines(paths):
        scenario = parse_scenario(line, where)
        if scenario.id in locations:
            raise LabError(f"{where}: duplicate id {scenario.id!r}, first used in {locations[scenario.id]}")
        locations[scenario.id] = where
        scenarios.append(scenario)
    if not scenarios:
        raise LabError("the files contain no scenario: each line must be a JSON object")
    return scenarios


def parse_scenario(line: str, where: str) -> Scenario:
    try:
        return Scenario.model_validate_json(line)
    except ValidationError as error:
        raise LabError(f"{where}: {format_validation_error(error)}") from error


def format_scenario(scenario: Scenario) -> str:
    """Format a scenario as a line of a file."""
    return json.dumps(scenario.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
