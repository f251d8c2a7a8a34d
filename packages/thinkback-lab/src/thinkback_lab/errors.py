"""Errors of the laboratory, and imports of optional libraries that raise them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from thinkback import ThinkbackError


class LabError(ThinkbackError):
    """An evaluation cannot be run; the message says what to do."""


class DatasetNotFound(LabError):
    """The files of a data set were not found; the message says where to get them."""


def import_extra(module: str) -> Any:
    """Import a heavy library when it is used; raises LabError with the install command if it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise LabError(f"{module} is not installed: pip install thinkback-lab") from error
