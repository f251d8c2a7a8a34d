"""Who is what to whom where neither is the user: "Erik, Anna's husband, ...", "Tom and Lucy are siblings".

Such a tie may stand beside what a sentence says, so it is looked for in all of it and what it stood in is
blanked; what a clause itself says ("Lucy is Tom's sister") the tables read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from thinkback.text.people.kin import KIN_EN, longest_first
from thinkback.text.people.names import USER
from thinkback.think.rules.english_parts import KIN, MODS
from thinkback.think.rules.english_words import NAME, is_name
from thinkback.think.rules.rule import Reading

_OWNER = rf"(?:(?P<owner>{NAME})(?:'s|(?<=s)')|[Mm]y (?P<mine>{MODS}{KIN})'s)"
_ROLE = rf"(?P<mods>{MODS})(?P<kin>{KIN})"
_BESIDE = re.compile(
    rf"(?<![\w'-])(?P<name>{NAME})"
    rf"(?P<cut>(?:, | \(|, who is |, who's ){_OWNER} {_ROLE}(?:,|\)|(?=\s*[.!;]|\s*\Z)))"
)
_BEFORE = re.compile(
    rf"(?<![\w'-])(?P<cut>{_OWNER} {_ROLE}(?:,| called| named)? )(?P<name>{NAME})(?=,? [a-z]|[,.!;)]|\Z)"
)
_LEADS = re.compile(
    r"\A(?:(?:As|If|When|While|Although|Though|Since|Because|For|With|To|From|By|At|In|On|Of|And|But|Or|So"
    r"|That|Then|Like|Unless|After|Before|Until|Even|Both|Also|Only|Once|Yes|No) )+"
)
"""Words that are capitals only because they open a sentence: "As Anna's colleague, Tom ..."."""
_MUTUAL = {
    "sibling": "siblings twins",
    "partner": "married engaged spouses",
    "friend": "friends mates buddies pals",
    "colleague": "colleagues coworkers co-workers workmates teammates",
    "roommate": "roommates flatmates housemates",
    "neighbour": "neighbours neighbors",
    "classmate": "classmates schoolmates",
    "cousin": "cousins",
    "brother": "brothers",
    "sister": "sisters",
    "co-founder": "co-founders cofounders",
}
_WORDS = {word: kin for kin, words in _MUTUAL.items() for word in words.split()}
_BOTH = re.compile(
    rf"(?<![\w'-])(?P<one>{NAME}) and (?P<other>{NAME}) (?:are|were|got|have been)"
    rf" (?:both |now |also |still )?(?:happily |newly )?(?:best |good |close |old |childhood |twin )*"
    rf"(?P<word>{longest_first(_WORDS)})\b(?! (?:with|to|of)\b)"
)
_SEVERAL = re.compile(
    rf"(?P<mods>{MODS})(?:(?P<kin>{longest_first(KIN_EN)})s|(?P<many>parents|grandparents|children|kids))"
    rf" are(?: called| named)? (?P<names>{NAME}(?:, {NAME})*,? and {NAME})\Z"
)
_MANY = {"parents": "parents", "grandparents": "grandparents", "children": "child", "kids": "child"}


class Beside(NamedTuple):
    """A tie, the person it leaves to the rest of the sentence, and the span to blank."""

    reading: Reading
    name: str
    start: int
    end: int


def tied(text: str) -> Iterator[Beside]:
    """The ties that stand beside what a sentence says."""
    if "'" not in text and " and " not in text:
        return
    for pattern in (_BESIDE, _BEFORE):
        for found in pattern.finditer(text):
            owner = f"{USER}'s {found['mine']}" if found["mine"] else _LEADS.sub("", found["owner"])
            name = re.sub(r"'s\Z", "", found["name"])
            known = is_name(name) and not _LEADS.match(name) and (found["mine"] or is_name(owner))
            if not known or name == owner:
                continue
            say = f"{{s}}'s {found['mods']}{found['kin']} is {{o}}"
            reading = Reading("their kin", owner, f"has {KIN_EN[found['kin']]}", (name,), say=say)
            yield Beside(reading, name, found.start("cut"), found.end("cut"))
    if (both := _BOTH.search(text)) and is_name(both["one"]) and is_name(both["other"]):
        kin = _WORDS[both["word"]]
        say = f"{{s}} and {{o}} are {'married' if kin == 'partner' else both['word']}"
        reading = Reading("each other's kin", both["one"], f"has {kin}", (both["other"],), say=say)
        yield Beside(reading, "", both.start(), both.end())


def several(owner: str, rest: str) -> Reading | None:
    """ "Anna's children are Tom and Mia": all of them, said after their owner."""
    found = _SEVERAL.fullmatch(rest)
    if not found:
        return None
    names = tuple(name.strip() for name in re.split(r",? and |, ", found["names"]))
    kin = _MANY[found["many"]] if found["many"] else KIN_EN[found["kin"]]
    if not all(map(is_name, names)):
        return None
    word = found["many"] or f"{found['kin']}s"
    return Reading("their kin", owner, f"has {kin}", names, say=f"{{s}}'s {word} are {{o}}")
