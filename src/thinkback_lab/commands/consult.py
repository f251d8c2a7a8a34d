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
from thinkback_lab.consult.context import BUDGET
from thinkback_lab.consult.doctor import ScriptedDoctor, sheet_of
from thinkback_lab.consult.guide import guide
from thinkback_lab.consult.ledger import VISITS, Ledger
from thinkback_lab.consult.llm_doctor import PROMPTS, ModelDoctor
from thinkback_lab.consult.llm_patient import ModelPatient
from thinkback_lab.consult.load import PATIENTS, patients
from thinkback_lab.consult.page import write_page
from thinkback_lab.consult.patient import PatientSide, RulePatient
from thinkback_lab.consult.person import PersonDoctor, PersonPatient
from thinkback_lab.consult.play import MakeDoctor, Room
from thinkback_lab.consult.results import summarise, table
from thinkback_lab.consult.run import SCHEMES, Job, digest, run
from thinkback_lab.consult.transcript import write_transcripts
from thinkback_lab.errors import LabError
from thinkback_lab.progress import progress
from thinkback_lab.runs.folder import REPORT, RUN, open_alone, write_results
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.registry import find
from thinkback_lab.schemes.scheme import Kit

Side = Literal["doctor", "patient"]


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays: `llm`, a rule, or a person on one side."""

    doctor: str
    patient: str


def consult(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--patients", metavar="DIR", help="Records, a YAML file each; else the laboratory's own."
        ),
    ] = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme", metavar="NAME", help=f"A memory system; may be repeated. Else {', '.join(SCHEMES)}."
        ),
    ] = None,
    doctor: Annotated[
        Literal["scripted", "llm"], typer.Option("--doctor", help="Who plays the doctor.")
    ] = "scripted",
    patient: Annotated[
        Literal["rules", "llm"], typer.Option("--patient", help="Who plays the patient.")
    ] = "rules",
    side: Annotated[
        Side | None,
        typer.Option("--as", help="Take this side yourself, with one patient and one memory system."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ID", help="Only this patient: p01, or p01.zh; may be repeated."),
    ] = None,
    lang: Annotated[
        Literal["en", "zh"] | None, typer.Option("--lang", help="Only records in this language.")
    ] = None,
    limit: options.Limit = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds", metavar="N", min=1, help="A doctor played by a model may ask so many questions."
        ),
    ] = None,
    budget: Annotated[
        int,
        typer.Option(
            "--budget", metavar="N", min=16, help="Tokens of memories for a question, for all alike."
        ),
    ] = BUDGET,
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    preset: options.Preset = "hybrid",
    think: options.ThinkBy = "auto",
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="The run's folder; if it is unfinished, go on with it."),
    ] = Path("runs/consult"),
    fresh: options.Fresh = False,
    as_json: options.AsJson = False,
) -> None:
    """Fictional patients consult a doctor over months: does memory make a better doctor?

    At each visit the doctor asks for the key elements of the patient's record that he does not know from
    what the memory system recalls, and ends with a diagnosis and a treatment. Every system has the same
    number of tokens for what it recalls. Counted are accuracy, repeated questions, forgotten and contradicted
    findings, order, rounds and consistency. The patients are fictional; nothing here is medical advice.

    In the folder: visits.jsonl, transcripts/ with the memories used at each turn, results.json, report.html.

    \b
    Examples:
      thinkback-lab consult --out runs/consult
      thinkback-lab consult --doctor llm --llm local:qwen-coder-1.5b --think rules --scheme none \\
        --scheme raw --limit 6 --rounds 8 --out runs/qwen --json
      thinkback-lab consult --as doctor --only p03.en --scheme thinkback --out runs/mine
    """
    with options.one_line_errors():
        chosen = patients(folder or PATIENTS, lang=lang, only=only or (), limit=limit)
        chosen = chosen[:1] if side else chosen
        names = _one(scheme) if side else list(dict.fromkeys(scheme or SCHEMES))
        schemes = {name: find(name) for name in names}
        cast = Cast("person" if side == "doctor" else doctor, "person" if side == "patient" else patient)
        parts = kit(options.setup_of(llm, embedder, preset, think))
        job = Job(chosen, schemes, parts, _room(cast, parts, rounds), budget)
        settings: dict[str, object] = {**parts.setup.told, "budget": budget, "rounds": rounds}
        settings |= {"doctor": cast.doctor, "patient": cast.patient}
        if "llm" in (cast.doctor, cast.patient):
            settings["prompts"] = prompts.version(*PROMPTS)
            sys.stderr.write(f"at most {_calls(job, cast):,} calls of the model for its parts\n")
        results = _finished(job, settings, out, fresh=fresh, quiet=side is not None)
    if as_json:
        options.show_json(results)
        sys.stderr.write(f"{out}\n")
    else:
        options.show_table(table(results), f"{results['n']} visits; kept in {out}, see {REPORT} there")


def _finished(
    job: Job, settings: Mapping[str, object], out: Path, *, fresh: bool, quiet: bool
) -> dict[str, Any]:
    """Begin the run or go on with it, and write all that is made of it."""
    if fresh and (out / RUN).exists():
        with open_alone(out / VISITS):
            shutil.rmtree(out)
    command = shlex.join(["thinkback-lab", *sys.argv[1:]])
    identity = {"dataset": "consult", "settings": settings, "records": digest(job.patients)}
    with Ledger(out, identity, command) as ledger:
        if quiet:
            entries = run(job, ledger)
        else:
            with progress("consultations") as report:
                entries = run(job, ledger, report)
        results = summarise(entries, settings, command)
        write_transcripts(entries, job.patients, out)
        write_page(results, entries, out / REPORT)
        write_results(out, results)
    return results


def _one(scheme: list[str] | None) -> list[str]:
    """A person plays with one memory system."""
    if scheme and len(scheme) > 1:
        raise LabError("--as: a person plays with one memory system: name one --scheme")
    return scheme or ["thinkback"]


def _calls(job: Job, cast: Cast) -> int:
    """A call a question and one to decide; of the patient up to two a question. Retries are not counted."""
    sheets = [
        sheet_of(patient, number, job.room.rounds)
        for patient in job.patients
        for number in range(len(patient.visits))
    ]
    doctor = sum(sheet.most + 1 for sheet in sheets) if cast.doctor == "llm" else 0
    patient = sum(2 * sheet.most for sheet in sheets) if cast.patient == "llm" else 0
    return len(job.schemes) * (doctor + patient)


def _room(cast: Cast, parts: Kit, rounds: int | None) -> Room:
    known = guide()
    model = parts.llm
    if model is None and "llm" in (cast.doctor, cast.patient):
        raise LabError("a part that a model plays needs a model: give --llm")
    makers: dict[str, MakeDoctor] = {
        "scripted": lambda sheet: ScriptedDoctor(sheet, known),
        "person": lambda sheet: PersonDoctor(sheet, known, _say, _hear),
    }
    sides: dict[str, PatientSide] = {"rules": RulePatient(), "person": PersonPatient(_say, _hear)}
    if model is not None:
        makers["llm"] = lambda sheet: ModelDoctor(sheet, known, model)
        sides["llm"] = ModelPatient(model)
    return Room(known, makers[cast.doctor], sides[cast.patient], rounds)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _hear(prompt: str) -> str:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise LabError("the input ended before the visit did: visits that are over are kept")
    return line.rstrip("\n")
