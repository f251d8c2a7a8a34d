"""Patient records (TiM, table 6): their model, and loading them from YAML files.

  Patient -> Visit -> Finding (category, item, result, constraint, and the patient's words)

Beyond table 6, a patient has several visits, `needs` names items of earlier visits that matter again, and
each finding has the patient's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from thinkback_lab.errors import LabError, import_extra
from thinkback_lab.files import format_validation_error, read_text
from thinkback_lab.metrics.answers import contains_anchor as holds

Lang = Literal["en", "zh"]
NonEmptyStr = Annotated[str, Field(min_length=1)]
FIRST_VISIT_AT = datetime(2024, 3, 4, 9, tzinfo=UTC)
_NUMBER = re.compile(r"\d+(?:[.,/]\d+)*")
_NEGATIVE_RESULTS = frozenset(("none", "无"))


class StrictModel(BaseModel):
    """Frozen model that rejects unknown fields, so that a typing error in a record does not pass."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Finding(StrictModel):
    """One row of table 6. `within` is the number of days for which the result stays valid.

    `says` is the answer in the patient's own words; `volunteered` findings are said unasked at the beginning.
    `key` lists words that a correct statement must contain, all of them; "gave up|no longer" means one of the
    two.
    """

    category: NonEmptyStr
    item: NonEmptyStr
    result: NonEmptyStr
    within: int | None = Field(default=None, ge=0)
    says: NonEmptyStr
    volunteered: bool = False
    key: tuple[NonEmptyStr, ...] = ()

    @property
    def is_negative(self) -> bool:
        """Whether the result is "none"."""
        return self.result.casefold() in _NEGATIVE_RESULTS and not self.key

    @property
    def anchors(self) -> tuple[str, ...]:
        """What a correct statement of this finding must contain; empty for a negative result."""
        if self.key or self.is_negative:
            return self.key
        return (self.result,) if holds(self.says, self.result) else tuple(_NUMBER.findall(self.result))

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        if not self.is_negative and not self.anchors:
            raise ValueError(
                f"{self.item}: the patient's words contain neither the result nor its numbers: add a `key`"
            )
        if not self.is_negative and not self.is_stated_in(self.says):
            raise ValueError(f"{self.item}: the patient's words do not contain {' and '.join(self.anchors)}")
        return self

    def is_stated_in(self, sentence: str) -> bool:
        """Whether a sentence contains all anchors; always false for a negative result."""
        return bool(self.anchors) and all(
            any(holds(sentence, word) for word in anchor.split("|")) for anchor in self.anchors
        )


class ExpectedDecision(StrictModel):
    """A diagnosis or treatment: its name, other accepted names, and names that make it wrong."""

    core: NonEmptyStr
    accept: tuple[NonEmptyStr, ...] = ()
    avoid: tuple[NonEmptyStr, ...] = ()

    def is_correct(self, text: str) -> bool:
        accepted = any(holds(text, name) for name in (self.core, *self.accept))
        return accepted and not any(holds(text, name) for name in self.avoid)


class Visit(StrictModel):
    day: int = Field(ge=0)
    query: NonEmptyStr
    rounds: int = Field(ge=1, description="the expected rounds of table 6")
    diagnosis: ExpectedDecision
    elements: tuple[Finding, ...]
    order: tuple[tuple[NonEmptyStr, ...], ...] = ()
    treatment: ExpectedDecision
    plan: tuple[Finding, ...] = ()
    needs: tuple[NonEmptyStr, ...] = ()

    @property
    def at(self) -> datetime:
        return FIRST_VISIT_AT + timedelta(days=self.day)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.elements, *self.plan)

    @property
    def items(self) -> tuple[str, ...]:
        """Every key element of the visit, new or from an earlier visit."""
        return (*(finding.item for finding in self.findings), *self.needs)

    @property
    def opening(self) -> str:
        """The initial query and everything the patient volunteers."""
        return " ".join([self.query, *(each.says for each in self.findings if each.volunteered)])


