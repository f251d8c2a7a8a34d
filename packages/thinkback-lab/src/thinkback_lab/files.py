"""Reading of data files: plain or gzipped UTF-8, with errors that name the file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from thinkback_lab.errors import LabError

_GZIP_MAGIC = b"\x1f\x8b"

Model = TypeVar("Model", bound=BaseModel)


def read_text(path: Path) -> str:
    """Read a text file; gzip is recognised by its magic bytes, not by the file name."""
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP_MAGIC):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: not UTF-8 (byte {error.start}): expected JSON") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise LabError(f"{path}: damaged gzip file ({error}): download or compress it again") from error
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from error


def iter_json_lines(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield (location, line) for the non-blank lines of files and folders (`*.jsonl`, `*.jsonl.gz`)."""
    for path in _expand_folders(paths):
        for number, line in enumerate(read_text(path).split("\n"), start=1):
            if line.strip():
                yield f"{path}, line {number}", line


def read_models(paths: Iterable[Path], model: type[Model], noun: str) -> list[Model]:
    """Read one object per non-blank line of files and folders, in order; `noun` names them in errors.

    Raises:
        LabError: a line is not a valid object, or there is none.
    """
    found = []
    for where, line in iter_json_lines(paths):
        try:
            found.append(model.model_validate_json(line))
        except ValidationError as error:
            raise LabError(f"{where}: {format_validation_error(error)}") from error
    if not found:
        raise LabError(f"the files contain no {noun}: each line must be a JSON object")
    return found


def format_validation_error(error: ValidationError) -> str:
    """The first error with its location: `turns.0.at: Field required`."""
    first, *more = error.errors(include_url=False, include_context=False, include_input=False)
    location = ".".join(str(part) for part in first["loc"])
    message = f"{location}: {first['msg']}" if location else first["msg"]
    return message + (f" (and {len(more)} more)" if more else "")


def _expand_folders(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted((*path.glob("*.jsonl"), *path.glob("*.jsonl.gz")))
        else:
            yield path
