"""Amendments by rules: requests to forget (`forget my address`) and corrections (`I meant Ann`), in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from thinkback.language.en.reader import EnglishReader
from thinkback.language.forget_requests import (
    FORGET_WORD,
    extract_topic,
    parse_forget_request,
    refers_to_last_turn,
    strip_topic_prefix,
)
from thinkback.language.kinship import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH, UNIQUE_ROLES
from thinkback.language.names import USER
from thinkback.language.relations import ALL_VALUES, RELATIONS, canonical_relation, get_relation
from thinkback.language.sentences import Sentence, is_question, split_sentences
from thinkback.language.statement_filter import MAX_SENTENCE_CHARS
from thinkback.language.tokens import extract_terms
from thinkback.think.state import Amendment
from thinkback.types import Source, ThoughtDraft, Turn

_STATEMENT_OPENING = re.compile(
    r"(?:i|i'm|i've|my \w+(?: \w+)?(?:'s \w+)? (?:is|was|has|lives?|works?)|we)\b", re.I
)


@dataclass(frozen=True, slots=True)
class ForgetTopic:
    """What to forget: one key (relation), or objects that have `words` in any relation; `recent` only."""

    relation: str = ""
    words: str = ALL_VALUES
    subject: str = USER
    recent_only: bool = False


def forgotten_statement(rest: str) -> str:
    """The statement that is to be forgotten, if the topic is one: "that I live in Rome"."""
    words = strip_topic_prefix(rest)
    return words if _STATEMENT_OPENING.match(words) else ""


def forget_topics(rest: str) -> Iterator[ForgetTopic]:
    """The keys and words that a request is about."""
    if refers_to_last_turn(rest):
        yield ForgetTopic(recent_only=True)
        return
    name = extract_topic(rest)
    if re.search("[\u4e00-\u9fff]", rest):
        kin, owner = (KIN_ZH | PETS_ZH).get(name, ""), f"用户的{name}"
    else:
        kin, owner = (KIN_EN | PETS_EN).get(name.lower(), ""), f"{USER}'s {name.lower()}"
    if not name or len(name) > 60:
        return
    relation = canonical_relation(name)
    if kin:
        yield ForgetTopic(relation=f"has {kin}")
        if kin in UNIQUE_ROLES:
            yield from (ForgetTopic(relation=each, subject=owner) for each in RELATIONS)
    elif relation in RELATIONS or relation.startswith("favourite "):
        yield from (ForgetTopic(relation=each) for each in (relation, *_RELATED_RELATIONS.get(relation, ())))
    elif extract_terms(name):
        yield ForgetTopic(words=name)


_RELATED_RELATIONS = {"works as": ("works at",), "works at": ("works as",), "address": ("lives in",)}
_KIN_RELATIONS = tuple(dict.fromkeys(f"has {name}" for name in (*KIN_EN.values(), *PETS_EN.values())))
ALL_RELATION_NAMES = (*RELATIONS, *_KIN_RELATIONS)
"""Where words or what is recent are looked for: an open topic names no key."""

_I = re.IGNORECASE
_MISTAKE_EN = re.compile(
    r"\b(?:wait,? no|no,? wait|correction|oops|typo|my bad|my mistake|i misspoke|i mis-?typed|scratch that"
    r"|i meant"
    r"|i made a mistake|i mixed|i got (?:that|it) wrong|i (?:typed|wrote|said|spelt|spelled) (?:that|it)"
    r" wrong|sorry,? (?:i meant"
    r"|it's|it is|that's|make that)|to correct myself|let me correct|autocorrect(?:ed)?|wrong word|i"
    r" mis-?read|misread it|i mis-?spoke|strike that|brain fart"
    r"|i mis-?spelt|i mis-?spelled|slip of the (?:tongue|pen)|fat[- ]?finger(?:ed|s)?)\b",
    _I,
)
_MISTAKE_ZH = re.compile(
    "(?:写|说|打|记|搞|弄|拼|输)错(?:字|别字)?了?|更正|纠正|口误|手误|笔误|手滑|不对|错了"
)
_CORRECTED_VALUE = re.compile(
    r"(?:(?:lol|haha|ah|oh|ugh|sorry)[\s,!]*)*(?:.*?\b(?:i meant(?: to (?:say|write|type))?|make (?:that|it)"
    r"|it's(?: actually| really)?|it is(?:"
    r" actually| really)?"
    r"|that's|(?:it|that) should (?:be|say|have been|read)|should be)|(?:correction|typo|oops|wait,? no"
    r"|scratch that)[\s,:.!-]+)"
    r"[\s,:]*(?P<new>(?:[$€£]?\d[\d,]*\d|[\w$€£+@.:/'-]+)(?: [\w$€£+@.:/'-]+){0,4}?)(?:,? (?:and )?not"
    r" (?P<old>[\w$€£+@.:/'"
    r" -]{1,40}))?[.!\s]*",
    _I | re.S,
)
_NOT_OLD_BUT_NEW = re.compile(
    r"(?:.*[,.!\s])?not (?P<old>[\w$€£+@.:/'-]+(?: [\w'-]+){0,3}),? (?:but |it's |it is |it was |i meant"
    r" |rather )+"
    r"(?P<new>[\w$€£+@.:/'-]+(?: [\w$€£+@.:/'-]+){0,3}?)[.!\s]*",
    _I | re.S,
)
_VALUE_PREFIX = re.compile(
    r"\A(?:his|her|its|their|the|my) (?:\w+ )?(?:name|number|age|date|birthday) is ", _I
)
_EXPLICIT_CORRECTION = re.compile(r"\b(?:meant|typo|correction|make (?:that|it)|should)\b", _I)
_IT_IS_NOT = re.compile(
    r"(?:no,? |sorry,? |actually,? )*it(?:'s| is) (?P<new>[\w'-]+(?: [\w'-]+){0,3}?),? not (?P<old>[\w'"
    r" -]{1,40})[.!\s]*",
    _I,
)
_CORRECTED_VALUE_ZH = re.compile(
    "(?:.*[，,：:、 ])?(?:[^，,不是]{0,8}了)?(?:应该|其实"
    "|正确的)?是(?P<new>[^，,。！!是的吗呢]{1,14})(?:[，,](?:而)?不是(?P<old>[^，,。！!]{1,14}))?(?:[，,].{1,14})?[。！!才对了\\s]*"
)
_NOT_OLD_BUT_NEW_ZH = re.compile(
    "(?:.*[，,：: ])?不是(?P<old>[^，,。！!]{1,14})[，,](?:而)?是(?P<new>[^，,。！!的吗呢]{1,14})[。！!\\s]*"
)
_NON_VALUE_WORDS = """fine ok okay good great nothing right wrong me not the that this true false all my your a an it
 what why how"""
_NON_VALUES = frozenset(_NON_VALUE_WORDS.split())
_PERSONAL_RELATIONS = ("birthday", "is aged", "lives in", "works as", "works at")


@dataclass(frozen=True, slots=True)
class Correction:
    """`new` takes the place of `old`; of a value like it where `old` is empty."""

    new: str
    old: str = ""


def admits_mistake(text: str) -> bool:
    """Whether a text says that something said before was a mistake."""
    return bool(_MISTAKE_EN.search(text) or _MISTAKE_ZH.search(text))


def parse_correction(text: str) -> Correction | None:
    """The bare value that a sentence puts right; None if it is a statement of its own or says nothing."""
    body = text.strip().replace("’", "'")
    if re.search("[\u4e00-\u9fff]", body):
        found = admits_mistake(body) and (
            _NOT_OLD_BUT_NEW_ZH.fullmatch(body) or _CORRECTED_VALUE_ZH.fullmatch(body)
        )
    else:
        found = (
            admits_mistake(body) and (_NOT_OLD_BUT_NEW.fullmatch(body) or _CORRECTED_VALUE.fullmatch(body))
        ) or _IT_IS_NOT.fullmatch(body)
    if not found:
        return None
    new, old = _VALUE_PREFIX.sub("", found["new"]).strip(" .'"), (found["old"] or "").strip(" .'")
    first = new.lower().split(" ")[0]
    if first in _NON_VALUES or re.match(r"(?:i|i'm|my|we|he|she|they|you)\b|[我你他她]", new.lower()):
        return None
    plain = new.isascii() and not (new[:1].isupper() or any(character.isdigit() for character in new))
    if plain and not old and not _EXPLICIT_CORRECTION.search(body):
        return None  # "I'm sorry, it's late"
    return Correction(new, old)


def correctable_keys() -> list[tuple[str, str]]:
    """Every (subject, relation) that an elliptic correction may be about."""
    own = [(USER, name) for name, relation in RELATIONS.items() if relation.kind == "profile"]
    known = dict.fromkeys((*KIN_EN.values(), *KIN_ZH.values(), *PETS_EN.values(), *PETS_ZH.values()))
    kin = [(USER, f"has {name}") for name in known]
    return [*own, *kin, *((person, name) for person in RELATIVE_SUBJECTS for name in _PERSONAL_RELATIONS)]


_CLOSE_RELATIVES = (
    "mother father sister brother wife husband girlfriend boyfriend partner son daughter child boss"
)
_OTHER_RELATIVES = """friend colleague teacher neighbour roommate landlord dentist doctor cousin dog cat rabbit parrot
 hamster ex"""
_CLOSE_RELATIVES_ZH = "姐姐 妹妹 哥哥 弟弟 奶奶 爷爷 外婆 外公"
RELATIVE_SUBJECTS = (
    *(f"{USER}'s {name}" for name in _CLOSE_RELATIVES.split()),
    *(f"用户的{word}" for word in _CLOSE_RELATIVES_ZH.split()),
)
"""Whom "her" may mean where this turn has named nobody."""

_THIRD_PERSON = re.compile(
    r"(?:(?:actually|no|wait|sorry|so|and),? )*(?P<owner>his|her|he|she)\s+(?P<rest>.+)", re.I | re.S
)
_CORRECTION_HINT = re.compile(
    "mistake|mis-?typ|mis-?spok|mis-?read|mis-?spel|meant|strike|correct|typo|oops|wrong|mixed|my bad"
    "|scratch|wait|sorry|, not |it's .{1,30} not "
    "|[错误正滑对]",
    re.I,
)


def find_forget_requests(turn: Turn) -> tuple[set[Sentence], list[ThoughtDraft]]:
    """(the sentences that ask to forget something, what they take back)"""
    if not FORGET_WORD.search(turn.query):
        return set(), []
    found = [
        (s, rest)
        for s in split_sentences(turn.query)
        if len(s.text) <= MAX_SENTENCE_CHARS and (rest := parse_forget_request(s.text))
    ]
    drafts = [draft for sentence, rest in found for draft in _forget_drafts(turn, sentence, rest)]
    return {sentence for sentence, _ in found}, list(dict.fromkeys(drafts))


def find_corrections(turn: Turn, read: Collection[int]) -> list[ThoughtDraft]:
    """What the sentences that state nothing themselves put right; `read` holds where the others start."""
    if not _CORRECTION_HINT.search(turn.query):
        return []
    out: list[ThoughtDraft] = []
    slip = admits_mistake(turn.query)
    for sentence in split_sentences(turn.query):
        if sentence.start in read or len(sentence.text) > MAX_SENTENCE_CHARS or is_question(sentence.text):
            continue
        if found := parse_correction(sentence.text):
            for subject, relation in correctable_keys():
                out.append(
                    _build_amendment(turn, sentence, subject, relation, found.new, instead_of=found.old)
                )
        elif slip and (somebody := _THIRD_PERSON.fullmatch(sentence.text)):
            out += _relative_corrections(turn, sentence, somebody)
    return list(dict.fromkeys(out))


def _forget_drafts(turn: Turn, sentence: Sentence, rest: str) -> Iterator[ThoughtDraft]:
    said = forgotten_statement(rest)
    readings = list(EnglishReader(turn.at).read(Sentence(said, 0, len(said)))) if said else []
    for _, reading in readings:
        for item in reading.objects:
            yield _build_amendment(turn, sentence, reading.subject, reading.relation, item, forget=True)
    for topic in forget_topics(rest) if not readings else ():
        for relation in (topic.relation,) if topic.relation else ALL_RELATION_NAMES:
            yield _build_amendment(
                turn, sentence, topic.subject, relation, topic.words, forget=True, recent=topic.recent_only
            )


def _relative_corrections(turn: Turn, sentence: Sentence, said: re.Match[str]) -> Iterator[ThoughtDraft]:
    """ "wait, no. Her birthday is June 21": a correction of a relative whom this turn does not name."""
    owner = "her" if said["owner"].lower() in ("her", "his") else "she"
    reader = EnglishReader(turn.at, people=["Somebody"])
    for _, reading in reader.read(Sentence(f"{owner} {said['rest']}", 0, len(said["rest"]) + len(owner) + 1)):
        if (
            reading.subject == "Somebody"
            and get_relation(reading.relation).single_valued
            and not reading.negated
        ):
            for person in RELATIVE_SUBJECTS:
                yield _build_amendment(
                    turn, sentence, person, reading.relation, reading.objects[0], any_value=True
                )


def _build_amendment(
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
    known = get_relation(relation)
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
        recent_only=recent,
    )
