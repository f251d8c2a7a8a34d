"""Finds contradictions between a remembered statement and a sentence of an answer, without a model.

    find_contradiction(["The user lives in Lyon."], 0, "You live in Paris, so ...")   another value of a frame
    find_contradiction(["用户每月房租3200元。"], 0, "你每月房租只有2300元。")             another number
    find_contradiction(["The user hates horror films."], 0, "As you enjoy horror ...")  the opposite

It compares statements about the same person and thing only where they surely differ; the words and patterns
are in `claims.toml`, read by `claim_patterns`. Statements may be the user's own words ("i live in lyon") or
about "the user".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.language.claim_amounts import amount_terms, find_amounts
from thinkback.language.claim_patterns import CLAUSE_BREAK, NEGATOR_EN, NEGATOR_ZH, claim_patterns
from thinkback.language.restrictions import KIN_WORD
from thinkback.language.tokens import FUNCTION_CHARACTERS, extract_terms, fold_text
from thinkback.language.values import are_comparable, may_be_same_value
from thinkback.language.writing_systems import has_han


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why two statements cannot both be true, and the words of the answer that say so."""

    reason: str
    words: tuple[str, ...] = ()


def find_contradiction(held: Sequence[str], index: int, sentence: str) -> Contradiction | None:
    """The contradiction between the statement `held[index]` and a sentence of an answer, or None.

    The other statements are those that hold at the same time: a value that one of them says is no conflict.
    """
    thought = _parse(held[index], "user")
    answer = _parse(sentence, "assistant")
    others = [_parse(text, "user") for number, text in enumerate(held) if number != index]
    for compare in (
        _other_value,
        _other_name,
        _other_noun,
        _other_level,
        _other_amount,
        _other_state,
        _opposite,
    ):
        if found := compare(thought, answer, others):
            return found
    return None


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    tokens: frozenset[str]
    positive: bool
    about_user: bool
    hedged: bool


@dataclass(frozen=True, slots=True)
class _Statement:
    """A text in which the user is "you", and its clauses."""

    text: str
    clauses: tuple[_Clause, ...]
    people: frozenset[str]


_TO_USER_EN = tuple(
    (re.compile(pattern, re.I), other)
    for pattern, other in (
        (r"\bthe user's\b|\buser's\b", "your"),
        (r"\bthe user (?:is|was)\b", "you are"),
        (r"\bthe user has\b", "you have"),
        (r"\bthe user (?:does not|doesn't)\b", "you do not"),
        (r"\bthe user\b", "you"),
    )
)
_FIRST_PERSON_EN = tuple(
    (re.compile(pattern), other)
    for pattern, other in (
        (r"\b(?:I'm|I am|i'm|im|i am|Im)\b", "you are"),
        (r"\b(?:I've|i've|I have|i have)\b", "you have"),
        (r"\b(?:I|i)\b", "you"),
        (r"\b(?:[Mm]y|[Oo]ur)\b", "your"),
        (r"\b[Ww]e are\b", "you are"),
    )
)
_QUOTED = re.compile(r"(?:(?<=\s)|^)['\"“‘]([^'\"”’]{4,200}(?:'[a-z][^'\"”’]*)*)['\"”’]")
_LIGHT = frozenset(
    ["be", "get", "go", "make", "thing", "way", "time", "lot", "year", "day", "month"]
) | frozenset("一个些点")


def _parse(text: str, speaker: str) -> _Statement:
    body = text.replace("’", "'")
    if has_han(body):
        body = body.replace("您", "你")
        if speaker == "user":
            body = re.sub("用户|我", "你", body)
        else:
            body = re.sub("“[^”]*”", lambda quoted: quoted.group().replace("我", "你"), body)
    for pattern, other in _TO_USER_EN:
        body = pattern.sub(other, body)
    body = re.sub(r"\b[Yy]ou're\b", "you are", body)
    body = re.sub(r"\b[Yy]ou've\b", "you have", body)
    if speaker == "user":
        body = _to_second_person(body)
    else:
        body = _QUOTED.sub(lambda quoted: _to_second_person(quoted.group()), body)
    body = re.sub(r"\bYou", "you", body)
    clauses = tuple(_read_clause(part) for part in CLAUSE_BREAK.split(body) if part.strip())
    people = {match.group() for match in re.finditer(r"\b[A-Z][a-z]+\b", body)}
    people |= {match.group() for match in KIN_WORD.finditer(body.lower())}
    return _Statement(body, clauses, frozenset(people))


