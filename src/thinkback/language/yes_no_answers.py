"""Finds a "yes" or "no" that opens a turn and the question it answers.

"Are you experiencing frequent urination?" - "Yes, it's been quite noticeable." states a fact that the user's
words alone do not contain (TiM (ACL), table 5). Only a simple yes-no question at the very end of the
previous response counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.language.safety.quarantine import find_quarantined
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.writing_systems import has_han
from thinkback.types import Turn

_MAX_QUESTION_CHARS = 200
_I = re.IGNORECASE
_YES_OPENING = re.compile(
    r"(?:(?:oh|ah|well|um|hmm)[, ]+)?(?:(?:yes|yeah|yep|yup)\b(?!,? (?:but|if|and no|please|or|only)\b)"
    r"|(?:correct|right|exactly|indeed|absolutely|definitely|that's (?:right|correct|true)|i (?:do|am|have)"
    r")(?=[,.!;]|\Z))"
    "|(?:是的?|对的?|嗯+|没错|有的?|会的?)(?=[，,。！!]|\\Z)",
    _I,
)
_NO_OPENING = re.compile(
    r"(?:(?:oh|ah|well|um|hmm)[, ]+)?(?:(?:no|nope|nah|not really|not at all|i (?:don't|do not|haven't)"
    r"|i'm not)(?=[,.!;]|\Z))"
    "|(?:不是|没有|不|没|不会)(?=[，,。！!]|\\Z)",
    _I,
)
_ALTERNATIVE = re.compile(r"\bor\b|还是", _I)
_QUESTION_LEAD = re.compile(
    r"(?:(?:so|and|ok|okay|oh|by the way|just to (?:check|confirm)|i see|got it|great|thanks)[,:]? )*", _I
)
_QUESTION_TEMPLATES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _I | re.DOTALL), plain)
    for pattern, plain in (
        (r"are you (?P<rest>.+)", "I am {rest}"),
        (r"were you (?P<rest>.+)", "I was {rest}"),
        (r"do you (?P<rest>.+)", "I {rest}"),
        (r"have you (?P<rest>.+)", "I have {rest}"),
        (r"can you (?P<rest>.+)", "I can {rest}"),
        (r"you(?P<rest>(?:'re|'ve| \w+) .+)", "I{rest}"),
        (r"is your (?P<x>\w+(?: (?:name|number|size|address|pressure|sugar|type))?) (?P<rest>.+)",
         "my {x} is {rest}"),
        (r"your (?P<rest>.+)", "my {rest}"),
    )
)  # fmt: skip
_PRONOUN_FIXES = ((re.compile(r"\byour\b", _I), "my"), (re.compile(r"\b(?:any|ever) ", _I), ""))
_VERB_FIXES = ((re.compile(r"\bI're\b"), "I am"), (re.compile(r"\bI are\b"), "I am"))
_QUESTION_ZH = re.compile("(?:那|那么|所以|请问|哦|噢)?[，, ]?(?:你|您)(?P<rest>[^，,。]{1,40}?)吗[？?]?")


@dataclass(frozen=True, slots=True)
class YesNoAnswer:
    """A yes or no: the question, whether it is denied, and the span of the answering sentence."""

    question: str
    denied: bool
    start: int
    end: int

    @property
    def statement(self) -> str:
        """The question as a statement of the user: "Do you smoke?" -> "I smoke".

        Empty if the question cannot be converted.
        """
        question = self.question.replace("’", "'").strip()
        if has_han(question):
            match_zh = _QUESTION_ZH.fullmatch(question)
            return f"我{match_zh['rest']}" if match_zh else ""
        body = _QUESTION_LEAD.sub("", question.rstrip(" ?"), count=1)
        for pattern, template in _QUESTION_TEMPLATES:
            if match := pattern.fullmatch(body):
                statement = template.format(**match.groupdict())
                for old, new in (*_PRONOUN_FIXES, *_VERB_FIXES):
                    statement = old.sub(new, statement)
                return statement
        return ""


def find_yes_no_answer(turn: Turn, recent: Sequence[Turn]) -> YesNoAnswer | None:
    """Return the yes or no with which `turn` answers the last question of the previous turn, if any."""
    previous = split_sentences(recent[-1].response) if recent else []
    current = split_sentences(turn.query)
    if not previous or not current:
        return None
    question, answer = previous[-1].text, current[0]
    is_plain = (
        len(question) <= _MAX_QUESTION_CHARS and is_question(question) and not _ALTERNATIVE.search(question)
    )
    if not is_plain or is_question(answer.text) or find_quarantined(question):
        return None
    if _YES_OPENING.match(answer.text):
        return YesNoAnswer(question, False, answer.start, answer.end)
    return YesNoAnswer(question, True, answer.start, answer.end) if _NO_OPENING.match(answer.text) else None
