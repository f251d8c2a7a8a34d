"""`JournalWriter`: writes journal actions and the thoughts they change, within one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from datetime import datetime

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.database import Cursor, Database
from thinkback.types import USER_ACTOR, Action, ActionKind, Ref, Thought, ThoughtDraft

_DRAFT_FIELDS = tuple(field.name for field in fields(ThoughtDraft))


class JournalWriter:
    """Assigns ids and writes actions. Create it inside a write transaction and `close` it at the end.

    Until then, the id counters of the space are kept here.
    """

    def __init__(
        self, db: Database, space_id: int, normalise_name: Callable[[str], str], subjects: Iterable[str] = ()
    ) -> None:
        """`subjects` are those of the thoughts to be added, looked up without waiting for each."""
        self._db = db
        self._normalise_name = normalise_name
        self.space_id = space_id
        begun = db.run("space.begin_change", (space_id,))
        found = {alias: self._find_entity(alias) for alias in set(map(normalise_name, subjects))}
        counters = rows.require_row("spaces", begun.fetchone())
        self.version, self._last_thought, self._last_action, self._last_entity, self._indexed = counters
        self._index_up_to_date = self._indexed == self._last_thought
        self._entities: dict[str, int] = {
            alias: row[0] for alias, each in found.items() if (row := each.fetchone())
        }
        self._sought = set(found)  # what is not among the entities does not exist
        self.written: list[Action] = []

    def close(self) -> None:
        """Write the id counters back."""
        indexed = self._last_thought if self._index_up_to_date else self._indexed
        counters = (self._last_thought, self._last_action, self._last_entity, indexed)
        self._db.run("space.end_change", (self.space_id, *counters))

    def create_thought(self, draft: ThoughtDraft, said_at: datetime, now: datetime) -> Thought:
        """The draft with a new id. It is written by the action that adds it."""
        self._last_thought += 1
        values = {name: getattr(draft, name) for name in _DRAFT_FIELDS}
        values["valid_from"] = draft.valid_from or said_at
        return Thought(id=self._last_thought, recorded_at=now, **values)

    def current_thought(self, id_: int) -> Thought:
        """Raises:
        NotFound: there is no such thought.
        Conflict: it is retired.
        """
        thought = self.thought(id_)
        if thought.retired_at is not None:
            raise errors.Conflict(
                f"{thought.ref} is already retired (since {thought.retired_at:%Y-%m-%d %H:%M})"
            )
        return thought

    def action(self, id_: int) -> Action:
        row = self._db.run("actions.by_ids", (self.space_id, rows.ids_to_json([id_]))).fetchone()
        if row is None:
            raise errors.NotFound(f"no {Ref('action', id_)} in this space")
        return rows.action_from_row(row)

    def thought(self, id_: int) -> Thought:
        """Raises:
        NotFound: there is no such thought.
        """
        row = self._db.run("thoughts.by_ids", (self.space_id, rows.ids_to_json([id_]))).fetchone()
        if row is None:
            raise errors.NotFound(f"no {Ref('thought', id_)} in this space")
        return rows.thought_from_row(row)

    def require_visible(self, turns: Sequence[int]) -> None:
        """Raises:
        NotFound: there is no such turn.
        Conflict: it is already hidden.
        """
        found = self.hidden_by(turns)
        for id_ in turns:
            if id_ not in found:
                raise errors.NotFound(f"no {Ref('turn', id_)} in this space")
            if (hidden_by := found[id_]) is not None:
                raise errors.Conflict(
                    f"{Ref('turn', id_)} is already hidden: undo {Ref('action', hidden_by)} first"
                )

    def hidden_by(self, turns: Sequence[int]) -> dict[int, int | None]:
        """The actions that hide these turns; None for a visible turn."""
        return dict(self._db.run("turns.hidden_by", (self.space_id, rows.ids_to_json(turns))).fetchall())

    def set_hidden(self, action: Action) -> None:
        """Hide the turns of an action that is in effect, or show them if it is undone.

        Summaries that cover the turns, or those of forgotten thoughts, are deleted, to be made again.
        """
        if action.hides:
            turns = rows.ids_to_json(action.hides)
            if action.undone_by is None:
                self._db.run("turns.hide", (self.space_id, turns, action.id, self.version))
            else:
                self._db.run("turns.show", (self.space_id, rows.ids_to_json([action.id]), self.version))
        covered = set(action.hides)
        if action.action == "forget" and action.actor == USER_ACTOR:
            covered |= {source.turn for thought in action.before for source in thought.sources}
        if covered:
            turns = rows.ids_to_json(sorted(covered))
            self._db.run("updates.delete_covering", (self.space_id, turns))
            self._db.run("summaries.delete_covering", (self.space_id, turns))

    def require_untouched_since(self, action: Action) -> None:
        """Check that all thoughts are as the action left them. Otherwise it cannot be undone."""
        for thought in action.changed:
            if self.thought(thought.id) != thought:
                standing = self._db.run("touched.standing", (self.space_id, thought.id, action.id)).fetchone()
                (later,) = rows.require_row("touched", standing)
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
        hides: Sequence[int] = (),
    ) -> Action:
        """Create an action with a new id and write it."""
        self._last_action += 1
        action = Action(
            id=self._last_action,
            action=kind,
            reason=reason,
            actor=actor,
            at=now,
            turn=turn,
            undoes=undoes,
            before=tuple(before),
            after=tuple(after),
            hides=tuple(sorted(hides)),
        )
        self.write(action)
        return action

    def write(self, action: Action) -> None:
        """Write an action and the thoughts as they are after it."""
        self._db.run("actions.insert", rows.action_to_row(self.space_id, action))
        existing = {thought.id for thought in action.before}
        for thought in action.after:
            self._db.run("touched.insert", (self.space_id, thought.id, action.id))
            if thought.id in existing:
                self.set_period(thought)
            else:
                self._insert_thought(thought)
        self.set_hidden(action)
        self.written.append(action)

    def set_period(self, thought: Thought) -> None:
        """Update `valid_to` and `retired_at`, the only fields of a thought that ever change."""
        valid_to = rows.optional_micros(thought.valid_to)
        retired_at = rows.optional_micros(thought.retired_at)
        self._db.run("thoughts.set_period", (self.space_id, thought.id, valid_to, retired_at, self.version))

    def mark_undone(self, action: Action, undo: Action) -> None:
        """Set `undone_by` along a chain of undos: every second action is in effect, from the newest."""
        self._db.run("actions.set_undone", (self.space_id, action.id, undo.id))
        in_effect = False
        while action.undoes is not None:
            undone_by = action.id if in_effect else None
            self._db.run("actions.set_undone", (self.space_id, action.undoes, undone_by))
            action, in_effect = self.action(action.undoes), not in_effect
        action = self.action(action.id)
        if action.undone_by is None:
            self.require_visible(action.hides)
        self.set_hidden(action)

    def _insert_thought(self, thought: Thought) -> None:
        entity = self._entity_id(thought.subject)
        self._db.run("thoughts.write", rows.thought_to_row(self.space_id, entity, thought, self.version))
        for source in thought.sources:
            self._db.run("derived.insert", (self.space_id, source.turn, thought.id))

    def _entity_id(self, subject: str) -> int:
        """The entity of a subject, created if needed."""
        alias = self._normalise_name(subject)
        if alias not in self._sought and (row := self._find_entity(alias).fetchone()) is not None:
            self._entities[alias] = row[0]
        self._sought.add(alias)
        if alias not in self._entities:
            self._last_entity += 1
            self._entities[alias] = self._last_entity
            self._db.run("entities.insert", (self.space_id, self._last_entity, subject))
            self._db.run("aliases.insert", (self.space_id, alias, self._last_entity))
        return self._entities[alias]

    def _find_entity(self, alias: str) -> Cursor:
        return self._db.run("entities.find", (self.space_id, alias))
