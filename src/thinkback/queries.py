"""Looking: what one can ask of a memory without a model: its thoughts, turns, journal, and why.

The base of `Memory`: it reads the store, changes nothing, and needs no embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

from thinkback.audit import AuditReport, audit_space
from thinkback.errors import InvalidInput
from thinkback.history import filter_by_time, replay
from thinkback.language.safety.quarantine import redact_explanation
from thinkback.protocols import Clock, Store
from thinkback.recall.explain import explain_answer, explain_recall, explain_thought
from thinkback.refs import parse_ref
from thinkback.think.aliases import Aliases
from thinkback.times import to_utc
from thinkback.types import (
    SAME_AS,
    Action,
    Answer,
    Candidate,
    Entity,
    Explanation,
    Kind,
    Recollection,
    Ref,
    SpaceStats,
    ThinkFailure,
    Thought,
    ThoughtVersion,
    Turn,
)
from thinkback.validation import checked_limit, checked_text


class MemoryQueries:
    """One user's space, as it is kept."""

    store: Store
    user: str
    _clock: Clock

    def thoughts(
        self,
        *,
        subject: str | None = None,
        relation: str | None = None,
        group: int | None = None,
        kind: Kind | None = None,
        current: bool = True,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Thought]:
        """The thoughts of the space in sequence; `current=False` includes retired ones.

        `subject` finds by any name of it; who is who is listed by `entities`. `as_of` asks what held at that
        time (retired since or not), `known_at` what was held true when this memory stood there. `after` is
        the last one already seen.
        """
        most = checked_limit(limit)
        when, then = checked_time(as_of, "as_of"), checked_time(known_at, "known_at")
        current = current and when is None and then is None
        read = partial(self.store.thoughts, self.user, relation=relation, kind=kind, current=current)
        hidden = None if relation == SAME_AS else SAME_AS
        if subject is None and when is None and then is None and most is not None:
            return _read_pages(most, partial(read, group=group), after, hidden)
        if subject is None:
            found = read(group=group, after=after)
        else:
            names = self._aliases().names_of(subject)
            found = [thought for name in names for thought in read(subject=name, after=after)]
            if group is not None:
                there = {thought.id for thought in read(group=group, after=after)}
                found = [thought for thought in found if thought.id in there]
        found = [thought for thought in found if thought.relation != hidden]
        if then is not None:
            past = replay(self.store.journal(self.user), then)
            found = [past[thought.id] for thought in found if thought.id in past]
        return sorted(filter_by_time(found, when, then), key=lambda thought: thought.id)[:most]

    def history(
        self, subject: str, relation: str | None = None, *, skip: int = 0, limit: int | None = None
    ) -> list[ThoughtVersion]:
        """What was ever thought of a subject, by any of its names: oldest value first, with the reasons."""
        found = self.thoughts(subject=checked_text(subject, "subject"), relation=relation, current=False)
        ordered = sorted(found, key=lambda thought: (thought.valid_from or thought.recorded_at, thought.id))
        wanted = ordered[checked_limit(skip) :][: checked_limit(limit)]
        return [ThoughtVersion(thought, tuple(self._actions_changing(thought))) for thought in wanted]

    def turns(
        self, *, session: str | None = None, after: int = 0, limit: int | None = None, newest: bool = False
    ) -> list[Turn]:
        """The turns in sequence, from the one after `after`; with `newest`, the last `limit` of them."""
        most = checked_limit(limit)
        return self.store.turns(self.user, session=session, after=after, limit=most, newest=newest)

    def journal(
        self, *, thought: int | None = None, turn: int | None = None, after: int = 0, limit: int | None = None
    ) -> list[Action]:
        """Every action on the space, with its reason; or those on one thought, or of thinking over a turn."""
        if thought is not None and turn is not None:
            raise InvalidInput("the journal of a thought or of a turn: give one of them")
        most = checked_limit(limit)
        return self.store.journal(self.user, thought=thought, turn=turn, after=after, limit=most)

    def entities(self) -> list[Entity]:
        """Who and what thoughts are about: all names of each, and the thoughts by which they are one."""
        told = self.store.thoughts(self.user, kind="relationship")
        decisions = [thought for thought in told if thought.relation == SAME_AS]
        return Aliases.from_thoughts(told).merge_entities(self.store.entities(self.user), decisions)

    def failures(self) -> list[ThinkFailure]:
        """Turns whose post-thinking was given up, with the reason; `retry_failures` tries them again."""
        return self.store.failures(self.user)

    def why(self, what: Thought | Answer | Turn | Candidate | Recollection | Ref | str | int) -> Explanation:
        """Why a thought is held, why an answer was given, or why a recall found what it did.

        `why("thought:7")`, `why(answer)`, `why(memory.recall(query, explain=True))`.
        """
        if isinstance(what, Recollection):
            return explain_recall(what)  # its candidates are redacted already
        if isinstance(what, Answer):
            what = what.turn
        ref = what.ref if isinstance(what, (Thought, Turn, Candidate)) else parse_ref(what, "thought")
        if ref.kind == "action":
            raise InvalidInput(
                f"{ref} is an action: its reason stands in the journal. Ask about a thought or a turn"
            )
        explained = explain_thought if ref.kind == "thought" else explain_answer
        return redact_explanation(explained(self.store, self.user, ref.id))

    def audit(self) -> AuditReport:
        """Duplicates, loops, quarantined turns, stale and unsupported thoughts; it shows no secret."""
        return audit_space(self.store, self.user, self._clock())

    def stats(self) -> SpaceStats:
        return self.store.stats(self.user)

    def _actions_changing(self, thought: Thought) -> Iterator[Action]:
        """The actions that changed it, not those that rest on it."""
        for action in self.store.journal(self.user, thought=thought.id):
            if any(each.id == thought.id for each in action.changed):
                yield action

    def _aliases(self) -> Aliases:
        return Aliases.from_thoughts(self.store.thoughts(self.user, kind="relationship"))


def _read_pages(
    most: int, read: Callable[..., list[Thought]], after: int, hidden: str | None
) -> list[Thought]:
    """So many thoughts but for those of a hidden relation; of a large space a part is read, not all."""
    found: list[Thought] = []
    while len(found) < most:
        page = read(after=after, limit=most)
        found += [thought for thought in page if thought.relation != hidden]
        if len(page) < most:
            break
        after = page[-1].id
    return found[:most]


def checked_time(when: datetime | None, what: str) -> datetime | None:
    """A time the caller gave, checked; None stays None."""
    return None if when is None else to_utc(when, what)
