"""Records and the doctor's guide at the border: YAML, read safely, checked, and errors that name the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from thinkback_lab.consult.record import Patient
from thinkback_lab.errors import LabError
from thinkback_lab.extras import extra
from thinkback_lab.files import complaint, read_text

HERE = Path(__file__).parent
PATIENTS = HERE / "patients"

Kind = TypeVar("Kind")


def parsed(path: Path, kind: type[Kind] | Any) -> Kind:
    """The file's one document as a value of that kind."""
    yaml = extra("yaml")
    try:
        told = yaml.safe_load(read_text(path))
        checked: Kind = TypeAdapter(kind).validate_python(told)
    except yaml.YAMLError as error:
        raise LabError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise LabError(f"{path}: {complaint(error)}") from error
    return checked


def patients(
    folder: Path = PATIENTS,
    *,
    lang: str | None = None,
    only: Sequence[str] = (),
    limit: int | None = None,
) -> list[Patient]:
    """The records of a folder, by name; `only` names patients or versions (p01, p01.zh)."""
    if not folder.is_dir():
        raise LabError(f"{folder}: not a folder: --patients names one with a YAML file a record")
    files = sorted((*folder.glob("*.yaml"), *folder.glob("*.yml")))
    if not files:
        raise LabError(f"{folder}: no record there: a record is a YAML file (docs/consult.md shows one)")
    every: list[Patient] = [parsed(file, Patient) for file in files]
    ids = [each.id for each in every]
    if twice := next((id_ for id_ in ids if ids.count(id_) > 1), None):
        raise LabError(f"{folder}: two records are called {twice}")
    if strange := next((name for name in only if not any(name in (p.id, p.patient) for p in every)), None):
        raise LabError(f"no patient is called {strange!r}; there are {', '.join(ids)}")
    chosen = [p for p in every if not only or p.id in only or p.patient in only]
    spoken = [p for p in chosen if lang in (None, p.lang)]
    if not spoken:
        raise LabError(f"{folder}: no record in {lang}")
    return spoken[:limit]