class Patient(StrictModel):
    """Several visits of one person in one language; versions in other languages share `patient`."""

    patient: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    lang: Lang
    fictional: Literal[True]
    age: int = Field(ge=0, le=120)
    gender: NonEmptyStr
    intent: NonEmptyStr
    traps: tuple[NonEmptyStr, ...] = ()
    visits: tuple[Visit, ...] = Field(min_length=1)

    @property
    def id(self) -> str:
        return f"{self.patient}.{self.lang}"

    def current(self, number: int) -> dict[str, Finding]:
        """The newest result of each item up to a visit (counted from 0)."""
        return {each.item: each for visit in self.visits[: number + 1] for each in visit.findings}

    def versions(self, item: str) -> tuple[Finding, ...]:
        return tuple(each for visit in self.visits for each in visit.findings if each.item == item)

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if complaint := next(self._faults(), None):
            raise ValueError(complaint)
        return self

    def _faults(self) -> Iterator[str]:
        known_items: set[str] = set()
        day = -1
        for number, visit in enumerate(self.visits, start=1):
            where = f"visit {number}"
            if visit.day <= day:
                yield f"{where}: day {visit.day} does not come after day {day}"
            day = visit.day
            if len(set(visit.items)) < len(visit.items):
                yield f"{where}: a key element is named twice"
            if unknown := [item for item in visit.needs if item not in known_items]:
                yield f"{where}: needs {unknown[0]!r}, which no earlier visit tells"
            for each in visit.findings:
                if each.item in known_items and each.within is None and not each.volunteered:
                    yield f"{where}: {each.item} changes, but is neither volunteered nor bound to a time"
            ordered = [item for group in visit.order for item in group]
            if absent := [item for item in ordered if item not in visit.items]:
                yield f"{where}: the order names {absent[0]!r}, which is no key element"
            known_items.update(each.item for each in visit.findings)


PACKAGE_DIR = Path(__file__).parent
PATIENTS_DIR = PACKAGE_DIR / "patients"

DocumentT = TypeVar("DocumentT")


def load_yaml(path: Path, kind: type[DocumentT] | Any) -> DocumentT:
    """Parse and validate the one document of a YAML file."""
    yaml = import_extra("yaml")
    try:
        content = yaml.safe_load(read_text(path))
        checked: DocumentT = TypeAdapter(kind).validate_python(content)
    except yaml.YAMLError as error:
        raise LabError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise LabError(f"{path}: {format_validation_error(error)}") from error
    return checked


def load_patients(
    folder: Path = PATIENTS_DIR,
    *,
    lang: str | None = None,
    only: Sequence[str] = (),
    limit: int | None = None,
) -> list[Patient]:
    """Load the records of a folder, sorted by name; `only` selects patients or versions (p01, p01.zh)."""
    if not folder.is_dir():
        raise LabError(f"{folder} is not a folder: --patients needs a folder of YAML files")
    files = sorted((*folder.glob("*.yaml"), *folder.glob("*.yml")))
    if not files:
        raise LabError(f"{folder} contains no record: a record is a YAML file (see docs/consult.md)")
    records: list[Patient] = [load_yaml(file, Patient) for file in files]
    ids = [each.id for each in records]
    if duplicate := next((id_ for id_ in ids if ids.count(id_) > 1), None):
        raise LabError(f"{folder}: two records have the id {duplicate}")
    if unknown := next((name for name in only if not any(name in (p.id, p.patient) for p in records)), None):
        raise LabError(f"unknown patient {unknown!r}: choose from {', '.join(ids)}")
    selected = [p for p in records if not only or p.id in only or p.patient in only]
    in_language = [p for p in selected if lang in (None, p.lang)]
    if not in_language:
        raise LabError(f"{folder}: no record in {lang}")
    return in_language[:limit]
