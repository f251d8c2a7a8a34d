"""RuleGenerator: the thoughts of a turn without any model, deterministic, with high precision.

Only what the user states becomes a fact, and only of whom it speaks; of the assistant's side we take only a
plain answer to a direct question (`dialogue`). What the rules cannot read stays in the bank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thinkback.text.language import language
from thinkback.think.relations import canonical, relation_of
from thinkback.think.sentence import compose
from thinkback.types import Draft, Source, Turn

if TYPE_CHECKING:
    from thinkback.think.rules.rule import Clause, Reading


@dataclass(frozen=True, slots=True)
class RuleGenerator:
    """Table-driven rules for English and Chinese."""

    name: str = "rules"

    def generate(self, turn: Turn) -> list[Draft]:
        """The drafts of one turn, in the order they were said."""
        from thinkback.think.rules.chinese_reader import (
            Reader as ChineseReader,  # tables of patterns: compiled
        )
        from thinkback.think.rules.dialogue import answered  # when first used, not by `import thinkback`
        from thinkback.think.rules.english_reader import Reader as EnglishReader
        from thinkback.think.rules.gate import statements

        english, chinese = EnglishReader(turn.at), ChineseReader(turn.at)
        drafts: dict[Draft, None] = {}
        for sentence in statements(turn.query):
            is_chinese = language(sentence.text) == "zh"
            reader = chinese if is_chinese else english
            for clause, reading in reader.read(sentence):
                drafts[_draft(turn, clause, reading, "zh" if is_chinese else "en")] = None
        return [*drafts, *answered(turn)]


def _draft(turn: Turn, clause: Clause, reading: Reading, lang: str) -> Draft:
    from thinkback.text.dates import stamp
    from thinkback.think.when import validity

    relation = relation_of(reading.relation)
    kind = reading.kind or relation.kind
    timeless = relation.name == "is aged" or kind == "relationship"  # 今年30岁 tells no beginning
    when = None if timeless else reading.when
    valid_from, valid_to = validity(kind, when, reading.when_said)
    sentence = compose(
        reading.subject,
        relation.name,
        reading.objects,
        negated=reading.negated,
        ended=reading.ended,
        lang=lang,
        template=reading.say,
    )
    if reading.when is not None and kind == "event":
        sentence = (
            f"{sentence[:-1]}（{stamp(reading.when)}）。"
            if lang == "zh"
            else f"{sentence[:-1]} ({stamp(reading.when)})."
        )
    return Draft(
        subject=reading.subject,
        relation=canonical(reading.relation),
        objects=reading.objects,
        sentence=sentence,
        kind=kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        negated=reading.negated,
        valid_from=valid_from,
        valid_to=valid_to,
    )
