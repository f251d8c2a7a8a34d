"""A virtual patient's medical record in the form of TiM's table 6: what is true of one fictional person.

    Patient -> Visit -> Finding (category, item, result, constraint; and how the patient says it)

A visit has its initial query, the key elements that confirm its diagnosis, the correct order of
examinations, the treatment and the key elements of the plan. Where we add to table 6: a patient comes several
times, `needs` names what was told at an earlier visit and still bears on this one, and each finding has the
patient's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from thinkback_lab.metrics.answers import says as holds

Lang = Literal["en", "zh"]
Text = Annotated[str, Field(min_length=1)]
FIRST_DAY = datetime(2024, 3, 4, 9, tzinfo=UTC)
_NUMBER = re.compile(r"\d+(?:[.,/]\d+)*")
_NOTHING = frozenset(("none", "无"))


class Strict(BaseModel):
    """Frozen, and no field that nobody knows: a typing error in a record must not pass."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Finding(Strict):
    """One row of table 6. `within` is its time constraint: for so many days the result may be relied on.

    `says` is the answer in the patient's own words; `volunteered`: told at the beginning, unasked. `key` are
    the words of the result that a right statement of it has, all of them; "gave up|no longer": one of these.
    """

    category: Text
    item: Text
    result: Text
    within: int | None = Field(default=None, ge=0)
    says: Text
    volunteered: bool = False
    key: tuple[Text, ...] = ()

    @property
    def denied(self) -> bool:
        """The result is that there is nothing: None, as table 6 has it."""
        return self.result.casefold() in _NOTHING and not self.key

    @property
    def anchors(self) -> tuple[str, ...]:
        """What a right statement of this finding says, all of it; of a denial there is no such word."""
        if self.key or self.denied:
            return self.key
        return (self.result,) if holds(self.says, self.result) else tuple(_NUMBER.findall(self.result))

    @model_validator(mode="after")
    def _said(self) -> Self:
        if not self.denied and not self.anchors:
            raise ValueError(f"{self.item}: neither the result nor a number of it is said: name a `key`")
        if not self.denied and not self.held_by(self.says):
            raise ValueError(f"{self.item}: the patient's words do not say {' and '.join(self.anchors)}")
        return self

    def held_by(self, sentence: str) -> bool:
        """Whether a sentence has all anchors; a denial has none, and is held by nothing."""
        return bool(self.anchors) and all(
            any(holds(sentence, word) for word in anchor.split("|")) for anchor in self.anchors
        )


class Answer(Strict):
    """A diagnosis or a treatment: its name, other names that are right too, and what must not be named."""

    core: Text
    accept: tuple[Text, ...] = ()
    avoid: tuple[Text, ...] = ()

    def right(self, said: str) -> bool:
        named = any(holds(said, name) for name in (self.core, *self.accept))
        return named and not any(holds(said, name) for name in self.avoid)


class Visit(Strict):
    day: int = Field(ge=0)
    query: Text
    rounds: int = Field(ge=1, description="the expected rounds of table 6")
    diagnosis: Answer
    elements: tuple[Finding, ...]
    order: tuple[tuple[Text, ...], ...] = ()
    treatment: Answer
    plan: tuple[Finding, ...] = ()
    needs: tuple[Text, ...] = ()

    @property
    def at(self) -> datetime:
        return FIRST_DAY + timedelta(days=self.day)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.elements, *self.plan)

    @property
    def items(self) -> tuple[str, ...]:
        """Every key element of the visit, new or told before."""
        return (*(finding.item for finding in self.findings), *self.needs)

    @property
    def opening(self) -> str:
        """The initial query, and what the patient brings up unasked."""
        return " ".join([self.query, *(each.says for each in self.findings if each.volunteered)])


class Patient(Strict):
    """Several visits of one person in one language; `patient` is shared by the versions of one person."""

    patient: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    lang: Lang
    fictional: Literal[True]
    age: int = Field(ge=0, le=120)
    gender: Text
    intent: Text
    traps: tuple[Text, ...] = ()
    visits: tuple[Visit, ...] = Field(min_length=1)

    @property
    def id(self) -> str:
        return f"{self.patient}.{self.lang}"

    def current(self, number: int) -> dict[str, Finding]:
        """What is true of each item at a visit (counted from 0): the newest result up to it."""
        return {each.item: each for visit in self.visits[: number + 1] for each in visit.findings}

    def versions(self, item: str) -> tuple[Finding, ...]:
        return tuple(each for visit in self.visits for each in visit.findings if each.item == item)

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if complaint := next(self._faults(), None):
            raise ValueError(complaint)
        return self

    def _faults(self) -> Iterator[str]:
        seen: set[str] = set()
        day = -1
        for number, visit in enumerate(self.visits, start=1):
            where = f"visit {number}"
            if visit.day <= day:
                yield f"{where}: day {visit.day} does not come after day {day}"
            day = visit.day
            if len(set(visit.items)) < len(visit.items):
                yield f"{where}: a key element is named twice"
            if unknown := [item for item in visit.needs if item not in seen]:
                yield f"{where}: needs {unknown[0]!r}, which no earlier visit tells"
            for each in visit.findings:
                if each.item in seen and each.within is None and not each.volunteered:
                    yield f"{where}: {each.item} changes, but is neither volunteered nor bound to a time"
            ordered = [item for group in visit.order for item in group]
            if absent := [item for item in ordered if item not in visit.items]:
                yield f"{where}: the order names {absent[0]!r}, which is no key element"
            seen.update(each.item for each in visit.findings)
