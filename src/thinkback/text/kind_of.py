"""What kind of memory a text is, by its form alone: a profile's line, a tie, a dated story, a transcript.

The papers get kinds with their data (PerLTQA); a raw turn comes without. Its form often tells, and where it
does not, nothing is said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thinkback.text.memo import by_digest
from thinkback.text.people.kin import KIN_EN, KIN_ZH, longest_first
from thinkback.text.sentences import sentences

if TYPE_CHECKING:
    from thinkback.types import Kind

_OPENING = 2000  # characters by which a text is judged
_LABEL = re.compile(
    r"^[^\s:：,，.。!?！？]{1,20}(?: [^\s:：,，.。!?！？]{1,20}){0,3}[:：]\s*\S", re.MULTILINE
)
_LABELS = 2  # lines under a speaker's name that make a transcript
_WORD = r"[^\Wa-z\d_][\w-]*"  # with a capital of any alphabet
_NAMED = rf"{_WORD}(?: {_WORD}){{0,3}}"
_NAME = rf"(?:[Mm]y|{_NAMED}['’]s?)"
_RUN = r"[^，。！？\s]"
_TIE = re.compile(
    rf"(?:\A{_NAMED} is {_NAMED}['’]s?(?: [a-z-]+){{1,3}}\."
    rf"|\A{_RUN}{{2,8}}是(?:(?!的){_RUN}){{2,8}}的(?:(?!的){_RUN}){{2,6}}。\Z"
    rf"|\b(?:is|was|are|were) {_NAME} (?:[a-z-]+ ){{0,2}}(?:{longest_first(KIN_EN)})s?\b"
    rf"|\b{_NAME} (?:[a-z-]+ ){{0,2}}(?:{longest_first(KIN_EN)})s? (?:is|was|are|were)\b"
    rf"|是{_RUN}{{1,12}}的{_RUN}{{0,4}}?(?:{longest_first(KIN_ZH)})"
    rf"|的(?:{longest_first(KIN_ZH)})(?:是|叫))"
)
_TRAIT = re.compile(
    rf"\A{_NAME} [a-z]+(?: [a-z]+){{0,3}} (?:is|are|was|were)\b"
    rf"|\A{_RUN}{{1,12}}的(?:(?!的){_RUN}){{1,10}}[是为]"
)
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:last|that) (?:week|month|year|spring|summer|autumn|winter)\b"
    r"|\d{1,2}月\d{1,2}[日号]|(?:19|20)\d\d年|去年|前年|上个?月|上周",
    re.IGNORECASE,
)


@by_digest(4096)
def kind_of(text: str) -> Kind | None:
    """The kind that a text's form tells, None where it could be any."""
    opening = text[:_OPENING]
    if len(_LABEL.findall(opening)) >= _LABELS:
        return "dialogue"
    said = sentences(opening)
    if not said:
        return None
    if _TIE.search(said[0].text) and not said[0].text.endswith(("?", "？")):
        return "relationship"
    if len(said) == 1 and _TRAIT.match(said[0].text):
        return "profile"
    if len(said) > 1 and _DATE.search(opening):
        return "event"
    return None
