"""`audit`: what a person should look at in one space; it finds, changes nothing, and shows no secret."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from thinkback.language.names import normalise_name
from thinkback.language.safety.quarantine import find_quarantined, redact, redact_memory
from thinkback.language.tokens import extract_terms
from thinkback.protocols import Store
from thinkback.types import Ref, Thought, Turn

Concern = Literal["duplicate", "loop", "quarantined", "stale", "unsupported"]
CONCERNS: tuple[Concern, ...] = ("duplicate", "loop", "quarantined", "stale", "unsupported")
LOOP_MIN_REPEATS = 3  # the same turn so often is a loop
_MAX_SHOWN_CHARS = 300  # characters of a text


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: what it is about, why it stands here, and its words in redacted form."""

    concern: Concern
    refs: tuple[Ref, ...]
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All that was found in one space."""

    user: str
    turns: int
    thoughts: int
    findings: tuple[Finding, ...] = ()

    @property
    def counts(self) -> dict[Concern, int]:
        found = Counter(finding.concern for finding in self.findings)
        return {concern: found[concern] for concern in CONCERNS}


def audit_space(store: Store, space: str, now: datetime) -> AuditReport:
    """Duplicates, loops, quarantined turns, stale and unsupported thoughts of a space."""
    turns = store.turns(space)
    thoughts = [thought for thought in store.thoughts(space) if thought.search_text]  # not who is who
    known = {turn.id: turn for turn in turns}
    findings = (
        *_find_duplicates(thoughts),
        *_find_loops(turns, thoughts, known),
        *_find_quarantined(turns, thoughts),
        *_find_stale(thoughts, now),
        *_find_unsupported(thoughts, known),
    )
    return AuditReport(space, len(turns), len(thoughts), findings)


def _find_duplicates(thoughts: Sequence[Thought]) -> Iterator[Finding]:
    same: dict[tuple[object, ...], list[Thought]] = defaultdict(list)
    for thought in thoughts:
        objects = frozenset(normalise_name(each) for each in thought.objects)
        held = (thought.valid_from, thought.valid_to)
        key = (normalise_name(thought.subject), thought.relation, objects, thought.negated, *held)
        same[key].append(thought)
    for group in same.values():
        if len(group) > 1:
            refs = tuple(thought.ref for thought in group)
            yield Finding("duplicate", refs, f"held {len(group)} times", _shorten(group[0].sentence))


def _find_loops(
    turns: Sequence[Turn], thoughts: Sequence[Thought], known: dict[int, Turn]
) -> Iterator[Finding]:
    """The same words again and again, and thoughts of an answer that repeats what was recalled for it."""
    said: dict[tuple[str, ...], list[Turn]] = defaultdict(list)
    for turn in turns:
        said[tuple(sorted(set(extract_terms(turn.text))))].append(turn)
    for group in said.values():
        if len(group) >= LOOP_MIN_REPEATS:
            refs = tuple(turn.ref for turn in group)
            yield Finding("loop", refs, f"said {len(group)} times", _shorten(redact_memory(group[0]).text))
    held = {thought.id: thought for thought in thoughts}
    for thought in thoughts:
        for source in thought.sources:
            answered = known.get(source.turn)
            if source.side != "response" or answered is None:
                continue
            recalled = [
                held[used.id] for used in answered.recalled if used.kind == "thought" and used.id in held
            ]
            echoed = [other for other in recalled if _repeats(thought, other)]
            if echoed:
                refs = (thought.ref, answered.ref, *(other.ref for other in echoed))
                reason = f"the answer in {answered.ref} repeats {echoed[0].ref}, which it was given"
                yield Finding("loop", refs, reason, _shorten(thought.sentence))


def _repeats(thought: Thought, other: Thought) -> bool:
    ours, theirs = set(extract_terms(thought.sentence)), set(extract_terms(other.sentence))
    return thought.id != other.id and 4 * len(ours & theirs) >= 3 * len(ours | theirs)


def _find_quarantined(turns: Sequence[Turn], thoughts: Sequence[Thought]) -> Iterator[Finding]:
    for turn in turns:
        spans = (*find_quarantined(turn.query), *find_quarantined(turn.response))
        if spans:
            yield Finding(
                "quarantined",
                (turn.ref,),
                _join_unique([s.kind for s in spans]),
                _shorten(redact_memory(turn).text),
            )
    for thought in thoughts:
        shown = redact_memory(thought)
        if shown is not thought:
            yield Finding(
                "quarantined", (thought.ref,), "held as a thought, never recalled", _shorten(shown.sentence)
            )


def _join_unique(kinds: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(kinds))


def _find_stale(thoughts: Sequence[Thought], now: datetime) -> Iterator[Finding]:
    """A happening keeps the time it happened; only what claims to hold on can be stale."""
    for thought in thoughts:
        ended = thought.valid_to
        if ended is not None and ended < now and thought.kind not in ("event", "dialogue"):
            reason = f"held until {ended:%Y-%m-%d} and not retired"
            yield Finding("stale", (thought.ref,), reason, _shorten(thought.sentence))


def _find_unsupported(thoughts: Sequence[Thought], known: dict[int, Turn]) -> Iterator[Finding]:
    for thought in thoughts:
        spoken = [
            known[source.turn].text_of(source.side)[source.start : source.end]
            for source in thought.sources
            if source.turn in known
        ]
        if not spoken:
            yield Finding(
                "unsupported", (thought.ref,), "no turn is left that says it", _shorten(thought.sentence)
            )
        elif thought.objects and not set(extract_terms(thought.object)) & set(
            extract_terms(" ".join(spoken))
        ):
            refs = (thought.ref, *(Ref("turn", source.turn) for source in thought.sources))
            reason = "its source shares no word with what it says"
            yield Finding("unsupported", refs, reason, _shorten(thought.sentence))


def _shorten(text: str) -> str:
    return " ".join(redact(text).split())[:_MAX_SHOWN_CHARS]
