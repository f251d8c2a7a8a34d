"""Errors of the laboratory, and imports of optional libraries that raise them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from thinkback import ThinkbackError


class LabError(ThinkbackError):
    """An evaluation cannot be run as asked; the message says what to do next."""


class DatasetNotFound(LabError):
    """The files of a data set are not there; the message says where they are at home."""


def import_extra(module: str) -> Any:
    """The module, or an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise LabError(f"{module} is not installed: pip install 'thinkback[lab]'") from error
