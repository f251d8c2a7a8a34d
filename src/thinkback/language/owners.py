"""Whose fact is meant: the user's own, or that of somebody else.

    asks_about_user("what do i drive?")              True
    asks_about_user("what does my brother drive?")   False
    tells_of_another("dan drives a tesla")           True
    tells_of_another("dan sold me his tesla")        False: it may tell of the user, too

Only True is meant to be sure. A subject is recognised by a word for a person (`kinship`,
`owners.toml`) with a verb or a name after it, by a pronoun or by a common first name.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from thinkback.language.protocol import load_language
from thinkback.language.writing_systems import has_han

_AMBIGUOUS_ZH = frozenset("马鸟鱼")  # also inside other words: 马拉松
_MAX_QUESTION_CHARS = 200  # that are searched for "my ..."
_MAX_ROLE_CONTEXT = 40  # characters before a role that are looked at
_SPEAKER_EN = re.compile(
    r"\b(?:i|i['’]?m|i['’]?ve|i['’]d|i['’]ll|ive|me|mine|we|we['’]?re|weve|we['’]ve|us)\b", re.I
)
_ASKS_OF_SPEAKER_EN = re.compile(r"\b(?:i|i['’]?m|i['’]?ve|my)\b", re.I)  # not "remind me"
_SPEAKER_ZH = re.compile("[我俺咱]")
_PRONOUN_EN = re.compile(r"(?:s?he|his|her)(?:['’]?s|['’]d)?\b", re.I)
_PRONOUN_ZH = re.compile("[他她它]")
_OPENING_ZH = re.compile(
    r"[\s，,。！!]*(?:(?:对了|哎|唉|哈哈+|嗯|那个|话说|其实|隔壁|楼上|楼下|对面|我们?家?的?|俺|咱们?家?)[，,\s]*)*"
)
# an owner at the beginning: "tomeks birthday", not "todays rent"
_OWNER_EN = re.compile(
    r"\W*(?:(?:so|and|btw|oh|also|ok)\W+)*(?!\w*(?:day|month|week|year|night|morning|evening|tomorrow)['’]?s\b)"
    r"(?!(?:its|this|his|always|yes)\b)\w{2,}(?:['’]s|s['’]?) (?P<noun>\w+)",
    re.I,
)
_POSSESSES = re.compile(r"\b(?:has|have|had|got|owns?|keeps?)\b|[有养]", re.I)
# what somebody says, gives or decides may concern the user: "the doctor added iron", "GP: every second day"
_DECIDES = re.compile(
    r"\b(?:says?|said|told|tells|asks?|asked|wants?|gave|gives|put|made|makes|started|starts|added|changed|moved"
    r"|sent|booked|offered|thinks|prescribed|found|took|takes out)\b"
    r"|\A\W*(?:the )?(?:gp|doctor|doc)\b|\A\W*\w+:|(?<!会)[说讲让给问劝骂催]|叫(?=[我俺咱你他她])|医生|大夫",
    re.I,
)
# "what pets do i have": the people and animals that a question without "my" names are what it asks for
_ASKED_ROLE_EN = re.compile(
    r"\b(?:what|which|how many|any|do i have(?: any)?|have i(?: got)?(?: any)?) (?:\w+ )?\Z", re.I
)

_ASKED_ROLE_ZH = re.compile(r"(?:什么|啥|哪些|[几多][个只条位少]?)\Z")


def asks_about_user(question: str) -> bool:
    """Whether a question asks for a fact about the user, and names nobody else."""
    asks_of_speaker = _SPEAKER_ZH if has_han(question) else _ASKS_OF_SPEAKER_EN
    return asks_of_speaker.search(question) is not None and names_nobody_else(question)


def names_nobody_else(question: str) -> bool:
    """Whether a question names nobody besides the user and those that it asks for: "what pets do i have"."""
    if has_han(question):
        if _PRONOUN_ZH.search(question):
            return False
        return all(_ASKED_ROLE_ZH.search(_before(question, role)) for role in _person_zh().finditer(question))
    if re.search(rf"\b(?:{_PRONOUN_EN.pattern})", question, re.I):
        return False
    if not all(_ASKED_ROLE_EN.search(_before(question, role)) for role in _person_en().finditer(question)):
        return False
    return not any(is_first_name(word) for word in re.findall(r"[^\W\d_]+", question))


def tells_of_another(sentence: str) -> bool:
    """Whether a sentence tells only of somebody else: another one is its subject, and it has no "I"."""
    return _tells_of_another_zh(sentence) if has_han(sentence) else _tells_of_another_en(sentence)


def names_subject(question: str, sentence: str) -> bool:
    """Whether a question names the one that a sentence is about: "where is morag" and "my sister Morag"."""
    named = _named_en().match(sentence)
    if named is None or not (named["name"][0].isupper() or is_first_name(named["name"])):
        return False
    return has_word(question, named["name"])


def is_owned_by_another(question: str, sentence: str) -> bool:
    """Whether "my ..." of a question is somebody else's in a sentence: "my birthday", "tomeks birthday"."""
    owner = _OWNER_EN.match(sentence)
    asked = re.findall(r"\bmy ([a-z]{3,})\b", question[:_MAX_QUESTION_CHARS], re.IGNORECASE)
    return owner is not None and owner["noun"].lower() in {noun.lower() for noun in asked}


