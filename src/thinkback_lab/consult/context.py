"""What a scheme brings to the doctor's desk: its memories, dated, best first, within the same number of
tokens.

Every scheme is told the same way (the patient speaks, the doctor answers) and asked the same way; what it
returns is put into lines here, alike for all. A raw turn names its speakers. A memory that does not fit whole
is cut at the end of a sentence, so that no half of a value is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from thinkback_lab.cases import Item, Question
from thinkback_lab.consult.record import Lang
from thinkback_lab.prompts import one_line
from thinkback_lab.schemes.scheme import Found, Knows, Remembers, recalled
from thinkback_lab.text import count_tokens, sentences

BUDGET = 120  # tokens of memories for one question
ASKED = 20  # memories asked of a scheme: more than fit
PATIENT = {"en": "Patient: ", "zh": "患者："}
DOCTOR = {"en": " Doctor: ", "zh": " 医生："}


@dataclass(frozen=True, slots=True)
class Line:
    """One memory as it stands on the desk; `on` is the day of what it comes from."""

    on: date | None
    text: str

    @property
    def shown(self) -> str:
        return self.text if self.on is None else f"[{self.on.isoformat()}] {self.text}"

    def told(self, lang: Lang) -> list[str]:
        """Its sentences but the doctor's: what the doctor said is no finding."""
        return sentences(self.text.partition(DOCTOR[lang])[0].removeprefix(PATIENT[lang]))


@dataclass(frozen=True, slots=True)
class Context:
    """T_med of Eq. 9 and 13, for one question."""

    question: str
    lines: tuple[Line, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(count_tokens(line.shown) for line in self.lines)


@dataclass(slots=True)
class Desk:
    """One patient's memory under one scheme, with what was told to it and all it was asked at this visit."""

    memory: Remembers | Knows
    lang: Lang
    budget: int = BUDGET
    items: dict[str, Item] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)

    def tell(self, item: Item) -> None:
        self.items[item.id] = item
        self.memory.tell([item])

    def recall(self, question: str, at: datetime) -> Context:
        found = recalled(self.memory, Question(id="desk", text=question, at=at), ASKED)
        context = Context(question, self._fitting([self._line(each) for each in found]))
        self.contexts.append(context)
        return context

    def _line(self, found: Found) -> Line:
        sources = [self.items[source] for source in found.sources]
        text = next((self._spoken(item) for item in sources if item.text == found.text), found.text)
        return Line(max((item.at.date() for item in sources), default=None), one_line(text))

    def _spoken(self, item: Item) -> str:
        return f"{PATIENT[self.lang]}{item.query}{DOCTOR[self.lang]}{item.response}"

    def _fitting(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        kept: list[Line] = []
        left = self.budget
        for line in lines:
            cost = count_tokens(line.shown)
            if cost > left:
                if part := _beginning(line, left):
                    kept.append(part)
                break
            kept.append(line)
            left -= cost
        return tuple(kept)


def _beginning(line: Line, budget: int) -> Line | None:
    """As many whole sentences as fit."""
    kept = ""
    for sentence in sentences(line.text):
        longer = Line(line.on, f"{kept} {sentence}".strip())
        if count_tokens(longer.shown) > budget:
            break
        kept = longer.text
    return Line(line.on, kept) if kept else None
