"""Medical dialogues that stand in for TiM's private RMD data: a doctor's memory of many consultations.

On RMD, TiM measures whether the memory that belongs to a patient's question is recalled. Here the same is
measured on two public corpora. A file of 25 consecutive encounters is one case, stored turn by turn. Each
encounter gives one question, and its own turns should be recalled, not those of the other 24:

- "cmtmedqa", Chinese consultations of several turns: the question is the patient's last one that is specific
  enough (a question mark, and 15 characters besides thanks and assent). Only the turns before it are stored.
  Its answer is the doctor's reply, its category the department. Consultations without such a question after
  the first turn are skipped.
- "mts_dialog", English encounters, each with a section of the clinical note written from it: all turns are
  stored, and the text of the section is the question, as when a clinician looks up the source of a note. Its
  category is the section header. Sections of less than 60 characters ("Noncontributory.") fit any patient and
  are skipped.

A whole corpus would give about a thousand questions, so eight files are drawn by default.
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
ENCOUNTERS_PER_FILE = 25
MIN_QUESTION_CHARACTERS = 15  # minimum for a specific question
MIN_NOTE_CHARACTERS = 60  # minimum for a specific note
FIRST_ENCOUNTER_AT = datetime(2023, 1, 2, 9, tzinfo=UTC)  # neither corpus has dates: one encounter per day
CMTMEDQA_ORIGIN = "CMtMedQA is part of the repository SupritYoung/Zhongjing on GitHub: CMtMedQA_test.json"
MTS_DIALOG_ORIGIN = (
    "MTS-Dialog is the repository abachaa/MTS-Dialog on GitHub: Main-Dataset/MTS-Dialog-TrainingSet.csv"
)
ORIGIN = f"{CMTMEDQA_ORIGIN}. {MTS_DIALOG_ORIGIN}"
_SENTENCE = re.compile(r"[^。！!？?]+[。！!？?]*")
_COURTESY = re.compile(r"谢|^(?:好|嗯|明白|了解|知道|我(?:明白|了解|知道|会))")
_SPEAKER = re.compile(r"\s*([A-Za-z_0-9 ]{1,24}):")


class _Consultation(BaseModel):
    """Entries of another form, {"instruct", "output"}, are single questions without history."""

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
    """Load `files` files of encounters, drawn by the seed; all of them if `files` is None."""
    if files is not None and files < 1:
        raise LabError(f"files must be at least 1, not {files}")
    chinese = check_choice("corpus", corpus, CORPORA) == "cmtmedqa"
    home = data_folder(folder, CMTMEDQA_ORIGIN if chinese else MTS_DIALOG_ORIGIN)
    encounters = list(_read_consultations(home) if chinese else _read_notes(home))
    if not encounters:
        raise LabError(f"{home}: no encounter of {corpus} contains a question. {ORIGIN}")
    complete = (
        len(encounters) // ENCOUNTERS_PER_FILE * ENCOUNTERS_PER_FILE or ENCOUNTERS_PER_FILE
    )  # a shorter last file would be easier than the others
    clinics = [encounters[at : at + ENCOUNTERS_PER_FILE] for at in range(0, complete, ENCOUNTERS_PER_FILE)]
    selected = take_sample(list(enumerate(clinics)), files, seed)
    cases = tuple(_make_case(f"{corpus}-{at}", clinic, "zh" if chinese else "en") for at, clinic in selected)
    return Dataset(name="medical", cases=cases, settings={"corpus": corpus, "files": files, "seed": seed})


def _read_consultations(home: Path) -> Iterator[_Encounter]:
    name = "CMtMedQA_test.json"
    path = require_file(home, (f"cmtmedqa/{name}", name), CMTMEDQA_ORIGIN)
    for each in read_json(path, _CONSULTATIONS_ADAPTER, "a file of CMtMedQA"):
        turns = (*each.history, (each.instruction, each.output))
        candidates = [at for at, (query, _) in enumerate(turns) if at and _is_full_question(query)]
        if candidates:
            query, response = turns[candidates[-1]]
            yield _Encounter(each.cate1, turns[: candidates[-1]], query, response)


def _is_full_question(message: str) -> bool:
    sentences = [sentence for sentence in _SENTENCE.findall(message) if not _COURTESY.search(sentence)]
    return sum(map(len, sentences)) >= MIN_QUESTION_CHARACTERS and any(
        sentence.endswith(("？", "?")) for sentence in sentences
    )


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
    """Yield (doctor, replies until the doctor speaks again); a line without speaker belongs to the last."""
    doctor_lines: list[str] = []
    reply_lines: list[str] = []
    is_doctor = False
    for line in filter(str.strip, dialogue.splitlines()):
        if match := _SPEAKER.match(line):
            is_doctor = match[1].startswith("Doctor")
        if is_doctor and reply_lines:
            yield "\n".join(doctor_lines), "\n".join(reply_lines)
            doctor_lines, reply_lines = [], []
        (doctor_lines if is_doctor else reply_lines).append(line.strip())
    if doctor_lines or reply_lines:
        yield "\n".join(doctor_lines), "\n".join(reply_lines)


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
