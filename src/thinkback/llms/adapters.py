"""LoRA adapters of local models: finds them, and refuses those that are damaged or of another model.

An adapter is a GGUF file as llama.cpp reads it. Two values of its metadata are ours and optional:

    thinkback.task         "find_updates": tuned to mark outdated facts; for thinking only, not for answers
    thinkback.data_sha256  the SHA-256 of its tensors
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from thinkback.errors import ModelUnavailable
from thinkback.llms.catalogue import models_folder
from thinkback.llms.gguf_header import GGUFHeader, data_digest, read_header

THINKER = "thinker"
"""The name of the adapter of the distribution `thinkback-thinker`."""
THINKER_PACKAGE = "thinkback_thinker"
THINKER_FILE = "thinker.gguf"
THINKER_BASE = "qwen-coder-1.5b"
"""The catalogue model that the thinker was tuned from."""
FIND_UPDATES = "find_updates"
"""The task of an adapter that marks which known facts still hold."""
TASK_KEY, DIGEST_KEY = "thinkback.task", "thinkback.data_sha256"
_BASE_NAME_KEY = "general.base_model.0.name"
_LORA_A, _LORA_B = ".lora_a", ".lora_b"


@dataclass(frozen=True, slots=True)
class Adapter:
    """A checked adapter file; `task` is empty if it is meant for everything the model does."""

    name: str
    path: Path
    task: str


def find_adapter_file(name: str, folder: Path | None = None) -> Path:
    """The file of an adapter, given as `thinker`, as a file name in the models folder, or as a path.

    Raises:
        ModelUnavailable: there is no such file.
    """
    models = folder or models_folder()
    for path in (Path(name).expanduser(), models / name, models / f"{name}.gguf"):
        if path.is_file():
            return path
    if name == THINKER:
        if (thinker := installed_thinker()) is not None:
            return thinker
        raise ModelUnavailable("The adapter 'thinker' is not installed. Run: pip install thinkback-thinker")
    raise ModelUnavailable(
        f"There is no adapter {name!r}: it is not a file and not in the models folder. Give the path of a "
        "GGUF adapter (thinkback-lab train export), or `thinker`."
    )


def installed_thinker() -> Path | None:
    """The adapter of the distribution `thinkback-thinker`, if it is installed. Nothing of it is imported."""
    spec = find_spec(THINKER_PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(location) / THINKER_FILE).is_file():
            return path
    return None


def has_usable_thinker() -> bool:
    """Whether the installed thinker does what this version of thinkback asks it; older ones did not."""
    path = installed_thinker()
    return path is not None and read_header(path).text(TASK_KEY) == FIND_UPDATES


def open_adapter(name: str, base: Path, folder: Path | None = None) -> Adapter:
    """Find an adapter, and check that it is complete and made for the model of the file `base`.

    Raises:
        ModelUnavailable: there is no such adapter, it is damaged, or it belongs to another model.
    """
    path = find_adapter_file(name, folder)
    header = read_header(path)
    if header.text("general.type") != "adapter" or header.text("adapter.type") != "lora":
        raise ModelUnavailable(f"The file {path.name} is not a LoRA adapter.")
    task = header.text(TASK_KEY)
    if task not in ("", FIND_UPDATES):
        raise ModelUnavailable(
            f"The adapter {path.name} is for the task {task!r}, which this version of thinkback does not "
            "have. Run: pip install --upgrade thinkback thinkback-thinker"
        )
    _check_complete(path, header)
    _check_fits(path, header, base, read_header(base))
    return Adapter(path.stem, path, task)


def _check_complete(path: Path, header: GGUFHeader) -> None:
    ends = [header.data_start + tensor.offset + (tensor.size or 0) for tensor in header.tensors]
    digest = header.text(DIGEST_KEY)
    if not ends or max(ends) > path.stat().st_size or (digest and data_digest(path, header) != digest):
        raise ModelUnavailable(f"The adapter {path.name} is damaged. Install or export it again.")


def _check_fits(path: Path, adapter: GGUFHeader, base_path: Path, base: GGUFHeader) -> None:
    architecture = base.text("general.architecture")
    wanted, actual = adapter.text(_BASE_NAME_KEY), base.text("general.name")
    shapes = {tensor.name: tensor.shape for tensor in base.tensors}
    problem = ""
    if adapter.text("general.architecture") != architecture:
        problem = f"it is for the architecture {adapter.text('general.architecture')!r}, not {architecture!r}"
    elif wanted and actual and wanted != actual:
        problem = f"it was made for {wanted!r}"
    else:
        for tensor in adapter.tensors:
            is_a = tensor.name.endswith(_LORA_A)
            shape = shapes.get(tensor.name.removesuffix(_LORA_A if is_a else _LORA_B))
            expected = shape and (shape[0] if is_a else shape[-1])
            if expected is None or (tensor.shape[0] if is_a else tensor.shape[-1]) != expected:
                problem = f"its tensor {tensor.name} does not fit"
                break
    if problem:
        raise ModelUnavailable(
            f"The adapter {path.name} does not belong to the model {base_path.name}: {problem}."
        )
