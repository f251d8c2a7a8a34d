"""Medical talk, standing in for TiM's private RMD: a doctor's memory of many patients' consultations.

TiM measures on RMD whether the memory that belongs to a patient's question is recalled. The task here asks
the same of two public sets. A clinic's file of 25 consecutive encounters is one case, told turn by turn; each
encounter asks one question, and its own turns, not those of the other 24, should come back:

- "cmtmedqa", Chinese consultations of several turns: the question is the last thing the patient asked that
  says enough to be known by (a question mark, and 15 characters besides thanks and assent); the turns before
  it are told, it and what follows are not; its answer is what the doctor said to it, its category the
  department. Consultations where nothing was so asked after the first turn are left out.
- "mts_dialog", English encounters, each with the section of the clinical note written from it: all turns are
  told, and the section is asked for by its text, as a clinician looks up where a note comes from; its
  category is its header. Sections of less than 60 characters ("Noncontributory.") fit any patient, and are
  left out.

Whole sets would ask about a thousand questions each: by default eight files are drawn, by a seed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from thinkback_lab.cases import Case, Dataset, HistoryItem, Question, take_sample
from thinkback_lab.datasets.loading import check_choice, data_folder, read_json, require_file
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, read_text

CORPORA = ("cmtmedqa", "mts_dialog")
ENCOUNTERS_PER_FILE = 25  # encounters in a clinic's file
MIN_QUESTION_CHARACTERS = 15  # characters of a question that says enough
MIN_NOTE_CHARACTERS = 60  # characters of a section that says enough
FIRST_ENCOUNTER_AT = datetime(2023, 1, 2, 9, tzinfo=UTC)  # neither set has dates: one encounter a day
CMTMEDQA_ORIGIN = "CMtMedQA is part of the repository SupritYoung/Zhongjing on GitHub: CMtMedQA_test.json"
MTS_DIALOG_ORIGIN = (
    "MTS-Dialog is the repository abachaa/MTS-Dialog on GitHub: Main-Dataset/MTS-Dialog-TrainingSet.csv"
)
ORIGIN = f"{CMTMEDQA_ORIGIN}. {MTS_DIALOG_ORIGIN}"
_SENTENCE = re.compile(r"[^。！!？?]+[。！!？?]*")
_COURTESY = re.compile(r"谢|^(?:好|嗯|明白|了解|知道|我(?:明白|了解|知道|会))")
_SPEAKER = re.compile(r"\s*([A-Za-z_0-9 ]{1,24}):")


class _Consultation(BaseModel):
    """Some entries are of another form, {"instruct", "output"}: single questions, without history."""

    model_config = ConfigDict(frozen=True)

    cate1: str = ""
    instruction: str = ""
    output: str
    history: tuple[tuple[str, str], ...] = ()


class _Note(BaseModel):
    model_config = ConfigDict(frozen=True)

    section_header: str
    section_text: str
    dialogue: str


@dataclass(frozen=True, slots=True)
class _Encounter:
    category: str
    turns: tuple[tuple[str, str], ...]
    question: str
    answer: str = ""


_CONSULTATIONS_ADAPTER = TypeAdapter(tuple[_Consultation, ...])


def load(
    folder: Path | None, corpus: str = "cmtmedqa", files: int | None = 8, seed: int | None = 0
) -> Dataset:
    """So many clinics' files, drawn by the seed and in their own order; all of them without a number."""
    if files is not None and files < 1:
        raise LabError(f"{files} files of encounters: at least 1 must be drawn")
    chinese = check_choice("corpus", corpus, CORPORA) == "cmtmedqa"
    home = data_folder(folder, CMTMEDQA_ORIGIN if chinese else MTS_DIALOG_ORIGIN)
    encounters = list(_read_consultations(home) if chinese else _read_notes(home))
    if not encounters:
        raise LabError(f"{home}: no encounter of {corpus} asks anything. {ORIGIN}")
    whole = (
        len(encounters) // ENCOUNTERS_PER_FILE * ENCOUNTERS_PER_FILE or ENCOUNTERS_PER_FILE
    )  # a last file of a few would be easier than the others
    clinics = [encounters[at : at + ENCOUNTERS_PER_FILE] for at in range(0, whole, ENCOUNTERS_PER_FILE)]
    drawn = take_sample(list(enumerate(clinics)), files, seed)
    cases = tuple(_make_case(f"{corpus}-{at}", clinic, "zh" if chinese else "en") for at, clinic in drawn)
    return Dataset(name="medical", cases=cases, settings={"corpus": corpus, "files": files, "seed": seed})


def _read_consultations(home: Path) -> Iterator[_Encounter]:
    name = "CMtMedQA_test.json"
    path = require_file(home, (f"cmtmedqa/{name}", name), CMTMEDQA_ORIGIN)
    for each in read_json(path, _CONSULTATIONS_ADAPTER, "a file of CMtMedQA"):
        turns = (*each.history, (each.instruction, each.output))
        asking = [at for at, (said, _) in enumerate(turns) if at and _is_full_question(said)]
        if asking:
            said, replied = turns[asking[-1]]
            yield _Encounter(each.cate1, turns[: asking[-1]], said, replied)


def _is_full_question(said: str) -> bool:
    told = [part for part in _SENTENCE.findall(said) if not _COURTESY.search(part)]
    return sum(map(len, told)) >= MIN_QUESTION_CHARACTERS and any(part.endswith(("？", "?")) for part in told)


def _read_notes(home: Path) -> Iterator[_Encounter]:
    name = "MTS-Dialog-TrainingSet.csv"
    path = require_file(home, (f"mts_dialog/{name}", name, f"Main-Dataset/{name}"), MTS_DIALOG_ORIGIN)
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    for row in rows:
        try:
            note = _Note.model_validate(row)
        except ValidationError as error:
            raise LabError(
                f"{path}, line {rows.line_num}: not a row of MTS-Dialog, {format_validation_error(error)}"
            ) from error
        turns = tuple(_split_turns(note.dialogue))
        if len(note.section_text) >= MIN_NOTE_CHARACTERS and turns:
            yield _Encounter(note.section_header, turns, note.section_text)


def _split_turns(dialogue: str) -> Iterator[tuple[str, str]]:
    """(doctor, the others until the doctor speaks again); a line without a speaker belongs to the last."""
    said: list[str] = []
    heard: list[str] = []
    doctor = False
    for line in filter(str.strip, dialogue.splitlines()):
        if found := _SPEAKER.match(line):
            doctor = found[1].startswith("Doctor")
        if doctor and heard:
            yield "\n".join(said), "\n".join(heard)
            said, heard = [], []
        (said if doctor else heard).append(line.strip())
    if said or heard:
        yield "\n".join(said), "\n".join(heard)


def _make_case(name: str, clinic: Sequence[_Encounter], lang: str) -> Case:
    items = tuple(
        HistoryItem(
            id=f"{number}#{at}",
            query=query,
            response=response,
            at=FIRST_ENCOUNTER_AT + timedelta(days=number, minutes=at),
            session=str(number),
        )
        for number, each in enumerate(clinic)
        for at, (query, response) in enumerate(each.turns)
    )
    questions = tuple(
        Question(
            id=f"{name}-{number}",
            text=each.question,
            at=FIRST_ENCOUNTER_AT + timedelta(days=len(clinic), minutes=number),
            gold=tuple(f"{number}#{at}" for at in range(len(each.turns))),
            answer=each.answer,
            category=each.category,
        )
        for number, each in enumerate(clinic)
    )
    return Case(id=name, items=items, questions=questions, lang=lang)
