"""Audit of a space: find memories that a person should review. Nothing is changed, secrets are redacted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from thinkback.language.names import normalise_name
from thinkback.language.safety.quarantine import SIDES, redact, redact_memory, turn_findings
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.tokens import extract_terms
from thinkback.protocols import Store
from thinkback.types import Ref, Thought, Turn

Concern = Literal["duplicate", "loop", "quarantined", "stale", "unsupported"]
CONCERNS: tuple[Concern, ...] = ("duplicate", "loop", "quarantined", "stale", "unsupported")
LOOP_MIN_REPEATS = 3
_MAX_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: the memories concerned, the reason, and a redacted text."""

    concern: Concern
    refs: tuple[Ref, ...]
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The findings in one space, with the number of turns and thoughts examined."""

    JSON_FIELDS: ClassVar = ("user", "turns", "thoughts", "counts", "findings")

    user: str
    turns: int
    thoughts: int
    findings: tuple[Finding, ...] = ()

    @property
    def counts(self) -> dict[Concern, int]:
        counts = Counter(finding.concern for finding in self.findings)
        return {concern: counts[concern] for concern in CONCERNS}


def audit_space(store: Store, space: str, now: datetime) -> AuditReport:
    """Find duplicates, loops, quarantined turns, stale and unsupported thoughts."""
    turns = store.turns(space)
    thoughts = [thought for thought in store.thoughts(space) if thought.search_text]  # without "same as"
    turns_by_id = {turn.id: turn for turn in turns}
    findings = (
        *_find_duplicates(thoughts),
        *_find_loops(turns_by_id, thoughts),
        *_find_quarantined(turns, thoughts),
        *_find_stale(thoughts, now),
        *_find_unsupported(thoughts, turns_by_id),
    )
    return AuditReport(space, len(turns), len(thoughts), findings)


def _find_duplicates(thoughts: Sequence[Thought]) -> Iterator[Finding]:
    by_content: dict[tuple[object, ...], list[Thought]] = defaultdict(list)
    for thought in thoughts:
        objects = frozenset(normalise_name(name) for name in thought.objects)
        period = (thought.valid_from, thought.valid_to)
        key = (normalise_name(thought.subject), thought.relation, objects, thought.negated, *period)
        by_content[key].append(thought)
    for group in by_content.values():
        if len(group) > 1:
            refs = tuple(thought.ref for thought in group)
            yield Finding("duplicate", refs, f"held {len(group)} times", _shorten(group[0].sentence))


def _find_loops(turns_by_id: dict[int, Turn], thoughts: Sequence[Thought]) -> Iterator[Finding]:
    """Statements that are repeated often, and thoughts from an answer that repeats a memory it was given.

    To ask the same again is no loop.
    """
    by_terms: dict[tuple[str, ...], list[Turn]] = defaultdict(list)
    for turn in turns_by_id.values():
        by_terms[tuple(sorted(_term_set(turn.text)))].append(turn)
    for group in by_terms.values():
        if len(group) >= LOOP_MIN_REPEATS and not _only_asks(group[0]):
            refs = tuple(turn.ref for turn in group)
            yield Finding("loop", refs, f"said {len(group)} times", _shorten(redact_memory(group[0]).text))
    thoughts_by_id = {thought.id: thought for thought in thoughts}
    for thought in thoughts:
        for source in thought.sources:
            source_turn = turns_by_id.get(source.turn)
            if source.side != "response" or source_turn is None:
                continue
            recalled = [
                thoughts_by_id[item.id]
                for item in source_turn.recalled
                if item.kind == "thought" and item.id in thoughts_by_id
            ]
            repeated = [other for other in recalled if _repeats(thought, other)]
            if repeated:
                refs = (thought.ref, source_turn.ref, *(other.ref for other in repeated))
                reason = f"the answer in {source_turn.ref} repeats {repeated[0].ref}, which it was given"
                yield Finding("loop", refs, reason, _shorten(thought.sentence))


def _only_asks(turn: Turn) -> bool:
    sentences = split_sentences(turn.query)
    return bool(sentences) and all(is_question(sentence.text) for sentence in sentences)


def _repeats(thought: Thought, other: Thought) -> bool:
    """Whether the two sentences share three quarters of their terms."""
    terms, other_terms = _term_set(thought.sentence), _term_set(other.sentence)
    return thought.id != other.id and 4 * len(terms & other_terms) >= 3 * len(terms | other_terms)


def _find_quarantined(turns: Sequence[Turn], thoughts: Sequence[Thought]) -> Iterator[Finding]:
    for turn in turns:
        kinds: dict[str, str] = {}  # by the words found: a reply may repeat a secret without its label
        for side in SIDES:
            for span in turn_findings(turn, side).quarantined:
                kinds.setdefault(turn.text_of(side)[span.start : span.end], span.kind)
        if kinds:
            yield Finding(
                "quarantined",
                (turn.ref,),
                ", ".join(dict.fromkeys(kinds.values())),
                _shorten(redact_memory(turn).text),
            )
    for thought in thoughts:
        redacted = redact_memory(thought)
        if redacted is not thought:
            reason = "held as a thought, never recalled"
            yield Finding("quarantined", (thought.ref,), reason, _shorten(redacted.sentence))


def _find_stale(thoughts: Sequence[Thought], now: datetime) -> Iterator[Finding]:
    """Current thoughts whose validity has ended. Events keep their date and are never stale."""
    for thought in thoughts:
        ended = thought.valid_to
        if ended is not None and ended < now and thought.kind not in ("event", "dialogue"):
            reason = f"held until {ended:%Y-%m-%d} and not retired"
            yield Finding("stale", (thought.ref,), reason, _shorten(thought.sentence))


def _find_unsupported(thoughts: Sequence[Thought], turns_by_id: dict[int, Turn]) -> Iterator[Finding]:
    """Thoughts without a remaining source, or whose source shares no word with their object."""
    for thought in thoughts:
        quotes = [
            turns_by_id[source.turn].text_of(source.side)[source.start : source.end]
            for source in thought.sources
            if source.turn in turns_by_id
        ]
        if not quotes:
            yield Finding(
                "unsupported", (thought.ref,), "no turn is left that says it", _shorten(thought.sentence)
            )
        elif thought.objects and _term_set(thought.object).isdisjoint(_term_set(" ".join(quotes))):
            refs = (thought.ref, *(Ref("turn", source.turn) for source in thought.sources))
            reason = "its source shares no word with what it says"
            yield Finding("unsupported", refs, reason, _shorten(thought.sentence))


def _shorten(text: str) -> str:
    return " ".join(redact(text).split())[:_MAX_SHOWN_CHARS]


def _term_set(text: str) -> set[str]:
    return set(extract_terms(text))
