"""Safety facts: what somebody cannot or must not eat, drink or take, read from any sentence.

    find_restriction("i cant have peanuts")             forbids peanuts to the user
    find_restriction("小安对坚果过敏。")                  forbids nuts, walnuts, ... to 小安
    find_restriction("Warfarin must not be taken with aspirin.")   forbids aspirin to those who take warfarin

The words for each thing are in `restrictions.toml`: satay means peanuts, amoxicillin is a penicillin.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from thinkback.language.text_cache import cache_words
from thinkback.language.tokens import extract_terms, fold_text
from thinkback.language.writing_systems import has_han

Domain = Literal["food", "drink", "medicine"]
RestrictionKind = Literal["allergy", "diet", "refusal", "contraindication"]
DOMAINS: tuple[Domain, ...] = ("food", "drink", "medicine")
USER = "user"


@dataclass(frozen=True, slots=True)
class Substance:
    """One thing to eat, drink or take: a category or one of its members ("shellfish", "shellfish/prawn")."""

    id: str
    domain: Domain
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class SubstanceMention:
    """A substance that a text names by `word`."""

    id: str
    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Restriction:
    """What one thought forbids.

    `holders` are words for the person it concerns: ("user",), or a name and a role ("Marco", "husband"). For
    a contraindication they are the words for the medicine that it concerns. `forbidden` are substance ids;
    `literals` are folded words of an allergy that the table does not know.
    """

    kind: RestrictionKind
    holders: tuple[str, ...]
    forbidden: frozenset[str]
    literals: tuple[str, ...] = ()
    domains: frozenset[Domain] = frozenset()

    @property
    def concerns_user(self) -> bool:
        return self.holders == (USER,)

    def find_forbidden(self, text: str) -> list[SubstanceMention]:
        """The places where a text names something forbidden."""
        found = [mention for mention in find_substances(text) if mention.id in self.forbidden]
        folded = _mask_compounds(fold_text(text))
        for literal in self.literals:
            pattern = re.escape(literal) if has_han(literal) else rf"\b{re.escape(literal)}(?:e?s)?\b"
            found += [
                SubstanceMention(f"={literal}", match.group(), match.start(), match.end())
                for match in re.finditer(pattern, folded)
            ]
        return sorted(found, key=lambda mention: mention.start)


def find_substances(text: str) -> list[SubstanceMention]:
    """All substances that a text names, in order. "oat milk" is not milk."""
    folded = _mask_compounds(fold_text(text))
    found = [
        SubstanceMention(substance.id, match.group(), match.start(), match.end())
        for substance in _table().substances
        for match in substance.pattern.finditer(folded)
    ]
    longer = [(mention.start, mention.end) for mention in found if len(mention.word) > 1]
    return [
        mention
        for mention in found  # one character inside a longer word: the 肉 of 猪肉 is not all meat
        if len(mention.word) > 1
        or not any(start <= mention.start and mention.end <= end for start, end in longer)
    ]


def find_domains(text: str) -> frozenset[Domain]:
    """The domains that a message is about: "what's for dinner" is about food."""
    folded = fold_text(text)
    named = {_domain_of(mention.id) for mention in find_substances(text)}
    return frozenset(
        domain for domain in DOMAINS if domain in named or _table().domain_cues[domain].search(folded)
    )


@cache_words(4096)
def _cached_restriction(text: str) -> Restriction | None:
    folded = fold_text(text)
    if _NO_RESTRICTION.search(folded) or "?" in folded or "？" in folded:
        return None
    for reader in (_read_contraindication, _read_named_restriction, _read_diet):
        if restriction := reader(text, folded):
            return restriction
    return None


def find_restriction(text: str) -> Restriction | None:
    """The restriction that a sentence states, or None. Denials ("not allergic") state none."""
    if len(text) > _MAX_SENTENCE_CHARS:
        return None
    return _cached_restriction(text)


_MAX_SENTENCE_CHARS = 400
_ALLERGY_EN = re.compile(
    r"\ballergi(?:c|es)(?: reactions?)? to (?P<after>[^.;!?]+)|\bintoleran(?:t|ce)(?: to"
    r"| of) (?P<after2>[^.;!?]+)"
    r"|(?P<before>(?:[\w-]+ ){1,3})(?:allergy|allergies|intoleran(?:t|ce))\b"
    r"|\b(?:allergy|allergies)\s*[:(]\s*(?P<after3>[^.;!?]+)"
    r"|\breacts? (?:badly|very badly|strongly) to (?P<after4>[^.;!?]+)"
)
_REFUSAL_EN = re.compile(
    r"\b(?:(?:can ?not|can'?t|couldn'?t|mustn'?t|must not|may not|should(?:n'?t| not)|won'?t|will not"
    r"|(?:do|does)(?:n'?t| not)|never"
    r"|(?:is|am|are) not (?:allowed|supposed) to|not allowed to)"
    r" (?:ever |really |even )?(?:have|eat|eats|drink|drinks|take|takes|tolerate|tolerates|touch|touches"
    r"|be given|digest|consume|do)"
    r"|avoids?|stays? away from|staying off|off limits:?|gave up|has given up|have given up|quit"
    r"|stopped (?:eating|drinking|taking))"
    r"\b(?: any)? (?P<after>[^.;!?]+)"
)
_CONTRAINDICATION_EN = re.compile(
    r"(?P<holder>[\w -]{3,40}?) (?:must not|mustn'?t|should not|shouldn'?t|can ?not|can'?t|may not"
    r"|is not to) be "
    r"(?:taken|combined|mixed|used|given)(?: together)?(?: with)? (?P<after>[^.;!?]+)"
    r"|(?P<holder2>[\w -]{3,40}?) (?:interacts|clashes|is dangerous|does not mix"
    r"|doesn'?t mix) with (?P<after2>[^.;!?]+)"
)
_ALLERGY_ZH = re.compile(
    r"对(?P<after>[^，。；！？,对]{1,24}?)(?:严重|特别|有点|有些|都|会)?(?:过敏|不耐受)|(?P<before>[^，。；！？,对]{1,16}?)(?:过敏|不耐受)"
)
_REFUSAL_ZH = re.compile(
    r"(?:不能|不可以|不得|不准|禁止|忌|从来?不|绝不|不|戒了?)(?:再)?(?:吃|喝|碰|沾|用|服用|食用|摄入)(?!惯|饱|完|到"
    r"|起)(?P<after>[^，。；！？,但]{1,24})"
    r"|忌口?(?P<after2>[^，。；！？,但]{1,24})"
)
_CONTRAINDICATION_ZH = re.compile(
    r"(?P<holder>[^，。；！？,]{2,10}?)(?:不能|不可以|不可|忌|禁止)(?:和|跟|与|同)(?P<after>[^，。；！？,]{2,30}?)(?:一起|同时|同服|合用"
    r"|混用|同用)"
)
_NO_RESTRICTION = re.compile(
    r"\b(?:not|no longer|isn'?t|aren'?t|never been|wasn'?t) (?:\w+ )?allergic"
    r"|\bno (?:known )?(?:\w+ )?allerg"
    r"|\bno (?:food |drug )?(?:restriction|intoleranc)|\b(?:outgrew|outgrown|outgrow)\b|不过敏"
    r"|没有?(?:对\S{1,8})?(?:药物|食物)?过敏|不再过敏"
)
_SCOPE_END = re.compile(
    r"\b(?:but|however|although|though|because|since|so|except|while|which|that|when|if|unless|until"
    r"|anymore|any more|at all|after|"
    r"and (?:loves?|likes?|is|has|lives?|works?|eats?|drinks?|can|i|he|she|the user))\b|[,，]\s*(?:but|and"
    r"|so|because)\b|但|可是|不过|所以|因为"
)
_SUBJECT_USER = re.compile(
    r"\b(?:the user|user|i|i'm|im|i've|me|we)\b(?!'s)|用户(?!的)"
    r"|我(?!的?[爸妈父母哥姐弟妹爷奶老丈妻儿女男朋同室家孩])|\Auser\b"
)
KIN_WORDS_EN = (
    "husband|wife|partner|boyfriend|girlfriend|fianc[eé]e?|spouse|mother|mom|mum|father|dad|parents?"
    "|sister|brother|son|daughter|kid|child"
    "|children|kids|baby|toddler|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew"
    "|friend|roommate|flatmate|colleague"
    "|boss|neighbou?r|mother-in-law|father-in-law|dog|cat|guest|teammate|coworker"
    # with "my" only: "sorry mate im allergic" is about the user
    "|(?<=my )(?:mate|buddy|housemate|classmate|gran|granny|nan|nana|grandad|fella|missus|hubby|bf|gf)"
    "|grandson|granddaughter|stepson|stepdaughter"
)
KIN_WORDS_ZH = (
    "丈夫|老公|妻子|老婆|爱人|男朋友|女朋友|男友|女友|妈妈|母亲|老妈|爸爸|父亲|老爸|爸妈|父母|姐姐|妹妹|哥哥|弟弟|儿子|女儿|闺女|孩子|宝宝|奶奶|爷爷"
    "|外婆|外公|姥姥|姥爷|阿姨|叔叔|舅舅|表[哥姐弟妹]|堂[哥姐弟妹]|朋友|室友|同事|老板|邻居|同学|婆婆|公公|岳母|岳父|侄子|侄女|外甥|闺蜜|孙子|孙女|姑姑|舅妈|猫|狗"
)
KIN_WORD = re.compile(rf"\b(?:{KIN_WORDS_EN})\b|{KIN_WORDS_ZH}")
_NAME_EN = re.compile(r"\b[A-Z][a-zà-ž]+(?:-[A-Z][a-z]+)?\b")
_NOT_NAMES = frozenset(
    [
        "The",
        "User",
        "I",
        "A",
        "An",
        "My",
        "His",
        "Her",
        "Our",
        "Their",
        "Your",
        "This",
        "That",
        "It",
        "He",
        "She",
        "They",
        "We",
        "You",
        "Since",
        "Because",
        "And",
        "But",
        "Also",
        "For",
        "In",
        "On",
        "At",
        "No",
        "Not",
        "If",
        "When",
    ]
)
_LITERAL_SPLIT = re.compile(r",|\band\b|\bor\b|/|、|和|与|及|或|以及|跟")
_LITERAL_NOISE = re.compile(
    r"\b(?:most|all|any|some|certain|the|a|an|my|his|her|things? (?:like|with)|anything with|foods? with"
    r"|kinds? of|types? of|severely|slightly|"
    r"mildly|badly|strongly|really|very|especially|raw|fresh|dust|both)\b|所有|任何|一切|各种|的东西|这类|之类|等"
)
_VAGUE = frozenset(
    [
        "it",
        "that",
        "this",
        "them",
        "something",
        "anything",
        "stuff",
        "things",
        "food",
        "foods",
        "people",
        "work",
        "cold",
        "heat",
        "animals",
        "what",
        "lots",
        "someone",
        "dairy-free",
        "东西",
        "食物",
        "药物",
        "药",
        "季节性",
        "季节",
        "皮肤",
        "食品",
        "药品",
    ]
)


def _read_contraindication(text: str, folded: str) -> Restriction | None:
    match = _CONTRAINDICATION_EN.search(folded) or _CONTRAINDICATION_ZH.search(folded)
    if match is None:
        return None
    groups = match.groupdict()
    holder = groups.get("holder") or groups.get("holder2") or ""
    items = groups.get("after") or groups.get("after2") or ""
    holders = tuple(mention.word for mention in find_substances(holder))
    forbidden = _forbid(find_substances(items))
    if not forbidden or not holders:
        return None
    return _make_restriction("contraindication", holders, forbidden)


def _read_named_restriction(text: str, folded: str) -> Restriction | None:
    """An allergy or a refusal that names its object."""
    for kind, patterns in (("allergy", (_ALLERGY_EN, _ALLERGY_ZH)), ("refusal", (_REFUSAL_EN, _REFUSAL_ZH))):
        for pattern in patterns:
            for match in pattern.finditer(folded):
                groups = match.groupdict()
                before = groups.get("before")
                items = before or next(
                    (value for key, value in groups.items() if value and key != "before"), ""
                )
                if before is None:
                    items = _SCOPE_END.split(items)[0]
                items = re.sub(r"\A(?:the user|user|用户|i|我)\s*", "", items)
                forbidden = _forbid(find_substances(items))
                literals = _read_literals(items, before is not None) if kind == "allergy" else ()
                if forbidden or literals:
                    end = match.start() + (len(before) if before and has_han(before) else 0)
                    holders = _find_holders(text[:end] if end else text[: match.start()])
                    return _make_restriction(kind, holders, forbidden, literals)  # type: ignore[arg-type]
    return None


def _read_diet(text: str, folded: str) -> Restriction | None:
    for name, diet in _table().diets.items():
        for cue in diet.cues:
            if (match := cue.search(folded)) and not _DENIED_BEFORE.search(folded[: match.start()]):
                forbidden = frozenset(id_ for category in diet.forbids for id_ in _ids_of(category))
                kind: RestrictionKind = "diet"
                if not _STATES_DIET.search(folded) and name not in ("pregnancy", "teetotal"):
                    return None
                return _make_restriction(kind, _find_holders(text[: match.start()]), forbidden)
    return None


_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|no longer|isn'?t|never|aren'?t|stopped being|non|used to be|was)\b[\w ]{0,12}|不是?|没有?"
    r"|不再)\Z"
)
_STATES_DIET = re.compile(
    r"\b(?:am|is|are|'s|'m|i'm|im|he's|she's|became|become|becoming|turned|went|going|go|eats?|keeps?"
    r"|strictly|been|both|all)\b|是|吃素|素食者|全素|纯素|清真|只吃"
)


def _find_holders(before: str) -> tuple[str, ...]:
    """Words for the person that the text before a cue is about."""
    kin = [match.group() for match in KIN_WORD.finditer(before.lower())]
    names = [name for name in _NAME_EN.findall(before) if name not in _NOT_NAMES]
    if has_han(before):
        own = re.sub("用户的|我的?|用户", "", before).strip(" ，。的")
        if not kin and own and len(own) <= 4 and not re.search(r"[是有从来绝都也很一直现在因为]", own):
            names.append(own)
        if (
            kin
            and (rest := re.sub("|".join(map(re.escape, kin)), "", own).strip(" ，。的"))
            and len(rest) <= 4
        ):
            names.append(rest)
        if not kin and re.search("用户|我", before):
            return (USER,)
    elif not kin and _SUBJECT_USER.search(before.lower()):
        return (USER,)
    return tuple(dict.fromkeys((*names, *kin))) or (USER,)


def _read_literals(items: str, before_cue: bool) -> tuple[str, ...]:
    """The words of an allergy that the table does not know: "kiwi" of "allergic to kiwi"."""
    found: list[str] = []
    for part in _LITERAL_SPLIT.split(items):
        words = _LITERAL_NOISE.sub(" ", part).split()
        if not words or find_substances(part):
            continue
        literal = words[-1] if before_cue and not has_han(part) else " ".join(words[:3])
        if len(literal) > 1 and literal not in _VAGUE and extract_terms(literal):
            found.append(literal.removesuffix("s") if literal.isascii() else literal)
    return tuple(dict.fromkeys(found[:6]))


def _make_restriction(
    kind: RestrictionKind, holders: tuple[str, ...], forbidden: frozenset[str], literals: Sequence[str] = ()
) -> Restriction:
    domains: set[Domain] = {_domain_of(id_) for id_ in forbidden}
    if literals:
        domains |= {"food", "medicine"}
    return Restriction(kind, holders, forbidden, tuple(literals), frozenset(domains))


def _forbid(mentions: Iterable[SubstanceMention]) -> frozenset[str]:
    """Everything that is forbidden with the mentioned substances: the members of a category."""
    forbidden: set[str] = set()
    for mention in mentions:
        category, _, member = mention.id.partition("/")
        if member and not _table().whole[category]:
            forbidden.add(mention.id)
        else:
            forbidden.update(_ids_of(category))
    return frozenset(forbidden)


def _ids_of(category: str) -> Iterator[str]:
    table = _table()
    for substance in table.substances:
        if substance.id.partition("/")[0] == category:
            yield substance.id
    for other in table.includes[category]:
        yield from _ids_of(other)


def _domain_of(id_: str) -> Domain:
    return _table().domains.get(id_, "food")


@dataclass(frozen=True, slots=True)
class _Diet:
    cues: tuple[re.Pattern[str], ...]
    forbids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    substances: tuple[Substance, ...]
    domains: dict[str, Domain]
    includes: dict[str, tuple[str, ...]]
    whole: dict[str, bool]  # forbidding one member forbids the category
    diets: dict[str, _Diet]
    domain_cues: dict[Domain, re.Pattern[str]]
    not_meant: re.Pattern[str]


@cache
def _table() -> _Table:
    data: dict[str, Any] = tomllib.loads(
        files("thinkback.language").joinpath("restrictions.toml").read_text("utf-8")
    )
    substances: list[Substance] = []
    for name, entry in data["category"].items():
        substances.append(Substance(name, entry["domain"], _compile_words(entry["names"])))
        for member in entry["members"]:
            words = member.split("|")
            substances.append(Substance(f"{name}/{words[0]}", entry["domain"], _compile_words(words)))
    return _Table(
        substances=tuple(substances),
        domains={substance.id: substance.domain for substance in substances},
        includes={name: tuple(entry.get("includes", ())) for name, entry in data["category"].items()},
        whole={name: bool(entry.get("whole")) for name, entry in data["category"].items()},
        diets={
            name: _Diet(tuple(map(re.compile, entry["cues"])), tuple(entry["forbids"]))
            for name, entry in data["diet"].items()
        },
        domain_cues={domain: _compile_words(data["domains"][domain]) for domain in DOMAINS},
        not_meant=re.compile("|".join(_word_pattern(word) for word in data["not_meant"])),
    )


def _word_pattern(word: str) -> str:
    return word if has_han(word) else rf"\b{word}\b"


def _compile_words(words: Sequence[str]) -> re.Pattern[str]:
    ordered = sorted(words, key=len, reverse=True)
    return re.compile(
        "|".join(word if has_han(word) else rf"\b{fold_text(word)}(?:e?s)?\b" for word in ordered)
    )


def _mask_compounds(folded: str) -> str:
    """Blank out compounds such as "oat milk", keeping all positions."""
    return _table().not_meant.sub(lambda match: " " * len(match.group()), folded)
