"""`Memory`: the long-term memory of one user.

with Memory("memory.db", user="ann") as memory:
    memory.remember("I moved to Lyon.", "How exciting!")
    memory.recall("Where do I live?")
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from os import PathLike, fspath
from typing import Any, Self, Unpack
from weakref import WeakSet

from thinkback import transfer
from thinkback.components import Components, SharedComponents
from thinkback.errors import (
    Conflict,
    InvalidInput,
    ModelError,
    NotFound,
    StoreError,
    StoreUnavailable,
    ThinkbackError,
)
from thinkback.history import filter_by_time, hidden_turns, replay
from thinkback.index.cache import CachedSpace
from thinkback.indexing import Indexer, TextEncoder
from thinkback.language.safety.quarantine import redact, withheld_reason
from thinkback.llms.metering import MeteredLLM
from thinkback.memory_config import MemoryConfig, MemoryOptions
from thinkback.presets import Preset, get_preset
from thinkback.protocols import Embedder, ProgressCallback, Store
from thinkback.queries import MemoryQueries, checked_time
from thinkback.recall.cache import RecallCache
from thinkback.recall.chat import ChatStream
from thinkback.recall.consistency import AnswerCheck, CheckerFactory, TouchedConstraint
from thinkback.recall.expansion import ThoughtLinks
from thinkback.recall.kind_classifier import classify_query
from thinkback.recall.memory_chat import ToldTurn
from thinkback.recall.pack import fit_to_budget
from thinkback.recall.query import (
    KnowledgeSnapshot,
    MemoryLoader,
    PreparedQuery,
    ResolvedQuery,
    may_name_entity,
    resolve_query,
)
from thinkback.recall.retrieve import retrieve
from thinkback.recall.score import RetentionScorer
from thinkback.recall.synthesis import synthesise
from thinkback.session.context import (
    RECENT_TURNS,
    VERBATIM_TURNS,
    Context,
    compose_context,
    narrow_recollection,
)
from thinkback.think.edits import ThoughtEdit, edited_draft
from thinkback.think.readers import WithoutModelReader
from thinkback.think.thinker import Worker
from thinkback.times import to_utc
from thinkback.types import (
    CORRECTED_IN_PREFIX,
    USER_ACTOR,
    Action,
    Answer,
    Candidate,
    EraseResult,
    Kind,
    Message,
    NewTurn,
    Operation,
    Plan,
    RecalledItem,
    Recollection,
    Ref,
    Source,
    SpaceKey,
    Summary,
    SummaryUpdate,
    Synthesis,
    ThinkResult,
    Thought,
    Turn,
    Usage,
)
from thinkback.usage import Stopwatch, count_usage
from thinkback.validation import (
    checked_limit,
    checked_name,
    checked_tenant,
    checked_text,
    normalise_name,
    parse_ref,
)

MAX_WAIT_SECONDS = 0.2  # for the background thread, before an answer without a model says what was kept
MAX_PENDING_BEFORE_ANSWER = 8  # turns; with a longer backlog the answer does not wait for thinking


class Memory(MemoryQueries):
    """Long-term memory of one user: what was said, and the thoughts drawn from it.

    Thread-safe. Close it, or use it in a `with` statement. `AsyncMemory` has the same methods for asyncio.
    """

    def __init__(
        self,
        database: str | PathLike[str] | Store = "thinkback.db",
        config: MemoryConfig | None = None,
        **options: Unpack[MemoryOptions],
    ) -> None:
        """Open (or create) a database.

        Args:
            database: a file name, a URL such as `sqlite:///memory.db`, `:memory:`, or an open `Store`
                (which is closed together with the memory).
            config: the options as one value.
            options: single options, see `MemoryConfig`; they override `config`.
        """
        from thinkback import storage

        config = replace(config or MemoryConfig(), **options)
        tenant = checked_tenant(config.tenant)
        self.user = checked_name(config.user, "user")
        opened = storage.connect(fspath(database)) if isinstance(database, (str, PathLike)) else database
        try:
            shared = SharedComponents.from_config(config, opened.embedder())
        except BaseException:
            if opened is not database:
                opened.close()
            raise
        self.llm = shared.llm
        self.embedder = shared.embedder
        self._reader = shared.reader
        self._preset = shared.preset
        self._clock = shared.clock
        self._integrate = config.integrate
        self._instructions = config.instructions
        self._checks = CheckerFactory(self.llm)
        self._streams: WeakSet[ChatStream] = WeakSet()
        self._worker: Worker[SpaceKey] | None = None
        self._owns_components = True
        self._owned: list[object] = list(shared.owned)
        store = opened.for_tenant(tenant) if tenant else opened
        if store is not opened:  # closing the view of one tenant does not close the database
            self._owned.insert(0, opened)
        try:
            self._set_components(Components(store, shared))
            store.bind_embedder(self.embedder.name)
        except BaseException:
            if opened is not database:
                opened.close()
            raise
        if config.background:
            self._worker = Worker(self._process_space, tenant_of=lambda key: key[0])
        self._wake()

    @classmethod
    def open(
        cls,
        url: str | PathLike[str] = "thinkback.db",
        config: MemoryConfig | None = None,
        **options: Unpack[MemoryOptions],
    ) -> Self:
        """The same as `Memory(url, config, **options)`."""
        return cls(url, config, **options)

    def own(self, *models: object) -> Self:
        """Close these models (their connections, their weights) too when this memory is closed."""
        self._owned += models
        return self

    def for_user(self, user: str) -> Self:
        """The memory of another user in the same database. It is closed together with this one."""
        return self.for_space(checked_name(user, "user"))

    def for_space(self, user: str, *, tenant: str | None = None) -> Self:
        """The memory of a user by the name in the database, which is neither checked nor normalised.

        For names that were read from the database: versions before names were normalised may have stored
        others than `for_user` accepts. `tenant` is a stored name too; by default the same tenant.
        """
        other = copy(self)
        other.user = user
        if tenant is not None and tenant != self.tenant:
            other._set_components(self._components.for_tenant(tenant))
        other._owns_components = False
        other._wake()
        return other

    @property
    def tenant(self) -> str:
        """The tenant these memories belong to; empty for local use."""
        return self.store.tenant

    def for_tenant(self, tenant: str) -> Self:
        """The memory of another tenant in the same database. It is closed together with this one."""
        return self.for_space(self.user, tenant=checked_tenant(tenant))

    def close(self) -> None:
        """Finish the turn being thought about, stop the background thread and close the database.

        Pending turns stay pending; the next process that opens the database thinks about them.
        """
        if not self._owns_components:
            return
        try:
            for stream in list(self._streams):
                stream.close()
            if self._worker is not None:
                self._worker.stop()
        finally:
            self.store.close()
            for model in self._owned:
                if hasattr(model, "close"):
                    model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

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
        new_turn = self._new_turn(query, response, at, session, key)
        return self._append_turn(replace(new_turn, recalled=tuple(recalled)))

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

    def post_think(
        self,
        *,
        limit: int | None = None,
        progress: ProgressCallback | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> ThinkResult:
        """Think about pending turns now and update session summaries. The background thread does the same.

        Args:
            limit: think about at most this many turns.
            progress: called with (done, total).
            stopping: checked between turns; return True to stop early.
        """
        result = self._thinker.think_pending(
            self.user, limit=checked_limit(limit), progress=progress, stopping=stopping
        )
        if stopping() or not self.store.summaries_behind(self.user):
            return result
        watch = Stopwatch()
        with count_usage() as counter, watch("summarise"):
            problems = self._summarizer.update_summaries(self.user, stopping)
        usage = result.usage
        usage = Usage(
            usage.llm_calls + counter.calls,
            usage.prompt_tokens + counter.prompt_tokens,
            usage.completion_tokens + counter.completion_tokens,
            ms={**usage.ms, **watch.ms},
        )
        return replace(result, problems=(*result.problems, *problems), usage=usage)

    def release_claims(self) -> None:
        """Give up the turn being thought about, so that another process can take it at once."""
        self._thinker.release_claims()

    def organise(self, *, group: int | None = None, progress: ProgressCallback | None = None) -> ThinkResult:
        """Merge duplicate thoughts and forget contradicted ones, in one group or in all groups.

        The background thread does this whenever a group has doubled in size.
        """
        watch = Stopwatch()
        with count_usage() as counter, watch("organise"):
            if group is None:
                actions = self._consolidator.consolidate_all(self.user, progress)
            else:
                actions = self._consolidator.consolidate_group(self.user, group)
            self._indexer.extend_search_index(self.user)
        return ThinkResult(actions=tuple(actions), usage=counter.to_usage(watch.ms))

    def retry_failures(self) -> int:
        """Queue all turns whose post-thinking failed again. Returns their number."""
        count = self.store.retry_failures(self.user)
        self._wake()
        return count

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the background thread is idle. Returns False on timeout.

        Turns that are waiting for a retry (because a model was down) do not count; see `stats().pending`.

        Raises:
            ThinkbackError: the error that stopped the background thread.
        """
        return self._worker is None or self._worker.wait(timeout)

    def recall(
        self,
        query: str,
        k: int = 5,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        explain: bool = False,
        preset: Preset | str | None = None,
        budget: int | None = None,
    ) -> Recollection:
        """The memories that matter for `query`, best first, each with its reason.

        Every turn remembered before is searched, also those not yet thought about.

        Args:
            query: a question, a statement or a passage.
            k: at most this many memories.
            as_of: what was true at that time.
            known_at: what this memory knew at that time.
            explain: also return dropped candidates, score breakdowns and the query interpretation;
                `why(recollection)` puts them into words.
            preset: search with another preset, this time only.
            budget: maximum number of tokens of all texts; long texts are trimmed around the relevant
                passage (`item.turn` stays complete).
        """
        active_preset = get_preset(preset) if isinstance(preset, str) else preset or self._preset
        if not isinstance(k, int) or k < 1:
            raise InvalidInput(f"k={k!r}: k must be a positive integer")
        if budget is not None and (not isinstance(budget, int) or budget < 1):
            raise InvalidInput(f"budget={budget!r}: budget must be a positive integer (tokens)")
        text = checked_text(query, "query")
        if not text.strip():
            raise InvalidInput("the query is empty")
        as_of = checked_time(as_of, "as_of")
        past = None
        watch = Stopwatch()
        if known_at is not None:
            with watch("replay"):
                past = self._known_at(as_of, to_utc(known_at, "known_at"))
        with watch("index"):
            view = self._recall_indexer.fresh_view(self.user)
        with watch("understand"):
            resolved = self._understand(text, view) if past is None else ResolvedQuery("none")
        with watch("embed"):
            vector = self.embedder.embed([text])[0]
        with watch("search"), view.lock:
            snapshot, loader = past or (None, self._loader(RecallCache.of(view)))
            retention = self._retention(active_preset) if as_of is None and snapshot is None else None
            kinds = classify_query(text, vector, self.embedder.name) if active_preset.uses_kinds else {}
            prepared = PreparedQuery(
                text=text,
                vector=vector,
                k=k,
                as_of=as_of,
                explain=explain,
                snapshot=snapshot,
                retention=retention,
                now=self._clock(),
                kind_probabilities=kinds,
                resolved=resolved,
            )
            recollection = retrieve(prepared, view.index, view.hashing, active_preset, loader)
        if budget is not None:
            with watch("pack"):
                recollection = fit_to_budget(recollection, budget, explain=explain)
        if retention is not None and (recalled := [item.ref.id for item in recollection if item.thought]):
            # Counting is best effort: the database may be busy, or the user was just erased.
            with watch("retain"), suppress(StoreUnavailable, NotFound):
                self.store.record_recalls(self.user, recalled, self._clock())
        return replace(recollection, usage=Usage(ms=watch.ms))

    search = recall

    def kinds(self, query: str) -> dict[Kind, float]:
        """Probability that the query asks for each memory kind (PerLTQA, Eq. 1)."""
        text = checked_text(query, "query")
        vector, _ = self._indexer.embed(text)
        return classify_query(text, vector, self.embedder.name)

    def chat(self, message: str, *, session: str = "default", k: int = 5) -> Answer:
        """Recall memories, let the model answer with them, and remember the turn."""
        stream = self.chat_stream(message, session=session, k=k)
        for _ in stream:
            pass
        return stream.answer

    def chat_stream(self, message: str, *, session: str = "default", k: int = 5) -> ChatStream:
        """Like `chat`, but streaming: iterate over the pieces of text, then read `.answer`."""
        new_turn = self._new_turn(message, "", None, session, None)
        recent = self.turns(session=new_turn.session, limit=RECENT_TURNS, newest=True)
        try:
            recalled = self.recall(message, k=k)
        except ModelError:  # the embedder failed: no answer is possible, but the message is stored
            self._append_turn(new_turn)
            raise
        summary = self._summarizer.current_summary(self.user, new_turn.session)
        if self.llm is not None and self.llm.follows:
            recalled = narrow_recollection(recalled, summary, new_turn.query)
        links = self._links()
        recalled = links.expand(recalled, new_turn.query)

        def compose(integrated: str) -> Sequence[Message]:
            context = self._build_context(new_turn.query, summary, recalled, recent, new_turn.at, integrated)
            return context.messages

        stream = ChatStream(
            new_turn=new_turn,
            recollection=recalled,
            recent=recent[-VERBATIM_TURNS:],
            llm=self.llm,
            save_turn=self._append_turn,
            checker_factory=self._checks,
            compose=compose,
            use_integrator=self._integrate,
            constraints=links.constraints,
            wishes=[redact(thought.sentence, only_secrets=True) for thought in self.instructions()],
            tell=self._tell,
        )
        self._streams.add(stream)
        return stream

    def check_answer(self, query: str, answer: str, *, session: str = "default") -> AnswerCheck:
        """What an answer says against the memory, and the safety facts that it must respect.

        `chat` does this by itself; this is for answers that came from elsewhere. Nothing is stored.
        """
        new_turn = self._new_turn(query, answer, None, session, None)
        links = self._links()
        recalled = links.expand(self.recall(new_turn.query or new_turn.response), new_turn.query)
        recent = self.turns(session=new_turn.session, limit=VERBATIM_TURNS, newest=True)
        recent = [turn for turn in recent if turn.query != new_turn.query]
        checker = self._checks.create(new_turn, recalled, recent, links.constraints)
        conflicts = [] if checker is None else checker.check(new_turn.response)
        touched = [
            TouchedConstraint(constraint, reason)
            for constraint in links.constraints
            if (reason := constraint.concerns(f"{new_turn.query}\n{new_turn.response}"))
        ]
        return AnswerCheck(tuple(conflicts), tuple(touched))

    def synthesise(self, question: str, k: int = 5, max_words: int = 50) -> Synthesis:
        """A short answer from recalled memories, with citations. No turn is stored."""
        if not isinstance(max_words, int) or max_words < 1:
            raise InvalidInput(f"max_words={max_words!r}: max_words must be a positive integer")
        recollection = self.recall(question, k=k)
        watch = Stopwatch()
        with count_usage() as counter, watch("synthesise"):
            llm = None if self.llm is None else MeteredLLM(self.llm)
            synthesis = synthesise(llm, recollection.query, recollection, max_words)
        return replace(synthesis, usage=counter.to_usage({**recollection.usage.ms, **watch.ms}))

    ask = synthesise

    def context(self, message: str, *, session: str = "default", k: int = 5) -> Context:
        """The context a model would get for this message now. Nothing is stored."""
        new_turn = self._new_turn(message, "", None, session, None)
        recent = self.turns(session=new_turn.session, limit=RECENT_TURNS, newest=True)
        summary = self._summarizer.current_summary(self.user, new_turn.session)
        recalled = narrow_recollection(self.recall(new_turn.query, k=k), summary, new_turn.query)
        recalled = self._links().expand(recalled, new_turn.query)
        return self._build_context(new_turn.query, summary, recalled, recent, new_turn.at)

    def context_before(self, *, session: str = "default", k: int = 5) -> Context | None:
        """The context for the last turn of a session, from current memories; None if there is no turn."""
        turns = self.turns(session=session, limit=RECENT_TURNS + 1, newest=True)
        if not turns:
            return None
        *recent, last = turns
        summary = self._summarizer.summary_before(self.user, last.session, last.id)
        recollection = self.recall(last.query or last.response, k=k + 1)
        earlier = tuple(item for item in recollection if _is_known_before(item, last.id))[:k]
        recalled = narrow_recollection(replace(recollection, items=earlier), summary, last.query)
        return self._build_context(last.query, summary, recalled, recent, last.at)

    def summary(self, session: str = "default") -> Summary:
        """The summary of a session, up to its last turn."""
        return self._summarizer.current_summary(self.user, self._session_name(session))

    def summary_history(self, session: str = "default") -> list[SummaryUpdate]:
        """Every update of a session's summary, oldest first, including rejected ones."""
        self.summary(session)
        return self.store.summary_updates(self.user, self._session_name(session))

    def revise_summary(self, summary: Summary, reason: str) -> SummaryUpdate:
        """Replace the summary of `summary.session`. The reason is kept in its journal."""
        checked = _checked_reason(reason, "revising a summary")
        session = self._session_name(summary.session)
        return self._summarizer.revise(self.user, session, replace(summary, session=session), checked)

    def undo_summary(self, session: str = "default") -> SummaryUpdate:
        """Undo the last update of a session's summary. Undoing an undo restores it."""
        return self._summarizer.undo(self.user, self._session_name(session))

    def forget(self, memory: Thought | Turn | Ref | str | int, reason: str) -> Action:
        """Retire a thought ("thought:7", or 7) or hide a turn ("turn:3"); `undo` brings it back.

        Neither is recalled any more. Hiding a turn also takes back what thinking about it changed.

        Raises:
            NotFound: there is no such thought or turn.
            Conflict: the thought is already retired, or the turn is already hidden.
        """
        return self._forget(_memory_ref(memory), _checked_reason(reason, "forgetting"))

    def correct(
        self, memory: Thought | Turn | Ref | str | int, text: str, reason: str, *, session: str = "default"
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
        with suppress(StoreError):  # the erasure is committed, and the space is regrouped later anyway
            self._indexer.regroup_if_needed(self.user)  # a matrix learned from erased vectors was deleted too
        self._wake()
        return erased

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
        return erased

    def export(self) -> Iterator[str]:
        """The whole space as JSON lines, which `import_` reads back."""
        return transfer.export_space(self.store, self.user)

    def import_(self, lines: Iterable[str], *, progress: ProgressCallback | None = None) -> int:
        """Import an export into an empty user, or remember turns from another source.

        Everything is checked before anything is written. The user name in an export is ignored.

        Returns:
            The number of imported turns.
        """
        return self.import_users({self.user: lines}, progress=progress)

    def import_users(
        self,
        lines_by_user: Mapping[str, Iterable[str]],
        *,
        encoder: TextEncoder | None = None,
        repeatable: bool = False,
        progress: ProgressCallback | None = None,
    ) -> int:
        """`import_` for several users of one tenant. All lines are checked before anything is written.

        Args:
            lines_by_user: what to import, by the name of the user.
            encoder: computes the vectors of the turns; by default this process does. See `thinkback.bulk`.
            repeatable: give each turn without a key one from its position and text, so that importing the
                same lines again stores nothing twice.
            progress: called with (done, total).

        Returns:
            The number of imported turns.
        """
        imports = [
            (memory, exported, [memory._imported_turn(turn) for turn in imported])
            for user, lines in lines_by_user.items()
            for memory in [self if user == self.user else self.for_user(user)]
            for exported, imported in [transfer.parse_import(lines, with_keys=repeatable)]
        ]
        count = 0
        for memory, exported, new_turns in imports:
            if exported is not None:
                transfer.load_export(self.store, memory.user, exported)
                count += len(exported.turns)
            else:
                for turn in self.store.append(memory.user, new_turns, self._clock()):
                    memory._run_commands(turn)
                count += len(new_turns)
        users = [memory.user for memory, _, _ in imports]
        with suppress(StoreError):  # the turns are stored; the next recall indexes them
            self._indexer.index_spaces(users, encoder=encoder, progress=progress, total=count)
            for user in users:
                self._indexer.regroup_if_needed(user)
        for memory, _, _ in imports:
            memory._wake()
        return count

    @staticmethod
    def reembed(
        url: str | PathLike[str],
        embedder: Embedder | str,
        *,
        preset: Preset | str = "hybrid",
        progress: ProgressCallback | None = None,
        encoder: TextEncoder | None = None,
    ) -> int:
        """Convert the whole database (all users) to another embedder.

        If it is interrupted, call it again; converted vectors are kept. Meanwhile nobody can open the
        database. `encoder` computes the vectors; by default this process does.

        Returns:
            The number of converted vectors.
        """
        from thinkback import storage
        from thinkback.embedders.registry import create_embedder

        if isinstance(preset, str):
            preset = get_preset(preset)
        if isinstance(embedder, str):
            embedder = create_embedder(embedder)
        store = storage.connect(fspath(url))
        try:
            return Indexer(store, embedder, preset).reembed(progress, encoder=encoder)
        finally:
            store.close()

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
        self, query: str, response: str, at: datetime | None, session: str, key: str | None
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
        )

    def _imported_turn(self, turn: transfer.ImportedTurn) -> NewTurn:
        try:
            return self._new_turn(turn.query, turn.response, turn.at, turn.session, turn.key)
        except InvalidInput as error:
            raise InvalidInput(f"line {turn.line_number}: {error}") from error

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

    def _tell(self, new_turn: NewTurn) -> ToldTurn:
        """Store a turn and, if no model is needed for it, think about it at once."""
        (turn,) = self.store.append(self.user, [new_turn], self._clock())
        actions = self._run_commands(turn)
        if isinstance(self._reader, WithoutModelReader):
            self._think_before_answer()
        self._wake()
        drawn = {
            thought.id
            for action in self.store.journal(self.user, turn=turn.id)
            for thought in action.after
            if any(source.turn == turn.id for source in thought.sources)
        }
        thoughts = self.store.thoughts(self.user, ids=sorted(drawn)) if drawn else []
        visible = tuple(thought for thought in thoughts if thought.current and not withheld_reason(thought))
        return ToldTurn(turn, tuple(actions), visible)

    def _think_before_answer(self) -> None:
        """Think about the pending turns, unless they are many; it takes some milliseconds a turn."""
        pending = self.store.pending(self.user)
        if pending > MAX_PENDING_BEFORE_ANSWER:
            return
        with suppress(ThinkbackError):  # the turns are stored: the background thread tries again
            self._thinker.think_pending(self.user, limit=max(pending, 1))
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while time.monotonic() < deadline and self.store.pending(self.user):
            time.sleep(MAX_WAIT_SECONDS / 20)  # the background thread has just taken the turn

    def _build_context(
        self,
        message: str,
        summary: Summary,
        recalled: Iterable[Candidate],
        recent: Sequence[Turn],
        now: datetime,
        integrated: str = "",
    ) -> Context:
        return compose_context(
            message,
            summary,
            recalled,
            recent,
            now,
            instructions=self._instructions,
            wishes=[thought.sentence for thought in self.instructions()],
            integrated=integrated,
        )

    def _set_components(self, components: Components) -> None:
        self._components = components
        self.store = components.store
        self._indexer = components.indexer
        self._recall_store = components.recall_store
        self._recall_indexer = components.recall_indexer
        self._thinker = components.thinker
        self._consolidator = components.consolidator
        self._summarizer = components.summarizer
        self._commands = components.commands

    def _process_space(self, space_key: SpaceKey, *, stopping: Callable[[], bool]) -> bool:
        """Called by the worker, which serves the spaces of all tenants."""
        tenant, space = space_key
        components = self._components if tenant == self.tenant else self._components.for_tenant(tenant)
        return components.process_space(space, stopping=stopping)

    def _loader(self, cache: RecallCache) -> MemoryLoader:
        def read_thoughts(ids: Sequence[int]) -> Sequence[Thought]:
            return self._recall_store.thoughts(self.user, ids=ids, current=False)

        def read_turns(ids: Sequence[int]) -> Sequence[Turn]:
            return self._recall_store.turns(self.user, ids=ids)

        return MemoryLoader(
            thoughts=lambda ids: cache.thoughts(ids, read_thoughts),
            turns=lambda ids: cache.turns(ids, read_turns),
            journal=lambda id_: self._recall_store.journal(self.user, thought=id_),
            lifecycles=cache.lifecycles,
            memoise=cache.memoise,
            memoise_row=cache.memoise_row,
            nearest=partial(self._recall_store.nearest, self.user),
        )

    def _understand(self, text: str, view: CachedSpace) -> ResolvedQuery:
        """Resolve the entities in the query. Thoughts are read only if a phrase may name somebody."""
        if not may_name_entity(text):
            return ResolvedQuery("none")
        with view.lock:
            graph = RecallCache.of(view).entity_graph(lambda: self._recall_store.thoughts(self.user))
        return resolve_query(text, graph)

    def _links(self) -> ThoughtLinks:
        """The links between the current thoughts, from the cache of the space."""
        view = self._indexer.view(self.user)
        with view.lock:
            return RecallCache.of(view).thought_links(lambda: self.store.thoughts(self.user))

    def _retention(self, preset: Preset) -> RetentionScorer | None:
        policy = preset.retention
        recall_counts = partial(self.store.recall_counts, self.user)
        return None if policy is None else RetentionScorer(policy, self._clock(), recall_counts)

    def _known_at(self, as_of: datetime | None, known_at: datetime) -> tuple[KnowledgeSnapshot, MemoryLoader]:
        """The space as it was known at that time: the replayed journal and the turns recorded by then."""
        actions = self.store.journal(self.user)
        thoughts, hidden = replay(actions, known_at), hidden_turns(actions, known_at)
        valid = frozenset(thought.id for thought in filter_by_time(thoughts.values(), as_of, known_at))
        turns = {
            turn.id: turn
            for turn in self.store.turns(self.user, hidden=True)
            if turn.recorded_at <= known_at and turn.id not in hidden
        }
        loader = MemoryLoader(
            thoughts=lambda ids: [thoughts[id_] for id_ in ids if id_ in thoughts],
            turns=lambda ids: [turns[id_] for id_ in ids if id_ in turns],
            journal=lambda id_: [
                action for action in self.store.journal(self.user, thought=id_) if action.at <= known_at
            ],
        )
        return KnowledgeSnapshot(valid, frozenset(thoughts), frozenset(turns)), loader

    def _wake(self) -> None:
        if self._worker is not None:
            self._worker.wake((self.tenant, self.user))


def _is_known_before(item: Candidate, turn: int) -> bool:
    return (item.thought.last_turn if item.thought else item.ref.id) < turn


def _memory_ref(memory: Thought | Turn | Ref | str | int) -> Ref:
    ref = memory.ref if isinstance(memory, (Thought, Turn)) else parse_ref(memory, "thought")
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
