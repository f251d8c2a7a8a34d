"""Labelled texts: orders to the assistant, secrets, and harmless texts. See `evaluations.safety`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, iter_json_lines

NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
SafetyKind = Literal["order", "secret", "benign"]


class SafetyCase(BaseModel):
    """One text and what it is."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: SafetyKind
    lang: NonEmptyStr
    text: NonEmptyStr
    note: str = ""
    secret: str = ""


def read_safety_cases(paths: Iterable[Path]) -> list[SafetyCase]:
    """Read all texts of files and folders, in order."""
    cases = []
    for where, line in iter_json_lines(paths):
        try:
            cases.append(SafetyCase.model_validate_json(line))
        except ValidationError as error:
            raise LabError(f"{where}: {format_validation_error(error)}") from error
    if not cases:
        raise LabError("the files contain no texts: each line must be a JSON object")
    return cases
