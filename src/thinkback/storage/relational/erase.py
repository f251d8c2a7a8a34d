"""Erasure: the only physical deletion.

Erasing turns also erases everything derived from them:

- thoughts with an erased source, thoughts created while thinking about an erased turn, and thoughts whose
  operation has an erased thought as a premise. "My sister lives in Rome" contains her name only because of
  another turn.
- Thoughts that were retired by erased thoughts become current again. Surviving turns that contributed to an
  erased thought are queued again.
- Journal actions that also concern surviving thoughts stay, without the erased thoughts and without their
  reason, which may quote them.
- A learned hashing matrix, because the column of a cluster of one is that vector itself.
- The summary of a session that loses a turn, with its journal: any item may quote the turn.

Afterwards the files are scrubbed. A failure of this does not make the erasure fail, which is committed: the
result says that bytes are pending, and a thread, the server or the next process that opens the database
removes them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.base import RelationalBase
from thinkback.storage.relational.journal import JournalWriter
from thinkback.types import Action, EraseResult, Ref

_THOUGHT_TABLES = ("thoughts", "derived", "entities", "aliases", "actions", "touched", "recalls", "entries")
_SPACE_TABLES = ("turns", *_THOUGHT_TABLES, "summaries", "summary_updates")
_ERASED_REASON = "the rest of this action was erased"


class EraseMixin(RelationalBase):
    """`erase` and `erase_tenant` of the store."""

    @abstractmethod
    def _scrubbed(self, erased: EraseResult) -> EraseResult:
        """Remove the bytes of deleted rows, after the commit; the result says whether that succeeded."""

    def _erase_all_spaces(self) -> EraseResult:
        """Delete all spaces and keys of this tenant. Call it inside a write transaction."""
        spaces = self._db.run("space.of_tenant", (self._tenant,)).fetchall()
        keys = self._db.run("keys.delete_of_tenant", (self._tenant,)).rowcount
        if not spaces and not keys:
            raise errors.NotFound(f"tenant {self._tenant!r} has no memories and no keys")
        results = [self._erase_space(space_id) for (space_id,) in spaces]
        self._db.mark_for_scrub()
        return EraseResult(
            turns=sum(result.turns for result in results),
            thoughts=sum(result.thoughts for result in results),
            actions=sum(result.actions for result in results),
        )

    def erase(
        self, space: str, *, session: str | None = None, turn: int | None = None, now: datetime
    ) -> EraseResult:
        with self._db.write():
            space_id = self._require_space(space)
            if session is None and turn is None:
                erased = self._erase_space(space_id)
            else:
                erased = self._erase_turns(space_id, self._select_turns(space_id, session, turn))
            self._db.mark_for_scrub()
        return self._scrubbed(erased)

    def _select_turns(self, space_id: int, session: str | None, turn: int | None) -> set[int]:
        if turn is not None:
            records = self._db.run("turns.by_ids", (space_id, rows.ids_to_json([turn]))).fetchall()
            missing = str(Ref("turn", turn))
        else:
            records = self._db.run("turns.of_session", (space_id, session)).fetchall()
            missing = f"session {session!r}"
        if not records:
            raise errors.NotFound(f"no {missing} in this space")
        return {row[0] for row in records}

    def _erase_space(self, space_id: int) -> EraseResult:
        counts = self._db.run("stats.counts", (space_id,)).fetchone()
        for table in _SPACE_TABLES:
            self._db.run(f"erase.{table}", (space_id,))
        self._db.run("hashings.delete", (space_id,))
        self._db.run("space.delete", (space_id,))
        return EraseResult(turns=counts[0], thoughts=counts[1] + counts[2], actions=counts[4])

    def _erase_turns(self, space_id: int, turns: set[int]) -> EraseResult:
        turn_ids = rows.ids_to_json(turns)
        created = {
            id_
            for action in self._query_actions("actions.of_turns", (space_id, turn_ids))
            for id_ in _added_ids(action)
        }
        derived = self._query_ids("derived.of_turns", space_id, turns)
        thoughts = self._with_dependents(space_id, derived | created)
        thought_ids = rows.ids_to_json(thoughts)
        requeued = self._query_ids("derived.sources", space_id, thoughts) - turns
        quoted_in = self._turns_that_recalled(space_id, turns, thoughts) - turns
        actions = self._erase_actions(space_id, turns, thoughts)
        self._erase_checks(space_id, thoughts)
        self._db.run("thoughts.delete", (space_id, thought_ids))
        self._db.run("derived.delete", (space_id, thought_ids))
        self._db.run("recalls.delete", (space_id, thought_ids))
        self._db.run("entries.delete", (space_id, "thought", thought_ids))
        self._db.run("summaries.delete", (space_id, turn_ids))
        self._db.run("updates.delete", (space_id, turn_ids))
        self._db.run("turns.delete", (space_id, turn_ids))
        self._db.run("entries.delete", (space_id, "turn", turn_ids))
        self._db.run("turns.requeue", (space_id, rows.ids_to_json(requeued)))
        self._db.run("entities.delete_orphans", (space_id,))
        self._db.run("entities.rename", (space_id,))
        self._db.run("aliases.delete_orphans", (space_id,))
        self._db.run("hashings.delete_learned", (space_id,))
        self._db.run("space.new_epoch", (space_id,))
        return EraseResult(
            turns=len(turns),
            thoughts=len(thoughts),
            actions=actions,
            requeued=len(requeued),
            quoted_in=tuple(sorted(quoted_in)),
        )

    def _with_dependents(self, space_id: int, thoughts: set[int]) -> set[int]:
        """These thoughts and all thoughts that directly or indirectly depend on them."""
        found, dependents = set(thoughts), set[int]()
        while True:
            involved = self._query_actions(
                "actions.involved", (space_id, rows.ids_to_json(found), rows.ids_to_json(()))
            )
            added = {
                id_
                for action in involved
                if _depends_on(action, found, dependents)
                for id_ in _added_ids(action)
            }
            if added <= found:
                return found
            dependents |= added - thoughts
            found |= added

    def _erase_actions(self, space_id: int, turns: set[int], thoughts: set[int]) -> int:
        """Delete the actions that only concern erased memories and rewrite the others.

        Returns the number of deleted actions.
        """
        involved = self._query_actions(
            "actions.involved", (space_id, rows.ids_to_json(thoughts), rows.ids_to_json(turns))
        )
        revoked = _revoked_actions(involved, turns, thoughts)
        touched = {thought.id for action in involved if action.id in revoked for thought in action.after}
        hiding: set[int] = set()  # the remaining actions that hide turns, and their undos
        for action in [
            _without_erased(action, turns, thoughts) for action in involved if action.id not in revoked
        ]:
            if action.hides or action.undoes in hiding:
                hiding.add(action.id)
            if action.changed or action.id in hiding:
                self._db.run("actions.rewrite", rows.rewritten_action_to_row(space_id, action))
            else:
                revoked.add(action.id)
        self._db.run("touched.delete", (space_id, rows.ids_to_json(revoked)))
        self._db.run("touched.delete_thoughts", (space_id, rows.ids_to_json(thoughts)))
        self._db.run("actions.delete", (space_id, rows.ids_to_json(revoked)))
        self._db.run("turns.show", (space_id, rows.ids_to_json(revoked), 0))  # a new epoch follows
        self._restore_periods(space_id, touched - thoughts)
        return len(revoked)

    def _erase_checks(self, space_id: int, thoughts: set[int]) -> None:
        """Delete consistency checks against erased thoughts: they quote the contradiction."""
        for id_, text in self._db.run("turns.checked", (space_id,)).fetchall():
            checks = rows.checks_from_json(text)
            remaining = [check for check in checks if check.thought not in thoughts]
            if len(remaining) < len(checks):
                self._db.run("turns.set_checks", (space_id, id_, rows.checks_to_json(remaining)))

    def _restore_periods(self, space_id: int, thoughts: Iterable[int]) -> None:
        """Reset surviving thoughts to the state after the last remaining action on them."""
        journal = JournalWriter(self._db, space_id, self.normalise_name)
        for id_ in thoughts:
            (last,) = self._query_actions("actions.last_of", (space_id, id_))
            journal.set_period(next(thought for thought in last.after if thought.id == id_))
        journal.close()

    def _turns_that_recalled(self, space_id: int, turns: set[int], thoughts: set[int]) -> set[int]:
        """Turns whose answers had recalled erased memories and may therefore repeat them."""
        erased = {("turn", id_) for id_ in turns} | {("thought", id_) for id_ in thoughts}
        records = self._db.run("turns.recalled", (space_id,)).fetchall()
        return {id_ for id_, recalled in records if not erased.isdisjoint(rows.recalled_refs(recalled))}

    def _query_actions(self, query: str, parameters: tuple[int | str, ...]) -> list[Action]:
        return [rows.action_from_row(row) for row in self._db.run(query, parameters).fetchall()]

    def _query_ids(self, query: str, space_id: int, ids: Iterable[int]) -> set[int]:
        return {row[0] for row in self._db.run(query, (space_id, rows.ids_to_json(ids))).fetchall()}


def _added_ids(action: Action) -> set[int]:
    return {thought.id for thought in action.after} - {thought.id for thought in action.before}


def _revoked_actions(involved: Sequence[Action], turns: set[int], thoughts: set[int]) -> set[int]:
    """Ids of the actions to delete, with their undos.

    These are actions of an erased turn, with an erased premise, or whose added thoughts are all erased.
    """
    revoked: set[int] = set()
    for action in involved:
        added = _added_ids(action)
        baseless = any(thought.id in thoughts for thought in action.premises) or (added and added <= thoughts)
        if action.turn in turns or action.undoes in revoked or baseless:
            revoked.add(action.id)
    return revoked


def _depends_on(action: Action, thoughts: set[int], dependents: set[int]) -> bool:
    """Whether an action has one of `thoughts` as a premise, or changed one of their `dependents`."""
    has_premise = any(thought.id in thoughts for thought in action.premises)
    return has_premise or any(thought.id in dependents for thought in action.before)


def _without_erased(action: Action, turns: set[int], thoughts: set[int]) -> Action:
    """The action without the erased turns and thoughts and without its reason."""
    before = tuple(thought for thought in action.before if thought.id not in thoughts)
    after = tuple(thought for thought in action.after if thought.id not in thoughts)
    kind = "insert" if action.undoes is None and not before and after else action.action
    hides = tuple(turn for turn in action.hides if turn not in turns)
    return replace(action, action=kind, reason=_ERASED_REASON, before=before, after=after, hides=hides)
