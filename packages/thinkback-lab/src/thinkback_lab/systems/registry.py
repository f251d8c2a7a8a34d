"""Memory systems by name: built-in ones, those of installed packages, and those in files.

bm25, last:20              a name below; some take an argument
mylab.memories:Newest      an importable object
newest.py:Newest           an object in a file
newest                     an entry point of the group `thinkback_lab.systems`
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from thinkback import ThinkbackError
from thinkback_lab.errors import LabError
from thinkback_lab.systems.baselines import (
    BM25,
    DEFAULT_LAST_TURNS,
    GoldRetrieval,
    NewestFirst,
    NoMemory,
    RawTurns,
    WrongRetrieval,
    last_turns,
)
from thinkback_lab.systems.dialogue_simulation import FuzzyOriginal
from thinkback_lab.systems.external import check_system
from thinkback_lab.systems.interface import SystemFactory
from thinkback_lab.systems.memorybank import MemoryBank
from thinkback_lab.systems.perltqa import (
    ClassifiedRetrieval,
    episodic_only,
    perltqa_variant,
    semantic_only,
)
from thinkback_lab.systems.scm import SCM
from thinkback_lab.systems.summaries import session_summaries
from thinkback_lab.systems.thinkback import ThinkbackSystem, dense_system, with_preset
from thinkback_lab.systems.tim import tim_variant

ENTRY_POINT_GROUP = "thinkback_lab.systems"


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """A built-in memory system; `with_argument` makes it from the text after the colon."""

    factory: SystemFactory
    description: str
    with_argument: Callable[[str], SystemFactory] | None = None
    argument: str = ""  # placeholder of the argument in help texts


SYSTEMS: dict[str, SystemEntry] = {
    "none": SystemEntry(NoMemory, "no memory at all"),
    "raw": SystemEntry(RawTurns, "raw turns by cosine, exhaustive search: TiM's baseline"),
    "bm25": SystemEntry(BM25, "raw turns by BM25 on English stems, Chinese characters and pairs"),
    "dense": SystemEntry(dense_system, "thinkback by cosine alone, thoughts and turns"),
    "full": SystemEntry(NewestFirst, "the full history"),
    "last": SystemEntry(last_turns(), f"the last N turns (default {DEFAULT_LAST_TURNS})", last_turns, "N"),
    "memorybank": SystemEntry(MemoryBank, "SiliconFriend: turns, daily summaries, Ebbinghaus' retention"),
    "summary": SystemEntry(
        session_summaries(),
        "a summary of each past session in N sentences, and the turns of the current one",
        session_summaries,
        "N",
    ),
    "scm": SystemEntry(
        SCM, "Self-Controlled Memory: a controller, relevance and recency, the last turn always"
    ),
    "fuzzy-original": SystemEntry(
        FuzzyOriginal, "fuzzy retrieval of llm-dialogue-simulation as described, with its faults"
    ),
    "tim": SystemEntry(
        tim_variant(),
        "Think-in-Memory as in a paper: 002 (arXiv, default), 000 (EMNLP) or 001 (ACL)",
        tim_variant,
        "PAPER",
    ),
    "perltqa": SystemEntry(
        ClassifiedRetrieval,
        "BM25, k of each type, ranked by classification; plain: without it; "
        "shipped: by thinkback's classifier; zero, few: by the model",
        perltqa_variant,
        "plain|shipped|zero|few",
    ),
    "semantic": SystemEntry(semantic_only, "BM25 over profile, relationships and knowledge only"),
    "episodic": SystemEntry(episodic_only, "BM25 over events and dialogues only"),
    "oracle": SystemEntry(GoldRetrieval, "correct retrieval: the gold itself"),
    "wrong": SystemEntry(WrongRetrieval, "incorrect retrieval: the best by BM25 that is not gold"),
    "thinkback": SystemEntry(
        ThinkbackSystem, "thinkback, with the run's preset or the given one", with_preset, "PRESET"
    ),
}


def find_system(spec: str) -> SystemFactory:
    """Resolve a spec to a system factory; raises LabError with the known names."""
    name, colon, rest = spec.partition(":")
    if entry := SYSTEMS.get(name):
        return _make_registered(name, entry, rest if colon else None)
    module, _, attribute = spec.rpartition(":")
    if module:
        return _get_attribute(_load_module(module, spec), attribute, spec)
    if installed := [point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name == spec]:
        return _check_callable(_load_entry_point(installed[0]), spec)
    raise LabError(f"unknown scheme {spec!r}: {_list_known()}")


def describe_systems() -> dict[str, str]:
    """Names (with argument placeholders) and descriptions of the built-in systems."""
    return {
        f"{name}[:{entry.argument}]" if entry.with_argument else name: entry.description
        for name, entry in SYSTEMS.items()
    }


def _make_registered(name: str, entry: SystemEntry, argument: str | None) -> SystemFactory:
    if argument is None:
        return entry.factory
    if entry.with_argument is None:
        raise LabError(f"{name}:{argument}: {name} takes no argument")
    if not argument:
        raise LabError(f"{name}: missing argument {entry.argument} after the colon")
    return entry.with_argument(argument)


def _load_module(name: str, spec: str) -> ModuleType:
    try:
        return _load_file(Path(name)) if name.endswith(".py") else import_module(name)
    except ThinkbackError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise LabError(
                f"unknown scheme {spec!r}: there is no module {error.name}; {_list_known()}"
            ) from error
        raise LabError(f"{spec}: {name} needs {error.name}, which is not installed") from error
    except Exception as error:  # foreign code may fail in any way
        raise LabError(f"{spec}: {name} cannot be imported: {type(error).__name__}: {error}") from error


def _load_entry_point(point: EntryPoint) -> object:
    try:
        return point.load()
    except Exception as error:  # foreign code may fail in any way
        raise LabError(f"{point.name}: {point.value} cannot be loaded: {error}") from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise LabError(f"{path}: no such file; {_list_known()}")
    digest = sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"scheme_{path.stem}_{digest}"  # unique: must not replace another module
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LabError(f"{path}: not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _get_attribute(module: ModuleType, name: str, spec: str) -> SystemFactory:
    if not name or not hasattr(module, name):
        public = [each for each in vars(module) if not each.startswith("_") and callable(vars(module)[each])]
        raise LabError(f"{spec}: {module.__name__} has no {name!r}; it has {', '.join(public) or 'nothing'}")
    return _check_callable(getattr(module, name), spec)


def _check_callable(scheme: object, spec: str) -> SystemFactory:
    if not callable(scheme):
        raise LabError(
            f"{spec}: {type(scheme).__name__} is not callable: expected a callable that takes Resources"
        )
    return check_system(scheme, spec)


def _list_known() -> str:
    installed = sorted(point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    names = ", ".join([*describe_systems(), *installed])
    return f"choose from {names}; or give an object as module:Name or file.py:Name"
