"""What a small tuned model is asked about a message, and its reply: which known facts still hold?

    Time: 2025-04-10 Thursday
    Before:
    User: ...
    Known:
    1. i've got two dogs, boss and fly
    2. fly is the clever one
    Message:
    User: had to put boss down tuesday (2025-04-08). kidneys

    1 replace
    2 keep

Every known fact gets a mark, so that the reply has a probability for each. The training data of the model and
its prompts at run time are made by the functions of this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from thinkback.language.safety.quarantine import redact
from thinkback.language.sentences import split_sentences
from thinkback.language.spoken_dates import add_dates
from thinkback.language.tokens import count_tokens
from thinkback.prompts import escape_structure, load_prompt
from thinkback.protocols import CrossEncoder
from thinkback.think.contract import ReadRequest
from thinkback.think.grounding import SupportingText
from thinkback.types import Message, Thought, Turn

Mark = Literal["keep", "replace", "end"]
MARKS: tuple[Mark, ...] = ("keep", "replace", "end")
PROMPT = "find_updates"

MAX_PROMPT_TOKENS = 900
_MAX_ESTIMATED_TOKENS = 760  # the estimate can be too low by this share: names and digits
MAX_KNOWN_FACTS = 12
MIN_OUTDATED_SCORE = -2.0
"""Log odds that a message makes a known fact outdated, from which the model is asked about it.

Of held-out memories .903 of the outdated pairs and .070 of a sample of the others reach it (.917 and .084
reached -1.5 with the network before 2026-11-19).
"""
MAX_RECENT_TURNS = 1
_MAX_MESSAGE_TOKENS = 330
_MAX_ANSWER_CHARACTERS = 160  # of the replies of the assistant, which are only context
_MAX_RECENT_CHARACTERS = 220
_MAX_FACT_CHARACTERS = 160
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MAX_READ_CHARACTERS = 300  # of a part of a message that the cross-encoder reads
_MAX_SHORT_CHARACTERS = 30  # of a message that is also read with the one before it
_TEMPLATE_MARK = re.compile(r"<\|")  # of the control tokens of chat models
_LINE = re.compile(rf"(\d+) ({'|'.join(MARKS)})\s*\Z")


@dataclass(frozen=True, slots=True)
class UpdatePrompt:
    """A prompt for one message, and the known facts that its numbers mean."""

    messages: tuple[Message, ...]
    known: tuple[Thought, ...]

    @property
    def text(self) -> str:
        """The part that differs from message to message."""
        return self.messages[-1].content


def split_message(turn: Turn) -> list[str]:
    """The user's message in parts that are short enough to be read with one prompt each."""
    parts: list[str] = []
    for sentence in split_sentences(turn.query):
        if parts and count_tokens(f"{parts[-1]} {sentence.text}") <= _MAX_MESSAGE_TOKENS:
            parts[-1] += turn.query[sentence.start - 1 : sentence.start].replace("\n", " ") + sentence.text
        else:
            parts.append(sentence.text)
    limit = _MAX_MESSAGE_TOKENS * 3
    return [part[start : start + limit] for part in parts for start in range(0, len(part), limit)]


def build_prompt(request: ReadRequest, message: str, known: Sequence[Thought]) -> UpdatePrompt:
    """The prompt to read a part of the message of the first turn of a request.

    The turn before and the first known facts are left out if the prompt would be too long.
    """
    turn = request.turns[0]
    head = f"Time: {turn.at:%Y-%m-%d} {_WEEKDAYS[turn.at.weekday()]}\n"
    exchange = f"Message:\nUser: {_clean(add_dates(redact(message), turn.at), _MAX_MESSAGE_TOKENS * 4)}"
    known, recent = list(known), list(request.recent[-MAX_RECENT_TURNS:])
    system = load_prompt("thinkback.think", PROMPT).text.rstrip()
    while True:
        facts = "".join(f"{n}. {_render_fact(thought)}\n" for n, thought in enumerate(known, start=1))
        before = "".join(map(_render_recent, recent))
        text = head + (f"Before:\n{before}" if before else "") + f"Known:\n{facts}" + exchange
        if count_tokens(system + text) <= _MAX_ESTIMATED_TOKENS or not (known or recent):
            return UpdatePrompt((Message("system", system), Message("user", text)), tuple(known))
        del (recent or known)[0]


