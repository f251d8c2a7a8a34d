"""The pair file: one JSON object a line, plain or gzipped, checked strictly at this border.

    {"id", "lang", "kind": "compatible", "category", "first", "then"}
    {"id", "lang", "kind": "update", "category", "first", "then", "old", "new", "question"}

`first` and `then` are said by the user, three months apart. Both facts of a compatible pair are true in the
end; in an update the value `new` takes the place of `old`, and `question` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from thinkback_lab.errors import LabError
from thinkback_lab.files import complaint, json_lines

Text = Annotated[str, StringConstraints(min_length=1)]
Kind = Literal["compatible", "update"]


class Pair(BaseModel):
    """Two statements of one user."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Text
    lang: Literal["en", "zh"]
    kind: Kind
    category: Text
    first: Text
    then: Text
    old: str = ""
    new: str = ""
    question: str = ""

    @model_validator(mode="after")
    def _an_update_names_its_values(self) -> Pair:
        given = [bool(value.strip()) for value in (self.old, self.new, self.question)]
        if self.kind == "update" and not all(given):
            raise ValueError("an update needs old, new and question")
        if self.kind == "compatible" and any(given):
            raise ValueError("a compatible pair has no old, new or question")
        return self


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    """All pairs of files and folders, in order; an id may stand only once."""
    found: dict[str, Pair] = {}
    for where, line in json_lines(paths):
        try:
            pair = Pair.model_validate_json(line)
        except ValidationError as error:
            raise LabError(f"{where}: {complaint(error)}") from error
        if pair.id in found:
            raise LabError(f"{where}: the id {pair.id!r} stands twice: rename one")
        found[pair.id] = pair
    if not found:
        raise LabError("no pair in the given files: each line is one, as a JSON object")
    return list(found.values())
