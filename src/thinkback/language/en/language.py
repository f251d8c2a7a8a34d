"""English: how names, places, jobs and other values of statements look."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from thinkback.language.kinship import KIN_EN, PETS_EN
from thinkback.language.names import USER, normalise_name
from thinkback.language.protocol import Lexicon, Person, load_language, load_lexicon
from thinkback.language.writing_systems import has_han

_EDGES = " \t.,!;:~…'\"-"
_LIST_SEPARATOR = re.compile(r"\s*(?:,\s*(?:and|or)?|\band\b|\bor\b|&|/|\bas well as\b)\s*", re.IGNORECASE)
_PERSON_ROLE = re.compile(
    r"(?:(?:my|our) )?((?:(?:older|elder|big|younger|little) )?)"
    r"(?:best |good |late |new |eldest |oldest |youngest )?"
    r"([a-z-]+)(?:,? (.+))?",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?[A-ZÀ-ÞŁŚŠŽ][\w'’-]*(?: [A-ZÀ-ÞŁŚŠŽ][\w'’.-]*){0,2}"
)
_PROPER = re.compile(r"[A-Z0-9][\w'’.&+-]*(?: (?:of|and|&|the|[A-Z0-9][\w'’.&+-]*))*")
_DOSE = re.compile(r"\b\d[\d.,]* ?(?:mg|mcg|ml|iu|units?)\b", re.IGNORECASE)
_DOSE_CHANGE = re.compile(
    r"\b(?:of|dose|is|was|has|been|to|changed|raised|increased|bumped|up|down|lowered|reduced|halved|cut|now)\b"
)
_MEDICINE_SUFFIX = re.compile(
    r"(?:statin|pril|sartan|olol|prazole|cillin|mycin|oxetine|dipine|zepam|formin|gliptin|glutide|thyroxine"
    r"|xaban|floxacin|cycline|traline|pentin|gabalin|triptyline|flozin|lukast|trexate|setron)\Z"
)
_CONDITION_SUFFIX = re.compile(
    r"(?:\bdisease|\bsyndrome|\bdisorder|itis|\bdiabetes|\bintolerance|\bhernia|neuropathy|phobia|\bapnea|\bapnoea"
    r"|\bhigh blood pressure|\bhigh cholesterol|\bcancer|thyroidism)\Z"
)
_JOB_SUFFIX = re.compile(
    r"(?:ologist|iatrist|therapist|engineer|nurse|teacher|technician|officer|developer|worker|assistant)\Z"
)
_SCHOOL = re.compile(
    r"\b(?:university|college|school|high|primary|academy|institute|uni|polytechnic|kindergarten|nursery)\b"
    r"|\A(?:mit|ucla|nyu|lse|eth|harvard|oxford|cambridge|yale|stanford)\Z",
    re.IGNORECASE,
)
_LISTS_OF_DESCRIPTIONS = (
    *("jobs", "nationalities", "statuses", "diets", "conditions", "evaluative", "activities", "languages"),
    *("places", "regions"),
)
_FILLER_WORD = re.compile(r"\A(?:a|an|the|about|around|only|roughly|just)\s+", re.IGNORECASE)
_CLAUSE_WITHOUT_SUBJECT = re.compile(
    r"(?:(?:now|then|just|finally|also|currently) )?(?:started|moved|relocated|work|live|take|speak"
    r"|joined|turned|got a (?:new )?job)\b",
    re.IGNORECASE,
)
_PAST_WITHOUT_SUBJECT = re.compile(
    r"(?:(?:now|then|just|finally|also|currently) )?(?:started|moved|relocated|joined|turned|got)\b",
    re.IGNORECASE,
)
_SUBJECT_IS_USER = re.compile(r"(?:(?:so|and|well|ok|yeah|oh|btw),? )*(?:i|we)(?:['’]?ve)?\b", re.IGNORECASE)
_NEW_ATTRIBUTE = re.compile(r"\b(?:a|my|our) new ((?:[a-z]+ )?[a-z]+)\Z", re.IGNORECASE)
_IT_IS = re.compile(r"(?:it['’]?s|it is|that['’]?s|that is) (.+)", re.IGNORECASE)
_MAY_SHARE_NOUN = re.compile(r"[a-z-]+(?<!s)(?<!ing)")
_MAX_THING_WORDS = 3


@cache
def _introduces_person() -> re.Pattern[str]:
    """A person or pet that a clause introduces: "we have one boy rohan", "i've got a boss called tim"."""
    roles = "|".join(sorted(map(re.escape, (*KIN_EN, *PETS_EN)), key=len, reverse=True))
    people = f"(?:{roles})s?|boy|girl|boss|friend|mate|flatmate|roommate|neighbou?r|colleague"
    return re.compile(rf"\b(?:have|['’]?ve got|got)\b.*\b(?:{people})\b", re.IGNORECASE)


class English:
    """Checks of English values; see `language.protocol.Language`."""

    code = "en"

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def to_regex(self, template: str) -> str:
        """A blank is any white space, an apostrophe may be missing."""
        return template.replace(" ", r"\s+").replace("'", "['’]?")

    def roles(self) -> Mapping[str, str]:
        return KIN_EN | PETS_EN

    def parse_person(self, words: str, known_names: Mapping[str, str]) -> Person | None:
        if (known := known_names.get(words.casefold())) and words[:1].isupper():
            return Person(known)
        if words.istitle() and self._in("first_names", words):
            return Person(words)
        parts = _PERSON_ROLE.fullmatch(words)
        if parts is None or parts[2].lower() not in self.roles():
            return None
        is_user_relative = words[:3].lower() in ("my ", "our") or parts[2].lower() in KIN_EN
        if not is_user_relative:
            return None
        role = self.roles()[parts[2].lower()]
        if not parts[3]:
            return Person(normalise_name(f"my {parts[1]}{parts[2]}"))
        name = self.check_value("person_name", parts[3])
        return Person(name, role, name) if name else None

    def split_values(self, words: str) -> list[str]:
        parts = [part for part in _LIST_SEPARATOR.split(words) if part.strip()]
        if len(parts) == 2 and _MAY_SHARE_NOUN.fullmatch(parts[0].strip()) and " " in parts[1].strip():
            return [words]  # "action and comedy movies"
        return parts

    def continue_subject(self, clause: str, previous: str) -> str:
        """I quit and started at Bosch: the second clause is about the user too.

        Not if it may be about somebody else: "we have one boy rohan, just turned 5".
        """
        if _CLAUSE_WITHOUT_SUBJECT.match(clause) and _SUBJECT_IS_USER.match(previous):
            may_be_another = _PAST_WITHOUT_SUBJECT.match(clause) and _introduces_person().search(previous)
            return clause if may_be_another else f"i {clause}"
        renewed, told = _NEW_ATTRIBUTE.search(previous), _IT_IS.match(clause)
        if renewed and told:
            return f"my {renewed[1]} is {told[1]}"
        return clause

    def resolve_pronoun(self, clause: str, person: str) -> str:
        """Her birthday is June 3: my daughter's birthday is June 3."""
        name = person.replace(f"{USER}'s ", "my ")
        clause = re.sub(r"\b(?:her|his)\b(?=\s+\w)", f"{name}'s", clause, count=1, flags=re.IGNORECASE)
        return re.sub(r"\b(?:she|he)\b", name, clause, count=1, flags=re.IGNORECASE)

    def check_value(self, check: str, words: str) -> str:
        value = words.strip(_EDGES)
        if not check or not value:
            return value
        if check == "place" and has_han(value):
            return load_language("zh").check_value(check, value)
        return str(getattr(self, f"_check_{check}")(value))

    def _in(self, name: str, words: str) -> bool:
        return words.lower() in self.lexicon.words(name)

    def _has_any(self, name: str, words: str) -> bool:
        return not self.lexicon.words(name).isdisjoint(words.lower().replace("’", "'").split())

    def _check_name(self, words: str) -> str:
        """A name where only a name fits ("is called ..."): capitalised, or one or two plain words."""
        if self._has_any("not_names", words) or self._has_any("not_values", words):
            return ""
        if _CAPITALISED.fullmatch(words):
            return words
        return words.title() if re.fullmatch(r"[a-z'-]{2,14}(?: [a-z'-]{2,14})?", words) else ""

    def _check_introduced_name(self, words: str) -> str:
        """A name where a job, state or origin fits too ("I'm ..., 34"): a first name, or capitalised."""
        if self._in("first_names", words):
            return words.title()
        is_other = any(self._in(each, words) for each in _LISTS_OF_DESCRIPTIONS)
        return "" if is_other or not words[:1].isupper() else self._check_name(words)

    def _check_person_name(self, words: str) -> str:
        """A name where other words fit too ("my boss is ..."): capitalised, or a common first name."""
        first = words.split(maxsplit=1)[0]
        if self._has_any("not_names", words) or any(self._in(each, words) for each in ("places", "jobs")):
            return ""
        if _CAPITALISED.fullmatch(words) and not words.isupper():
            return words
        return words.title() if self._in("first_names", first) and words.islower() else ""

    def _check_first_name(self, words: str) -> str:
        return words.title() if self._in("first_names", words) else ""

    def _check_place(self, words: str) -> str:
        """A place where other words are unlikely ("I live in ...")."""
        bare = re.sub(r"\Athe ", "", words, flags=re.IGNORECASE)
        first = bare.split(",")[0].lower().split()[0]
        if self._in("places", words) or self._in("places", bare):
            return self._capitalise(words)
        if words.lower().startswith("the ") and not bare[:1].isupper():
            return ""
        if first in self.lexicon.words("not_places") or self._has_any("not_places", words.replace(",", "")):
            return ""
        if self._has_any("not_values", bare.replace(",", "")):
            return ""
        if bare[:1].isupper() and all(
            part[:1].isupper() or part in ("of", "on", "upon", "de", "la")
            for part in re.split(r"[\s,]+", bare)
        ):
            return words
        return words.title() if re.fullmatch(r"[a-z'-]{3,}(?: [a-z'-]{3,})?", words) else ""

    def _check_known_place(self, words: str) -> str:
        return self._capitalise(words) if self._in("places", words) else ""

    def _capitalise(self, words: str) -> str:
        return words if any(letter.isupper() for letter in words) else words.title()

    def _check_organisation(self, words: str) -> str:
        """An employer: a name, or "a clinic"."""
        bare = _FILLER_WORD.sub("", words)
        if self._has_any("not_organisations", bare) or self._has_any("not_values", bare):
            return ""
        has_article = bare != words
        if has_article and not re.fullmatch(r"[A-Za-z][\w'’&-]*(?: [A-Za-z][\w'’&-]*){0,2}", bare):
            return ""
        if not has_article and not _PROPER.fullmatch(bare) and len(bare.split()) > 2:
            return ""
        return words

    def _check_proper(self, words: str) -> str:
        """A name of a company, in capitals."""
        bad = self._has_any("not_organisations", words) or self._has_any("not_values", words)
        return words if _PROPER.fullmatch(words) and not words[0].isdigit() and not bad else ""

    def _check_school(self, words: str) -> str:
        if self._has_any("not_values", re.sub(r"\bof\b|\Athe\b", "", words, flags=re.IGNORECASE)):
            return ""
        return words if (_SCHOOL.search(words) and len(words.split()) > 1) or words.isupper() else ""

    def _check_job(self, words: str) -> str:
        parts = words.lower().split()
        if self._has_any("evaluative", words) or self._has_any("not_values", words):
            return ""
        return words if self._in("jobs", parts[-1]) or _JOB_SUFFIX.search(parts[-1]) else ""

    def _check_age(self, words: str) -> str:
        return words if not words.isdigit() or 1 <= int(words) <= 110 else ""

    def _check_amount(self, words: str) -> str:
        return _FILLER_WORD.sub("", words)

    def _check_number(self, words: str) -> str:
        return words if re.search(r"\d", words) and not re.search(r"[a-z]{3,}", words) else ""

    def _check_noun(self, words: str) -> str:
        """An allergen: one to three plain words."""
        parts = words.lower().split()
        if len(parts) > 3 or self._has_any("not_values", words):
            return ""
        if parts[-1] in (
            "mondays",
            "work",
            "people",
            "exercise",
            "effort",
            "bullshit",
            "stupidity",
            "working",
        ):
            return ""
        return words if re.fullmatch(r"[A-Za-z][\w'’ -]+", words) else ""

    def _check_food(self, words: str) -> str:
        return words if self._in("foods", words) else ""

    def _check_language(self, words: str) -> str:
        bare = re.sub(r"\A(?:a (?:bit|little)(?: of)?|some|fluent|basic) ", "", words, flags=re.IGNORECASE)
        return bare.title() if self._in("languages", bare) else ""

    def _check_condition(self, words: str) -> str:
        bare = _FILLER_WORD.sub("", words.lower())
        if self._has_any("not_values", bare):
            return ""
        known = self._in("conditions", bare) or self._in("conditions", bare.split()[-1])
        return bare if (known or _CONDITION_SUFFIX.search(bare)) and len(bare.split()) <= 4 else ""

    def _check_medicine(self, words: str) -> str:
        name = _DOSE_CHANGE.sub("", _DOSE.sub("", words.lower())).strip(" ,")
        if not name or self._has_any("not_values", name):
            return ""
        if not (self._in("medicines", name) or _MEDICINE_SUFFIX.search(name)):
            return ""
        dose = _DOSE.search(words)
        return f"{name} {dose[0]}" if dose else name

    def _check_diet(self, words: str) -> str:
        return words.lower() if self._in("diets", words) else ""

    def _check_status(self, words: str) -> str:
        return words.lower() if self._in("statuses", words) else ""

    def _check_thing(self, words: str) -> str:
        parts = words.lower().replace(" and ", " ").split()
        if len(parts) > _MAX_THING_WORDS or self._has_any("not_values", " ".join(parts)) or len(words) < 3:
            return ""
        return words if re.fullmatch(r"[^\W\d_][\w'’ -]*", words) else ""

    def _check_title(self, words: str) -> str:
        bare = re.sub(r"\A(?:the|a|an) ", "", words, flags=re.IGNORECASE)
        return words if bare and not self._has_any("not_values", bare) else ""

    def _check_activity(self, words: str) -> str:
        bare = re.sub(r"\A(?:the) ", "", words, flags=re.IGNORECASE)
        return bare.lower() if self._in("activities", bare) else ""

    def _check_counted(self, words: str) -> str:
        count, _, noun = words.lower().partition(" ")
        parts = noun.split()
        if not parts or not self._in("counted_nouns", parts[-1]) or count in ("a", "an"):
            return ""
        return "" if self._has_any("not_values", " ".join(parts[:-1])) else f"{count} {noun}"

    def _check_vehicle(self, words: str) -> str:
        bare = _FILLER_WORD.sub("", words)
        return bare if self._has_any("vehicles", bare) and not self._has_any("not_values", bare) else ""


def create_language() -> English:
    """The English language with its lexicon."""
    return English(load_lexicon("en"))
