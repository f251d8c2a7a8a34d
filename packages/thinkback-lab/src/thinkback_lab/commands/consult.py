"""`thinkback-lab consult`."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from thinkback_lab import prompts
from thinkback_lab.commands import options
from thinkback_lab.consult.context import MAX_CONTEXT_TOKENS
from thinkback_lab.consult.doctor import CONSULT_PROMPTS, LLMDoctor, ScriptedDoctor, make_visit_brief
from thinkback_lab.consult.guide import load_guide
from thinkback_lab.consult.interactive import InteractiveDoctor, InteractivePatient
from thinkback_lab.consult.patient import LLMPatient, PatientRole, RulePatient
from thinkback_lab.consult.records import PATIENTS_DIR, load_patients
from thinkback_lab.consult.report import (
    consult_table,
    summarise_consultations,
    write_consult_page,
    write_transcripts,
)
from thinkback_lab.consult.runs import (
    DEFAULT_SCHEMES,
    VISITS_FILE,
    ConsultJob,
    VisitLog,
    records_digest,
    run_consultations,
)
from thinkback_lab.consult.visits import DoctorFactory, Roles
from thinkback_lab.errors import LabError
from thinkback_lab.progress import progress
from thinkback_lab.runs.folder import REPORT_FILE, RUN_FILE, open_locked, write_results
from thinkback_lab.systems.interface import Resources
from thinkback_lab.systems.registry import find_system
from thinkback_lab.systems.resources import load_resources

Role = Literal["doctor", "patient"]


@dataclass(frozen=True, slots=True)
class RoleNames:
    """Who plays the doctor and the patient: `scripted`, `rules`, `llm` or `person`."""

    doctor: str
    patient: str


def consult(
    folder: options.PatientsFolderOption = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme",
            metavar="NAME",
            help=f"A memory system; may be repeated. Default: {', '.join(DEFAULT_SCHEMES)}.",
        ),
    ] = None,
    doctor: Annotated[
        Literal["scripted", "llm"], typer.Option("--doctor", help="Who plays the doctor.")
    ] = "scripted",
    patient: Annotated[
        Literal["rules", "llm"], typer.Option("--patient", help="Who plays the patient.")
    ] = "rules",
    side: Annotated[
        Role | None,
        typer.Option("--as", help="Play this role yourself, with one patient and one memory system."),
    ] = None,
    only: options.PatientIdsOption = None,
    lang: options.PatientLanguageOption = None,
    limit: options.LimitOption = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds", metavar="N", min=1, help="Maximum number of questions of a doctor played by a model."
        ),
    ] = None,
    budget: Annotated[
        int,
        typer.Option(
            "--budget", metavar="N", min=16, help="Token budget for recalled memories per question."
        ),
    ] = MAX_CONTEXT_TOKENS,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: options.ThinkOption = "auto",
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder of the run; an unfinished run is resumed."),
    ] = Path("runs/consult"),
    fresh: options.FreshOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Simulate consultations of fictional patients over months: does memory make a better doctor?

    At each visit the doctor asks for those key elements of the patient's record that the memory system does
    not recall, and ends with a diagnosis and a treatment. All systems have the same token budget for recalled
    memories. The results are accuracy, repeated questions, forgotten and contradicted findings, order, rounds
    and consistency. The patients are fictional; nothing here is medical advice.

    The output folder contains visits.jsonl, transcripts/ (with the memories used at each turn), results.json
    and report.html.

    \b
    Examples:
      thinkback-lab consult --out runs/consult
      thinkback-lab consult --doctor llm --llm local:qwen-coder-1.5b --think extractive --scheme none \\
        --scheme raw --limit 6 --rounds 8 --out runs/qwen --json
      thinkback-lab consult --as doctor --only p03.en --scheme thinkback --out runs/mine
    """
    with options.exit_on_error():
        selected = load_patients(folder or PATIENTS_DIR, lang=lang, only=only or (), limit=limit)
        selected = selected[:1] if side else selected
        names = _single_scheme(scheme) if side else list(dict.fromkeys(scheme or DEFAULT_SCHEMES))
        schemes = {name: find_system(name) for name in names}
        cast = RoleNames("person" if side == "doctor" else doctor, "person" if side == "patient" else patient)
        resources = load_resources(options.make_setup(llm, embedder, preset, think))
        job = ConsultJob(selected, schemes, resources, _make_roles(cast, resources, rounds), budget)
        settings: dict[str, object] = {**resources.setup.as_settings, "budget": budget, "rounds": rounds}
        settings |= {"doctor": cast.doctor, "patient": cast.patient}
        if "llm" in (cast.doctor, cast.patient):
            settings["prompts"] = prompts.prompt_version(*CONSULT_PROMPTS)
            sys.stderr.write(f"at most {_max_llm_calls(job, cast):,} LLM calls for the roles\n")
        results = _run_to_end(job, settings, out, fresh=fresh, quiet=side is not None)
    if as_json:
        options.print_json(results)
        sys.stderr.write(f"{out}\n")
    else:
        options.print_table(
            consult_table(results), f"{results['n']} visits; saved in {out}, see {REPORT_FILE} there"
        )


