"""`MemoryQueries`: the read-only methods of `Memory` that need neither a model nor an embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

from thinkback.audit import AuditReport, audit_space
from thinkback.errors import InvalidInput
from thinkback.history import filter_by_time, replay
from thinkback.language.commands import is_safe_instruction
from thinkback.language.safety.quarantine import redact_explanation
from thinkback.protocols import Clock, Store
from thinkback.recall.explain import explain_answer, explain_recall, explain_thought
from thinkback.think.aliases import Aliases
from thinkback.times import to_utc
from thinkback.types import (
    INSTRUCTION,
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
    Synthesis,
    ThinkFailure,
    Thought,
    ThoughtVersion,
    Turn,
)
from thinkback.validation import checked_limit, checked_name, checked_text, parse_ref


class MemoryQueries:
    """Listing and explaining what is stored for one user. Base class of `Memory`."""

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
        """Thoughts in order of their id.

        Args:
            subject: only thoughts about this subject, under any of its names.
            relation: only this relation. "same as" thoughts are listed only if asked for.
            group: only this group.
            kind: only this kind.
            current: False includes retired thoughts.
            as_of: what was true at that time, whether retired since or not.
            known_at: what was known at that time.
            after: only thoughts with a greater id (for paging).
            limit: at most this many.
        """
        limit = checked_limit(limit)
        as_of, known_at = checked_time(as_of, "as_of"), checked_time(known_at, "known_at")
        current = current and as_of is None and known_at is None
        read = partial(self.store.thoughts, self.user, relation=relation, kind=kind, current=current)
        hidden = None if relation == SAME_AS else SAME_AS
        if subject is None and as_of is None and known_at is None and limit is not None:
            return _read_pages(limit, partial(read, group=group), after, hidden)
        if subject is None:
            thoughts = read(group=group, after=after)
        else:
            names = self._aliases().names_of(subject)
            thoughts = [thought for name in names for thought in read(subject=name, after=after)]
            if group is not None:
                in_group = {thought.id for thought in read(group=group, after=after)}
                thoughts = [thought for thought in thoughts if thought.id in in_group]
        thoughts = [thought for thought in thoughts if thought.relation != hidden]
        if known_at is not None:
            past = replay(self.store.journal(self.user), known_at)
            thoughts = [past[thought.id] for thought in thoughts if thought.id in past]
        return sorted(filter_by_time(thoughts, as_of, known_at), key=lambda thought: thought.id)[:limit]

    def history(
        self, subject: str, relation: str | None = None, *, skip: int = 0, limit: int | None = None
    ) -> list[ThoughtVersion]:
        """All thoughts about a subject, oldest first, retired ones included, with the actions on each."""
        thoughts = self.thoughts(subject=checked_text(subject, "subject"), relation=relation, current=False)
        thoughts.sort(key=lambda thought: (thought.valid_from or thought.recorded_at, thought.id))
        page = thoughts[checked_limit(skip) :][: checked_limit(limit)]
        return [ThoughtVersion(thought, tuple(self._actions_changing(thought))) for thought in page]

    def turns(
        self,
        *,
        session: str | None = None,
        after: int = 0,
        limit: int | None = None,
        newest: bool = False,
        hidden: bool = False,
    ) -> list[Turn]:
        """Turns in order of their id, starting after id `after`; with `newest`, the last `limit` turns.

        Turns that were hidden by `forget` are included only with `hidden`.
        """
        limit = checked_limit(limit)
        session = None if session is None else self._session_name(session)
        return self.store.turns(
            self.user, session=session, after=after, limit=limit, newest=newest, hidden=hidden
        )

    def _session_name(self, session: str) -> str:
        """The name of a stored session. A name stored before names were normalised is found as it is."""
        name = checked_name(session, "session")
        return session if name != session and session in self.store.sessions(self.user) else name

    def instructions(self) -> list[Thought]:
        """The standing wishes of the user ("always answer in German"), newest last.

        Every context carries them. `forget` and `undo` work on them as on any thought.
        """
        found = self.store.thoughts(self.user, relation=INSTRUCTION)
        return [thought for thought in found if is_safe_instruction(thought.sentence)]

    def journal(
        self, *, thought: int | None = None, turn: int | None = None, after: int = 0, limit: int | None = None
    ) -> list[Action]:
        """All journal actions with their reasons, or only those of one thought or of one turn."""
        if thought is not None and turn is not None:
            raise InvalidInput("journal takes either thought= or turn=, not both")
        limit = checked_limit(limit)
        return self.store.journal(self.user, thought=thought, turn=turn, after=after, limit=limit)

    def entities(self) -> list[Entity]:
        """The people and things that thoughts are about, with their aliases."""
        relationships = self.store.thoughts(self.user, kind="relationship")
        aliases = Aliases.from_thoughts(relationships)
        return aliases.merge_entities(self.store.entities(self.user), relationships)

    def failures(self) -> list[ThinkFailure]:
        """Turns whose post-thinking was abandoned; `retry_failures` queues them again."""
        return self.store.failures(self.user)

    def why(
        self, what: Thought | Answer | Synthesis | Turn | Candidate | Recollection | Ref | str | int
    ) -> Explanation:
        """Explain why a thought is held, an answer was given, or a recall found its items.

        For example `why("thought:7")`, `why(answer)` or `why(memory.recall(query, explain=True))`. Of what
        `ask` returned, the memory is explained that it cites first.
        """
        if isinstance(what, Synthesis):
            if not what.used:
                raise InvalidInput("this answer cites no memory: nothing about it was told")
            what = what.used[0]
        if isinstance(what, Recollection):
            return explain_recall(what)  # its candidates are already redacted
        if isinstance(what, Answer):
            what = what.turn
        ref = what.ref if isinstance(what, (Thought, Turn, Candidate)) else parse_ref(what, "thought")
        if ref.kind == "action":
            raise InvalidInput(
                f"{ref} is an action: see the journal for its reason. Ask about a thought or a turn"
            )
        explain = explain_thought if ref.kind == "thought" else explain_answer
        return redact_explanation(explain(self.store, self.user, ref.id))

    def audit(self) -> AuditReport:
        """Find duplicates, loops, quarantined turns, stale and unsupported thoughts. Secrets are redacted."""
        return audit_space(self.store, self.user, self._clock())

    def stats(self) -> SpaceStats:
        """Counts of turns, thoughts, pending work and groups."""
        return self.store.stats(self.user)

    def _actions_changing(self, thought: Thought) -> Iterator[Action]:
        """The actions that changed a thought, without those that have it as a premise only."""
        for action in self.store.journal(self.user, thought=thought.id):
            if any(changed.id == thought.id for changed in action.changed):
                yield action

    def _aliases(self) -> Aliases:
        return Aliases.from_thoughts(self.store.thoughts(self.user, kind="relationship"))


def _read_pages(
    limit: int, read: Callable[..., list[Thought]], after: int, hidden: str | None
) -> list[Thought]:
    """Read pages until there are `limit` thoughts without those of the `hidden` relation."""
    thoughts: list[Thought] = []
    while len(thoughts) < limit:
        page = read(after=after, limit=limit)
        thoughts += [thought for thought in page if thought.relation != hidden]
        if len(page) < limit:
            break
        after = page[-1].id
    return thoughts[:limit]


def checked_time(value: datetime | None, name: str) -> datetime | None:
    """`value` in UTC; None stays None."""
    return None if value is None else to_utc(value, name)
