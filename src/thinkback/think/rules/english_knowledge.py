"""English statements about the world, not a person: "The capital of China is Beijing", laboratory values.

Only attributes that things of the world have, and only of what is named or measured: "the name of my dog" is
left to the tables of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.text.sentences import Sentence
from thinkback.think.rules.english_words import NAME, is_name
from thinkback.think.rules.rule import Clause, Reading

_ATTRIBUTE = (
    r"(?P<x>capital|population|currency|president|prime minister|king|queen|chancellor|mayor|founder|author"
    r"|director|composer|inventor|official language|largest city|head of state|area|highest mountain)"
)
_ONE = rf"(?P<s>(?:the )?{NAME})"
_VALUE = rf"(?P<o>(?:the )?{NAME}|\d+(?:[.,]\d+)*(?: (?:million|billion|km²|square kilometers|people))?)"
_OF = re.compile(rf"(?:[Tt]he )?{_ATTRIBUTE}(?: city)? of {_ONE} is (?:now )?{_VALUE}[.!]*")
_IS_OF = re.compile(rf"(?P<o>{NAME}) is (?:now )?the {_ATTRIBUTE}(?: city)? of {_ONE}[.!]*")
_MEASURE = (
    r"(?:count|levels?|rate|value|concentration|ratio|index|titre|titer|ha?emoglobin|creatinine|ferritin|TSH|LDL"
    r"|HDL|platelets|glucose|hematocrit|albumin|bilirubin|CRP|triglycerides)"
)
_UNIT = (
    r"(?:%|/[µμu]?[a-zA-Z]{1,3}|(?:m?mol|[mµμnp]?g|mcg|[mk]?U|IU|mEq|fl|cells)(?:/[a-zA-Zµμ]{1,4})?|bpm|mmHg)"
)
_MEASURED = re.compile(
    rf"(?:[Tt]he )(?P<s>(?:[\w-]+ ){{0,4}}{_MEASURE}(?: in (?:the |my )?[\w -]{{2,40}}?)?) (?:is|was"
    rf"|came back (?:at|as)|came out at|reads) (?:now |about )?(?P<o>\d[\d.,]*\s?{_UNIT})(?![\w/])"
)


def known(sentence: Sentence) -> Iterator[tuple[Clause, Reading]]:
    """What a sentence says of the world."""
    text = sentence.text.strip()
    clause = Clause(text, sentence.start, sentence.end)
    if (found := _OF.fullmatch(text) or _IS_OF.fullmatch(text)) and is_name(found["s"].removeprefix("the ")):
        said = f"The {found['x']} of {{s}} is {{o}}"
        reading = Reading("of", found["s"], found["x"], (found["o"],), kind="knowledge", say=said)
        yield clause, reading
    elif found := _MEASURED.match(text):
        subject = found["s"].replace("my ", "the ")
        yield clause, Reading("measured", subject, "is", (found["o"].strip(),), kind="knowledge")
