"""Checks an answer against safety facts: it must not recommend what somebody cannot eat, drink or take.

The user is allergic to peanuts.    "Go for the chicken satay."      violates it
                                    "Skip the satay."                does not
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from thinkback.language.restrictions import (
    KIN_WORD,
    KIN_WORDS_EN,
    KIN_WORDS_ZH,
    Restriction,
    find_domains,
    find_restriction,
    find_substances,
)
from thinkback.language.tokens import fold_text
from thinkback.types import SAME_AS, Thought

_I = re.IGNORECASE
_CLAUSE = re.compile(
    r"[,;:，；：。！？!?]\s*|\s(?:but|while|whereas|although|though|so)\s|(?<=\w)\.\s+|但是?|不过|所以"
)
_NO_WORRY = re.compile(
    r"\b(?:no (?:problem|worries|issue|need to worry)|without (?:any )?(?:worry|problems?|hesitation)"
    r"|don'?t worry|not a problem|nothing to worry"
    r"|can'?t go wrong|hard to beat|why not|never fails|won'?t regret|not? (?:only|just))\b"
    r"|没问题|没有问题|没关系"
    r"|不用担心|不错|不妨|别担心|要不要|错不了|没毛病",
    _I,
)
_AVOIDED = re.compile(
    r"\b(?:not|no|never|avoid(?:ing)?|skip(?:ping)?|without|cannot|can'?t|don'?t|doesn'?t|shouldn'?t"
    r"|isn'?t|aren'?t|won'?t|instead of|rather than"
    r"|away from|free of|leave out|left? (?:out|until)|better left|hold the|replace|swap|substitute"
    r"|allerg\w*|intoleran\w*|unsafe|dangerous|risky|until after|off cigarettes|keeps? you off"
    r"|stay(?:ing)? off|alternative to|contains?|stopp?ed|quit|cravings|none of|out of the question"
    r"|off limits|separate\w*)\b"
    r"|不(?!错|仅|如)|别|无|没|避|忌|过敏|禁|换成|代替|以外|除了|少吃|少喝|戒|分开|等生完",
    _I,
)
_RECOMMENDED = re.compile(
    r"(?:^|[,.;:!]\s*|\b(?:just|simply|please|and|so|then|or|to)\s+)(?:go for|try|take|have|make|bring|add"
    r"|order|get|eat|drink|treat|enjoy|cook|bake|use|serve|grab"
    r"|pick|choose|buy|prepare|mix|grill|fry|whip up|sip|pack|surprise)\b"
    r"|\bwould (?:be|make|go|suit)|\bis (?:a|an|the|your|perfect|great|lovely|ideal|fine|safe|good|hard"
    r"|always|delicious)\b|\bare (?:safe|fine|great|good|always|perfect|delicious|a)\b"
    r"|\b(?:how|what) about\b|\bwhy not\b|\byou(?:'ll| will)? (?:can|could|may|should|might|love|like"
    r"|enjoy)\b|\bshould be fine\b|\bfor you\b|\bwill (?:love|enjoy|make|do|help)\b"
    r"|\bi(?:'d| would)? (?:recommend|suggest)|\brecommend(?:ed)?\b|\blovers?\b|\bsurely (?:love|enjoy)"
    r"|\bpours\b|\bis always\b|\blet's\b"
    r"|来(?:一|份|个|点|杯|片|瓶)|点一?[份个杯]|吃|喝|试试?|可以|推荐|适合|不错|放心|没问题|带(?:一|点|些|上)|做(?:一|个|份|点)|吧|怎么样|喜欢|安全|最香"
    r"|开(?=\S*[林素芬])|抽|爱喝|爱吃|烤",
    _I,
)
_QUESTION_SUGGESTION = re.compile(
    r"\b(?:how about|what about|why not|fancy|would you like|maybe try)\b|怎么样|要不要|好吗|如何", _I
)
_DENIES_ANY = re.compile(
    r"\byou (?:have|'ve got|have got) no (?P<what>\w+ )?(?:allerg|intoleran|restriction|problems? with"
    r"|issues? with)|\byou (?:are|'re) not allergic"
    r"|\byou(?:'re| are)? (?:can )?tolerate|\byou (?:do not|don't) have any (?P<what2>\w+ )?(?:allerg"
    r"|intoleran|restriction)"
    r"|\byou can (?:eat|drink|have|take) anything"
    r"|你(?:并)?没有?(?:任何)?(?P<what3>\S{0,2})过敏|你(?:并)?不过敏"
    r"|你对\S{1,8}不过敏|你(?:什么都能[吃喝])",
    _I,
)
_TAKES = re.compile(
    r"\b(?:takes?|taking|is on|am on|prescribed|uses?|using)\b|服用|在吃|吃着|用药|每天吃|开了", _I
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A thought and what it forbids."""

    thought: Thought
    restriction: Restriction

    def concerns(self, message: str) -> str:
        """Why the constraint matters for a message; "" if it does not."""
        if forbidden := self.restriction.find_forbidden(message):
            return f"the message mentions {forbidden[0].word!r}"
        if domains := self.restriction.domains & find_domains(message):
            return f"the message is about {' and '.join(sorted(domains))}"
        return ""


