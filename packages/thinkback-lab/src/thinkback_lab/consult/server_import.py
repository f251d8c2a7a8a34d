"""Plays the visits of fictional patients and stores them on a thinkback server, for its clinic."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

from thinkback_lab.consult.context import PatientMemory
from thinkback_lab.consult.doctor import ScriptedDoctor
from thinkback_lab.consult.guide import load_guide
from thinkback_lab.consult.patient import RulePatient
from thinkback_lab.consult.records import Patient
from thinkback_lab.consult.visits import Roles, ToldFindings, play_visit
from thinkback_lab.errors import LabError
from thinkback_lab.systems.interface import Resources, open_system
from thinkback_lab.systems.registry import find_system

USER_PREFIX = "patient:"
SCHEME = "full"  # the doctor remembers everything, so that no question is asked twice
REQUEST_TIMEOUT_SECONDS = 120.0


def play_patient(patient: Patient, resources: Resources) -> list[dict[str, str]]:
    """The turns of all visits, as lines for `POST /v1/memory/import`; playing again gives the same keys."""
    guide = load_guide()
    roles = Roles(guide, lambda brief: ScriptedDoctor(brief, guide), RulePatient())
    lines: list[dict[str, str]] = []
    with open_system(find_system(SCHEME), resources) as memory:
        desk, told = PatientMemory(memory, patient.lang), ToldFindings()
        for number, visit in enumerate(patient.visits):
            played = play_visit(patient, number, desk, told, roles)
            for position, turn in enumerate(played.turns, start=1):
                lines.append(
                    {
                        "query": turn.patient,
                        "response": turn.doctor,
                        "at": (visit.at + timedelta(minutes=position)).isoformat(),
                        "session": f"visit-{number + 1}",
                        "key": f"{patient.id}/{number + 1}/{position}",
                    }
                )
    return lines


def import_patient(url: str, key: str, patient: str, lines: Sequence[dict[str, str]]) -> int:
    """Store the turns of a patient on a server. Returns their number.

    Raises:
        LabError: the server cannot be reached, or refuses them.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise LabError(f"{url}: give the address of a thinkback server, such as http://127.0.0.1:8765")
    target = f"{url.rstrip('/')}/v1/memory/import?{urlencode({'user': f'{USER_PREFIX}{patient}'})}"
    body = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    headers = {"Content-Type": "application/x-ndjson"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(target, body, headers, method="POST")  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_SECONDS) as response:  # noqa: S310
            return int(json.load(response)["turns"])
    except urllib.error.HTTPError as error:
        with error:
            raise LabError(f"{url} refused patient {patient}: {_message(error)}") from error
    except (OSError, ValueError, KeyError) as error:
        raise LabError(f"{url} cannot be used: {error}") from error


def _message(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"status {error.code}"
