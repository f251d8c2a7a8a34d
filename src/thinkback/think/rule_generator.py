"""`RuleGenerator`: the thoughts of a turn by hand-written rules, without a model.

The rules are deterministic and tuned for precision: only statements of the user become facts, and from the
assistant's response only plain answers to direct questions (`assistant_replies`). Everything else stays in
the memory bank only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thinkback.language.relations import canonical_relation, get_relation
from thinkback.language.sentence_builder import append_date, compose_sentence, validity_period
from thinkback.language.sentences import Sentence
from thinkback.language.writing_systems import detect_language
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
"""Many-valued relations of which most people have one value; a correction replaces any value."""


@dataclass(frozen=True, slots=True)
class RuleGenerator:
    """Thought generator for English and Chinese that uses the rules of `thinkback.language`."""

    name: str = "rules"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """Return the drafts of one turn, in the order of its statements.

        `recent` (oldest first) resolves pronouns and the question that a "yes" answers; it yields no drafts
        itself.
        """
        # Imported here because compiling the rules takes time that `import thinkback` must not spend.
        from thinkback.language.en.coreference import build_mention_context
        from thinkback.language.en.reader import EnglishReader
        from thinkback.language.statement_filter import find_asides, find_statements
        from thinkback.language.zh.reader import ChineseReader
        from thinkback.language.zh.reader import build_mention_context as build_mention_context_zh
        from thinkback.think.assistant_replies import read_answer, read_assessment
        from thinkback.think.rule_amendments import admits_mistake, find_corrections, find_forget_requests

        people: list[str] = []  # mentioned in this turn; shared by both readers
        earlier = [previous.query for previous in recent]
        english = EnglishReader(turn.at, people, build_mention_context(earlier))
        has_pronoun_zh = "她" in turn.query or "他" in turn.query
        mentions_zh = build_mention_context_zh(earlier, turn.at) if has_pronoun_zh else None
        chinese = ChineseReader(turn.at, people, mentions_zh)
        requests, forgotten = find_forget_requests(turn)
        drafts: dict[ThoughtDraft, None] = dict.fromkeys(forgotten)
        read_starts = {sentence.start for sentence in requests}
        corrects = admits_mistake(turn.query)
        for clause, fact, lang in _read_yes_no_answer(turn, recent):
            drafts[_fact_draft(turn, clause, fact, lang)] = None
        for sentence in find_statements(turn.query, skip=requests):
            subject = ""
            for part, is_chinese in _split_by_language(sentence):
                reader = chinese if is_chinese else english
                for clause, fact in reader.read(part, subject):
                    if fact.instead_of and not get_relation(fact.relation).single_valued:
                        drafts[_retraction_draft(turn, clause, fact)] = None
                    elif corrects and _is_correctable(fact):
                        drafts[_correction_draft(turn, clause, fact)] = None
                    drafts[_fact_draft(turn, clause, fact, "zh" if is_chinese else "en")] = None
                    read_starts.add(sentence.start)
                subject = reader.subject
        for sentence in find_asides(turn.query, skip=requests):
            for clause, fact in english.read_names(sentence):
                drafts.setdefault(_fact_draft(turn, clause, fact, "en"))
        return [
            *drafts,
            *find_corrections(turn, read_starts),
            *read_answer(turn),
            *read_assessment(turn, list(drafts)),
        ]


def _read_yes_no_answer(turn: Turn, recent: Sequence[Turn]) -> Iterator[tuple[Clause, ExtractedFact, str]]:
    """Facts that a "yes" or "no" confirms or denies, read from the question as a statement of the user."""
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
        for _, fact in reader.read(sentence):
            if not answer.denied:
                yield clause, fact, lang
            elif not fact.negated and fact.kind != "event":
                yield clause, replace(fact, negated=True, template=""), lang


def _split_by_language(sentence: Sentence) -> Iterator[tuple[Sentence, bool]]:
    """Split a mixed sentence into (part, is Chinese): "I don't like it，现在只喝茶" changes at its comma."""
    text = _CHINESE_I.sub("I", sentence.text)
    start, is_chinese = 0, detect_language(text) == "zh"
    if text.isascii() or not _LATIN_WORD.search(text):
        yield sentence._replace(text=text), is_chinese
        return
    ends = [*(comma.start() for comma in _LANGUAGE_BORDER.finditer(text)), len(text)]
    chinese_parts = [_is_chinese(text[first:last]) for first, last in zip([0, *ends], ends, strict=False)]
    for end, current, following in zip(ends, chinese_parts, (*chinese_parts[1:], None), strict=True):
        if current != following:
            part = text[start:end].lstrip(" ,，;；")
            first = sentence.start + end - len(part)
            if part:
                yield Sentence(part, first, sentence.start + end), current
            start = end


def _is_chinese(text: str) -> bool:
    """Whether a part starts in Chinese (做product manager) or is mostly Chinese."""
    return bool(_STARTS_CHINESE.match(text) or _MY_THEN_CHINESE.match(text)) or detect_language(text) == "zh"


def _is_correctable(fact: ExtractedFact) -> bool:
    """Whether a fact can correct the value that was just stated wrongly."""
    is_one_of_many = not get_relation(fact.relation).single_valued and len(fact.objects) == 1
    return not fact.negated and (is_one_of_many or fact.relation in _CORRECTABLE_RELATIONS)


def _correction_draft(turn: Turn, clause: Clause, fact: ExtractedFact) -> ThoughtDraft:
    """The amendment of "Scratch that. I'm a radiographer": it replaces what was stated just before.

    For relations that often have several values (打错字了，我妹妹叫陈婧) only a similarly spelled value is
    replaced.
    """
    any_value = fact.relation in _CORRECTABLE_RELATIONS
    retraction = _retraction_draft(turn, clause, fact)
    return replace(retraction, objects=fact.objects, forget=False, any_value=any_value)


def _retraction_draft(turn: Turn, clause: Clause, fact: ExtractedFact) -> Amendment:
    """The amendment that removes the values which a clause rejects, without storing their negation."""
    return Amendment(
        subject=fact.subject,
        relation=canonical_relation(fact.relation),
        objects=fact.instead_of,
        sentence=f"{clause.text}.",
        kind=fact.kind or get_relation(fact.relation).kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        forget=True,
    )


def _fact_draft(turn: Turn, clause: Clause, fact: ExtractedFact, lang: str) -> ThoughtDraft:
    """The draft of a fact, with its sentence and validity period."""
    relation = get_relation(fact.relation)
    kind = fact.kind or relation.kind
    timeless = relation.name == "is aged" or kind == "relationship"  # 今年30岁 does not say since when
    when = None if timeless else fact.when
    valid_from, valid_to = validity_period(kind, when, fact.time_text)
    sentence = compose_sentence(
        fact.subject,
        relation.name,
        fact.objects,
        negated=fact.negated,
        ended=fact.ended,
        lang=lang,
        template=fact.template,
    )
    return ThoughtDraft(
        subject=fact.subject,
        relation=canonical_relation(fact.relation),
        objects=fact.objects,
        sentence=append_date(sentence, kind, when, valid_from, negated=fact.negated, lang=lang),
        kind=kind,
        sources=(Source(turn.id, turn.asker, "query", clause.start, clause.end),),
        negated=fact.negated,
        valid_from=valid_from,
        valid_to=valid_to,
        latest_start=None if when is None or valid_from is None else min(when.end, turn.at),
    )
