"""The scenario file: one JSON object a line, plain or gzipped, checked strictly at this border.

    {"id", "lang", "category",
     "turns": [{"at", "user", "assistant"}],
     "probes": [{"question", "now", "expect": [["alt", "alternative"]], "reject": ["stale"], "k": 5}],
     "expect_thoughts": [{"s", "r", "o"}]}

`assistant`, `now` (the last turn's time), `expect`, `reject`, `k`, `probes` and `expect_thoughts` may be left
out. A time without a zone is UTC. Without `expect_thoughts` the triples of a scenario are not scored; an
empty list says that nothing is to be learned. A field we do not know is an error: a misspelt `reject` would
otherwise pass every test.
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
        raise ValueError("a name is one line of printable characters")
    return value


NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[
    NonEmptyStr, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(_check_printable)
]
UtcDatetime = Annotated[datetime, AfterValidator(_to_utc)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenarioTurn(_StrictModel):
    """What the user said and what the assistant answered, at a time."""

    at: UtcDatetime
    user: str
    assistant: str = ""

    @model_validator(mode="after")
    def _says_something(self) -> ScenarioTurn:
        if not self.user.strip() and not self.assistant.strip():
            raise ValueError("a turn needs a user or an assistant that says something")
        return self


class Probe(_StrictModel):
    """A question, what must come back (one of each list in `expect`), and what no thought may say."""

    question: NonEmptyStr
    now: UtcDatetime | None = None
    expect: tuple[Annotated[tuple[NonEmptyStr, ...], Field(min_length=1)], ...] = ()
    reject: tuple[NonEmptyStr, ...] = ()
    k: Annotated[int, Field(ge=1)] = 5


class ExpectedTriple(_StrictModel):
    """A thought that must be held in the end; a denied one has "not " before its relation."""

    s: NonEmptyStr
    r: NonEmptyStr
    o: NonEmptyStr


class Scenario(_StrictModel):
    """One case: turns to replay, probes to recall, thoughts to hold."""

    id: Name
    lang: Name
    category: Name
    turns: Annotated[tuple[ScenarioTurn, ...], Field(min_length=1)]
    probes: tuple[Probe, ...] = ()
    expect_thoughts: tuple[ExpectedTriple, ...] | None = None


def read_scenarios(paths: Iterable[Path]) -> list[Scenario]:
    """All scenarios of files and folders (`*.jsonl`, `*.jsonl.gz`), in order; an id may stand only once."""
    found: list[Scenario] = []
    homes: dict[str, str] = {}
    for where, line in iter_json_lines(paths):
        scenario = parse_scenario(line, where)
        if scenario.id in homes:
            raise LabError(f"{where}: the id {scenario.id!r} is taken by {homes[scenario.id]}: rename one")
        homes[scenario.id] = where
        found.append(scenario)
    if not found:
        raise LabError("no scenario in the given files: each line is one, as a JSON object")
    return found


def parse_scenario(line: str, where: str) -> Scenario:
    try:
        return Scenario.model_validate_json(line)
    except ValidationError as error:
        raise LabError(f"{where}: {format_validation_error(error)}") from error


def format_scenario(scenario: Scenario) -> str:
    """The scenario as a line of a file: reading it gives the same scenario."""
    return json.dumps(scenario.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
