"""Files that only their owner can read and write: databases, backups and exports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PRIVATE_MODE = 0o600


def create_private_file(path: str | os.PathLike[str]) -> None:
    """Create an empty file with mode 0600. An existing file is left as it is."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    os.close(os.open(path, flags, PRIVATE_MODE))


def make_private(*paths: str | os.PathLike[str]) -> None:
    """Take away all rights of others on these files, where they exist and belong to this user."""
    for path in paths:
        with suppress(OSError):  # missing, or owned by somebody else, who decides
            if os.stat(path).st_mode & 0o077:
                os.chmod(path, PRIVATE_MODE)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new private file next to `path`, which takes its place at the end, or is removed after an error."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)  # left by a killed process; its mode and its owner are unknown
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE))
    try:
        yield part
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until the file or folder is on the disk."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
