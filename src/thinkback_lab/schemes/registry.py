"""Memory systems by name: the laboratory's own, those of installed packages, and anybody's file.

bm25, last:20                        a name below; some take an argument
mylab.memories:Newest                an importable object
newest.py:Newest                     an object in a file
newest                               an entry point of the group `thinkback_lab.schemes`
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
from thinkback_lab.schemes.bm25 import BM25
from thinkback_lab.schemes.bounds import Oracle, Wrong
from thinkback_lab.schemes.fuzzy_original import FuzzyOriginal
from thinkback_lab.schemes.guarded import guarded
from thinkback_lab.schemes.memorybank import MemoryBank
from thinkback_lab.schemes.none import NoMemory
from thinkback_lab.schemes.ours import Thinkback, dense, with_preset
from thinkback_lab.schemes.perltqa import Classified, episodic, semantic, variant
from thinkback_lab.schemes.raw import Raw
from thinkback_lab.schemes.scheme import Scheme
from thinkback_lab.schemes.scm import SCM
from thinkback_lab.schemes.summary import summary
from thinkback_lab.schemes.tim import version
from thinkback_lab.schemes.whole import LAST, Newest, last

GROUP = "thinkback_lab.schemes"


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory system of the laboratory; `argued` makes it from what stands after the colon."""

    scheme: Scheme
    about: str
    argued: Callable[[str], Scheme] | None = None
    argument: str = ""  # what may stand there, in a word


REGISTRY: dict[str, Entry] = {
    "none": Entry(NoMemory, "no memory at all"),
    "raw": Entry(Raw, "raw turns by cosine over the whole bank: TiM's baseline"),
    "bm25": Entry(BM25, "raw turns by BM25 on English stems, Chinese characters and pairs"),
    "dense": Entry(dense, "thinkback by cosine alone, thoughts and turns"),
    "full": Entry(Newest, "the full context, given whole"),
    "last": Entry(last(), f"the last turns ({LAST} of them), given whole", last, "N"),
    "memorybank": Entry(MemoryBank, "SiliconFriend: turns, daily summaries, Ebbinghaus' retention"),
    "summary": Entry(
        summary(), "a summary of each session that is over, then the turns of this one", summary, "N"
    ),
    "scm": Entry(SCM, "Self-Controlled Memory: a controller, relevance and recency, the last turn always"),
    "fuzzy-original": Entry(FuzzyOriginal, "seed 003 as described, its faults kept"),
    "tim": Entry(version(), "Think-in-Memory as in a paper: 002 unless 000 or 001 is said", version, "PAPER"),
    "perltqa": Entry(
        Classified,
        "BM25, k of each kind, ranked by classification; plain: without it; shipped: by thinkback's own;"
        " zero, few: by the model",
        variant,
        "plain|shipped|zero|few",
    ),
    "semantic": Entry(semantic, "BM25 over profile, relationships and knowledge alone"),
    "episodic": Entry(episodic, "BM25 over events and dialogues alone"),
    "oracle": Entry(Oracle, "correct retrieval: the gold itself"),
    "wrong": Entry(Wrong, "incorrect retrieval: the best by BM25 that is not gold"),
    "thinkback": Entry(Thinkback, "ours, with the run's preset", with_preset, "PRESET"),
}


def find(spec: str) -> Scheme:
    """The scheme of that name; a LabError lists what exists."""
    name, colon, rest = spec.partition(":")
    if entry := REGISTRY.get(name):
        return _registered(name, entry, rest if colon else None)
    module, _, attribute = spec.rpartition(":")
    if module:
        return _attribute(_module(module, spec), attribute, spec)
    if installed := [point for point in entry_points(group=GROUP) if point.name == spec]:
        return _checked(_loaded(installed[0]), spec)
    raise LabError(f"no scheme {spec!r}: {_known()}")


def described() -> dict[str, str]:
    """Every name of the laboratory's own, with its argument if it takes one, and what it is."""
    return {
        f"{name}[:{entry.argument}]" if entry.argued else name: entry.about
        for name, entry in REGISTRY.items()
    }


def _registered(name: str, entry: Entry, argument: str | None) -> Scheme:
    if argument is None:
        return entry.scheme
    if entry.argued is None:
        raise LabError(f"{name}:{argument}: {name} takes no argument")
    if not argument:
        raise LabError(f"{name}: gives no argument after the colon: {entry.argument} may stand there")
    return entry.argued(argument)


def _module(name: str, spec: str) -> ModuleType:
    try:
        return _from_file(Path(name)) if name.endswith(".py") else import_module(name)
    except ThinkbackError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise LabError(f"no scheme {spec!r}: there is no module {error.name}; {_known()}") from error
        raise LabError(f"{spec}: {name} needs {error.name}, which is not installed") from error
    except Exception as error:  # a stranger's file may fail in any way
        raise LabError(f"{spec}: {name} cannot be imported: {type(error).__name__}: {error}") from error


def _loaded(point: EntryPoint) -> object:
    try:
        return point.load()
    except Exception as error:  # as any stranger's
        raise LabError(f"{point.name}: {point.value} cannot be loaded: {error}") from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise LabError(f"{path}: no such file; {_known()}")
    name = f"scheme_{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}"  # no other module's
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LabError(f"{path}: not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _attribute(module: ModuleType, name: str, spec: str) -> Scheme:
    if not name or not hasattr(module, name):
        public = [each for each in vars(module) if not each.startswith("_") and callable(vars(module)[each])]
        raise LabError(f"{spec}: {module.__name__} has no {name!r}; it has {', '.join(public) or 'nothing'}")
    return _checked(getattr(module, name), spec)


def _checked(scheme: object, spec: str) -> Scheme:
    if not callable(scheme):
        raise LabError(f"{spec}: {type(scheme).__name__} is not callable: a scheme takes a Kit")
    return guarded(scheme, spec)


def _known() -> str:
    installed = sorted(point.name for point in entry_points(group=GROUP))
    return (
        f"there are {', '.join([*described(), *installed])}; or name an object as module:Name or file.py:Name"
    )