def _to_second_person(text: str) -> str:
    for pattern, other in _FIRST_PERSON_EN:
        text = pattern.sub(other, text)
    return text


def _read_clause(text: str) -> _Clause:
    patterns = claim_patterns()
    tokens: set[str] = set()
    positive = not (NEGATOR_ZH if has_han(text) else NEGATOR_EN).search(text)
    rest = text
    for token, words, negative in patterns.families_zh:
        if negative is not None and negative.search(rest):
            positive = not positive if not re.search("不讨厌|不反感", rest) else positive
            rest = negative.sub(" ", rest)
            tokens.add(token)
        if words.search(rest):
            rest = words.sub(" ", rest)
            tokens.add(token)
    for term in extract_terms(rest):
        if term.isascii():
            if term in patterns.negative_en:
                positive = not positive
                tokens.add(patterns.negative_en[term])
            else:
                tokens.add(patterns.families_en.get(term, term))
        elif len(term) == 1 and term not in FUNCTION_CHARACTERS and term not in "用户年今现一":
            tokens.add(term)
    folded = fold_text(text)
    if re.search(r"\byour\b|\b(?:own|owns|have|has)\b|你的|有", folded):
        tokens.add("have")
    if re.search(r"can'?t stand", folded):
        tokens.add("like")
    return _Clause(
        text,
        frozenset(tokens - _LIGHT),
        positive,
        bool(re.search(r"\byou(?:r|rs|rself)?\b|你", folded)),
        bool(patterns.hedge.search(folded)),
    )


def _other_value(
    thought: _Statement, answer: _Statement, others: Sequence[_Statement]
) -> Contradiction | None:
    """Another value of a frame: "you live in Paris" against "you live in Lyon"."""
    for frame in claim_patterns().frames:
        for subject, held, _ in frame.read(thought.text):
            for person, value, clause in frame.read(answer.text):
                if not _same_person(subject, person) or _is_hedged(clause):
                    continue
                if frame.name in ("school", "destination", "favourite", "degree") and not (
                    frame.name == "school" or _shares_topic(thought, answer)
                ):
                    continue
                if may_be_same_value(held, value) or not are_comparable(held, value):
                    continue
                if held.lower() in answer.text.lower() or _said_by(others, value):
                    continue
                return Contradiction(f"another value: {value!r} instead of {held!r}", (value,))
    return None


def _other_name(
    thought: _Statement, answer: _Statement, others: Sequence[_Statement]
) -> Contradiction | None:
    """Another name for somebody with a role: "your dentist Dr Krause" against "your dentist is Dr Lang"."""
    for pattern in claim_patterns().roles:
        held = [(m["r"].lower(), m["v"]) for m in pattern.finditer(thought.text)]
        if not held:
            continue
        for match in pattern.finditer(answer.text):
            for role, name in held:
                if (
                    match["r"].lower() == role
                    and not may_be_same_value(name, match["v"])
                    and name not in answer.text
                ):
                    return Contradiction(f"{match['v']!r} instead of {name!r} as {role}", (match["v"],))
    return None


def _other_noun(
    thought: _Statement, answer: _Statement, others: Sequence[_Statement]
) -> Contradiction | None:
    """Another noun of which one thing can only be one: occupation, species, colour, make of a car."""
    for group in claim_patterns().exclusives:
        held = group.find(thought.text)
        stated = group.find(answer.text)
        if not held or not stated or set(held) & set(stated):
            continue
        words = (
            [word for word in stated if not _said_by(others, word)] if group.name != "occupation" else stated
        )
        for word in words:
            clause = next(clause for clause in answer.clauses if word in fold_text(clause.text))
            if clause.hedged or not clause.positive or not all(item.positive for item in thought.clauses):
                continue
            if group.name == "occupation":
                if not _states_role(answer.text, word) or not _states_role(thought.text, held[0]):
                    continue
            elif not _shares_owner(thought, clause, held[0], word):
                continue
            return Contradiction(f"{word!r} instead of {held[0]!r}", (word,))
    return None


