"""The folder where pulled models lie, and how a name finds its file there."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from thinkback.errors import InvalidInput, ModelUnavailable
from thinkback.models.catalogue import CATALOGUE, Entry

MAGIC = b"GGUF"
ABLE_BYTES, FOLLOWING_BYTES = 1_800_000_000, 700_000_000
"""A file outside the catalogue is taken to extract thoughts from about 3B parameters on, to judge from 1B."""


@dataclass(frozen=True, slots=True)
class Installed:
    """One model file that is here; `entry` is None for a file the catalogue does not know."""

    name: str
    path: Path
    size: int
    entry: Entry | None


def models_folder() -> Path:
    """$THINKBACK_HOME/models, or models/ in the platform's place for application data."""
    if home := os.environ.get("THINKBACK_HOME"):
        return Path(home).expanduser() / "models"
    if xdg := os.environ.get("XDG_DATA_HOME"):
        base = Path(xdg).expanduser()
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path.home() / ".local" / "share"
    return base / "thinkback" / "models"


def find(name: str | os.PathLike[str], folder: Path | None = None) -> Path:
    """The file of a catalogue name, a file name in the folder, or a path; ModelUnavailable if absent."""
    text = os.fspath(name)
    if not text:
        raise InvalidInput("A model was asked for without a name. Give a name, or the path of a GGUF file.")
    place = folder or models_folder()
    known = next((entry for entry in CATALOGUE if entry.name == text), None)
    if known is not None:
        path = place / known.file
        if path.is_file():
            return path
        raise ModelUnavailable(f"The model {text!r} is not on this machine. Run: thinkback pull {text}")
    for path in (Path(text).expanduser(), place / text, place / f"{text}.gguf"):
        if path.is_file():
            check_gguf(path)
            return path
    names = ", ".join(entry.name for entry in CATALOGUE)
    raise ModelUnavailable(
        f"There is no model {text!r}: neither a file, nor pulled before, nor in the catalogue ({names}). "
        "Run: thinkback pull NAME, or give the path of a GGUF file."
    )


def installed(folder: Path | None = None) -> list[Installed]:
    """Every complete model file in the folder, by name."""
    place = folder or models_folder()
    if not place.is_dir():
        return []
    return [
        Installed(label(path), path, path.stat().st_size, known(path))
        for path in sorted(place.glob("*.gguf"))
    ]


def known(path: Path) -> Entry | None:
    """The catalogue's entry of a file, by its name and size."""
    return next((e for e in CATALOGUE if e.file == path.name and e.size == path.stat().st_size), None)


def label(path: Path) -> str:
    """What a model file is called: its catalogue name, else its own."""
    entry = known(path)
    return entry.name if entry else path.stem


def extracts(path: Path) -> bool:
    """Whether the model is able enough to extract thoughts."""
    entry = known(path)
    return entry.extracts if entry else path.stat().st_size >= ABLE_BYTES


def follows(path: Path) -> bool:
    """Whether the model is able to follow a long prompt."""
    entry = known(path)
    return entry.follows if entry else path.stat().st_size >= FOLLOWING_BYTES


def languages(path: Path) -> tuple[str, ...] | None:
    """The languages the catalogue gives the model; None for a file it does not know."""
    entry = known(path)
    return entry.languages if entry else None


def check_gguf(path: Path) -> None:
    """ModelUnavailable unless the file begins like a GGUF file."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ModelUnavailable(f"The file {path.name} is no GGUF model. Give a file that ends in .gguf.")