def has_word(text: str, name: str) -> bool:
    """Whether a text has a name as a whole word; of a name in Chinese characters, at any place."""
    if has_han(name):
        return name in text
    return re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) is not None


def tells_possession_of_another(sentence: str) -> bool:
    """Whether a sentence tells what somebody else has: "my neighbour has two greyhounds"."""
    return tells_of_another(sentence) and _POSSESSES.search(sentence) is not None


def has_person_of_another(question: str, sentence: str) -> bool:
    """Whether a question asks whom the user has, and a sentence has such people of somebody else only.

    "do i have a brother" and "dans brother tom is a chef", 我有弟弟吗 and 我老公他弟弟结婚了.
    """
    is_han = has_han(question)
    asked = (_possession_zh() if is_han else _possession_en()).search(question)
    if asked is None or is_han != has_han(sentence):
        return False
    person, owned = (_person_zh(), _owned_zh()) if is_han else (_person_en(), _owned_en())
    role = _stem(asked[asked.lastgroup or 0])
    named = [found for found in person.finditer(sentence) if _stem(found[0]) == role]
    return bool(named) and all(owned.search(_before(sentence, found)) for found in named)


def _stem(role: str) -> str:
    return role.lower().replace("’", "'").removesuffix("'s").rstrip("s")


def asks_for_people(question: str) -> bool:
    """Whether a question about the user asks for people or animals: "how many kids do i have"."""
    return bool((_person_zh() if has_han(question) else _person_en()).search(question))


def _before(question: str, role: re.Match[str]) -> str:
    return question[max(0, role.start() - _MAX_ROLE_CONTEXT) : role.start()]


def _tells_of_another_en(sentence: str) -> bool:
    if _SPEAKER_EN.search(sentence) or _DECIDES.search(sentence):
        return False
    opened = load_language("en").lexicon.opening.match(sentence)
    words = sentence[opened.end() if opened else 0 :].strip()
    if _PRONOUN_EN.match(words) or _subject_en().match(words):
        return True
    named = _named_subject_en().match(words)
    if named is not None and is_first_name(named["name"]):
        return True
    first = re.match(r"([^\W\d_]+)['’]?s?(?: \S+){2}", words)  # a bare name may be the user's
    return first is not None and is_first_name(first[1])


def _tells_of_another_zh(sentence: str) -> bool:
    start = _OPENING_ZH.match(sentence)
    words = sentence[start.end() if start else 0 :]
    person = _subject_zh().match(words)
    if person is None:
        return False
    return not _SPEAKER_ZH.search(words) and not _DECIDES.search(words)


def is_first_name(word: str) -> bool:
    """Whether a word is a common first name, also with the "s" of a possessive without apostrophe."""
    names = load_language("en").lexicon.words("first_names")
    return word.lower() in names or word.lower().removesuffix("s") in names


@cache
def _words(language: str, name: str) -> str:
    """A list of `owners.toml` as the alternatives of a regular expression."""
    data = tomllib.loads(files("thinkback.language").joinpath("owners.toml").read_text("utf-8"))
    return "|".join(data[language][name])


