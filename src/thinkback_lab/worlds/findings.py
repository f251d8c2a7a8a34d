"""What a check of a world says: a finding names the fault, its place and the repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Seed 004, Table 8, line by line; then what the paper validates automatically (section 3.2).
Code = Literal[
    "profile-anomaly",
    "invalid-relationship",
    "brief-event",
    "referent-error",
    "redundant-answer",
    "anchor-boundary",
    "missing-reference",
    "anchor-missing",
]
Operation = Literal["remove", "replace", "reduce", "correct", "rewrite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault. `rewrite` needs somebody who understands; all other repairs `mended` makes."""

    code: Code
    place: str  # `Tara Quill, Hobbies`, `Tara Quill, 7_0_0`, `Tara Quill, question 12`
    words: str
    operation: Operation
    repair: str

    @property
    def line(self) -> str:
        return f"{self.place}: {self.code}, {self.words} -> {self.operation}: {self.repair}"
