"""`thinkback-lab patients`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from thinkback_lab.commands import options
from thinkback_lab.consult.records import PATIENTS_DIR, load_patients
from thinkback_lab.consult.server_import import USER_PREFIX, import_patient, play_patient
from thinkback_lab.systems.resources import load_resources

KEY_VARIABLE = "THINKBACK_KEY"


def patients(
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Address of the server.")
    ] = "http://127.0.0.1:8765",
    folder: options.PatientsFolderOption = None,
    only: options.PatientIdsOption = None,
    lang: options.PatientLanguageOption = None,
    limit: options.LimitOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Store the consultations of fictional patients on a thinkback server, to look at them in its clinic.

    The visits are played by the rule-based doctor and patient, without a language model. Each patient
    becomes a user of the server. Storing a patient again changes nothing. If the server has keys, set
    THINKBACK_KEY to one that may write. The patients are fictional; nothing here is medical advice.

    \b
    Examples:
      thinkback-lab patients --only p01
      THINKBACK_KEY=tb_... thinkback-lab patients --url https://memory.example --lang en
    """
    with options.exit_on_error():
        resources = load_resources(options.make_setup("none", "hashing", "hybrid", "extractive"))
        stored: dict[str, int] = {}
        key = os.environ.get(KEY_VARIABLE, "")
        for patient in load_patients(folder or PATIENTS_DIR, lang=lang, only=only or (), limit=limit):
            stored[patient.id] = import_patient(url, key, patient.id, play_patient(patient, resources))
    if as_json:
        options.print_json({"url": url, "patients": stored})
        return
    for name, turns in stored.items():
        sys.stdout.write(f"{USER_PREFIX}{name}: {turns} turns\n")
