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
    """The folder; `origin` says where the data can be had, if there is none."""
    chosen = named or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    if chosen is None:
        raise DatasetNotFound(f"no data folder: give --data or set {DATA_VARIABLE}. {origin}")
    if not chosen.is_dir():
        raise DatasetNotFound(f"{chosen}: no such folder. {origin}")
    return chosen


def require_file(folder: Path, names: Iterable[str], origin: str) -> Path:
    """The first of these names that is there, plain or gzipped; `origin` says where to get it if none is."""
    tried = list(names)
    if path := find_file(folder, tried):
        return path
    raise DatasetNotFound(f"{folder}: none of {', '.join(tried)} (or .gz) is there. {origin}")


def find_file(folder: Path, names: Iterable[str]) -> Path | None:
    """The same for a file that may be absent."""
    places = (path for name in names for path in (folder / name, folder / f"{name}.gz"))
    return next((path for path in places if path.is_file()), None)


ParsedT = TypeVar("ParsedT")


def read_json(path: Path, form: TypeAdapter[ParsedT], what: str) -> ParsedT:
    """The whole file as one value; `what` it should have been stands in the error."""
    try:
        return form.validate_json(read_text(path))
    except ValidationError as error:
        raise LabError(f"{path}: not {what}, {format_validation_error(error)}") from error


def read_json_lines(path: Path, form: TypeAdapter[ParsedT], what: str) -> list[tuple[str, ParsedT]]:
    """(where, value) of every line that is not blank."""
    read = []
    for where, line in iter_json_lines([path]):
        try:
            read.append((where, form.validate_json(line)))
        except ValidationError as error:
            raise LabError(f"{where}: not {what}, {format_validation_error(error)}") from error
    return read


def check_choice(name: str, value: str, values: Collection[str]) -> str:
    """The value, if it is one of these."""
    if value not in values:
        raise LabError(f"no {name} {value!r}: there are {', '.join(values)}")
    return value
