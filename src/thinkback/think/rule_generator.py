"""`RuleGenerator`: thoughts of a turn by rules, without a model; deterministic and tuned for precision."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thinkback.language.phrasing import compose_sentence
from thinkback.language.relations import canonical_relation, get_relation
from thinkback.language.scripts import detect_language
from thinkback.language.sentences import Sentence
from thinkback.think.state import Amendment
from thinkback.types import Source, ThoughtDraft, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thinkback.language.rules import Clause, ExtractedFact


_LANGUAGE_BORDER = re.compile("[,，;；]|(?<=[A-Za-z]) (?=(?:在|因为|所以|但|然后|不过|而且)[\u4e00-\u9fff])")
_CHINESE_I = re.compile(
    "(?:我|俺)(?= ?(?:work|live|study|love|like|hate|prefer|play|speak|drive|am|have|moved|just|also"
    "|really)\\b)"
)
_MY_THEN_CHINESE = re.compile(
    "\\W*[Mm]y (?:[\u4e00-\u9fff]|[a-z ]{2,20}(?: is|'s)(?: now| called| named)* ?[\u4e00-\u9fff]"
    "|[A-Za-z .'-]{2,40}[ ]?[是叫在会住喜对不有也])"
)
_STARTS_CHINESE = re.compile("[\\W\\d]*[\u4e00-\u9fff]")
_LATIN_WORD = re.compile("[A-Za-z]{2}")
_CORRECTABLE_RELATIONS = ("works as", "studies")
"""Relations of many values that most people give one: after a slip the new value replaces the last."""


@dataclass(frozen=True, slots=True)
class RuleGenerator:
    """Table-driven rules for English and Chinese."""

    name: str = "rules"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """The drafts of one turn, in the order they were said.

        `recent` tells whom "she" means and what a "yes" answers; no thought comes from it alone.
        """
        # tables of patterns: compiled when first used, not by `import thinkback`
        from thinkback.language.en.coreference import build_mention_context
        from thinkback.language.en.reader import EnglishReader
        from thinkback.language.statement_filter import find_asides, find_statements
        from thinkback.language.zh.reader import ChineseReader
        from thinkback.language.zh.reader import build_mention_context as people_before
        from thinkback.think.assistant_replies import read_answer, read_assessment
        from thinkback.think.rule_amendments import admits_mistake, find_corrections, find_forget_requests

        people: list[str] = []  # whom the turn has named, in either language
        earlier = [each.query for each in recent]
        english = EnglishReader(turn.at, people, build_mention_context(earlier))
        chinese = ChineseReader(
            turn.at,
            people,
            people_before(earlier, turn.at) if "她" in turn.query or "他" in turn.query else None,
        )
        requests, forgotten = find_forget_requests(turn)
        drafts: dict[ThoughtDraft, None] = dict.fromkeys(forgotten)
        read = {sentence.start for sentence in requests}
        mends = admits_mistake(turn.query)
        for clause, reading, lang in _read_yes_no_answer(turn, recent):
            drafts[_fact_draft(turn, clause, reading, lang)] = None
        for sentence in find_statements(turn.query, skip=requests):
            about = ""
            for part, is_chinese in _split_by_language(sentence):
                reader = chinese if is_chinese else english
                for clause, reading in reader.read(part, about):
                    if reading.instead_of and not get_relation(reading.relation).single_valued:
                        drafts[_retraction_draft(turn, clause, reading)] = None
                    elif mends and _is_correctable(reading):
                        drafts[_correction_draft(turn, clause, reading)] = None
                    drafts[_fact_draft(turn, clause, reading, "zh" if is_chinese else "en")] = None
                    read.add(sentence.start)
                about = reader.subject
        for sentence in find_asides(turn.query, skip=requests):
            for clause, reading in english.read_names(sentence):
                drafts.setdefault(_fact_draft(turn, clause, reading, "en"))
        return [
            *drafts,
            *find_corrections(turn, read),
            *read_answer(turn),
            *read_assessment(turn, list(drafts)),
        ]


def _read_yes_no_answer(turn: Turn, recent: Sequence[Turn]) -> Iterator[tuple[Clause, ExtractedFact, str]]:
    """What a yes or no states: the question, read as the user's own words, or their denial."""
    from thinkback.language.en.reader import EnglishReader
    from thinkback.language.rules import Clause
    from thinkback.language.statement_filter import find_statements
    from thinkback.language.yes_no_answers import find_yes_no_answer
    from thinkback.language.zh.reader import ChineseReader

    answer = find_yes_no_answer(turn, recent)
    if answer is None:
        return
    clause = Clause(turn.query[answer.start : answer.end], answer.start, answer.end)
    for sentence in find_statements(answer.statement):
        lang = "zh" if detect_language(sentence.text) == "zh" else "en"
        reader = ChineseReader(turn.at) if lang == "zh" else EnglishReader(turn.at)
        for _, reading in reader.read(sentence):
            if not answer.denied:
                yield clause, reading, lang
            elif not reading.negated and reading.kind != "event":
                yield clause, replace(reading, negated=True, template=""), lang


