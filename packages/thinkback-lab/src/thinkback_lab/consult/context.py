"""The memories that are shown to the doctor, and reading findings from them.

All memory systems are used in the same way, and what they recall is formatted here in the same way and
limited to the same number of tokens. A memory that does not fit is cut at the end of a sentence, so that no
half of a value is read.
"""

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

MAX_CONTEXT_TOKENS = 120  # for one question
RECALL_K = 20  # more than fit into the budget
PATIENT_LABEL = {"en": "Patient: ", "zh": "患者："}
DOCTOR_LABEL = {"en": " Doctor: ", "zh": " 医生："}


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One recalled memory; `on` is the date of its newest source."""

    on: date | None
    text: str

    @property
    def dated_text(self) -> str:
        return self.text if self.on is None else f"[{self.on.isoformat()}] {self.text}"

    def patient_sentences(self, lang: Lang) -> list[str]:
        """The sentences without the doctor's part, because what the doctor said is not a finding."""
        return split_sentences(self.text.partition(DOCTOR_LABEL[lang])[0].removeprefix(PATIENT_LABEL[lang]))


@dataclass(frozen=True, slots=True)
class Context:
    """Recalled memories for one question: T_med of the papers (TiM (EMNLP), Eq. 9; TiM (ACL), Eq. 13)."""

    question: str
    lines: tuple[ContextLine, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(count_tokens(line.dated_text) for line in self.lines)


@dataclass(slots=True)
class PatientMemory:
    """One patient's memory in one memory system, and the contexts recalled at the current visit."""

    memory: MemorySystem | OracleSystem
    lang: Lang
    budget: int = MAX_CONTEXT_TOKENS
    items: dict[str, HistoryItem] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)

    def add_item(self, item: HistoryItem) -> None:
        self.items[item.id] = item
        self.memory.add_items([item])

    def recall(self, question: str, at: datetime) -> Context:
        retrieved = recall_memories(self.memory, Question(id="desk", text=question, at=at), RECALL_K)
        context = Context(question, self._fit_to_budget([self._line(each) for each in retrieved]))
        self.contexts.append(context)
        return context

    def _line(self, retrieved: RetrievedMemory) -> ContextLine:
        sources = [self.items[source] for source in retrieved.sources]
        text = next(
            (self._with_speakers(item) for item in sources if item.text == retrieved.text), retrieved.text
        )
        return ContextLine(max((item.at.date() for item in sources), default=None), one_line(text))

    def _with_speakers(self, item: HistoryItem) -> str:
        return f"{PATIENT_LABEL[self.lang]}{item.query}{DOCTOR_LABEL[self.lang]}{item.response}"

    def _fit_to_budget(self, lines: Sequence[ContextLine]) -> tuple[ContextLine, ...]:
        fitting: list[ContextLine] = []
        left = self.budget
        for line in lines:
            cost = count_tokens(line.dated_text)
            if cost > left:
                if shortened := _cut_to_budget(line, left):
                    fitting.append(shortened)
                break
            fitting.append(line)
            left -= cost
        return tuple(fitting)


def _cut_to_budget(line: ContextLine, budget: int) -> ContextLine | None:
    """Keep as many whole sentences as fit."""
    text = ""
    for sentence in split_sentences(line.text):
        longer = ContextLine(line.on, f"{text} {sentence}".strip())
        if count_tokens(longer.dated_text) > budget:
            break
        text = longer.text
    return ContextLine(line.on, text) if text else None


FindingVerdict = Literal["right", "contradicted", "forgotten"]


def read_findings(
    lines: Iterable[ContextLine], item: str, guide: Guide, lang: Lang, *, today: date, valid_days: int | None
) -> tuple[str, ...]:
    """Return the newest sentences that state something about the item.

    Of several dates only the newest counts. `valid_days` limits how old a statement may be.
    """
    sentences_by_date: dict[date, list[str]] = {}
    for line in lines:
        on = line.on or date.min
        if valid_days is None or (today - on).days <= valid_days:
            sentences_by_date.setdefault(on, []).extend(
                each for each in line.patient_sentences(lang) if guide.states_item(each, item, lang)
            )
    newest = max((on for on, statements in sentences_by_date.items() if statements), default=None)
    return () if newest is None else tuple(dict.fromkeys(sentences_by_date[newest]))


def judge_statements(statements: Sequence[str], findings: Sequence[Finding]) -> FindingVerdict:
    """Judge the doctor's statements about an item against what the patient said (newest last).

    `contradicted`: they state an earlier result, deny what was said, or state what was denied (TiM (ACL),
    table 5: a high value is called "reasonable"). `forgotten`: they state none of it.
    """
    *earlier, now = findings
    if any(_states_finding(each, now) for each in statements):
        return "right"
    if statements and now.is_negative:
        return "contradicted"
    wrong = any(
        now.is_stated_in(each) or any(_states_finding(each, before) for before in earlier)
        for each in statements
    )
    return "contradicted" if wrong else "forgotten"


def recalls_agree(one: Sequence[str], other: Sequence[str], findings: Sequence[Finding]) -> bool:
    """Whether two recalls of an item state the same; an empty recall agrees with nothing."""
    return bool(one and other) and (
        set(one) == set(other)
        or judge_statements(one, findings) == judge_statements(other, findings) != "forgotten"
    )


def _states_finding(statement: str, finding: Finding) -> bool:
    if finding.is_negative:
        return is_denial(statement)
    return finding.is_stated_in(statement) and (_is_worded_as_denial(finding) or not is_denial(statement))


def _is_worded_as_denial(finding: Finding) -> bool:
    """Whether the patient words the result as a denial ("I can't sleep")."""
    return is_denial(
        next(
            (sentence for sentence in split_sentences(finding.says) if finding.is_stated_in(sentence)),
            finding.says,
        )
    )
