"""Amendments by rules: requests to forget ("forget my address") and corrections ("I meant Ann")."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from thinkback.language.en.lexicon import word_set
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
    """What to forget: all values of one relation.

    If `relation` is empty: values that contain `words`, in any relation.
    """

    relation: str = ""
    words: str = ALL_VALUES
    subject: str = USER
    recent_only: bool = False


def forgotten_statement(request: str) -> str:
    """The statement that a request is about ("that I live in Rome"); empty if it is about a topic."""
    words = strip_topic_prefix(request)
    return words if _STATEMENT_OPENING.match(words) else ""


def forget_topics(request: str) -> Iterator[ForgetTopic]:
    """The relations, relatives or words that a request is about."""
    if refers_to_last_turn(request):
        yield ForgetTopic(recent_only=True)
        return
    name = extract_topic(request)
    if re.search("[\u4e00-\u9fff]", request):
        kin, owner = (KIN_ZH | PETS_ZH).get(name, ""), f"用户的{name}"
    else:
        kin, owner = (KIN_EN | PETS_EN).get(name.lower(), ""), f"{USER}'s {name.lower()}"
    if not name or len(name) > 60:
        return
    relation = canonical_relation(name)
    if kin:
        yield ForgetTopic(relation=f"has {kin}")
        if kin in UNIQUE_ROLES:
            yield from (ForgetTopic(relation=other_relation, subject=owner) for other_relation in RELATIONS)
    elif relation in RELATIONS or relation.startswith("favourite "):
        yield from (
            ForgetTopic(relation=other_relation)
            for other_relation in (relation, *_RELATED_RELATIONS.get(relation, ()))
        )
    elif extract_terms(name):
        yield ForgetTopic(words=name)


_RELATED_RELATIONS = {"works as": ("works at",), "works at": ("works as",), "address": ("lives in",)}
"""Relations that are forgotten together."""
_KIN_RELATIONS = tuple(dict.fromkeys(f"has {name}" for name in (*KIN_EN.values(), *PETS_EN.values())))
ALL_RELATION_NAMES = (*RELATIONS, *_KIN_RELATIONS)
"""The relations in which the words of a topic without a relation are searched."""

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
_NON_VALUES = word_set(
    """
    fine ok okay good great nothing right wrong me not the that this true false all my your a an it what why
    how
    """
)
_PERSONAL_RELATIONS = ("birthday", "is aged", "lives in", "works as", "works at")


@dataclass(frozen=True, slots=True)
class Correction:
    """`new` replaces `old`; if `old` is empty, it replaces a similar value."""

    new: str
    old: str = ""


def admits_mistake(text: str) -> bool:
    """Whether a text says that something stated before was a mistake."""
    return bool(_MISTAKE_EN.search(text) or _MISTAKE_ZH.search(text))


def parse_correction(text: str) -> Correction | None:
    """Parse the value that a sentence corrects: "Correction: it's 17, not 70".

    None if the sentence is a statement of its own or says nothing.
    """
    body = text.strip().replace("’", "'")
    if re.search("[\u4e00-\u9fff]", body):
        match = admits_mistake(body) and (
            _NOT_OLD_BUT_NEW_ZH.fullmatch(body) or _CORRECTED_VALUE_ZH.fullmatch(body)
        )
    else:
        match = (
            admits_mistake(body) and (_NOT_OLD_BUT_NEW.fullmatch(body) or _CORRECTED_VALUE.fullmatch(body))
        ) or _IT_IS_NOT.fullmatch(body)
    if not match:
        return None
    new, old = _VALUE_PREFIX.sub("", match["new"]).strip(" .'"), (match["old"] or "").strip(" .'")
    first = new.lower().split(" ")[0]
    if first in _NON_VALUES or re.match(r"(?:i|i'm|my|we|he|she|they|you)\b|[我你他她]", new.lower()):
        return None
    plain = new.isascii() and not (new[:1].isupper() or any(character.isdigit() for character in new))
    if plain and not old and not _EXPLICIT_CORRECTION.search(body):
        return None  # "I'm sorry, it's late"
    return Correction(new, old)


def correctable_keys() -> list[tuple[str, str]]:
    """All (subject, relation) keys that a correction without subject and relation may refer to."""
    user_keys = [(USER, name) for name, relation in RELATIONS.items() if relation.kind == "profile"]
    kin_names = dict.fromkeys((*KIN_EN.values(), *KIN_ZH.values(), *PETS_EN.values(), *PETS_ZH.values()))
    kin_keys = [(USER, f"has {name}") for name in kin_names]
    return [
        *user_keys,
        *kin_keys,
        *((person, name) for person in RELATIVE_SUBJECTS for name in _PERSONAL_RELATIONS),
    ]


_CLOSE_RELATIVES = (
    "mother father sister brother wife husband girlfriend boyfriend partner son daughter child boss"
)
_CLOSE_RELATIVES_ZH = "姐姐 妹妹 哥哥 弟弟 奶奶 爷爷 外婆 外公"
RELATIVE_SUBJECTS = (
    *(f"{USER}'s {name}" for name in _CLOSE_RELATIVES.split()),
    *(f"用户的{word}" for word in _CLOSE_RELATIVES_ZH.split()),
)
"""The relatives that "her" may refer to if the turn names nobody."""

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
    """Return the sentences that ask to forget something, and their amendments."""
    if not FORGET_WORD.search(turn.query):
        return set(), []
    match = [
        (s, rest)
        for s in split_sentences(turn.query)
        if len(s.text) <= MAX_SENTENCE_CHARS and (rest := parse_forget_request(s.text))
    ]
    drafts = [draft for sentence, rest in match for draft in _forget_drafts(turn, sentence, rest)]
    return {sentence for sentence, _ in match}, list(dict.fromkeys(drafts))


def find_corrections(turn: Turn, read_starts: Collection[int]) -> list[ThoughtDraft]:
    """Amendments for sentences that only correct something stated before.

    `read_starts` holds the start offsets of the sentences that stated facts themselves.
    """
    if not _CORRECTION_HINT.search(turn.query):
        return []
    drafts: list[ThoughtDraft] = []
    is_mistake = admits_mistake(turn.query)
    for sentence in split_sentences(turn.query):
        if (
            sentence.start in read_starts
            or len(sentence.text) > MAX_SENTENCE_CHARS
            or is_question(sentence.text)
        ):
            continue
        if correction := parse_correction(sentence.text):
            for subject, relation in correctable_keys():
                drafts.append(
                    _build_amendment(
                        turn, sentence, subject, relation, correction.new, instead_of=correction.old
                    )
                )
        elif is_mistake and (third_person := _THIRD_PERSON.fullmatch(sentence.text)):
            drafts += _relative_corrections(turn, sentence, third_person)
    return list(dict.fromkeys(drafts))


def _forget_drafts(turn: Turn, sentence: Sentence, request: str) -> Iterator[ThoughtDraft]:
    """Amendments of one request to forget."""
    statement = forgotten_statement(request)
    facts = list(EnglishReader(turn.at).read(Sentence(statement, 0, len(statement)))) if statement else []
    for _, fact in facts:
        for value in fact.objects:
            yield _build_amendment(turn, sentence, fact.subject, fact.relation, value, forget=True)
    for topic in forget_topics(request) if not facts else ():
        for relation in (topic.relation,) if topic.relation else ALL_RELATION_NAMES:
            yield _build_amendment(
                turn, sentence, topic.subject, relation, topic.words, forget=True, recent=topic.recent_only
            )


def _relative_corrections(turn: Turn, sentence: Sentence, match: re.Match[str]) -> Iterator[ThoughtDraft]:
    """Amendments of "wait, no. Her birthday is June 21" if this turn does not name the relative."""
    owner = "her" if match["owner"].lower() in ("her", "his") else "she"
    reader = EnglishReader(turn.at, people=["Somebody"])
    for _, fact in reader.read(Sentence(f"{owner} {match['rest']}", 0, len(match["rest"]) + len(owner) + 1)):
        if fact.subject == "Somebody" and get_relation(fact.relation).single_valued and not fact.negated:
            for person in RELATIVE_SUBJECTS:
                yield _build_amendment(turn, sentence, person, fact.relation, fact.objects[0], any_value=True)


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
    """Create an amendment with the sentence as its source."""
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
