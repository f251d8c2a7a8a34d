"""Data files at the border: plain or gzipped, UTF-8, and an error that names the file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from thinkback_lab.errors import LabError

_GZIP_MAGIC = b"\x1f\x8b"


def read_text(path: Path) -> str:
    """Gzip is known by its first bytes, not by the name of the file."""
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP_MAGIC):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: not UTF-8 (byte {error.start}): JSON is wanted") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise LabError(f"{path}: a damaged gzip file ({error}): fetch or pack it again") from error
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from error


def iter_json_lines(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """(where, line) of every line of files and folders (`*.jsonl`, `*.jsonl.gz`), in order; no blank ones."""
    for path in _expand_folders(paths):
        for number, line in enumerate(read_text(path).split("\n"), start=1):
            if line.strip():
                yield f"{path}, line {number}", line


def format_validation_error(error: ValidationError) -> str:
    """The first complaint, with the place inside the object: `turns.0.at: Field required`."""
    first, *more = error.errors(include_url=False, include_context=False, include_input=False)
    place = ".".join(str(part) for part in first["loc"])
    said = f"{place}: {first['msg']}" if place else first["msg"]
    return said + (f" (and {len(more)} more)" if more else "")


def _expand_folders(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted((*path.glob("*.jsonl"), *path.glob("*.jsonl.gz")))
        else:
            yield path