def find_constraints(thoughts: Iterable[Thought]) -> list[Constraint]:
    """The safety facts among thoughts."""
    return [
        Constraint(thought, restriction)
        for thought in thoughts
        if thought.relation != SAME_AS and (restriction := find_restriction(thought.sentence)) is not None
    ]


def find_violation(constraint: Constraint, sentence: str, query: str, held: Sequence[Thought]) -> str:
    """The word of a sentence that recommends something forbidden, or denies the constraint; else ""."""
    restriction = constraint.restriction
    if not _applies(constraint, sentence, query, held):
        return ""
    text = _NO_WORRY.sub(lambda match: "~" * len(match.group()), sentence.replace("’", "'"))
    if restriction.kind != "contraindication" and (denied := _denial(restriction, sentence)):
        return denied
    asks = sentence.rstrip(" ”\"'").endswith(("?", "？")) and not _QUESTION_SUGGESTION.search(sentence)
    if asks or not _RECOMMENDED.search(sentence):
        return ""
    people = _other_people(held, restriction)
    start = 0
    for part in (*_CLAUSE.finditer(text), None):
        end = part.start() if part else len(text)
        clause, original = text[start:end], sentence[start:end]
        start = part.end() if part else end
        mentions = restriction.find_forbidden(original)
        if not mentions:
            continue
        if _AVOIDED.search(clause):
            break  # "skip the cream and use coconut milk, then a panna cotta is fine"
        if restriction.concerns_user and _is_for_others(original, people):
            continue
        if re.search(r"\bif\b|\bunless\b|\bbecause of\b|如果|因为", clause, _I):
            continue
        return mentions[0].word
    return ""


def _applies(constraint: Constraint, sentence: str, query: str, held: Sequence[Thought]) -> bool:
    """Whether the sentence may be about the person that the constraint concerns."""
    restriction = constraint.restriction
    if restriction.concerns_user:
        return True
    if restriction.kind == "contraindication":
        return any(
            thought.id != constraint.thought.id
            and _TAKES.search(thought.sentence)
            and any(word in fold_text(thought.sentence) for word in restriction.holders)
            for thought in held
        )
    text, question = fold_text(sentence), fold_text(query)
    holders = [fold_text(holder) for holder in restriction.holders]
    if any(holder in text for holder in holders):
        return True
    linked = any(
        sum(holder in fold_text(thought.sentence) for holder in holders)
        and any(kin.group() in question for kin in KIN_WORD.finditer(fold_text(thought.sentence)))
        for thought in held
    )
    return (any(holder in question for holder in holders) or linked) and "yourself" not in text


def _denial(restriction: Restriction, sentence: str) -> str:
    match = _DENIES_ANY.search(sentence.replace("’", "'"))
    if match is None or not restriction.concerns_user:
        return ""
    what = fold_text("".join(value or "" for value in match.groupdict().values()))
    named = find_substances(sentence)
    if named:
        return match.group() if restriction.find_forbidden(sentence) else ""
    if re.search("drug|medic|药", what):
        return match.group() if "medicine" in restriction.domains else ""
    if re.search("food|食", what):
        return match.group() if "food" in restriction.domains else ""
    return match.group() if restriction.kind == "allergy" and not what.strip() else ""


def _other_people(held: Sequence[Thought], restriction: Restriction) -> frozenset[str]:
    names = {
        name
        for thought in held
        for name in re.findall(r"(?<!^)\b[A-Z][a-z]+\b", thought.sentence)
        if name.lower() not in ("the", "user")
    }
    return frozenset(names - set(restriction.holders))


def _is_for_others(clause: str, people: frozenset[str]) -> bool:
    """Whether a clause offers something to somebody else: "Ben could have a steak", 给丈夫煎牛排."""
    folded = fold_text(clause)
    if re.search(r"\byou(?:rself)?\b|你自己|给自己|\bfor you\b", folded) and not re.search(
        r"\bfor your\b", folded
    ):
        return False
    if any(re.search(rf"(?:^\s*|\bfor |\bto ){re.escape(name)}\b", clause) for name in people):
        return True
    return _FOR_RELATIVE.search(folded) is not None


_FOR_RELATIVE = re.compile(rf"(?:^|\bfor |\bto )your (?:\w+ )?(?:{KIN_WORDS_EN})|给你?的?(?:{KIN_WORDS_ZH})")
