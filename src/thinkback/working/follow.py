"""Following sessions: a summary is brought up to its last turn, after the answer and out of its way.

A session has a summary from the first time somebody asks for one; from then on whoever thinks turns over also
follows. Rules read every turn; a model, where there is one, is asked once for the last of them, so a backlog
costs one call. Turns not yet thought over are read by rules for the moment and not written down: an answer
sees all that was said before it and waits for no model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from thinkback.errors import Conflict, ModelError, NotFound
from thinkback.ports import Clock, Store
from thinkback.types import Edit, Summary, SummaryUpdate, Turn
from thinkback.working import by_rules
from thinkback.working.by_llm import SummaryReader
from thinkback.working.edits import difference, replayed
from thinkback.working.merge import Merging, guarded, merged

TAIL = 8  # turns that a model reads at once; older ones of a backlog are read by rules alone
RULES = "rules"
USER = "user"
_TRIES = 5


class Follower:
    """Keeps the summaries of a database up to date."""

    def __init__(self, store: Store, clock: Clock, reader: SummaryReader | None = None) -> None:
        self._store = store
        self._clock = clock
        self._reader = reader

    def current(self, space: str, session: str) -> Summary:
        """The summary as of the session's last turn; what can be written down is."""
        for _ in range(_TRIES):
            summary, turns = self._behind(space, session)
            settled = self._settled(turns)
            try:
                summary = self._written(space, summary, settled)
                break
            except Conflict:  # somebody else was quicker, or a turn was erased: look again
                continue
        for turn in turns[len(settled) :]:
            summary = replace(self._read(space, summary, turn).summary, turn=turn.id)
        return summary

    def follow(self, space: str, stopping: Callable[[], bool] = lambda: False) -> list[str]:
        """Bring every summary of a space up to what is thought over; what went wrong, in words."""
        problems: list[str] = []
        for session in self._store.summaries_behind(space):
            if stopping():
                break
            with suppress(Conflict, NotFound):  # it is behind still, and the next round finds it
                problems += self._follow(space, session)
        return problems

    def before(self, space: str, session: str, turn: int) -> Summary:
        """The summary as it was before a turn."""
        updates = [each for each in self._store.summary_updates(space, session) if each.turn < turn]
        return replayed(session, updates)

    def undo(self, space: str, session: str) -> SummaryUpdate:
        """Take back the last update; to undo that does it again."""
        summary = self._store.summary(space, session)
        changed = [each for each in self._store.summary_updates(space, session) if each.edits]
        if summary is None or not changed:
            raise NotFound(f"no update of the summary of session {session!r} to undo")
        last = changed[-1]
        earlier = replayed(session, changed[:-1])
        edits = difference(summary, earlier, f"undo of version {last.version}")
        after = replace(earlier, version=summary.version + 1, turn=summary.turn)
        update = self._update(after, edits, USER)
        self._store.save_summary(space, after, update, summary)
        return update

    def revise(self, space: str, session: str, after: Summary, reason: str) -> SummaryUpdate:
        """Put a summary as a person wants it; what changed is journalled like any update."""
        seen = self.current(space, session)
        kept = self._store.summary(space, session) or Summary(session=session)
        if seen.turn != kept.turn:
            raise Conflict(
                f"session {session!r} has turns that are not thought over: try again after post_think"
            )
        if after.version != kept.version:
            raise Conflict(
                f"the summary of session {session!r} is at version {kept.version}: revise that one"
            )
        written = replace(after, session=session, version=kept.version + 1, turn=kept.turn)
        update = self._update(written, difference(kept, written, reason), USER)
        self._store.save_summary(space, written, update, kept)
        return update

    def _behind(self, space: str, session: str) -> tuple[Summary, list[Turn]]:
        kept = self._store.summary(space, session)
        summary = kept or Summary(session=session)
        turns = self._store.turns(space, session=session, after=summary.turn)
        if kept is None and turns:
            with suppress(Conflict):  # from now on it is followed
                self._store.save_summary(space, summary, None, summary)
        return summary, turns

    def _settled(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """The turns that may be written down now: old ones; all thought over, where no model reads."""
        old = max(0, len(turns) - TAIL)
        if self._reader is None:
            while old < len(turns) and turns[old].thought_at is not None:
                old += 1
        return turns[:old]

    def _follow(self, space: str, session: str) -> list[str]:
        summary, turns = self._behind(space, session)
        ready = self._thought_over(space, turns)
        if not ready:
            return []
        summary = self._written(space, summary, ready[:-TAIL] if self._reader else ready)
        return [] if self._reader is None else self._with_model(self._reader, space, summary, ready[-TAIL:])

    def _thought_over(self, space: str, turns: Sequence[Turn]) -> list[Turn]:
        """Those before the first that is still to be thought over; a dead letter is not waited for."""
        ready: list[Turn] = []
        for turn in turns:
            if turn.thought_at is None:
                given_up = {failure.turn for failure in self._store.failures(space)}
                if turn.id not in given_up:
                    break
            ready.append(turn)
        return ready

    def _with_model(
        self, reader: SummaryReader, space: str, before: Summary, turns: Sequence[Turn]
    ) -> list[str]:
        """The model's reading merged over that of the rules, which stands alone where the model fails."""
        merging, problem = self._by_rules(space, before, turns), ""
        try:
            proposal, refused = guarded(reader.read(turns, before), merging.summary, turns)
        except ModelError as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            step = merged(merging.summary, proposal, turns[-1].id)
            merging.summary, merging.edits = step.summary, [*merging.edits, *step.edits]
            problem = "; ".join((*refused, *step.problems))
        self._save(space, before, merging, turns[-1].id, reader.name, problem)
        return [f"the summary of session {before.session!r}: {problem}"] if problem else []

    def _written(self, space: str, summary: Summary, turns: Sequence[Turn]) -> Summary:
        """These turns read by rules and written down: an update each, but one for all of a backlog."""
        backlog = max(0, len(turns) - TAIL)
        for some in (turns[:backlog], *((turn,) for turn in turns[backlog:])):
            if some:
                summary = self._save(space, summary, self._by_rules(space, summary, some), some[-1].id, RULES)
        return summary

    def _by_rules(self, space: str, summary: Summary, turns: Sequence[Turn]) -> Merging:
        merging = Merging(summary, turns[-1].id)
        for turn in turns:
            step = self._read(space, merging.summary, turn)
            merging.summary = step.summary
            merging.edits += step.edits
        return merging

    def _read(self, space: str, summary: Summary, turn: Turn) -> Merging:
        actions = self._store.journal(space, turn=turn.id) if turn.thought_at is not None else []
        named = {source.turn for action in actions for old in action.before for source in old.sources}
        earlier = {each.id: each for each in self._store.turns(space, ids=sorted(named))} if named else {}
        own = {id_: each for id_, each in earlier.items() if each.session == turn.session}
        return merged(summary, by_rules.read(turn, summary, actions, own), turn.id)

    def _save(
        self, space: str, seen: Summary, merging: Merging, turn: int, actor: str, problem: str = ""
    ) -> Summary:
        """Written with its line in the journal; a turn that changes nothing is only counted as read."""
        if not merging.edits and not problem:
            after = replace(merging.summary, turn=turn)
            self._store.save_summary(space, after, None, seen)
            return after
        after = replace(merging.summary, turn=turn, version=seen.version + 1)
        update = self._update(after, merging.edits, actor, problem)
        self._store.save_summary(space, after, update, seen)
        return after

    def _update(self, after: Summary, edits: Sequence[Edit], actor: str, problem: str = "") -> SummaryUpdate:
        return SummaryUpdate(
            session=after.session,
            version=after.version,
            turn=after.turn,
            actor=actor,
            at=self._clock(),
            edits=tuple(edits),
            problem=problem,
        )
