"""`MemoryChanges`: the methods of `Memory` that change what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from thinkback import transfer
from thinkback.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    StoreError,
)
from thinkback.indexing import Indexer
from thinkback.language.text_cache import clear_cached_words
from thinkback.memory_queries import MemoryQueries
from thinkback.session.summarizer import Summarizer
from thinkback.think.commands import CommandRunner
from thinkback.think.edits import ThoughtEdit, edited_draft
from thinkback.think.worker import Worker
from thinkback.times import to_utc
from thinkback.types import (
    CORRECTED_IN_PREFIX,
    USER_ACTOR,
    Action,
    Candidate,
    EraseResult,
    NewTurn,
    Operation,
    Plan,
    RecalledItem,
    Ref,
    Source,
    SpaceKey,
    Summary,
    SummaryUpdate,
    Thought,
    Turn,
)
from thinkback.validation import (
    checked_name,
    checked_text,
    normalise_name,
    parse_ref,
)


class MemoryChanges(MemoryQueries):
    """Remembering, forgetting, correcting, undoing, erasing. Base class of `Memory`."""

    _indexer: Indexer
    _recall_indexer: Indexer
    _summarizer: Summarizer
    _commands: CommandRunner
    _worker: Worker[SpaceKey] | None

    @property
    def tenant(self) -> str:
        """The tenant these memories belong to; empty for local use."""
        return self.store.tenant

    def remember(
        self,
        query: str,
        response: str = "",
        *,
        at: datetime | None = None,
        session: str = "default",
        key: str | None = None,
        recalled: Sequence[RecalledItem] = (),
    ) -> Turn:
        """Store one turn. It is durable when this returns; thinking follows in the background.

        A command to the memory ("forget that", "always answer in German") takes effect at once;
        `journal(turn=...)` says what it did.

        Args:
            query: what the user said.
            response: the answer, if there is one.
            at: when it was said; now by default.
            session: the conversation it belongs to.
            key: idempotency key. The same key and text again return the turn stored before.
            recalled: the memories the response was based on; `why` reports them.

        Raises:
            Conflict: the key was used before with another text.
        """
        return self._append_turn(self._new_turn(query, response, at, session, key, tuple(recalled)))

    add = remember

    def remember_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        at: datetime | None = None,
        session: str = "default",
        key: str | None = None,
    ) -> list[Turn]:
        """Store a list of role/content messages as turns, in one transaction.

        Consecutive user messages form one turn with the assistant messages that follow; system and tool
        messages are skipped.
        """
        new_turns = [
            self._new_turn(query, response, at, session, transfer.numbered_key(key, number))
            for number, (query, response) in enumerate(transfer.pair_messages(messages))
        ]
        if not new_turns:
            raise InvalidInput("no user or assistant message to remember")
        turns = self.store.append(self.user, new_turns, self._clock())
        for turn in turns:
            self._run_commands(turn)
        self._wake()
        return turns

    def forget(
        self, memory: Thought | Turn | Candidate | Ref | str | int, reason: str = "the user asked for it"
    ) -> Action:
        """Retire a thought ("thought:7", or 7) or hide a turn ("turn:3"); `undo` brings it back.

        Neither is recalled any more. Hiding a turn also takes back what thinking about it changed.

        Raises:
            NotFound: there is no such thought or turn.
            Conflict: the thought is already retired, or the turn is already hidden.
        """
        return self._forget(_memory_ref(memory), _checked_reason(reason, "forgetting"))

    def correct(
        self,
        memory: Thought | Turn | Candidate | Ref | str | int,
        text: str,
        reason: str = "the user corrected it",
        *,
        session: str = "default",
    ) -> Turn:
        """Correct a thought or a turn: forget it and remember `text` as a new turn.

        Thoughts are drawn from the new turn as usual; the journal names it as the reason.

        Raises:
            NotFound: there is no such thought or turn.
            Conflict: the thought is already retired, or the turn is already hidden.
        """
        ref, why = _memory_ref(memory), _checked_reason(reason, "correcting")
        new_turn = self._new_turn(text, "", None, session, None)
        self._require_current(ref)
        (turn,) = self.store.append(self.user, [new_turn], self._clock())
        with suppress(Conflict):  # another worker already thought about the turn and retired the thought
            self._forget(ref, f"{CORRECTED_IN_PREFIX}{turn.ref}: {why}")
        self._wake()
        return turn

    def edit(
        self, thought: Thought | Ref | str | int, edit: ThoughtEdit, reason: str, *, session: str = "default"
    ) -> Action:
        """Change the words, the kind or the validity of a thought exactly as given; `undo` takes it back.

        New words are stored as a turn of the user, which the new thought quotes. `correct` is for new words
        that are to be thought about.

        Raises:
            NotFound: there is no such thought.
            Conflict: the thought is already retired.
        """
        ref, why = _require_kind(_memory_ref(thought), "thought"), _checked_reason(reason, "editing")
        self._require_current(ref)
        (old,) = self.store.thoughts(self.user, ids=[ref.id])
        words = checked_text(edit.sentence or edit.value or "", "text")
        draft = edited_draft(old, edit, None)  # checks the edit before anything is stored
        turn = None
        if edit.changes_words(old):
            new_turn = self._new_turn(words, "", None, session, None)
            (turn,) = self.store.append(self.user, [new_turn], self._clock())
            draft = edited_draft(old, edit, Source(turn.id, turn.asker, "query", 0, len(turn.query)))
        plan = Plan(
            turn=None,
            lease="",
            actor=USER_ACTOR,
            operations=(Operation(action="supersede", reason=why, add=(draft,), retire=(old.id,)),),
            cause=turn.id if turn else None,
            completes_cause=turn is not None,
        )
        entries, epoch = self._indexer.entries_for_plan(self.user, plan)
        (action,) = self.store.apply(self.user, plan, entries, self._clock(), epoch)
        return action

    def undo(self, action: Action | Ref | str | int) -> Action:
        """Undo one action of the journal. Undoing an undo restores it."""
        ref = (
            action.ref if isinstance(action, Action) else _require_kind(parse_ref(action, "action"), "action")
        )
        undone = self.store.undo(self.user, ref.id, USER_ACTOR, self._clock())
        self._wake()  # a turn that is no longer hidden may be pending
        return undone

    def erase(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        turn: Turn | Ref | str | int | None = None,
    ) -> EraseResult:
        """Physically delete a turn, a session or a user with everything derived from it. Cannot be undone.

        An error means that nothing was deleted. If bytes are left in the files for the moment, because the
        disk is full or another process is reading, the result says so (`bytes_pending`), and they are
        removed as soon as possible.
        """
        if sum(choice is not None for choice in (user, session, turn)) != 1:
            raise InvalidInput("erase needs exactly one of user=, session= or turn=")
        if user is not None:
            return self._erase_user(checked_name(user, "user"))
        if session is not None:
            erased = self.store.erase(self.user, session=self._session_name(session), now=self._clock())
        elif turn is not None:
            ref = turn.ref if isinstance(turn, Turn) else _require_kind(parse_ref(turn, "turn"), "turn")
            erased = self.store.erase(self.user, turn=ref.id, now=self._clock())
        clear_cached_words()
        with suppress(StoreError):  # the erasure is committed, and the space is regrouped later anyway
            self._indexer.regroup_if_needed(self.user)  # a matrix learned from erased vectors was deleted too
        self._wake()
        return erased

    def revise_summary(self, summary: Summary, reason: str) -> SummaryUpdate:
        """Replace the summary of `summary.session`. The reason is kept in its journal."""
        checked = _checked_reason(reason, "revising a summary")
        session = self._session_name(summary.session)
        return self._summarizer.revise(self.user, session, replace(summary, session=session), checked)

    def undo_summary(self, session: str = "default") -> SummaryUpdate:
        """Undo the last update of a session's summary. Undoing an undo restores it."""
        return self._summarizer.undo(self.user, self._session_name(session))

    def _erase_user(self, user: str) -> EraseResult:
        """Erase a user, also under the forms of the name that were stored before names were normalised."""
        stored = [user]
        if not user.isascii():  # an ASCII name has one form
            stored = [name for name in self.store.users() if normalise_name(name) == user] or [user]
        erased = EraseResult(turns=0, thoughts=0, actions=0)
        for name in stored:
            part = self.store.erase(name, now=self._clock())
            self._indexer.evict(name)
            self._recall_indexer.evict(name)
            erased = replace(
                part,
                turns=erased.turns + part.turns,
                thoughts=erased.thoughts + part.thoughts,
                actions=erased.actions + part.actions,
            )
        clear_cached_words()
        return erased

    def _forget(self, ref: Ref, reason: str) -> Action:
        return self.store.forget(
            self.user,
            turns=[ref.id] if ref.kind == "turn" else [],
            thoughts=[ref.id] if ref.kind == "thought" else [],
            reason=reason,
            actor=USER_ACTOR,
            now=self._clock(),
        )

    def _require_current(self, ref: Ref) -> None:
        if ref.kind == "turn":
            turns = self.store.turns(self.user, ids=[ref.id])
            found, gone = bool(turns), any(turn.hidden for turn in turns)
        else:
            thoughts = self.store.thoughts(self.user, ids=[ref.id], current=False)
            found, gone = bool(thoughts), any(not thought.current for thought in thoughts)
        if not found:
            raise NotFound(f"user {self.user!r} has no {ref}")
        if gone:
            state = "hidden" if ref.kind == "turn" else "retired"
            raise Conflict(f"{ref} is already {state}: correct the current {ref.kind} instead")

    def _new_turn(
        self,
        query: str,
        response: str,
        at: datetime | None,
        session: str,
        key: str | None,
        recalled: tuple[RecalledItem, ...] = (),
    ) -> NewTurn:
        query, response = checked_text(query, "query"), checked_text(response, "response")
        if not query.strip() and not response.strip():
            raise InvalidInput("a turn needs a query or a response: both are empty")
        return NewTurn(
            query=query,
            response=response,
            at=self._clock() if at is None else to_utc(at, "at"),
            session=checked_name(session, "session"),
            key=None if key is None else checked_name(key, "key"),
            recalled=recalled,
        )

    def _append_turn(self, new_turn: NewTurn) -> Turn:
        (turn,) = self.store.append(self.user, [new_turn], self._clock())
        self._run_commands(turn)
        self._wake()
        return turn

    def _run_commands(self, turn: Turn) -> Sequence[Action]:
        """Carry out the commands of a stored turn. If the database fails, thinking carries them out later."""
        with suppress(StoreError):
            return self._commands.run(self.user, turn)
        return ()

    def _wake(self) -> None:
        if self._worker is not None:
            self._worker.wake((self.tenant, self.user))


def _memory_ref(memory: Thought | Turn | Candidate | Ref | str | int) -> Ref:
    ref = memory.ref if isinstance(memory, (Thought, Turn, Candidate)) else parse_ref(memory, "thought")
    return ref if ref.kind == "turn" else _require_kind(ref, "thought")


def _checked_reason(text: str, doing: str) -> str:
    reason = checked_text(text, "reason").strip()
    if not reason:
        raise InvalidInput(f"{doing} needs a reason, which is kept in the journal")
    return reason


def _require_kind(ref: Ref, kind: str) -> Ref:
    if ref.kind != kind:
        article = "an" if kind == "action" else "a"
        raise InvalidInput(f"{ref} is not {article} {kind}: use the plain number or {kind}:{ref.id}")
    return ref
