"""The prompts of the schemes, one file each: `render(name, **variables)`; a variable is written {{name}}."""

from __future__ import annotations

import re
from importlib.resources import files

from thinkback_lab.errors import LabError

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


def render(name: str, **variables: str) -> str:
    """The prompt, filled in; an unknown or a missing variable is an error, values are never read again."""
    text = read(f"{name}.txt")
    wanted = set(_VARIABLE.findall(text))
    if wanted != set(variables):
        raise LabError(f"prompt {name!r} has the variables {sorted(wanted)}, not {sorted(variables)}")
    return _VARIABLE.sub(lambda match: variables[match[1]], text)


def read(name: str) -> str:
    return files(__name__).joinpath(name).read_text("utf-8")
