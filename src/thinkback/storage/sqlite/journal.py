"""Writing the journal inside one transaction: numbers are given, rows follow the actions' after-states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.connection import Connection
from thinkback.types import Action, ActionKind, Ref, Thought, ThoughtDraft

_DRAFT_FIELDS = tuple(field.name for field in fields(ThoughtDraft))


class JournalWriter:
    """Open between `space.begin_change` and `close()`; the counters live here meanwhile."""

    def __init__(self, db: Connection, space: int, alias: Callable[[str], str]) -> None:
        self._db = db
        self._alias = alias
        self.space = space
        counters = db.run("space.begin_change", (space,)).fetchone()
        self.version, self._thought, self._action, self._entity, self._indexed = counters
        self._index_up_to_date = self._indexed == self._thought
        self.written: list[Action] = []

    def close(self) -> None:
        indexed = self._thought if self._index_up_to_date else self._indexed
        self._db.run("space.end_change", (self.space, self._thought, self._action, self._entity, indexed))

    def create_thought(self, draft: ThoughtDraft, said_at: datetime, now: datetime) -> Thought:
        self._thought += 1
        values = {name: getattr(draft, name) for name in _DRAFT_FIELDS}
        values["valid_from"] = draft.valid_from or said_at
        return Thought(id=self._thought, recorded_at=now, **values)

    def current_thought(self, id_: int) -> Thought:
        thought = self._read_thought(id_)
        if thought.retired_at is not None:
            raise errors.Conflict(
                f"{thought.ref} is already retired (since {thought.retired_at:%Y-%m-%d %H:%M})"
            )
        return thought

    def action(self, id_: int) -> Action:
        row = self._db.run("actions.by_ids", (self.space, rows.ids_to_json([id_]))).fetchone()
        if row is None:
            raise errors.NotFound(f"no {Ref('action', id_)} in this space")
        return rows.action_from_row(row)

    def require_untouched_since(self, action: Action) -> None:
        """Undoing is safe only while every thought is as the action left it (or is so again)."""
        for thought in action.changed:
            if self._read_thought(thought.id) != thought:
                later = self._db.run("touched.standing", (self.space, thought.id)).fetchone()[0]
                raise errors.Conflict(
                    f"{thought.ref} has changed since {action.ref}: undo {Ref('action', later)} first"
                )

    def record(
        self,
        kind: ActionKind,
        reason: str,
        actor: str,
        now: datetime,
        *,
        before: Sequence[Thought],
        after: Sequence[Thought],
        turn: int | None = None,
        undoes: int | None = None,
    ) -> Action:
        self._action += 1
        action = Action(
            id=self._action,
            action=kind,
            reason=reason,
            actor=actor,
            at=now,
            turn=turn,
            undoes=undoes,
            before=tuple(before),
            after=tuple(after),
        )
        self.write(action)
        return action

    def write(self, action: Action) -> None:
        """The journal line, and the thoughts as it leaves them."""
        self._db.run("actions.insert", rows.action_to_row(self.space, action))
        existing = {thought.id for thought in action.before}
        for thought in action.after:
            self._db.run("touched.insert", (self.space, thought.id, action.id))
            if thought.id in existing:
                self.set_period(thought)
            else:
                self._insert_thought(thought)
        self.written.append(action)

    def set_period(self, thought: Thought) -> None:
        """All that ever changes in a thought: until when it holds, and since when we do not hold it."""
        valid_to, retired_at = (
            rows.optional_micros(thought.valid_to),
            rows.optional_micros(thought.retired_at),
        )
        self._db.run("thoughts.set_period", (self.space, thought.id, valid_to, retired_at, self.version))

    def mark_undone(self, done: Action, undone: Action) -> None:
        """Along a chain of undos of undos every second action stands, counted from the newest."""
        self._db.run("actions.set_undone", (self.space, done.id, undone.id))
        stands = False
        while done.undoes is not None:
            self._db.run("actions.set_undone", (self.space, done.undoes, done.id if stands else None))
            done, stands = self.action(done.undoes), not stands

    def _insert_thought(self, thought: Thought) -> None:
        entity = self._entity_id(thought.subject)
        self._db.run("thoughts.write", rows.thought_to_row(self.space, entity, thought, self.version))
        for source in thought.sources:
            self._db.run("derived.insert", (self.space, source.turn, thought.id))

    def _entity_id(self, subject: str) -> int:
        alias = self._alias(subject)
        row = self._db.run("entities.find", (self.space, alias)).fetchone()
        if row is not None:
            return int(row[0])
        self._entity += 1
        entity: int = self._entity
        self._db.run("entities.insert", (self.space, entity, subject))
        self._db.run("aliases.insert", (self.space, alias, entity))
        return entity

    def _read_thought(self, id_: int) -> Thought:
        row = self._db.run("thoughts.by_ids", (self.space, rows.ids_to_json([id_]))).fetchone()
        if row is None:
            raise errors.NotFound(f"no {Ref('thought', id_)} in this space")
        return rows.thought_from_row(row)