@cache
def _roles_en() -> str:
    words = sorted(load_language("en").roles(), key=len, reverse=True)
    return "|".join((*map(re.escape, words), _words("en", "people")))


@cache
def _person_en() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_roles_en()})(?:['’]?s)?\b", re.IGNORECASE)


@cache
def _subject_en() -> re.Pattern[str]:
    """A person at the beginning: "my older brother's", "boss is", "the old man in bed 6 was ..."."""
    person = rf"(?:(?:{_words('en', 'adjectives')}) )*(?:{_roles_en()})"
    # not "my cat allergy": a possessive, a verb or a name must follow
    followed = rf"(?:['’]s|s?(?: (?-i:[A-Z])[\w'’-]+)?,? (?:{_words('en', 'states')})| (?-i:[A-Z])[\w'’-]+)\b"
    # of strangers a state is needed: "the vicar just rang" may concern the user
    stranger = (
        rf"(?:the|this|that|an?|some) {person}.{{0,20}}? (?:is|was|are|were|has|had|lives|works|speaks)\b"
    )
    return re.compile(rf"(?:my |our |\w+['’]s )?{person}{followed}|{stranger}", re.IGNORECASE)


@cache
def _possession_en() -> re.Pattern[str]:
    """Do i have a brother, how many kids have i got."""
    have, some = r"(?:do i have|have i got|have i)", rf"(?:(?:an?|any|{_words('en', 'adjectives')}) )*"
    return re.compile(
        rf"\b{have} {some}(?P<role>{_roles_en()})\W*\Z|\bhow many (?P<counted>{_roles_en()}) {have}\W*\Z",
        re.IGNORECASE,
    )


@cache
def _owned_en() -> re.Pattern[str]:
    """What stands before somebody else's relative: "dan's older", "my wifes", "his"."""
    names = "|".join(sorted(load_language("en").lexicon.words("first_names")))
    adjectives = _words("en", "adjectives")
    return re.compile(
        rf"\b(?:(?:{names}|{_roles_en()})(?:['’]?s|s['’])|his|her|their) (?:(?:{adjectives}) )*\Z",
        re.IGNORECASE,
    )


@cache
def _named_subject_en() -> re.Pattern[str]:
    """A person with a name in lower case: "my gf tasha goes"."""
    return re.compile(
        rf"(?:my |our )?(?:{_roles_en()}) (?P<name>[^\W\d_]+),? (?:{_words('en', 'states')})\b", re.IGNORECASE
    )


@cache
def _named_en() -> re.Pattern[str]:
    """A name at the beginning, alone or after a role: "Morag is", "my sister Morag"."""
    return re.compile(
        rf"(?:.{{0,30}}?\b(?:{_roles_en()}) |(?!(?:my|our|the|an?)\b))(?P<name>[^\W\d_]{{2,}})\b",
        re.IGNORECASE,
    )


@cache
def _possession_zh() -> re.Pattern[str]:
    """我有没有弟弟, 我有几个女儿."""
    return re.compile(
        rf"有(?:没有)?(?:[几多][个只条位少]|个)?(?P<role>{_roles_zh()})(?:[吗呢嘛么]|没有?)?\W*\Z"
    )


@cache
def _owned_zh() -> re.Pattern[str]:
    """What stands before somebody else's relative: 同事的, 我老公他, 她."""
    return re.compile(rf"(?:(?<![和跟与])(?:{_roles_zh()})(?:的|[他她]的?)|[他她]的?)\Z")


@cache
def _roles_zh() -> str:
    words = sorted(set(load_language("zh").roles()) - _AMBIGUOUS_ZH, key=len, reverse=True)
    return "|".join((*map(re.escape, words), _words("zh", "people")))


@cache
def _person_zh() -> re.Pattern[str]:
    return re.compile(_roles_zh())


@cache
def _subject_zh() -> re.Pattern[str]:
    """A person at the beginning, perhaps with one character before the role (王阿姨), or 小刘 and a verb."""
    verbs = "去接送带陪给和跟找见对是有养在吃喜爱怕想"
    return re.compile(
        rf"[^{verbs}\W]?(?:{_roles_zh()})|{_PRONOUN_ZH.pattern}|[小老阿][\u4e00-\u9fff](?=[是有在养爱喜住开吃对会])"
    )
