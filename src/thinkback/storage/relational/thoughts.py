"""Thoughts, entities and the journal. Thoughts change only through journal actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.base import RelationalBase
from thinkback.storage.relational.database import Cursor
from thinkback.storage.relational.index_rows import write_entry
from thinkback.storage.relational.journal import JournalWriter
from thinkback.times import from_micros, to_micros
from thinkback.types import (
    USER_ACTOR,
    Action,
    Entity,
    IndexEntry,
    Kind,
    Operation,
    Plan,
    RecallCount,
    Ref,
    Source,
    Thought,
    ThoughtDraft,
)


class ThoughtsMixin(RelationalBase):
    """`ThoughtStore`, and `apply` of `ThinkQueue`."""

    def users(self) -> list[str]:
        return [row[0] for row in self._db.read("space.names", (self._tenant,))]

    def thoughts(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        subject: str | None = None,
        relation: str | None = None,
        group: int | None = None,
        kind: Kind | None = None,
        current: bool = True,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Thought]:
        if ids is not None:
            wanted = (*self._space_key(space), rows.ids_to_json(ids))
            return [rows.thought_from_row(row) for row in self._db.read("thoughts.of_user", wanted)]
        key, max_rows = self._space_key(space), rows.NO_LIMIT if limit is None else limit
        if subject is not None:
            alias = self.normalise_name(subject)
            records = self._db.read(
                "thoughts.by_subject", (*key, alias, after, relation, kind, current, max_rows)
            )
        elif kind == "relationship" and current and relation is None and group is None:
            records = self._db.read("thoughts.relationships", (*key, after, max_rows))
        elif (space_id := self._find_space(space)) is None:
            records = []
        elif group is not None:
            records = self._db.read(
                "thoughts.of_group", (space_id, group, after, relation, kind, current, max_rows)
            )
        else:
            records = self._db.read("thoughts.select", (space_id, after, relation, kind, current, max_rows))
        return rows.in_order("thoughts", [rows.thought_from_row(row) for row in records], after)

    def forgotten_sources(self, space: str, turns: Sequence[int]) -> list[Source]:
        wanted = set(turns)
        records = self._db.read(
            "derived.forgotten", (*self._space_key(space), rows.ids_to_json(turns), USER_ACTOR)
        )
        sources = (source for (text,) in records for source in rows.sources_from_json(text))
        return [source for source in sources if source.turn in wanted]

    def subject_names(self, space: str) -> list[str]:
        return [row[0] for row in self._db.read("entities.names", self._space_key(space))]

    def entities(self, space: str) -> list[Entity]:
        space_id = self._find_space(space)
        if space_id is None:
            return []
        return [rows.entity_from_row(row) for row in self._db.read("entities.select", (space_id,))]

    def record_recalls(self, space: str, thoughts: Sequence[int], now: datetime) -> None:
        with self._db.write():
            space_id = self._require_space(space)
            self._db.run_many("recalls.record", [(space_id, id_, to_micros(now)) for id_ in thoughts])

    def recall_counts(self, space: str, thoughts: Sequence[int]) -> dict[int, RecallCount]:
        records = self._db.read("recalls.of", (*self._space_key(space), rows.ids_to_json(thoughts)))
        return {id_: RecallCount(times, from_micros(last)) for id_, times, last in records}

    def journal(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        thought: int | None = None,
        turn: int | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Action]:
        max_rows = rows.NO_LIMIT if limit is None else limit
        if ids is None and thought is None:
            records = self._db.read("actions.select", (*self._space_key(space), after, turn, max_rows))
        elif (space_id := self._find_space(space)) is None:
            return []
        elif ids is not None:
            records = self._db.read("actions.by_ids", (space_id, rows.ids_to_json(ids)))
        else:
            records = self._db.read("actions.by_thought", (space_id, after, thought, max_rows))
        return rows.in_order("actions", [rows.action_from_row(row) for row in records])

    def apply(
        self, space: str, plan: Plan, entries: Sequence[IndexEntry], now: datetime, epoch: int | None = None
    ) -> list[Action]:
        if len(entries) != len(plan.drafts):
            raise ValueError(f"{len(plan.drafts)} drafts need {len(plan.drafts)} entries, not {len(entries)}")
        with self._db.write(pipelined=True):
            key = self._space_key(space)
            lock = self._db.run("space.lock", key)  # all of these are sent before the first answer is awaited
            lease = None if plan.turn is None else self._db.run("queue.lease", (*key, plan.turn))
            embedder = self._db.run("meta.lock", ("embedder",)) if entries else None
            space_id = self._locked_space(lock, space, epoch)
            said_at = now if lease is None else self._leased_at(lease, plan)
            if embedder is not None:
                self._check_embedder(embedder)
            subjects = [draft.subject for draft in plan.drafts]
            journal = JournalWriter(self._db, space_id, self.normalise_name, subjects)
            remaining = iter(entries)
            for operation in plan.operations:
                drafts = [(draft, next(remaining)) for draft in operation.add]
                self._apply_operation(journal, operation, drafts, plan, said_at, now)
            journal.close()
            done = plan.cause if plan.completes_cause else plan.turn
            if done is not None:
                self._db.run("queue.done", (space_id, done, to_micros(now), plan.findings, journal.version))
        return journal.written

    def retire(self, space: str, thought: int, reason: str, actor: str, now: datetime) -> Action:
        return self.forget(space, thoughts=(thought,), reason=reason, actor=actor, now=now)

    def forget(
        self,
        space: str,
        *,
        thoughts: Sequence[int] = (),
        turns: Sequence[int] = (),
        reason: str,
        actor: str,
        now: datetime,
        cause: int | None = None,
        keep_thoughts: bool = False,
    ) -> Action:
        with self._db.write():
            journal = JournalWriter(self._db, self._require_space(space), self.normalise_name)
            journal.require_visible(turns)
            after: dict[int, Thought] = {}
            if turns and not keep_thoughts:
                after = self._undone_thinking(journal, turns, now)
                after |= self._drawn_only_from(journal, turns, after, now)
            for thought in self._current_thoughts(journal, thoughts):
                after[thought.id] = _retired_without_validity(thought, now)
            before = {id_: journal.thought(id_) for id_ in after}
            changed = [id_ for id_ in after if before[id_].current or after[id_].current]
            action = journal.record(
                "forget",
                reason,
                actor,
                now,
                before=[before[id_] for id_ in changed],
                after=[after[id_] for id_ in changed],
                turn=cause,
                hides=turns,
            )
            journal.close()
        return action

    def undo(self, space: str, action: int, actor: str, now: datetime, *, cause: int | None = None) -> Action:
        with self._db.write():
            journal = JournalWriter(self._db, self._require_space(space), self.normalise_name)
            original = journal.action(action)
            if original.undone_by is not None:
                undone_by = Ref("action", original.undone_by)
                raise errors.Conflict(f"{original.ref} is already undone by {undone_by}")
            journal.require_untouched_since(original)
            before = {thought.id: thought for thought in original.before}
            restored = tuple(
                before.get(thought.id) or _retired_without_validity(thought, now)
                for thought in original.changed
            )
            undo = journal.record(
                "undo",
                f"undo of {original.ref}: {original.reason}",
                actor,
                now,
                before=original.changed,
                after=restored,
                turn=cause,
                undoes=original.id,
            )
            journal.mark_undone(original, undo)
            journal.close()
        return undo

    def _undone_thinking(
        self, journal: JournalWriter, turns: Sequence[int], now: datetime
    ) -> dict[int, Thought]:
        """The thoughts as they were before thinking about these turns, where nothing changed them since.

        What the user asked to forget in one of the turns stays forgotten.
        """
        found = self._db.run("actions.of_turns", (journal.space_id, rows.ids_to_json(turns))).fetchall()
        restored: dict[int, Thought] = {}
        for action in reversed([rows.action_from_row(row) for row in found]):
            changed = action.changed
            by_request = action.action == "forget" and action.actor == USER_ACTOR
            if (
                by_request
                or action.undone_by is not None
                or any(
                    (restored.get(thought.id) or journal.thought(thought.id)) != thought
                    for thought in changed
                )
            ):
                continue
            before = {thought.id: thought for thought in action.before}
            for thought in changed:
                restored[thought.id] = before.get(thought.id) or _retired_without_validity(thought, now)
        return restored

    def _drawn_only_from(
        self, journal: JournalWriter, turns: Sequence[int], known: Mapping[int, Thought], now: datetime
    ) -> dict[int, Thought]:
        """The current thoughts whose sources are all hidden, or among these turns, as retired thoughts.

        `known` are thoughts as they will be after the action.
        """
        found = self._db.run("derived.of_turns", (journal.space_id, rows.ids_to_json(turns))).fetchall()
        retired: dict[int, Thought] = {}
        for id_ in known.keys() | {row[0] for row in found}:
            thought = known.get(id_) or journal.thought(id_)
            others = [source.turn for source in thought.sources if source.turn not in turns]
            if thought.sources and thought.current and all(journal.hidden_by(others).values()):
                retired[id_] = _retired_without_validity(thought, now)
        return retired

    def _leased_at(self, lease: Cursor, plan: Plan) -> datetime:
        """Check that the lease is still valid. Returns when the turn was said."""
        row, turn = lease.fetchone(), Ref("turn", plan.turn or 0)
        if row is None:
            raise errors.LeaseLost(f"{turn} was erased meanwhile")
        current_lease, thought_at, at, hidden_by = row
        if hidden_by is not None:
            raise errors.LeaseLost(f"{turn} was hidden meanwhile by {Ref('action', hidden_by)}")
        if thought_at is not None or current_lease != plan.lease:
            raise errors.LeaseLost(f"{turn} was taken over by another worker")
        return from_micros(at)

    def _apply_operation(
        self,
        journal: JournalWriter,
        operation: Operation,
        drafts: Sequence[tuple[ThoughtDraft, IndexEntry]],
        plan: Plan,
        said_at: datetime,
        now: datetime,
    ) -> None:
        to_retire = self._current_thoughts(journal, operation.retire)
        premises = self._current_thoughts(journal, operation.premises)
        created = [(journal.create_thought(draft, said_at, now), entry) for draft, entry in drafts]
        ended_at = operation.ended_at or said_at
        if operation.ended_at is None and operation.action == "supersede":
            ended_at = next((draft.valid_from for draft, _ in drafts if draft.valid_from), said_at)
        retired = (_retired(thought, ended_at, now) for thought in to_retire)
        journal.record(
            operation.action,
            operation.reason,
            operation.actor or plan.actor,
            now,
            before=(*to_retire, *premises),
            after=(*retired, *(thought for thought, _ in created), *premises),
            turn=plan.cause if plan.turn is None else plan.turn,
        )
        for thought, entry in created:
            write_entry(self._db, journal.space_id, replace(entry, id=thought.id), journal.version)

    def _current_thoughts(self, journal: JournalWriter, ids: Iterable[int]) -> tuple[Thought, ...]:
        return tuple(journal.current_thought(id_) for id_ in ids)


def _retired(thought: Thought, ended_at: datetime, now: datetime) -> Thought:
    """The thought retired now, and valid until `ended_at` (but never until before its start)."""
    start = thought.valid_from or ended_at
    end = min(thought.valid_to or ended_at, ended_at)
    return replace(thought, retired_at=now, valid_to=max(start, end))


def _retired_without_validity(thought: Thought, now: datetime) -> Thought:
    """The thought retired as a mistake: it was never valid."""
    return replace(thought, retired_at=now, valid_to=thought.valid_from)
