"""Redaction of instructions and secrets in text, turns, thoughts and explanations.

The memory bank keeps a turn as it was written. Readers get a redacted copy, or nothing if the whole text is
quarantined. The response to an instruction is withheld too, because it follows or repeats the instruction.
What may be an instruction is shown as a quotation; only the user's words are kept. See `injection` for what
counts as an instruction, `secret_detection` for secrets, and `detector` for the trained detector.

A turn is also read by a network when it is thought about (`network_detector`); what that finds is stored with
the turn (`scanned`), because it takes too long for every recall.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, TypeVar

from thinkback.language.safety.injection import INSTRUCTION
from thinkback.language.safety.normalise import QuarantinedSpan
from thinkback.language.safety.scan import (
    FULLY_READ_CHARS,
    QUOTATION_MARK,
    REDACTION_MARK,
    Findings,
    scan_message,
    scan_text,
)
from thinkback.types import SAID, Explanation, Side, Thought, ThoughtDraft, Turn

__all__ = ["QUOTATION_MARK", "REDACTION_MARK"]

# Removing a span can uncover another one; if this goes on, the whole text is replaced.
_MAX_REDACTION_PASSES = 8
_MIN_REPEATED_SECRET_CHARACTERS = 4
_MAX_LABEL_CHARACTERS = 120  # of a text that ends with a label, and of the text after it
_OPEN_LABEL = re.compile(r"(?:[:：=]|\b(?:is|are)|是)\s*\Z", re.IGNORECASE)
_MAX_REPEATED_SECRETS = 64  # of one turn that are looked for in other texts
_FINDINGS_VERSION = 1  # of the form in which `scanned` writes findings; others are not used


def find_instructions(text: str) -> tuple[QuarantinedSpan, ...]:
    """Find instructions to the assistant."""
    return scan_text(text).instructions


def find_secrets(text: str) -> tuple[QuarantinedSpan, ...]:
    """Find secrets and their kinds."""
    return scan_text(text).secrets


def find_quarantined(text: str) -> tuple[QuarantinedSpan, ...]:
    """Find instructions and secrets; a secret inside an instruction is part of the instruction."""
    return scan_text(text).quarantined


def is_suspicious(text: str) -> bool:
    """Whether a text may contain an instruction, so that it is shown as a quotation only."""
    return bool(scan_text(text).suspicious)


def quote(text: str) -> str:
    """Mark a redacted text as a quotation, unless it is marked or has nothing left."""
    if not text or text.startswith(QUOTATION_MARK) or is_fully_redacted(text):
        return text
    return f'{QUOTATION_MARK} "{text}"'


def redact(text: str, *, only_secrets: bool = False) -> str:
    """Replace every quarantined span by a mark; nothing quarantined is left in the result."""
    find = find_secrets if only_secrets else find_quarantined
    if len(text) > FULLY_READ_CHARS:
        return _replace_spans(text, find(text))
    for _ in range(_MAX_REDACTION_PASSES):
        spans = find(text)
        if not spans:
            return text
        text = _replace_spans(text, spans)
    return redaction_mark(INSTRUCTION) if find(text) else text


def redaction_mark(kind: str) -> str:
    """The text that replaces a span of this kind."""
    return f"[quarantined {kind}]" if kind == INSTRUCTION else f"[redacted {kind}]"


def secret_values(text: str, secrets: Sequence[QuarantinedSpan] | None = None) -> dict[str, str]:
    """Map the secrets of a text, as written, to their kinds; by default those that a scan finds."""
    spans = find_secrets(text) if secrets is None else secrets
    found = ((text[span.start : span.end], span.kind) for span in spans)
    return dict(islice(found, _MAX_REPEATED_SECRETS))


def redact_values(text: str, secrets: Mapping[str, str]) -> str:
    """Replace every occurrence of these secrets (see `secret_values`), with or without a label."""
    for value in sorted(secrets, key=len, reverse=True):
        if len(value) >= _MIN_REPEATED_SECRET_CHARACTERS and value in text:
            text = re.sub(
                rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", redaction_mark(secrets[value]), text, flags=re.A
            )
    return text


def is_fully_redacted(text: str) -> bool:
    """Whether a redacted text has no word besides its marks."""
    return bool(REDACTION_MARK.search(text)) and not re.search(r"\w", REDACTION_MARK.sub("", text))


def _replace_spans(text: str, spans: tuple[QuarantinedSpan, ...]) -> str:
    parts: list[str] = []
    end = 0
    for span in spans:
        parts += (text[end : span.start], redaction_mark(span.kind))
        end = span.end
    return "".join((*parts, text[end:]))


TurnOrThought = TypeVar("TurnOrThought", Turn, Thought, Turn | Thought)

SIDES: tuple[Side, Side] = ("query", "response")


def redact_memory(memory: TurnOrThought) -> TurnOrThought:
    """Return a copy without instructions and secrets, or the same object if it has none."""
    if isinstance(memory, Turn):
        return _redact_turn(memory)
    spans = find_quarantined(_draft_text(memory))
    if not spans:
        return replace(memory, sentence=quote(memory.sentence)) if is_suspicious(memory.sentence) else memory
    return replace(
        memory,
        sentence=redact(memory.sentence),
        subject=redact(memory.subject),
        objects=(redaction_mark(spans[0].kind),) * len(memory.objects),
    )


def scanned(turn: Turn) -> Turn:
    """The turn with `findings`: everything that is found in both texts with the network.

    Without `thinkback-reranker` there are none, and the turn is scanned fast whenever it is read.
    """
    found: dict[str, Any] = {}
    for side in SIDES:
        findings = scan_message(turn.text_of(side))
        if findings is None:
            return replace(turn, findings=None)
        if any(findings):
            findings = _withhold_rest(turn.text_of(side), findings)
            found[side] = {name: spans for name, spans in findings._asdict().items() if spans}
    return replace(turn, findings=json.dumps({"version": _FINDINGS_VERSION, **found}) if found else "")


def _withhold_rest(text: str, findings: Findings) -> Findings:
    """The findings; the whole text is an instruction if removing them uncovers another one."""
    if findings.instructions and find_instructions(_replace_spans(text, findings.quarantined)):
        return findings._replace(instructions=(QuarantinedSpan(0, len(text), INSTRUCTION),))
    return findings


def turn_findings(turn: Turn, side: Side) -> Findings:
    """The findings that are stored with a turn, else those of a fast scan."""
    stored = _stored_findings(turn, side)
    return scan_text(turn.text_of(side)) if stored is None else stored


def _stored_findings(turn: Turn, side: Side) -> Findings | None:
    """None if there are none, or if they are damaged or of another version."""
    if turn.findings == "":
        return Findings()
    try:
        stored = json.loads(turn.findings or "{}")
        if stored.get("version") != _FINDINGS_VERSION:
            return None
        return Findings(*(_read_spans(stored.get(side, {}).get(name, ())) for name in Findings._fields))
    except (ValueError, TypeError, AttributeError):
        return None


def _read_spans(stored: Sequence[tuple[int, int, str]]) -> tuple[QuarantinedSpan, ...]:
    return tuple(QuarantinedSpan(int(start), int(end), str(kind)) for start, end, kind in stored)


def redact_side(turn: Turn, side: Side, *, only_secrets: bool = False) -> str:
    """One text of a turn without what was found in it, and without the secrets of the other text.

    What the network has read is not scanned again: it may have found that something is harmless.
    """
    stored = _stored_findings(turn, side)
    findings = turn_findings(turn, side)
    text = _replace_spans(turn.text_of(side), findings.secrets if only_secrets else findings.quarantined)
    text = redact_values(text, _turn_secrets(turn))
    return redact(text, only_secrets=only_secrets) if stored is None else text


def _redact_turn(turn: Turn) -> Turn:
    """Redact both sides; a secret of one side is also redacted where the other side repeats it."""
    findings = [turn_findings(turn, side) for side in SIDES]
    if not any(map(any, findings)):
        return turn
    query, response = (redact_side(turn, side) for side in SIDES)
    suspicious = bool(findings[0].suspicious)
    if response and (suspicious or redaction_mark(INSTRUCTION) in query):
        response = redaction_mark(INSTRUCTION)
    query = quote(query) if suspicious else query
    if (query, response) == (turn.query, turn.response):
        return turn
    # the positions of stored findings are those in the original texts
    return replace(turn, query=query, response=response, findings=None if turn.findings is None else "")


def redact_for_index(texts: Sequence[str]) -> str:
    """The texts of a turn or thought as one, redacted before it is embedded and indexed.

    They are scanned one by one, as they are when they are recalled, so that each is scanned only once. Where
    a text ends with a label ("my password is:"), the next one is also scanned with it.
    """
    secrets: dict[str, str] = {}
    for text in texts:
        secrets |= secret_values(text)
    for text, following in pairwise(texts):
        if _OPEN_LABEL.search(text[-_MAX_LABEL_CHARACTERS:]):
            secrets |= secret_values(f"{text[-_MAX_LABEL_CHARACTERS:]} {following[:_MAX_LABEL_CHARACTERS]}")
    return "\n".join(redact(redact_values(redact(text), secrets)) for text in texts)


def withheld_reason(memory: Turn | Thought) -> str | None:
    """Why an item must not be recalled at all ("quarantined: instruction"), or None if it may be."""
    if isinstance(memory, Thought):
        spans = find_quarantined(_draft_text(memory))
        return f"quarantined: {spans[0].kind}" if spans else None
    side: Side = "query" if memory.query.strip() else "response"
    spans = turn_findings(memory, side).quarantined
    if not spans or not is_fully_redacted(redact_side(memory, side)):
        return None
    return f"quarantined: {spans[0].kind}"


def redact_explanation(explanation: Explanation) -> Explanation:
    """Redact an explanation and everything it quotes."""
    sources = tuple(redact_memory(turn) for turn in explanation.sources)
    secrets = {value: kind for turn in explanation.sources for value, kind in _turn_secrets(turn).items()}
    is_answer = explanation.ref is not None and explanation.ref.kind == "turn"
    # the name of a model may look like a secret
    starts = [f"{action.ref} {action.action} by {action.actor}: " for action in explanation.actions]

    def redact_line(line: str) -> str:
        start = next((each for each in starts if line.startswith(each)), "")
        return start + redact(redact_values(line[len(start) :], secrets))

    return replace(
        explanation,
        text=sources[0].response if is_answer else redact(redact_values(explanation.text, secrets)),
        lines=tuple(map(redact_line, explanation.lines)),
        sources=sources,
        thoughts=tuple(redact_memory(thought) for thought in explanation.thoughts),
        checks=tuple(
            replace(check, words=redact(redact_values(check.words, secrets))) for check in explanation.checks
        ),
        actions=tuple(
            replace(
                action,
                before=tuple(redact_memory(thought) for thought in action.before),
                after=tuple(redact_memory(thought) for thought in action.after),
            )
            for action in explanation.actions
        ),
    )


def filter_drafts(drafts: Sequence[ThoughtDraft], turn: Turn) -> list[ThoughtDraft]:
    """Drop drafts that contain quarantined text or were derived from it.

    From a passage that is only suspicious, which about one ordinary message in fifty contains, a draft may be
    derived unless it is suspicious itself. A sentence that is kept as said may be: it is shown as a
    quotation, as its turn is. Nothing is derived from what the network finds suspicious: that is rarely
    harmless.
    """
    findings = {side: turn_findings(turn, side) for side in SIDES}
    secrets = _turn_secrets(turn)
    is_instruction = bool(findings["query"].instructions)

    def is_unfit(draft: ThoughtDraft) -> bool:
        text = _draft_text(draft)
        own = scan_text(text)
        if own.quarantined or redact_values(text, secrets) != text:
            return True
        for source in draft.sources:
            if source.turn != turn.id:
                continue
            said = findings[source.side]
            doubted = turn.findings is not None or (own.suspicious and draft.relation != SAID)
            unfit = (*said.quarantined, *said.suspicious) if doubted else said.quarantined
            if is_instruction and source.side == "response":
                return True
            if _overlaps(unfit, source.start, source.end):
                return True
        return False

    return [draft for draft in drafts if not is_unfit(draft)]


def _turn_secrets(turn: Turn) -> dict[str, str]:
    return {
        value: kind
        for side in SIDES
        for value, kind in secret_values(turn.text_of(side), turn_findings(turn, side).secrets).items()
    }


def _draft_text(draft: ThoughtDraft) -> str:
    """What a draft says; its relation may be the label of a secret, but the words "user said" are ours."""
    if draft.relation == SAID:
        return draft.sentence
    return "\n".join((draft.sentence, f"{draft.subject} {draft.relation} {draft.object}"))


def _overlaps(spans: Sequence[QuarantinedSpan], start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in spans)
