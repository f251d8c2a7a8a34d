"""Finding and parsing the files of data sets."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from thinkback_lab.errors import DatasetNotFound, LabError
from thinkback_lab.files import format_validation_error, iter_json_lines, read_text

DATA_VARIABLE = "THINKBACK_DATA"


def data_folder(named: Path | None, origin: str) -> Path:
    """The data folder: `named` or $THINKBACK_DATA; `origin` (where to get the data) is added to the error."""
    folder = named or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    if folder is None:
        raise DatasetNotFound(f"no data folder: give --data or set {DATA_VARIABLE}. {origin}")
    if not folder.is_dir():
        raise DatasetNotFound(f"{folder}: no such folder. {origin}")
    return folder


def require_file(folder: Path, names: Iterable[str], origin: str) -> Path:
    """The first of these files that exists, plain or gzipped; raises DatasetNotFound if none does."""
    tried = list(names)
    if path := find_file(folder, tried):
        return path
    raise DatasetNotFound(f"{folder} contains none of {', '.join(tried)} (or .gz). {origin}")


def find_file(folder: Path, names: Iterable[str]) -> Path | None:
    """Like `require_file`, but returns None if there is no such file."""
    candidates = (path for name in names for path in (folder / name, folder / f"{name}.gz"))
    return next((path for path in candidates if path.is_file()), None)


ParsedT = TypeVar("ParsedT")


def read_json(path: Path, form: TypeAdapter[ParsedT], what: str) -> ParsedT:
    """Parse a whole file; `what` describes the expected content in the error."""
    try:
        return form.validate_json(read_text(path))
    except ValidationError as error:
        raise LabError(f"{path}: not {what}, {format_validation_error(error)}") from error


def read_json_lines(path: Path, form: TypeAdapter[ParsedT], what: str) -> list[tuple[str, ParsedT]]:
    """Parse every non-blank line; returns (location, value) pairs."""
    values = []
    for where, line in iter_json_lines([path]):
        try:
            values.append((where, form.validate_json(line)))
        except ValidationError as error:
            raise LabError(f"{where}: not {what}, {format_validation_error(error)}") from error
    return values


def check_choice(name: str, value: str, values: Collection[str]) -> str:
    """Return the value if it is allowed; raises LabError otherwise."""
    if value not in values:
        raise LabError(f"unknown {name} {value!r}: choose from {', '.join(values)}")
    return value
