"""How every loader reads: typed at the border, and an error that names the file and the place in it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from thinkback_lab.errors import LabError
from thinkback_lab.files import complaint, json_lines, read_text

Read = TypeVar("Read")


def read_json(path: Path, form: TypeAdapter[Read], what: str) -> Read:
    """The whole file as one value; `what` it should have been stands in the error."""
    try:
        return form.validate_json(read_text(path))
    except ValidationError as error:
        raise LabError(f"{path}: not {what}, {complaint(error)}") from error


def read_json_lines(path: Path, form: TypeAdapter[Read], what: str) -> list[tuple[str, Read]]:
    """(where, value) of every line that is not blank."""
    read = []
    for where, line in json_lines([path]):
        try:
            read.append((where, form.validate_json(line)))
        except ValidationError as error:
            raise LabError(f"{where}: not {what}, {complaint(error)}") from error
    return read


def allowed(name: str, value: str, values: Collection[str]) -> str:
    """The value, if it is one of these."""
    if value not in values:
        raise LabError(f"no {name} {value!r}: there are {', '.join(values)}")
    return value