def choose_known(
    request: ReadRequest,
    message: str,
    encoder: CrossEncoder | None = None,
    min_score: float = MIN_OUTDATED_SCORE,
) -> list[Thought]:
    """The known facts to show, the oldest first: those that the message makes outdated with some probability.

    The cross-encoder takes milliseconds for a fact, the model seconds for a prompt, and many messages change
    nothing. Without an encoder, facts that share most words with the message are shown.
    """
    related = request.related
    if encoder is not None:
        scores = _outdated_scores(request, message, encoder)
        candidates = [position for position, score in enumerate(scores) if score >= min_score]
    else:
        said = SupportingText([message, *(turn.query for turn in request.recent[-1:])])
        scores = [said.share(f"{fact.subject} {fact.relation} {fact.object}") for fact in related]
        candidates = list(range(len(related)))
    best = sorted(candidates, key=lambda position: (scores[position], position))[-MAX_KNOWN_FACTS:]
    return [related[position] for position in sorted(best)]


def _outdated_scores(request: ReadRequest, message: str, encoder: CrossEncoder) -> list[float]:
    """For each known fact the highest log odds that a part of the message makes it outdated.

    The encoder reads only the beginning of a long text. A short message is also read with the one before it,
    without which "not anymore" says nothing.
    """
    parts = [""]
    for sentence in split_sentences(message):
        if parts[-1] and len(parts[-1]) + len(sentence.text) > _MAX_READ_CHARACTERS:
            parts.append("")
        parts[-1] = f"{parts[-1]} {sentence.text}".strip()
    if request.recent and len(message) <= _MAX_SHORT_CHARACTERS:
        parts.append(f"{request.recent[-1].query[-_MAX_RECENT_CHARACTERS:]} {message}")
    pairs = [(thought.sentence, part) for thought in request.related for part in parts]
    scores = encoder.outdated_scores(pairs)
    return [max(scores[start : start + len(parts)]) for start in range(0, len(pairs), len(parts))]


def _render_fact(thought: Thought) -> str:
    return _clean(redact(thought.sentence), _MAX_FACT_CHARACTERS)


def _render_recent(turn: Turn) -> str:
    lines = (
        ("User", turn.query, _MAX_RECENT_CHARACTERS),
        ("Assistant", turn.response, _MAX_ANSWER_CHARACTERS),
    )
    return "".join(
        f"{who}: {_clean(redact(text), limit if text.isascii() else limit // 2)}\n"
        for who, text, limit in lines
        if text.strip()
    )


def _clean(text: str, limit: int) -> str:
    """One line without control tokens and imitated structure, the middle of a long one left out."""
    line = _TEMPLATE_MARK.sub("< |", " ".join(escape_structure(text).split()))
    half = limit // 2
    return line if len(line) <= limit else f"{line[:half]} … {line[-half:]}"


def grammar(known: int) -> str:
    """The replies that are allowed, as a GBNF grammar of llama.cpp, with so many known facts."""
    lines = ' "\\n" '.join(f'"{n} " mark' for n in range(1, known + 1))
    return f"root ::= {lines}\nmark ::= " + " | ".join(f'"{mark}"' for mark in MARKS)


def format_reply(marks: Sequence[Mark]) -> str:
    """The reply with these marks, for training data."""
    return "\n".join(f"{n} {mark}" for n, mark in enumerate(marks, start=1))


def parse_reply(reply: str) -> Iterator[tuple[int, Mark]]:
    """The number and mark of each line. A line that cannot be read, or was cut off, is left out."""
    for line in reply.splitlines():
        if found := _LINE.match(line.strip()):
            yield int(found[1]), cast(Mark, found[2])


def mark_probabilities(tokens: Sequence[tuple[str, float]]) -> Mapping[int, float]:
    """The log probability of the mark of each number, from the tokens of a reply with theirs.

    The numbers themselves are certain, because the grammar gives them.
    """
    lines: list[list[tuple[str, float]]] = [[]]
    for text, probability in tokens:
        lines[-1].append((text, probability))
        if "\n" in text:
            lines.append([])
    found: dict[int, float] = {}
    for line in lines:
        words = [(text, probability) for text, probability in line if not text.startswith("<|")]
        if match := _LINE.match("".join(text for text, _ in words).strip()):
            found[int(match[1])] = sum(
                probability for text, probability in words if any(map(str.isalpha, text))
            )
    return found
