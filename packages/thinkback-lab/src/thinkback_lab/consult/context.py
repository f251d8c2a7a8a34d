"""The memories that are shown to the doctor, and reading findings from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from thinkback_lab.cases import HistoryItem, Question
from thinkback_lab.consult.guide import Guide, is_denial
from thinkback_lab.consult.records import Finding, Lang
from thinkback_lab.prompts import one_line
from thinkback_lab.systems.interface import (
    MemorySystem,
    OracleSystem,
    RetrievedMemory,
    recall_memories,
)
from thinkback_lab.text import count_tokens, split_sentences

MAX_CONTEXT_TOKENS = 120  # tokens of memories for one question
RECALL_K = 20  # memories asked of a scheme: more than fit
PATIENT_LABEL = {"en": "Patient: ", "zh": "患者："}
DOCTOR_LABEL = {"en": " Doctor: ", "zh": " 医生："}


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One memory as it stands on the desk; `on` is the day of what it comes from."""

    on: date | None
    text: str

    @property
    def dated_text(self) -> str:
        return self.text if self.on is None else f"[{self.on.isoformat()}] {self.text}"

    def patient_sentences(self, lang: Lang) -> list[str]:
        """Its sentences but the doctor's: what the doctor said is no finding."""
        return split_sentences(self.text.partition(DOCTOR_LABEL[lang])[0].removeprefix(PATIENT_LABEL[lang]))


@dataclass(frozen=True, slots=True)
class Context:
    """T_med of Eq. 9 and 13, for one question."""

    question: str
    lines: tuple[ContextLine, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(count_tokens(line.dated_text) for line in self.lines)


@dataclass(slots=True)
class PatientMemory:
    """One patient's memory under one scheme, with what was told to it and all it was asked at this visit."""

    memory: MemorySystem | OracleSystem
    lang: Lang
    budget: int = MAX_CONTEXT_TOKENS
    items: dict[str, HistoryItem] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)

    def tell(self, item: HistoryItem) -> None:
        self.items[item.id] = item
        self.memory.tell([item])

    def recall(self, question: str, at: datetime) -> Context:
        found = recall_memories(self.memory, Question(id="desk", text=question, at=at), RECALL_K)
        context = Context(question, self._fit_to_budget([self._line(each) for each in found]))
        self.contexts.append(context)
        return context

    def _line(self, found: RetrievedMemory) -> ContextLine:
        sources = [self.items[source] for source in found.sources]
        text = next((self._with_speakers(item) for item in sources if item.text == found.text), found.text)
        return ContextLine(max((item.at.date() for item in sources), default=None), one_line(text))

    def _with_speakers(self, item: HistoryItem) -> str:
        return f"{PATIENT_LABEL[self.lang]}{item.query}{DOCTOR_LABEL[self.lang]}{item.response}"

    def _fit_to_budget(self, lines: Sequence[ContextLine]) -> tuple[ContextLine, ...]:
        kept: list[ContextLine] = []
        left = self.budget
        for line in lines:
            cost = count_tokens(line.dated_text)
            if cost > left:
                if part := _cut_to_budget(line, left):
                    kept.append(part)
                break
            kept.append(line)
            left -= cost
        return tuple(kept)


def _cut_to_budget(line: ContextLine, budget: int) -> ContextLine | None:
    """As many whole sentences as fit."""
    kept = ""
    for sentence in split_sentences(line.text):
        longer = ContextLine(line.on, f"{kept} {sentence}".strip())
        if count_tokens(longer.dated_text) > budget:
            break
        kept = longer.text
    return ContextLine(line.on, kept) if kept else None


FindingVerdict = Literal["right", "contradicted", "forgotten"]


def read_findings(
    lines: Iterable[ContextLine], item: str, guide: Guide, lang: Lang, *, today: date, valid_days: int | None
) -> tuple[str, ...]:
    """The sentences that tell what is known of the item; none where nothing is."""
    known: dict[date, list[str]] = {}
    for line in lines:
        on = line.on or date.min
        if valid_days is None or (today - on).days <= valid_days:
            known.setdefault(on, []).extend(
                each for each in line.patient_sentences(lang) if guide.states_item(each, item, lang)
            )
    newest = max((on for on, said in known.items() if said), default=None)
    return () if newest is None else tuple(dict.fromkeys(known[newest]))


def judge_statements(stated: Sequence[str], told: Sequence[Finding]) -> FindingVerdict:
    """A doctor's statements of an item against what the patient told of it, the newest last.

    It is contradicted where they say an earlier result, or deny what was told, or tell what was denied (TiM's
    table 5: a value that was high is "reasonable"); where they say none of it, it is forgotten.
    """
    *earlier, now = told
    if any(_states_finding(each, now) for each in stated):
        return "right"
    if stated and now.is_negative:
        return "contradicted"
    wrong = any(
        now.is_stated_in(each) or any(_states_finding(each, before) for before in earlier) for each in stated
    )
    return "contradicted" if wrong else "forgotten"


def recalls_agree(one: Sequence[str], other: Sequence[str], told: Sequence[Finding]) -> bool:
    """Whether two recalls of an item tell the same of it; what is not recalled is alike to nothing."""
    return bool(one and other) and (
        set(one) == set(other) or judge_statements(one, told) == judge_statements(other, told) != "forgotten"
    )


def _states_finding(statement: str, finding: Finding) -> bool:
    if finding.is_negative:
        return is_denial(statement)
    return finding.is_stated_in(statement) and (_is_worded_as_denial(finding) or not is_denial(statement))


def _is_worded_as_denial(finding: Finding) -> bool:
    """Whether the patient's own sentence with the result has a denial ("I can't sleep")."""
    return is_denial(
        next((part for part in split_sentences(finding.says) if finding.is_stated_in(part)), finding.says)
    )
