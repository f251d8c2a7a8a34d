"""Labelled texts: orders to the assistant, secrets, and harmless texts. See `evaluations.safety`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from thinkback_lab.files import read_models

NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
SafetyKind = Literal["order", "secret", "benign"]


class SafetyCase(BaseModel):
    """One text and what it is; `secret`, or `secrets` if there are several, are the secret parts of it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: SafetyKind
    lang: NonEmptyStr
    text: NonEmptyStr
    note: str = ""
    secret: str = ""
    secrets: tuple[NonEmptyStr, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The parts of the text that are secret; none if that is not said."""
        return self.secrets or ((self.secret,) if self.secret else ())


def read_safety_cases(paths: Iterable[Path]) -> list[SafetyCase]:
    """Read all texts of files and folders, in order."""
    return read_models(paths, SafetyCase, "texts")
