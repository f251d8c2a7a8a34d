"""The short form of the reading contract, for a small tuned model: a prompt of a few hundred tokens, and
one line for each change.

    Time: 2025-04-10 Thursday
    Names: Heather = user's wife; Boss
    Before:
    User: ...
    Known:
    1. The user has two dogs, Boss and Fly.
    Message:
    User: had to put boss down tuesday (2025-04-08). kidneys

    add | Boss | was put down | 2025-04-08 | event | 2025-04-08 | Boss was put down on 2025-04-08.
    replace 1 | user | has dogs | only Fly | profile | 2025-04-08.. | Fly is the user's only dog.

The training data of the model and its prompts at run time are made by the functions of this module. The model
gives no quote: the sentence of the message that has most of the words of a fact is its quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from thinkback.language.names import USER, normalise_name
from thinkback.language.safety.quarantine import redact
from thinkback.language.sentences import split_sentences
from thinkback.language.spoken_dates import add_dates
from thinkback.language.tokens import count_tokens
from thinkback.prompts import escape_structure, load_prompt
from thinkback.think.contract import ChangeKind, ProposedChange, ProposedFact, ReadRequest
from thinkback.think.grounding import SupportingText, content_units
from thinkback.think.reader_llm import parse_date
from thinkback.types import KINDS, Kind, Message, Thought, Turn

Wording = Literal["first", "second"]
"""The first reading, or the differently worded one that checks it."""
WORDINGS: tuple[Wording, ...] = ("first", "second")

MIN_CONFIDENCE = -0.18
"""Confidence (`line_confidence`) below which a fact is left out. Chosen on the dev lives."""
MIN_RETIREMENT_CONFIDENCE = -0.15
"""Mean log probability of the tokens of a line below which it retires nothing. Chosen on the dev lives."""
MAX_PROMPT_TOKENS = 900
_MAX_ESTIMATED_TOKENS = 760  # the estimate can be too low by this share: names and digits
MAX_KNOWN_FACTS = 12
MAX_RECENT_TURNS = 2
_MAX_NAMES = 6
_MAX_MESSAGE_TOKENS = 330
_MAX_ANSWER_CHARACTERS = 160  # of the reply of the assistant, which is only context
_MAX_RECENT_CHARACTERS = 220
_MAX_FACT_CHARACTERS = 160
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NONE = "none"
_SEPARATOR = " | "
_TEMPLATE_MARK = re.compile(r"<\|")  # of the control tokens of chat models
_PROMPTS: dict[Wording, str] = {"first": "read_lines", "second": "read_lines_again"}
_TODAY, _THIS_MONTH = "today", "month"
_HEAD = re.compile(r"(add|replace|end|forget)(?:\s+(\d+(?:\s*,\s*\d+)*))?\s*\Z")
_FACT_FIELDS = 6
_VALUE_FIELD = 3  # after the action, who it is about, and the relation
_VALUE_WEIGHT, _MISSING_WEIGHT = 0.2, 0.3


@dataclass(frozen=True, slots=True)
class LinePrompt:
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


def build_prompt(request: ReadRequest, message: str, wording: Wording = "first") -> LinePrompt:
    """The prompt to read a part of the message of the first turn of a request.

    Earlier turns and known facts are left out, the oldest first, if the prompt would be too long.
    """
    turn = request.turns[0]
    names = "; ".join(" = ".join(group[:2]) for group in request.names[:_MAX_NAMES])
    head = f"Time: {turn.at:%Y-%m-%d} {_WEEKDAYS[turn.at.weekday()]}\n"
    head += f"Names: {_clean(names, 240)}\n" if names else ""
    exchange = f"Message:\nUser: {_clean(add_dates(redact(message), turn.at), _MAX_MESSAGE_TOKENS * 4)}"
    if turn.response.strip():
        exchange += f"\nAssistant: {_clean(redact(turn.response), _MAX_ANSWER_CHARACTERS)}"
    known = choose_known(request, message)
    recent = list(request.recent[-MAX_RECENT_TURNS:])
    system = load_prompt("thinkback.think", _PROMPTS[wording]).text.rstrip()
    while True:
        facts = "".join(f"{n}. {_render_fact(thought)}\n" for n, thought in enumerate(known, start=1))
        before = "".join(map(_render_recent, recent))
        context = [f"Before:\n{before}" if before else "", f"Known:\n{facts}" if facts else ""]
        if wording == "second":
            context.reverse()
        text = head + "".join(context) + exchange
        if count_tokens(system + text) <= _MAX_ESTIMATED_TOKENS or not (known or recent):
            return LinePrompt((Message("system", system), Message("user", text)), tuple(known))
        if recent:
            del recent[0]
        else:
            del known[0]


def choose_known(request: ReadRequest, message: str) -> list[Thought]:
    """The known facts to show, the oldest first: those that share most words with the message."""
    if len(request.related) <= MAX_KNOWN_FACTS:
        return list(request.related)
    said = SupportingText([message, *(turn.query for turn in request.recent[-1:])])

    def score(position: int) -> tuple[float, int]:
        thought = request.related[position]
        return said.share(f"{thought.subject} {thought.relation} {thought.object}"), position

    best = sorted(range(len(request.related)), key=score, reverse=True)[:MAX_KNOWN_FACTS]
    return [request.related[position] for position in sorted(best)]


def _render_fact(thought: Thought) -> str:
    return _clean(redact(thought.sentence), _MAX_FACT_CHARACTERS)


def _render_recent(turn: Turn) -> str:
    lines = (("User", turn.query), ("Assistant", turn.response))
    limit = _MAX_RECENT_CHARACTERS if turn.query.isascii() else _MAX_RECENT_CHARACTERS // 2
    return "".join(f"{who}: {_clean(redact(text), limit)}\n" for who, text in lines if text.strip())


def _clean(text: str, limit: int) -> str:
    """One line without control tokens and imitated structure, the middle of a long one left out."""
    line = _TEMPLATE_MARK.sub("< |", " ".join(escape_structure(text).split()))
    half = limit // 2
    return line if len(line) <= limit else f"{line[:half]} … {line[-half:]}"


def grammar(known: int) -> str:
    """The replies that are allowed, as a GBNF grammar of llama.cpp, with so many known facts."""
    rules = [
        'root ::= "none" | line ("\\n" line)*',
        'fact ::= field " | " field " | " field " | " kind " | " when " | " field',
        "field ::= [^|\\n]+",
        "kind ::= " + " | ".join(f'"{kind}"' for kind in KINDS),
        'when ::= "-" | date | date ".." | ".." date | date ".." date',
        f'date ::= "{_TODAY}" | "{_THIS_MONTH}" | year ("-" two ("-" two)?)?',
        "year ::= [0-9] [0-9] [0-9] [0-9]",
        "two ::= [0-9] [0-9]",
    ]
    if known:
        rules.append('line ::= ("add" | "replace " numbers) " | " fact | ("end " | "forget ") numbers')
        rules.append('numbers ::= number (", " number)*')
        rules.append("number ::= " + " | ".join(f'"{n}"' for n in range(1, known + 1)))
    else:
        rules.append('line ::= "add | " fact')
    return "\n".join(rules)


def format_line(
    action: ChangeKind, numbers: Sequence[int], fact: ProposedFact | None = None, when: str = "-"
) -> str:
    """One line of a reply, for training data. `when` is the time as `format_when` writes it."""
    head = f"{action} {', '.join(map(str, numbers))}" if numbers else action
    if fact is None:
        return head
    fields = (fact.about, fact.relation, fact.value, fact.kind, when, fact.sentence)
    return _SEPARATOR.join((head, *(" ".join(field.split()).replace("|", "/") for field in fields)))


def format_when(start: str | None, end: str | None, at: datetime) -> str:
    """The time of a fact, from dates such as 2025, 2025-04 and 2025-04-10, and the time of the turn."""
    first, last = (None if date is None else _shorten_date(date, at) for date in (start, end))
    if first is None:
        return "-" if last is None else f"..{last}"
    if last is None:
        return f"{first}.."
    return first if first == last else f"{first}..{last}"


def _shorten_date(date: str, at: datetime) -> str:
    return {f"{at:%Y-%m-%d}": _TODAY, f"{at:%Y-%m}": _THIS_MONTH}.get(date, date)


def parse_when(text: str, at: datetime) -> tuple[datetime | None, datetime | None]:
    """When a fact begins and ends; the end is exclusive."""
    start, dots, end = (part.strip() for part in text.partition(".."))
    names = {_TODAY: f"{at:%Y-%m-%d}", _THIS_MONTH: f"{at:%Y-%m}"}
    start, end = names.get(start, start), names.get(end, end)
    return parse_date(start), parse_date(end if dots else start, end=True)


def parse_lines(reply: str, prompt: LinePrompt, turn: Turn) -> list[ProposedChange]:
    """The usable changes of a reply. A line that cannot be read, or was cut off, is left out."""
    return [change for line in reply.splitlines() for change in _parse_line(line, prompt, turn)]


def _parse_line(line: str, prompt: LinePrompt, turn: Turn) -> Iterator[ProposedChange]:
    head, *fields = (field.strip() for field in line.split("|"))
    found = _HEAD.match(head)
    if found is None:
        return
    action = cast(ChangeKind, found[1])
    numbers = [int(number) for number in (found[2] or "").split(",") if number.strip()]
    targets = [prompt.known[n - 1] for n in dict.fromkeys(numbers) if 1 <= n <= len(prompt.known)]
    ids = tuple(thought.id for thought in targets)
    if action in ("end", "forget"):
        if targets:
            about = " ".join(f"{thought.subject} {thought.sentence}" for thought in targets)
            yield ProposedChange(
                action=action, turn=turn.id, quote=find_quote(about, turn.query), targets=ids
            )
        return
    if len(fields) < _FACT_FIELDS or fields[3] not in KINDS or not all(fields[:3]) or not fields[5]:
        return
    about, relation, value, kind, when, sentence = fields[:_FACT_FIELDS]
    start, end = parse_when(when, turn.at)
    fact = ProposedFact(
        about=USER if normalise_name(about) == USER else about,
        relation=relation,
        value=value,
        sentence=sentence,
        kind=cast(Kind, kind),
        valid_from=start,
        valid_to=end,
    )
    quote = find_quote(f"{value} {value} {sentence}", turn.query)
    yield ProposedChange(
        action="replace" if targets else "add", turn=turn.id, quote=quote, fact=fact, targets=ids
    )


def line_confidence(tokens: Sequence[tuple[str, float]], value: str, message: str) -> float:
    """How sure the model is of a line that states a fact, from its tokens with their log probabilities.

    The mean of all tokens, a share of the mean of the value's tokens, and a penalty for words of the value
    that the message does not have. The weights were fitted on the dev lives (a logistic regression).
    """
    all_tokens = [probability for _, probability in tokens]
    of_value: list[float] = []
    field = 0
    for text, probability in tokens:
        if "|" in text:
            field += 1
        elif field == _VALUE_FIELD:
            of_value.append(probability)
    missing = 1 - SupportingText([message]).share(value)
    return mean(all_tokens) + _VALUE_WEIGHT * mean(of_value) - _MISSING_WEIGHT * missing


def mean(values: Sequence[float]) -> float:
    """The mean; 0 if there are no values, because a model may not tell probabilities."""
    return sum(values) / len(values) if values else 0.0


def find_quote(statement: str, message: str) -> str:
    """The sentence of a message that has most of the words of a statement; the first of equal ones."""
    units = content_units(statement)
    sentences = [sentence.text for sentence in split_sentences(message)]
    if not sentences:
        return message

    def shared(sentence: str) -> int:
        return sum(map(SupportingText([sentence]).has_unit, units))

    return max(sentences, key=shared)