def _run_to_end(
    job: ConsultJob, settings: Mapping[str, object], out: Path, *, fresh: bool, quiet: bool
) -> dict[str, Any]:
    """Start or resume the run, then write the results, the transcripts and the report."""
    if fresh and (out / RUN_FILE).exists():
        with open_locked(out / VISITS_FILE):
            shutil.rmtree(out)
    command = shlex.join(["thinkback-lab", *sys.argv[1:]])
    identity = {"dataset": "consult", "settings": settings, "records": records_digest(job.patients)}
    with VisitLog(out, identity, command) as ledger:
        if quiet:
            entries = run_consultations(job, ledger)
        else:
            with progress("consultations") as report:
                entries = run_consultations(job, ledger, report)
        results = summarise_consultations(entries, settings, command)
        write_transcripts(entries, job.patients, out)
        write_consult_page(results, entries, out / REPORT_FILE)
        write_results(out, results)
    return results


def _single_scheme(scheme: list[str] | None) -> list[str]:
    """Return the one memory system of an interactive consultation."""
    if scheme and len(scheme) > 1:
        raise LabError("--as needs exactly one memory system: give one --scheme")
    return scheme or ["thinkback"]


def _max_llm_calls(job: ConsultJob, cast: RoleNames) -> int:
    """Upper bound of LLM calls: one per question and one per decision of the doctor, two per question of the
    patient. Retries are not counted.
    """
    sheets = [
        make_visit_brief(patient, number, job.roles.rounds)
        for patient in job.patients
        for number in range(len(patient.visits))
    ]
    doctor = sum(sheet.max_questions + 1 for sheet in sheets) if cast.doctor == "llm" else 0
    patient = sum(2 * sheet.max_questions for sheet in sheets) if cast.patient == "llm" else 0
    return len(job.schemes) * (doctor + patient)


def _make_roles(cast: RoleNames, resources: Resources, rounds: int | None) -> Roles:
    guide = load_guide()
    model = resources.llm
    if model is None and "llm" in (cast.doctor, cast.patient):
        raise LabError("a role played by a model needs a model: give --llm")
    makers: dict[str, DoctorFactory] = {
        "scripted": lambda sheet: ScriptedDoctor(sheet, guide),
        "person": lambda sheet: InteractiveDoctor(sheet, guide, _print_line, _read_line),
    }
    sides: dict[str, PatientRole] = {
        "rules": RulePatient(),
        "person": InteractivePatient(_print_line, _read_line),
    }
    if model is not None:
        makers["llm"] = lambda sheet: LLMDoctor(sheet, guide, model)
        sides["llm"] = LLMPatient(model)
    return Roles(guide, makers[cast.doctor], sides[cast.patient], rounds)


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _read_line(prompt: str) -> str:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise LabError("the input ended before the visit; completed visits are saved")
    return line.rstrip("\n")
