"""RuleGenerator: the thoughts of a turn without any model, deterministic, with high precision.

Only what the user states becomes a fact, and only of whom it speaks; of the assistant's side we take only a
plain answer to a direct question (`dialogue`). What the rules cannot read stays in the bank.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thinkback.text.language import language
from thinkback.text.sentences import Sentence
from thinkback.think.relations import canonical, relation_of
from thinkback.think.sentence import compose
from thinkback.think.validate import Amendment
from thinkback.types import Draft, Source, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thinkback.think.rules.rule import Clause, Reading

_TURNS = re.compile("[,，;；]|(?<=[A-Za-z]) (?=(?:在|因为|所以|但|然后|不过|而且)[\u4e00-\u9fff])")
_I_ZH = re.compile(
    "(?:我|俺)(?= ?(?:work|live|study|love|like|hate|prefer|play|speak|drive|am|have|moved|just|also"
    "|really)\\b)"
)
_MY_ZH = re.compile("[Mm]y [\u4e00-\u9fff]|[Mm]y [A-Za-z .'-]{2,40}[ ]?[是叫在会住喜对不有也]")
_OPENS_ZH = re.compile("[\\W\\d]*[\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]{2}")


@dataclass(frozen=True, slots=True)
class RuleGenerator:
    """Table-driven rules for English and Chinese."""

    name: str = "rules"

    def generate(self, turn: Turn) -> list[Draft]:
        """The drafts of one turn, in the order they were said."""
        # tables of patterns: compiled when first used, not by `import thinkback`
        from thinkback.think.rules.amend import corrections, forgetting
        from thinkback.think.rules.chinese_reader import Reader as ChineseReader
        from thinkback.think.rules.correct import slipped
        from thinkback.think.rules.dialogue import answered
        from thinkback.think.rules.english_reader import Reader as EnglishReader
        from thinkback.think.rules.gate import statements

        people: list[str] = []  # whom the turn has named, in either language
        english, chinese = EnglishReader(turn.at, people), ChineseReader(turn.at, people)
        slip = slipped(turn.query)
        requests, forgotten = forgetting(turn)
        drafts: dict[Draft, None] = dict.fromkeys(forgotten)
        read = {sentence.start for sentence in requests}
        for sentence in statements(turn.query, skip=requests):
            about = ""
            for part, is_chinese in _parts(sentence):
                reader = chinese if is_chinese else english
                for clause, reading in reader.read(part, about):
                    if not relation_of(reading.relation).single:
                        if reading.instead_of:
                            drafts[_taken_back(turn, clause, reading)] = None
                        elif slip and not reading.negated and len(reading.objects) == 1:
                            drafts[_mended(turn, clause, reading)] = None
                    drafts[_draft(turn, clause, reading, "zh" if is_chinese else "en")] = None
                    read.add(sentence.start)
                about = reader.subject
        return [*drafts, *corrections(turn, read), *answered(turn)]


def _parts(sentence: Sentence) -> Iterator[tuple[Sentence, bool]]:
    """(a part, whether it is Chinese): "I don't like it anymore，现在只喝茶" changes at its comma."""
    text = _I_ZH.sub("I", sentence.text)
    start, chinese = 0, language(text) == "zh"
    if text.isascii() or not _LATIN.search(text):
        yield sentence._replace(text=text), chinese
        return
    ends = [*(comma.start() for comma in _TURNS.finditer(text)), len(text)]
    spoken = [_is_chinese(text[first:last]) for first, last in zip([0, *ends], ends, strict=False)]
    for end, now, following in zip(ends, spoken, (*spoken[1:], None), strict=True):
        if now != following:
            part = text[start:end].lstrip(" ,，;；")
            first = sentence.start + end - len(part)
            if part:
                yield Sentence(part, first, sentence.start + end), now
            start = end


def _is_chinese(text: str) -> bool:
    """Of a part: it opens in Chinese (做product manager), or is Chinese for the most part."""
    return bool(_OPENS_ZH.match(text) or _MY_ZH.match(text)) or language(text) == "zh"


def _mended(turn: Turn, clause: Clause, reading: Reading) -> Draft:
    """打错字了，我妹妹叫陈婧: of many values, the one just said that is spelt alike was the slip."""
    return Amendment(
        subject=reading.subject,
        relation=canonical(reading.relation),
        objects=reading.objects,
        sentence=clause.text,
        kind=reading.kind or relation_of(reading.relation).kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
    )


def _taken_back(turn: Turn, clause: Clause, reading: Reading) -> Draft:
    """What the clause says is not so: it goes, and leaves no denial behind."""
    return Amendment(
        subject=reading.subject,
        relation=canonical(reading.relation),
        objects=reading.instead_of,
        sentence=clause.text,
        kind=reading.kind or relation_of(reading.relation).kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        forget=True,
    )


def _draft(turn: Turn, clause: Clause, reading: Reading, lang: str) -> Draft:
    from thinkback.text.dates import began, stamp
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
    if when is not None and kind == "event":
        sentence = _dated(sentence, stamp(when), lang)
    elif when is not None and valid_from and not reading.negated:
        sentence = _dated(sentence, f"自{began(when)}" if lang == "zh" else f"since {began(when)}", lang)
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


def _dated(sentence: str, date: str, lang: str) -> str:
    return f"{sentence[:-1]}（{date}）。" if lang == "zh" else f"{sentence[:-1]} ({date})."
