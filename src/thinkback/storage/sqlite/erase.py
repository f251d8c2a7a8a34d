"""Erase: the only physical deletion. What came from a turn goes with it, and no byte stays in any file.

A thought is erased when any of its sources is, when thinking over an erased turn made it, or when the change
that made it rests on an erased thought: "my sister lives in Rome" tells her name only by another turn. What
the erased thoughts had retired holds again, as if they had never been; a surviving turn that had a part in an
erased thought is thought over anew. A journal line that also speaks of surviving thoughts stays, without the
erased ones and without its reason, which may quote them. A matrix learned from the vectors (a cluster of one
is that vector itself) is dropped. The summary of a session that loses a turn goes with its whole journal, for
any item and any reason may quote it: it is made anew from the turns that stay. Then the files are scrubbed;
if that is interrupted, the next who opens them does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.base import SqliteBase
from thinkback.storage.sqlite.connection import SCRUB_PENDING
from thinkback.storage.sqlite.journal import JournalWriter
from thinkback.types import Action, EraseResult, Ref

_THOUGHT_TABLES = ("thoughts", "derived", "entities", "aliases", "actions", "touched", "recalls", "entries")
_SPACE_TABLES = ("turns", *_THOUGHT_TABLES, "summaries", "summary_updates")
_ERASED_REASON = "the rest of this action was erased"


class EraseMixin(SqliteBase):
    def erase(
        self, space: str, *, session: str | None = None, turn: int | None = None, now: datetime
    ) -> EraseResult:
        if self._db.needs_scrub():  # an erasure before this one could not finish
            self._db.scrub()
        with self._db.write():
            number = self._require_space(space)
            if session is None and turn is None:
                erased = self._erase_space(number)
            else:
                erased = self._erase_turns(number, self._select_turns(number, session, turn))
            self._db.run("meta.set", (SCRUB_PENDING, "pending"))
        self._db.scrub()
        return erased

    def erase_tenant(self, tenant: str, now: datetime) -> EraseResult:
        if self._db.needs_scrub():
            self._db.scrub()
        with self._db.write():
            spaces = self._db.run("space.of_tenant", (tenant,)).fetchall()
            keys = self._db.run("keys.delete_of_tenant", (tenant,)).rowcount
            if not spaces and not keys:
                raise errors.NotFound(f"no memories and no keys of tenant {tenant!r}")
            gone = [self._erase_space(number) for (number,) in spaces]
            self._db.run("meta.set", (SCRUB_PENDING, "pending"))
        self._db.scrub()
        return EraseResult(
            turns=sum(each.turns for each in gone),
            thoughts=sum(each.thoughts for each in gone),
            actions=sum(each.actions for each in gone),
        )

    def _select_turns(self, number: int, session: str | None, turn: int | None) -> set[int]:
        if turn is not None:
            found = self._db.run("turns.by_ids", (number, rows.ids_to_json([turn]))).fetchall()
            missing = str(Ref("turn", turn))
        else:
            found = self._db.run("turns.of_session", (number, session)).fetchall()
            missing = f"session {session!r}"
        if not found:
            raise errors.NotFound(f"no {missing} in this space")
        return {row[0] for row in found}

    def _erase_space(self, number: int) -> EraseResult:
        counts = self._db.run("stats.counts", (number,)).fetchone()
        for table in _SPACE_TABLES:
            self._db.run(f"erase.{table}", (number,))
        self._db.run("hashings.delete", (number,))
        self._db.run("space.delete", (number,))
        return EraseResult(turns=counts[0], thoughts=counts[1] + counts[2], actions=counts[4])

    def _erase_turns(self, number: int, turns: set[int]) -> EraseResult:
        gone = rows.ids_to_json(turns)
        made = [
            id_
            for action in self._query_actions("actions.of_turns", (number, gone))
            for id_ in _added_ids(action)
        ]
        thoughts = self._with_dependents(
            number, self._query_ids("derived.of_turns", number, turns) | set(made)
        )
        doomed = rows.ids_to_json(thoughts)
        shared = self._query_ids("derived.sources", number, thoughts) - turns
        quoted_in = self._turns_that_recalled(number, turns, thoughts) - turns
        actions = self._erase_actions(number, turns, thoughts)
        self._erase_checks(number, thoughts)
        self._db.run("thoughts.delete", (number, doomed))
        self._db.run("derived.delete", (number, doomed))
        self._db.run("recalls.delete", (number, doomed))
        self._db.run("entries.delete", (number, "thought", doomed))
        self._db.run("summaries.delete", (number, gone))
        self._db.run("updates.delete", (number, gone))
        self._db.run("turns.delete", (number, gone))
        self._db.run("entries.delete", (number, "turn", gone))
        self._db.run("turns.requeue", (number, rows.ids_to_json(shared)))
        self._db.run("entities.delete_orphans", (number,))
        self._db.run("entities.rename", (number,))
        self._db.run("aliases.delete_orphans", (number,))
        self._db.run("hashings.delete_learned", (number,))
        self._db.run("space.new_epoch", (number,))
        return EraseResult(
            turns=len(turns),
            thoughts=len(thoughts),
            actions=actions,
            requeued=len(shared),
            quoted_in=tuple(sorted(quoted_in)),
        )

    def _with_dependents(self, number: int, thoughts: set[int]) -> set[int]:
        """These thoughts with all that would not be as it is without them, or without such a one."""
        known, resting = set(thoughts), set[int]()
        while True:
            touching = self._query_actions(
                "actions.involved", (number, rows.ids_to_json(known), rows.ids_to_json(()))
            )
            added = {
                id_ for each in touching if _depends_on(each, known, resting) for id_ in _added_ids(each)
            }
            if added <= known:
                return known
            resting |= added - thoughts
            known |= added

    def _erase_actions(self, number: int, turns: set[int], thoughts: set[int]) -> int:
        """How many lines of the journal went; the others that spoke of these thoughts are rewritten."""
        involved = self._query_actions(
            "actions.involved", (number, rows.ids_to_json(thoughts), rows.ids_to_json(turns))
        )
        fallen = _revoked_actions(involved, turns, thoughts)
        touched = {thought.id for action in involved if action.id in fallen for thought in action.after}
        for rest in [_without_thoughts(action, thoughts) for action in involved if action.id not in fallen]:
            if rest.changed:
                self._db.run("actions.rewrite", rows.rewritten_action_to_row(number, rest))
            else:
                fallen.add(rest.id)
        self._db.run("touched.delete", (number, rows.ids_to_json(fallen)))
        self._db.run("touched.delete_thoughts", (number, rows.ids_to_json(thoughts)))
        self._db.run("actions.delete", (number, rows.ids_to_json(fallen)))
        self._restore_periods(number, touched - thoughts)
        return len(fallen)

    def _erase_checks(self, number: int, thoughts: set[int]) -> None:
        """What was caught in other answers quotes what contradicted the thought, and so tells of it."""
        for id_, text in self._db.run("turns.checked", (number,)).fetchall():
            checks = rows.checks_from_json(text)
            kept = [check for check in checks if check.thought not in thoughts]
            if len(kept) < len(checks):
                self._db.run("turns.set_checks", (number, id_, rows.checks_to_json(kept)))

    def _restore_periods(self, number: int, thoughts: Iterable[int]) -> None:
        """What the erased actions did to thoughts that stay is taken back: the rest of the journal tells."""
        journal = JournalWriter(self._db, number, self.normalise_name)
        for id_ in thoughts:
            (last,) = self._query_actions("actions.last_of", (number, id_))
            journal.set_period(next(thought for thought in last.after if thought.id == id_))
        journal.close()

    def _turns_that_recalled(self, number: int, turns: set[int], thoughts: set[int]) -> set[int]:
        """Turns whose answers were given what is erased now: they may repeat it in their own words."""
        gone = {("turn", id_) for id_ in turns} | {("thought", id_) for id_ in thoughts}
        found = self._db.run("turns.recalled", (number,)).fetchall()
        return {
            id_ for id_, recalled in found if any((used[0], used[1]) in gone for used in json.loads(recalled))
        }

    def _query_actions(self, query: str, parameters: tuple[int | str, ...]) -> list[Action]:
        return [rows.action_from_row(row) for row in self._db.run(query, parameters).fetchall()]

    def _query_ids(self, query: str, number: int, ids: Iterable[int]) -> set[int]:
        return {row[0] for row in self._db.run(query, (number, rows.ids_to_json(ids))).fetchall()}


def _added_ids(action: Action) -> set[int]:
    return {thought.id for thought in action.after} - {thought.id for thought in action.before}


def _revoked_actions(involved: Sequence[Action], turns: set[int], thoughts: set[int]) -> set[int]:
    """The actions that are taken back: of an erased turn, resting on an erased thought, or all they added
    is erased; and their undos.
    """
    fallen: set[int] = set()
    for action in involved:
        added = _added_ids(action)
        lost = any(thought.id in thoughts for thought in action.premises) or (added and added <= thoughts)
        if action.turn in turns or action.undoes in fallen or lost:
            fallen.add(action.id)
    return fallen


def _depends_on(action: Action, thoughts: set[int], resting: set[int]) -> bool:
    """Whether an action rests on one of these thoughts, or works on one that does so itself."""
    given = any(thought.id in thoughts for thought in action.premises)
    return given or any(thought.id in resting for thought in action.before)


def _without_thoughts(action: Action, thoughts: set[int]) -> Action:
    before = tuple(thought for thought in action.before if thought.id not in thoughts)
    after = tuple(thought for thought in action.after if thought.id not in thoughts)
    kind = "insert" if action.undoes is None and not before else action.action
    return replace(action, action=kind, reason=_ERASED_REASON, before=before, after=after)