def _other_level(
    thought: _Statement, answer: _Statement, others: Sequence[_Statement]
) -> Contradiction | None:
    """Another level of a scale for the same thing: "your blood cell count is reasonable", but it is high.

    The answer may name the thing through its value: "the count is 3623/ul" and "3623/ul is high".
    """
    for levels in claim_patterns().scales:
        own = {
            n: m.group()
            for n, level in enumerate(levels)
            for m in level.finditer(thought.text)
            if not _negated_before(thought.text, m.start())
        }
        if len(own) != 1:
            continue
        (own_word,) = own.values()
        subject = _scale_subject(thought, levels)
        owners = [_scale_subject(other, levels) for other in others if subject and subject <= _tokens(other)]
        for clause in answer.clauses:
            found = [
                (n, m.group())
                for n, level in enumerate(levels)
                for m in level.finditer(clause.text)
                if not _negated_before(clause.text, m.start()) and not _is_hedged(clause.text[: m.end()])
            ]
            if not found or any(n in own for n, _ in found):
                continue
            for names in (subject, *owners):
                core = names - {"value", "level", "result", "read", "relat", "have", "blood test"}
                if core and len(core & clause.tokens) >= max(1, round(0.6 * len(core))):
                    return Contradiction(f"{found[0][1]!r} instead of {own_word!r}", (found[0][1],))
    return None


def _scale_subject(statement: _Statement, levels: Sequence[re.Pattern[str]]) -> frozenset[str]:
    text = statement.text
    for level in levels:
        text = level.sub(" ", text)
    text = re.split(r"\bis\b|\bare\b|\bwas\b", text)[0] if not has_han(text) else text
    return frozenset(
        token
        for clause in CLAUSE_BREAK.split(text)
        if clause.strip()
        for token in _read_clause(clause).tokens
    ) - {"have", "偏", "很", "较"}


def _other_amount(
    thought: _Statement, answer: _Statement, others: Sequence[_Statement]
) -> Contradiction | None:
    """Another number, date, time or weekday for the same thing."""
    known = {amount for statement in (thought, *others) for amount in find_amounts(statement.text)}
    for clause in thought.clauses:
        for kind, held in find_amounts(clause.text):
            anchor = _tokens(thought) - amount_terms(thought.text)
            names = {name for name in thought.people if name[0].isupper()}
            for stated in answer.clauses:
                if stated.hedged or (kind, held) in set(find_amounts(answer.text)):
                    continue
                for other_kind, value in find_amounts(stated.text):
                    if other_kind != kind or (other_kind, value) in known:
                        continue
                    tokens = stated.tokens | (_tokens(answer) if kind == "age" else frozenset())
                    shared = (anchor & tokens) - {"have", "you", "月", "日", "年", "每", "点", "分"}
                    named = bool(names & answer.people)
                    other_person = bool(_kin(thought) - _kin(answer)) and not named
                    if other_person or (names and not named and not stated.about_user):
                        continue
                    if _is_same_amount_slot(kind, thought, shared, stated.about_user or named):
                        return Contradiction(f"{value!r} instead of {held!r}", ())
    return None


def _is_same_amount_slot(kind: str, thought: _Statement, shared: frozenset[str], same_person: bool) -> bool:
    """Whether an amount of an answer is about the same thing as that of a thought.

    Ages and counts ("two cats") need the same person; other amounts need a shared word, in Chinese two
    characters.
    """
    if kind.startswith("count:"):
        return same_person
    if kind == "age":
        return bool(shared) if thought.people else same_person
    if has_han(thought.text) and not any(len(token) > 1 for token in shared):
        return len(shared) >= 2
    return bool(shared)


def _other_state(
    thought: _Statement, answer: _Statement, others: Sequence[_Statement]
) -> Contradiction | None:
    """A state that excludes what the answer says: "your husband" to somebody who is divorced."""
    for state in claim_patterns().states:
        held = next((m for pattern in state.holds for m in [pattern.search(thought.text)] if m), None)
        if held is None:
            continue
        for pattern in state.excluded:
            match = pattern.search(answer.text)
            if match is None or any(unless.search(answer.text) for unless in state.unless):
                continue
            if any(pattern.search(other.text) for other in others):
                continue
            day, other_day = held.groupdict().get("d"), match.groupdict().get("d")
            if day is None or (other_day and day.lower().rstrip("s") == other_day.lower().rstrip("s")):
                return Contradiction(f"{match.group()!r} does not fit: {state.name}")
    return None


