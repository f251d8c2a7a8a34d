"""The metacognition space: thoughts, entities, and the journal through which alone they change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.base import SqliteBase
from thinkback.storage.sqlite.index_rows import write_entry
from thinkback.storage.sqlite.journal import JournalWriter
from thinkback.times import from_micros, to_micros
from thinkback.types import (
    Action,
    Entity,
    IndexEntry,
    Kind,
    Operation,
    Plan,
    RecallCount,
    Ref,
    Thought,
    ThoughtDraft,
)


class ThoughtsMixin(SqliteBase):
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
        number = self._find_space(space)
        if number is None:
            return []
        most = rows.NO_LIMIT if limit is None else limit
        if subject is not None:
            alias = self.normalise_name(subject)
            found = self._db.read("thoughts.by_claim", (number, alias, after, relation, kind, current, most))
        elif group is not None:
            found = self._db.read("thoughts.of_group", (number, group, after, relation, kind, current, most))
        elif kind == "relationship" and current and relation is None:
            found = self._db.read("thoughts.relationships", (number, after, most))
        else:
            found = self._db.read("thoughts.select", (number, after, relation, kind, current, most))
        return [rows.thought_from_row(row) for row in found]

    def subject_names(self, space: str) -> list[str]:
        number = self._find_space(space)
        return [] if number is None else [row[0] for row in self._db.read("entities.names", (number,))]

    def entities(self, space: str) -> list[Entity]:
        number = self._find_space(space)
        if number is None:
            return []
        found = self._db.read("entities.select", (number,))
        return [Entity(id_, name, tuple(sorted(json.loads(aliases)))) for id_, name, aliases in found]

    def record_recalls(self, space: str, thoughts: Sequence[int], now: datetime) -> None:
        with self._db.write():
            number = self._require_space(space)
            self._db.run_many("recalls.note", [(number, id_, to_micros(now)) for id_ in thoughts])

    def recall_counts(self, space: str, thoughts: Sequence[int]) -> dict[int, RecallCount]:
        found = self._db.read("recalls.of", (*self._space_key(space), rows.ids_to_json(thoughts)))
        return {id_: RecallCount(times, from_micros(last)) for id_, times, last in found}

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
        number = self._find_space(space)
        if number is None:
            return []
        most = rows.NO_LIMIT if limit is None else limit
        if ids is not None:
            found = self._db.read("actions.by_ids", (number, rows.ids_to_json(ids)))
        elif thought is not None:
            found = self._db.read("actions.by_thought", (number, after, thought, most))
        else:
            found = self._db.read("actions.select", (number, after, turn, most))
        return [rows.action_from_row(row) for row in found]

    # --- writing: every change is an action ---------------------------------------------------

    def apply(
        self, space: str, plan: Plan, entries: Sequence[IndexEntry], now: datetime, epoch: int | None = None
    ) -> list[Action]:
        if len(entries) != len(plan.drafts):
            raise ValueError(f"{len(plan.drafts)} drafts need as many entries, not {len(entries)}")
        with self._db.write():
            number = self._require_space(space, epoch)
            said_at = now if plan.turn is None else self._require_lease(number, plan.turn, plan.lease)
            if entries:
                self._require_embedder()
            journal = JournalWriter(self._db, number, self.normalise_name)
            remaining = iter(entries)
            for change in plan.operations:
                drafts = [(draft, next(remaining)) for draft in change.add]
                self._apply_operation(journal, change, drafts, plan, said_at, now)
            journal.close()
            if plan.turn is not None:
                self._db.run("queue.done", (number, plan.turn, to_micros(now)))
        return journal.written

    def retire(self, space: str, thought: int, reason: str, actor: str, now: datetime) -> Action:
        with self._db.write():
            journal = JournalWriter(self._db, self._require_space(space), self.normalise_name)
            (held,) = self._current_thoughts(journal, (thought,))
            action = journal.record(
                "forget", reason, actor, now, before=(held,), after=(_retired_without_validity(held, now),)
            )
            journal.close()
        return action

    def undo(self, space: str, action: int, actor: str, now: datetime) -> Action:
        with self._db.write():
            journal = JournalWriter(self._db, self._require_space(space), self.normalise_name)
            done = journal.action(action)
            if done.undone_by is not None:
                raise errors.Conflict(f"{done.ref} is already undone, by {Ref('action', done.undone_by)}")
            journal.require_untouched_since(done)
            earlier = {thought.id: thought for thought in done.before}
            restored = tuple(
                earlier.get(item.id) or _retired_without_validity(item, now) for item in done.changed
            )
            undone = journal.record(
                "undo", f"undo of {done.ref}: {done.reason}", actor, now,
                before=done.changed, after=restored, undoes=done.id,
            )  # fmt: skip
            journal.mark_undone(done, undone)
            journal.close()
        return undone

    def _require_lease(self, number: int, turn: int, lease: str) -> datetime:
        """When the turn was said; LeaseLost unless the planner still holds it."""
        row = self._db.run("queue.lease", (number, turn)).fetchone()
        if row is None:
            raise errors.LeaseLost(f"{Ref('turn', turn)} was erased while it was thought over")
        held, thought_at, at = row
        if thought_at is not None or held != lease:
            raise errors.LeaseLost(f"{Ref('turn', turn)} was taken over by another worker")
        return from_micros(at)

    def _apply_operation(
        self,
        journal: JournalWriter,
        change: Operation,
        drafts: Sequence[tuple[ThoughtDraft, IndexEntry]],
        plan: Plan,
        said_at: datetime,
        now: datetime,
    ) -> None:
        held, given = (
            self._current_thoughts(journal, change.retire),
            self._current_thoughts(journal, change.premises),
        )
        new = [(journal.create_thought(draft, said_at, now), entry) for draft, entry in drafts]
        dated = [draft.valid_from for draft, _ in drafts if draft.valid_from and change.action == "supersede"]
        closing = change.ended_at or (dated[0] if dated else said_at)
        retired = (_retired_at_end(thought, closing, now) for thought in held)
        after = (*retired, *(thought for thought, _ in new), *given)
        journal.record(
            change.action, change.reason, change.actor or plan.actor, now,
            before=(*held, *given), after=after, turn=plan.turn,
        )  # fmt: skip
        for thought, entry in new:
            write_entry(self._db, journal.space, replace(entry, id=thought.id), journal.version)

    def _current_thoughts(self, journal: JournalWriter, ids: Iterable[int]) -> tuple[Thought, ...]:
        return tuple(journal.current_thought(id_) for id_ in ids)


def _retired_at_end(thought: Thought, closing: datetime, now: datetime) -> Thought:
    """It held until something else did; never shorter than nothing."""
    started = thought.valid_from or closing
    ended = min(thought.valid_to or closing, closing)
    return replace(thought, retired_at=now, valid_to=max(started, ended))


def _retired_without_validity(thought: Thought, now: datetime) -> Thought:
    """It should not have been: it holds at no time."""
    return replace(thought, retired_at=now, valid_to=thought.valid_from)
