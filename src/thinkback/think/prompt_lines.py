"""The sentences of a turn as a model sees them, with numbers for those it is asked about.

A thought in the model's reply refers to a line by its number. That gives an exact source at the cost of one
token, whatever the model copies. Questions, conditions, jokes and reported speech (`statement_filter`) get no
number; quarantined text is not shown at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thinkback.language.safety.quarantine import find_quarantined
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.language.writing_systems import detect_language
from thinkback.types import Side, ThoughtDraft, Turn

MAX_EXCHANGE_TOKENS = 1800
"""Limit for one exchange, so that it fits the context of a small model; the turn itself is kept whole."""

_IGNORECASE = re.IGNORECASE
_PERSONAL_PRONOUN = re.compile(
    r"\b(?:i|i'\w+|im|ive|me|my|mine|we|we'\w+|us|our|ours|he|he's|him|his|she|she's|her|they|they're|their)\b",
    _IGNORECASE,
)
_NAME_OR_NUMBER = re.compile(r"(?<=[\w,;:)]\s)[A-Z][\w'-]+|\d")
_COURTESY = re.compile(
    r"(?:ok(?:ay)?|yes|yeah|yep|no|nope|sure|right|great|cool|nice|perfect|awesome|ha(?:ha)+|lol|hi|hey|hello|bye"
    r"|wow|good (?:morning|evening|night|idea|one|point)|thanks?|thank you|thx|cheers|please|sorry|got it"
    r"|never ?mind|will do|sounds good|makes sense|see you|talk (?:soon|later)|i see|i'll try"
    r"|(?:that|this|it)(?:'s| is)|let me (?:know|think|try)|i appreciate|i love (?:it|that)"
    r"|one more thing|quick question)\b",
    _IGNORECASE,
)
_COURTESY_ZH = re.compile(
    "好的?|嗯+|哦|啊|是的?|对|行|可以|谢谢|多谢|感谢|你好|您好|再见|晚安|早上好|早安|哈+|没事|没关系|不客气"
    "|不好意思|抱歉|知道了|明白了?|原来如此|辛苦了?|太好了|真的|厉害|不错|请问|麻烦|帮我|给我|那就"
)
_REQUEST = re.compile(
    r"(?:(?:so|and|also|ok|please|pls|hey|now|just)[ ,]+)*(?:(?:i )?(?:need|want)|(?:i'm |i am )?looking for"
    r"|(?:help|give|show|tell|send|find|remind|make) me|make it|write|suggest|recommend|explain|list|describe"
    r"|draft|check|compare|convert|calculate|translate|forget|delete|book|play|set|add|try)\b",
    _IGNORECASE,
)
_REQUEST_ZH = re.compile("请|忘|删|别记|麻烦|帮我|给我|替我|推荐|写[个一首封篇]|来[个一]|讲[个一]|告诉我")
_MIN_WORDS = 3  # shorter English sentences are small talk
_MIN_CHARACTERS_ZH = 6  # the same for Chinese
_CLAUSE_BREAK = re.compile(r"[,;，；、]|\band\b", _IGNORECASE)
_MAX_THOUGHTS_PER_LINE = 4
_LINE_OVERHEAD_TOKENS = 3  # the number and the line break


@dataclass(frozen=True, slots=True)
class PromptLine:
    """A sentence, or the part of it that states something: `text == turn.text_of(side)[start:end]`."""

    side: Side
    text: str
    start: int
    end: int


def statement_lines(turn: Turn) -> list[PromptLine]:
    """Return the lines of both sides that state something, the user's first."""
    # Imported here: it compiles large pattern tables, which would slow down `import thinkback`.
    from thinkback.language.statement_filter import find_statements

    user_lines = [PromptLine("query", *sentence) for sentence in find_statements(turn.query)]
    assistant_lines = [
        PromptLine("response", *s) for s in split_sentences(turn.response) if not is_question(s.text)
    ]
    return [
        line
        for line in (*user_lines, *assistant_lines)
        if extract_terms(line.text) and not find_quarantined(line.text)
    ]


def uncovered_lines(turn: Turn, drafts: Sequence[ThoughtDraft]) -> list[PromptLine]:
    """Return the user's statements from which no draft was made, without small talk."""
    covered = [
        (source.start, source.end) for draft in drafts for source in draft.sources if source.side == "query"
    ]
    return [
        line
        for line in statement_lines(turn)
        if line.side == "query"
        and not any(start < line.end and line.start < end for start, end in covered)
        and not is_small_talk(line.text)
    ]


def is_small_talk(sentence: str) -> bool:
    """Return whether a sentence states no fact: a request, a courtesy, or without person, name and number."""
    if _REQUEST.match(sentence) or _REQUEST_ZH.match(sentence):
        return True
    if detect_language(sentence) == "zh":
        rest = _COURTESY_ZH.sub("", sentence[:40], count=1) if _COURTESY_ZH.match(sentence) else sentence
        return sum("\u4e00" <= character <= "\u9fff" for character in rest) < _MIN_CHARACTERS_ZH
    has_person = bool(_PERSONAL_PRONOUN.search(sentence))
    if _COURTESY.match(sentence):
        return not has_person or len(sentence.split()) < 2 * _MIN_WORDS
    return len(sentence.split()) < _MIN_WORDS or not (has_person or _NAME_OR_NUMBER.search(sentence))


def max_thoughts_in(line: PromptLine) -> int:
    """Return how many thoughts a line can hold: one per clause, and one for the person it mentions."""
    return min(_MAX_THOUGHTS_PER_LINE, 2 + len(_CLAUSE_BREAK.findall(line.text)))


def render_exchange(turn: Turn, lines: Sequence[PromptLine]) -> tuple[str, list[PromptLine]]:
    """Return the exchange as text for the model, and the numbered lines in it (number 1 first)."""
    lines_by_position = {(line.side, line.start): line for line in lines}
    numbered: list[PromptLine] = []
    output: list[str] = []
    tokens_left = MAX_EXCHANGE_TOKENS
    sides: tuple[tuple[str, Side], ...] = (("User", "query"), ("Assistant", "response"))
    for name, side in sides:
        side_lines: list[str] = []
        for text, line in _sentences_with_lines(turn, side, lines_by_position):
            tokens_left -= count_tokens(text) + _LINE_OVERHEAD_TOKENS
            if tokens_left < 0:
                break
            if line is not None:
                numbered.append(line)
            side_lines.append(f"{len(numbered)}. {text}" if line is not None else f"- {text}")
        output += [f"{name}:", *side_lines] if side_lines else []
    return "\n".join(output), numbered


def _sentences_with_lines(
    turn: Turn, side: Side, lines_by_position: dict[tuple[Side, int], PromptLine]
) -> Iterator[tuple[str, PromptLine | None]]:
    """Yield each sentence of one side as one line of text, with its PromptLine if it is to be numbered."""
    for sentence in split_sentences(turn.text_of(side)):
        line = lines_by_position.get((side, sentence.start))
        text = " ".join((line.text if line else sentence.text).split())
        if line is not None or not find_quarantined(text):
            yield text, line
