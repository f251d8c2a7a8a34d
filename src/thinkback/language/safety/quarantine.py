"""Redaction of instructions and secrets, in text and in the turns, thoughts and explanations that are returned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from thinkback.language.digest_cache import cache_by_digest
from thinkback.language.safety import injection as orders
from thinkback.language.safety import secret_detection
from thinkback.language.safety.injection import INSTRUCTION
from thinkback.language.safety.normalise import QuarantinedSpan, merge_spans, normalise_text
from thinkback.language.safety.prefilter import Suspicion, prefilter_text
from thinkback.types import Explanation, Side, Thought, ThoughtDraft, Turn

_MARK_TEXTS = (
    f"quarantined {orders.INSTRUCTION}",
    *(f"redacted {kind}" for kind in secret_detection.SECRET_KINDS),
)
REDACTION_MARK = re.compile(rf"\[(?:{'|'.join(_MARK_TEXTS)})\]")
"""What stands in the place of a quarantined span."""

_MAX_REDACTION_PASSES = (
    8  # taking one span away may bring another to light; a text that goes on so is taken whole
)
_MIN_REPEATED_SECRET_CHARACTERS = 4


def find_instructions(text: str) -> tuple[QuarantinedSpan, ...]:
    """Where the text gives orders to the assistant."""
    return _find_spans(text, prefilter_text(text)._replace(secrets=False))


def find_secrets(text: str) -> tuple[QuarantinedSpan, ...]:
    """Where the text holds a secret, and of which kind."""
    return _find_spans(text, prefilter_text(text)._replace(instructions=False))


@cache_by_digest(8192)
def find_quarantined(text: str) -> tuple[QuarantinedSpan, ...]:
    """Both; a secret inside an order is part of the order."""
    return _find_spans(text, prefilter_text(text))


def _find_spans(text: str, look_for: Suspicion) -> tuple[QuarantinedSpan, ...]:
    if not (look_for.instructions or look_for.secrets):
        return ()
    folded = normalise_text(text, REDACTION_MARK)
    return merge_spans(
        [
            *(orders.detect_instructions(folded) if look_for.instructions else ()),
            *(secret_detection.detect_secrets(folded) if look_for.secrets else ()),
        ]
    )


def redact(text: str, *, only_secrets: bool = False) -> str:
    """The text with a mark for every quarantined span; nothing is found in what is returned."""
    find = find_secrets if only_secrets else find_quarantined
    for _ in range(_MAX_REDACTION_PASSES):
        spans = find(text)
        if not spans:
            return text
        text = _replace_spans(text, spans)
    return redaction_mark(orders.INSTRUCTION) if find(text) else text


def redaction_mark(kind: str) -> str:
    return f"[quarantined {kind}]" if kind == orders.INSTRUCTION else f"[redacted {kind}]"


def secret_values(text: str) -> dict[str, str]:
    """The secrets of a text as they were written, each with its kind: to find them again elsewhere."""
    return {text[span.start : span.end]: span.kind for span in find_secrets(text)}


def redact_values(text: str, known: dict[str, str]) -> str:
    """The text with a mark wherever it repeats one of these secrets, label or not."""
    for value in sorted(known, key=len, reverse=True):
        if len(value) >= _MIN_REPEATED_SECRET_CHARACTERS and value in text:
            text = re.sub(
                rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", redaction_mark(known[value]), text, flags=re.A
            )
    return text


def is_fully_redacted(text: str) -> bool:
    """Whether a redacted text holds no word besides its marks."""
    return bool(REDACTION_MARK.search(text)) and not re.search(r"\w", REDACTION_MARK.sub("", text))


def _replace_spans(text: str, spans: tuple[QuarantinedSpan, ...]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], redaction_mark(span.kind))
        at = span.end
    return "".join((*parts, text[at:]))


TurnOrThought = TypeVar("TurnOrThought", Turn, Thought, Turn | Thought)

_SIDES: tuple[Side, Side] = ("query", "response")


def redact_memory(memory: TurnOrThought) -> TurnOrThought:
    """The same without orders and secrets, itself if it holds none."""
    if isinstance(memory, Turn):
        return _redact_turn(memory)
    if not find_quarantined(_draft_text(memory)):
        return memory
    return replace(
        memory,
        sentence=redact(memory.sentence),
        subject=redact(memory.subject),
        objects=tuple(redaction_mark(find_quarantined(_draft_text(memory))[0].kind) for _ in memory.objects),
    )


def _redact_turn(turn: Turn) -> Turn:
    """A secret is also found where the other side repeats it."""
    query, response = redact(turn.query), redact(turn.response)
    if (query, response) == (turn.query, turn.response):
        return turn
    known = _turn_secrets(turn)
    if response and redaction_mark(INSTRUCTION) in query:
        response = redaction_mark(INSTRUCTION)
    return replace(
        turn,
        query=redact(redact_values(query, known)),
        response=redact(redact_values(response, known)),
    )


def redact_for_index(text: str) -> str:
    """The words of a turn or thought as they are embedded and indexed: no secret, no order."""
    return redact(redact_values(redact(text), secret_values(text)))


def withheld_reason(memory: Turn | Thought) -> str | None:
    """Why it is not recalled at all, or None: "quarantined: instruction"."""
    if isinstance(memory, Thought):
        found = find_quarantined(_draft_text(memory))
        return f"quarantined: {found[0].kind}" if found else None
    told = memory.query if memory.query.strip() else memory.response
    found = find_quarantined(told)
    return f"quarantined: {found[0].kind}" if found and is_fully_redacted(redact(told)) else None


def redact_explanation(why: Explanation) -> Explanation:
    """An explanation quotes turns: its words, and theirs, without orders and secrets."""
    sources = tuple(redact_memory(turn) for turn in why.sources)
    known = {value: kind for turn in why.sources for value, kind in _turn_secrets(turn).items()}
    answer = why.ref is not None and why.ref.kind == "turn"
    return replace(
        why,
        text=sources[0].response if answer else redact(redact_values(why.text, known)),
        lines=tuple(redact(redact_values(line, known)) for line in why.lines),
        sources=sources,
        thoughts=tuple(redact_memory(thought) for thought in why.thoughts),
        checks=tuple(replace(check, words=redact(redact_values(check.words, known))) for check in why.checks),
        actions=tuple(
            replace(
                action,
                before=tuple(redact_memory(thought) for thought in action.before),
                after=tuple(redact_memory(thought) for thought in action.after),
            )
            for action in why.actions
        ),
    )


def filter_drafts(drafts: Sequence[ThoughtDraft], turn: Turn) -> list[ThoughtDraft]:
    """The drafts that may become thoughts, whoever made them: none from, or of, quarantined words."""
    spans = {side: find_quarantined(turn.text_of(side)) for side in _SIDES}
    known = _turn_secrets(turn)
    ordered = any(span.kind == INSTRUCTION for span in spans["query"])
    return [
        draft
        for draft in drafts
        if not find_quarantined(_draft_text(draft))
        and redact_values(_draft_text(draft), known) == _draft_text(draft)
        and not any(
            source.turn == turn.id
            and (
                (ordered and source.side == "response")
                or _overlaps(spans[source.side], source.start, source.end)
            )
            for source in draft.sources
        )
    ]


def _turn_secrets(turn: Turn) -> dict[str, str]:
    return {**secret_values(turn.query), **secret_values(turn.response)}


def _draft_text(draft: ThoughtDraft) -> str:
    return "\n".join((draft.sentence, f"{draft.subject} {draft.relation} {draft.object}"))


def _overlaps(spans: Sequence[QuarantinedSpan], start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in spans)
