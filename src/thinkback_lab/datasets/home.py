"""Where data sets lie on this machine: the folder that is named, or THINKBACK_DATA."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from thinkback_lab.errors import DataAbsent

VARIABLE = "THINKBACK_DATA"


def data_folder(named: Path | None, origin: str) -> Path:
    """The folder; `origin` says where the data can be had, if there is none."""
    chosen = named or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if chosen is None:
        raise DataAbsent(f"no data folder: give --data or set {VARIABLE}. {origin}")
    if not chosen.is_dir():
        raise DataAbsent(f"{chosen}: no such folder. {origin}")
    return chosen


def first_file(folder: Path, names: Iterable[str], origin: str) -> Path:
    """The first of these names that is there, plain or gzipped; `origin` says where to get it if none is."""
    tried = list(names)
    if path := find_file(folder, tried):
        return path
    raise DataAbsent(f"{folder}: none of {', '.join(tried)} (or .gz) is there. {origin}")


def find_file(folder: Path, names: Iterable[str]) -> Path | None:
    """The same for a file that may be absent."""
    places = (path for name in names for path in (folder / name, folder / f"{name}.gz"))
    return next((path for path in places if path.is_file()), None)
