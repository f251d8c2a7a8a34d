"""Libraries of the extra `lab`: imported where used; an absent one names its install command."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from thinkback_lab.errors import LabError


def extra(module: str) -> Any:
    """The module, or an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise LabError(f"{module} is not installed: pip install 'thinkback[lab]'") from error
