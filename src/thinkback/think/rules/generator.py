"""RuleGenerator: the thoughts of a turn without any model, deterministic, with high precision.

Only what the user states becomes a fact, and only of whom it speaks; of the assistant's side we take only a
plain answer to a direct question (`dialogue`). What the rules cannot read stays in the bank.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thinkback.text.language import language
from thinkback.text.sentences import Sentence
from thinkback.think.amendment import Amendment
from thinkback.think.relations import canonical, relation_of
from thinkback.think.sentence import compose
from thinkback.types import Draft, Source, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thinkback.think.rules.rule import Clause, Reading

_TURNS = re.compile("[,，;；]|(?<=[A-Za-z]) (?=(?:在|因为|所以|但|然后|不过|而且)[\u4e00-\u9fff])")
_I_ZH = re.compile(
    "(?:我|俺)(?= ?(?:work|live|study|love|like|hate|prefer|play|speak|drive|am|have|moved|just|also"
    "|really)\\b)"
)
_MY_ZH = re.compile(
    "\\W*[Mm]y (?:[\u4e00-\u9fff]|[a-z ]{2,20}(?: is|'s)(?: now| called| named)* ?[\u4e00-\u9fff]"
    "|[A-Za-z .'-]{2,40}[ ]?[是叫在会住喜对不有也])"
)
_OPENS_ZH = re.compile("[\\W\\d]*[\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]{2}")
_MENDED = ("works as", "studies")
"""Relations of many values that most people give one: after a slip the new value replaces the last."""


@dataclass(frozen=True, slots=True)
class RuleGenerator:
    """Table-driven rules for English and Chinese."""

    name: str = "rules"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[Draft]:
        """The drafts of one turn, in the order they were said.

        `recent` tells whom "she" means and what a "yes" answers; no thought comes from it alone.
        """
        # tables of patterns: compiled when first used, not by `import thinkback`
        from thinkback.think.rules.amend import corrections, forgetting
        from thinkback.think.rules.chinese_reader import Reader as ChineseReader
        from thinkback.think.rules.chinese_reader import cast_before as people_before
        from thinkback.think.rules.correct import slipped
        from thinkback.think.rules.dialogue import answered, judged
        from thinkback.think.rules.english_people import cast_before
        from thinkback.think.rules.english_reader import Reader as EnglishReader
        from thinkback.think.rules.gate import asides, statements

        people: list[str] = []  # whom the turn has named, in either language
        earlier = [each.query for each in recent]
        english = EnglishReader(turn.at, people, cast_before(earlier))
        chinese = ChineseReader(
            turn.at,
            people,
            people_before(earlier, turn.at) if "她" in turn.query or "他" in turn.query else None,
        )
        requests, forgotten = forgetting(turn)
        drafts: dict[Draft, None] = dict.fromkeys(forgotten)
        read = {sentence.start for sentence in requests}
        mends = slipped(turn.query)
        for clause, reading, lang in _answering(turn, recent):
            drafts[_draft(turn, clause, reading, lang)] = None
        for sentence in statements(turn.query, skip=requests):
            about = ""
            for part, is_chinese in _parts(sentence):
                reader = chinese if is_chinese else english
                for clause, reading in reader.read(part, about):
                    if reading.instead_of and not relation_of(reading.relation).single:
                        drafts[_taken_back(turn, clause, reading)] = None
                    elif mends and _mendable(reading):
                        drafts[_mended(turn, clause, reading)] = None
                    drafts[_draft(turn, clause, reading, "zh" if is_chinese else "en")] = None
                    read.add(sentence.start)
                about = reader.subject
        for sentence in asides(turn.query, skip=requests):
            for clause, reading in english.named(sentence):
                drafts.setdefault(_draft(turn, clause, reading, "en"))
        return [*drafts, *corrections(turn, read), *answered(turn), *judged(turn, list(drafts))]


def _answering(turn: Turn, recent: Sequence[Turn]) -> Iterator[tuple[Clause, Reading, str]]:
    """What a yes or no states: the question, read as the user's own words, or their denial."""
    from thinkback.think.affirm import affirmed
    from thinkback.think.rules.chinese_reader import Reader as ChineseReader
    from thinkback.think.rules.english_reader import Reader as EnglishReader
    from thinkback.think.rules.gate import statements
    from thinkback.think.rules.rule import Clause

    answer = affirmed(turn, recent)
    if answer is None:
        return
    clause = Clause(turn.query[answer.start : answer.end], answer.start, answer.end)
    for sentence in statements(answer.statement):
        lang = "zh" if language(sentence.text) == "zh" else "en"
        reader = ChineseReader(turn.at) if lang == "zh" else EnglishReader(turn.at)
        for _, reading in reader.read(sentence):
            if not answer.denied:
                yield clause, reading, lang
            elif not reading.negated and reading.kind != "event":
                yield clause, replace(reading, negated=True, say=""), lang


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


def _mendable(reading: Reading) -> bool:
    """Whether a value among many may be the right one for what was just said wrong."""
    many = not relation_of(reading.relation).single and len(reading.objects) == 1
    return not reading.negated and (many or reading.relation in _MENDED)


def _mended(turn: Turn, clause: Clause, reading: Reading) -> Draft:
    """ "Scratch that. I'm a radiographer": what was said of it just before was the mistake.

    打错字了，我妹妹叫陈婧: of relations that often hold several values, only what is spelt alike.
    """
    any_value = reading.relation in _MENDED
    taken = _taken_back(turn, clause, reading)
    return replace(taken, objects=reading.objects, forget=False, any_value=any_value)


def _taken_back(turn: Turn, clause: Clause, reading: Reading) -> Amendment:
    """What the clause says is not so: it goes, and leaves no denial behind."""
    return Amendment(
        subject=reading.subject,
        relation=canonical(reading.relation),
        objects=reading.instead_of,
        sentence=f"{clause.text}.",
        kind=reading.kind or relation_of(reading.relation).kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        forget=True,
    )


def _draft(turn: Turn, clause: Clause, reading: Reading, lang: str) -> Draft:
    from thinkback.think.when import dated, validity

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
    return Draft(
        subject=reading.subject,
        relation=canonical(reading.relation),
        objects=reading.objects,
        sentence=dated(sentence, kind, when, valid_from, negated=reading.negated, lang=lang),
        kind=kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        negated=reading.negated,
        valid_from=valid_from,
        valid_to=valid_to,
        began_by=None if when is None or valid_from is None else min(when.end, turn.at),
    )