def _opposite(thought: _Statement, answer: _Statement, others: Sequence[_Statement]) -> Contradiction | None:
    """The answer affirms what was denied, or denies what was said, in much the same words."""
    if len(thought.clauses) > 3:
        return None
    for held in thought.clauses:
        informative = held.tokens - {"have"} if len(held.tokens) > 2 else held.tokens
        if not informative or not (held.about_user or thought.people):
            continue
        for stated in answer.clauses:
            if stated.positive == held.positive or stated.hedged or held.hedged:
                continue
            if not stated.about_user and not (thought.people & answer.people):
                continue
            if _kin(thought) != _kin(answer) and not (thought.people & answer.people):
                continue
            shared = informative & stated.tokens
            families = informative & claim_patterns().tokens
            size = (
                min(len(informative), max(1, len(stated.tokens - {"have"})))
                if not stated.positive
                else len(informative)
            )
            if (
                shared
                and families <= stated.tokens
                and len(shared) >= max(1, 0.6 * size)
                and shared != {"have"}
            ):
                if not held.positive and len(shared) < 2 and not (len(informative) == 1 and families):
                    continue
                if held.positive and shared <= {"like", "have", "live", "work"}:
                    continue
                denies = "the answer states what was denied" if stated.positive else "the answer denies it"
                return Contradiction(denies)
    return None


def _tokens(statement: _Statement) -> frozenset[str]:
    return frozenset(token for clause in statement.clauses for token in clause.tokens)


def _kin(statement: _Statement) -> set[str]:
    return {name for name in statement.people if not name[0].isupper()}


def _said_by(statements: Sequence[_Statement], value: str) -> bool:
    return any(value.lower() in statement.text.lower() for statement in statements)


def _is_hedged(text: str) -> bool:
    return bool(claim_patterns().hedge.search(fold_text(text)))


def _negated_before(text: str, start: int) -> bool:
    return bool(
        re.search(
            r"(?:\b(?:not|no|never|hardly|isn't|aren't)(?:\s+\w+)?\s+|[不没非未])\Z", text[:start], re.I
        )
    )


def _shares_topic(thought: _Statement, answer: _Statement) -> bool:
    return bool((_tokens(thought) & _tokens(answer)) - {"have", "you"})


def _same_person(one: str, other: str) -> bool:
    """Whether two subjects are the same: both the user, or a shared name or role."""
    a, b = one.lower(), other.lower()
    if a in ("you", "你", "") or b in ("you", "你", ""):
        return (a in ("you", "你", "")) == (b in ("you", "你", ""))
    return a == b or bool(set(extract_terms(a)) & set(extract_terms(b)))


def _states_role(text: str, noun: str) -> bool:
    """Whether a text says that the user is a `noun`: "as a pilot", "you are a nurse", 你是护士."""
    if has_han(noun):
        return bool(
            re.search(
                f"你(?:现在|目前)?(?:是|做|当|在[^，。]{{0,12}}[做当])[^，。的]{{0,10}}{noun}(?!的)", text
            )
        )
    return bool(
        re.search(
            rf"\b(?:as an?|you(?: are|'re) an?|you work as an?|works? as an?|your (?:job"
            rf"|profession) is)(?: [\w-]+){{0,3}}? {noun}\b",
            text,
            re.I,
        )
    )


def _shares_owner(thought: _Statement, clause: _Clause, held: str, word: str) -> bool:
    """Whether both speak about the same thing: a shared name, or "your ..." with a shared noun."""
    if {name for name in thought.people if name[0].isupper()} & set(
        re.findall(r"\b[A-Z][a-z]+\b", clause.text)
    ):
        return True
    if has_han(word):
        names = re.findall("(?:叫|名叫)([\u4e00-\u9fff]{2,3})", thought.text)
        if any(name in clause.text for name in names):
            return True
        return bool(re.search(f"你(?:的|那辆|家的?)?{word}", clause.text))
    return bool(re.search(rf"\byour (?:[\w-]+ )?{word}\b", clause.text, re.I)) and bool(
        (_tokens(thought) & clause.tokens) - {"have"}
    )