def _split_by_language(sentence: Sentence) -> Iterator[tuple[Sentence, bool]]:
    """(a part, whether it is Chinese): "I don't like it anymore，现在只喝茶" changes at its comma."""
    text = _CHINESE_I.sub("I", sentence.text)
    start, chinese = 0, detect_language(text) == "zh"
    if text.isascii() or not _LATIN_WORD.search(text):
        yield sentence._replace(text=text), chinese
        return
    ends = [*(comma.start() for comma in _LANGUAGE_BORDER.finditer(text)), len(text)]
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
    return bool(_STARTS_CHINESE.match(text) or _MY_THEN_CHINESE.match(text)) or detect_language(text) == "zh"


def _is_correctable(reading: ExtractedFact) -> bool:
    """Whether a value among many may be the right one for what was just said wrong."""
    many = not get_relation(reading.relation).single_valued and len(reading.objects) == 1
    return not reading.negated and (many or reading.relation in _CORRECTABLE_RELATIONS)


def _correction_draft(turn: Turn, clause: Clause, reading: ExtractedFact) -> ThoughtDraft:
    """ "Scratch that. I'm a radiographer": what was said of it just before was the mistake.

    打错字了，我妹妹叫陈婧: of relations that often hold several values, only what is spelt alike.
    """
    any_value = reading.relation in _CORRECTABLE_RELATIONS
    taken = _retraction_draft(turn, clause, reading)
    return replace(taken, objects=reading.objects, forget=False, any_value=any_value)


def _retraction_draft(turn: Turn, clause: Clause, reading: ExtractedFact) -> Amendment:
    """What the clause says is not so: it goes, and leaves no denial behind."""
    return Amendment(
        subject=reading.subject,
        relation=canonical_relation(reading.relation),
        objects=reading.instead_of,
        sentence=f"{clause.text}.",
        kind=reading.kind or get_relation(reading.relation).kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        forget=True,
    )


def _fact_draft(turn: Turn, clause: Clause, reading: ExtractedFact, lang: str) -> ThoughtDraft:
    from thinkback.language.phrasing import append_date, validity_period

    relation = get_relation(reading.relation)
    kind = reading.kind or relation.kind
    timeless = relation.name == "is aged" or kind == "relationship"  # 今年30岁 tells no beginning
    when = None if timeless else reading.when
    valid_from, valid_to = validity_period(kind, when, reading.time_text)
    sentence = compose_sentence(
        reading.subject,
        relation.name,
        reading.objects,
        negated=reading.negated,
        ended=reading.ended,
        lang=lang,
        template=reading.template,
    )
    return ThoughtDraft(
        subject=reading.subject,
        relation=canonical_relation(reading.relation),
        objects=reading.objects,
        sentence=append_date(sentence, kind, when, valid_from, negated=reading.negated, lang=lang),
        kind=kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        negated=reading.negated,
        valid_from=valid_from,
        valid_to=valid_to,
        latest_start=None if when is None or valid_from is None else min(when.end, turn.at),
    )


__all__ = ["RuleGenerator"]
