"""Sentences that speak of what was said before -> amendments: requests to forget, bare corrections."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from thinkback.text.forgetting import ASKS, requested
from thinkback.text.sentences import Sentence, is_question, sentences
from thinkback.think.amendment import Amendment
from thinkback.think.relations import relation_of
from thinkback.think.rules.correct import RELATIVES, corrected, keys, slipped
from thinkback.think.rules.english_reader import Reader
from thinkback.think.rules.forget import EVERY_RELATION, stated, topics
from thinkback.think.rules.gate import LONGEST
from thinkback.types import Draft, Source, Turn

_SOMEBODY = re.compile(
    r"(?:(?:actually|no|wait|sorry|so|and),? )*(?P<owner>his|her|he|she)\s+(?P<rest>.+)", re.I | re.S
)
_CORRECTS = re.compile(
    "mistake|mis-?typ|mis-?spok|mis-?read|mis-?spel|meant|strike|correct|typo|oops|wrong|mixed|my bad"
    "|scratch|wait|sorry|, not |it's .{1,30} not "
    "|[错误正滑对]",
    re.I,
)


def forgetting(turn: Turn) -> tuple[set[Sentence], list[Draft]]:
    """(the sentences that ask to forget something, what they take back)"""
    if not ASKS.search(turn.query):
        return set(), []
    found = [
        (s, rest) for s in sentences(turn.query) if len(s.text) <= LONGEST and (rest := requested(s.text))
    ]
    drafts = [draft for sentence, rest in found for draft in _forgetting(turn, sentence, rest)]
    return {sentence for sentence, _ in found}, list(dict.fromkeys(drafts))


def corrections(turn: Turn, read: Collection[int]) -> list[Draft]:
    """What the sentences that state nothing themselves put right; `read` holds where the others start."""
    if not _CORRECTS.search(turn.query):
        return []
    out: list[Draft] = []
    slip = slipped(turn.query)
    for sentence in sentences(turn.query):
        if sentence.start in read or len(sentence.text) > LONGEST or is_question(sentence.text):
            continue
        if found := corrected(sentence.text):
            for subject, relation in keys():
                out.append(_amendment(turn, sentence, subject, relation, found.new, instead_of=found.old))
        elif slip and (somebody := _SOMEBODY.fullmatch(sentence.text)):
            out += _somebody(turn, sentence, somebody)
    return list(dict.fromkeys(out))


def _forgetting(turn: Turn, sentence: Sentence, rest: str) -> Iterator[Draft]:
    said = stated(rest)
    readings = list(Reader(turn.at).read(Sentence(said, 0, len(said)))) if said else []
    for _, reading in readings:
        for item in reading.objects:
            yield _amendment(turn, sentence, reading.subject, reading.relation, item, forget=True)
    for topic in topics(rest) if not readings else ():
        for relation in (topic.relation,) if topic.relation else EVERY_RELATION:
            yield _amendment(
                turn, sentence, topic.subject, relation, topic.words, forget=True, recent=topic.recent
            )


def _somebody(turn: Turn, sentence: Sentence, said: re.Match[str]) -> Iterator[Draft]:
    """ "wait, no. Her birthday is June 21": a correction of a relative whom this turn does not name."""
    owner = "her" if said["owner"].lower() in ("her", "his") else "she"
    reader = Reader(turn.at, people=["Somebody"])
    for _, reading in reader.read(Sentence(f"{owner} {said['rest']}", 0, len(said["rest"]) + len(owner) + 1)):
        if reading.subject == "Somebody" and relation_of(reading.relation).single and not reading.negated:
            for person in RELATIVES:
                yield _amendment(turn, sentence, person, reading.relation, reading.objects[0], any_value=True)


def _amendment(
    turn: Turn,
    sentence: Sentence,
    subject: str,
    relation: str,
    value: str,
    *,
    forget: bool = False,
    instead_of: str = "",
    any_value: bool = False,
    recent: bool = False,
) -> Amendment:
    known = relation_of(relation)
    return Amendment(
        subject=subject,
        relation=known.name,
        objects=(value,),
        sentence=sentence.text,
        kind=known.kind,
        sources=(Source(turn.id, turn.asker, "query", sentence.start, sentence.end),),
        forget=forget,
        instead_of=instead_of,
        any_value=any_value,
        recent=recent,
    )
