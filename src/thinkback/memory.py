"""`Memory`: the long-term memory of one user.

with Memory("memory.db", user="ann") as memory:
    memory.remember("I moved to Lyon.", "How exciting!")
    memory.recall("Where do I live?")
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from os import PathLike, fspath
from typing import Self, Unpack
from weakref import WeakSet

from thinkback import transfer
from thinkback.components import Components, SharedComponents
from thinkback.errors import InvalidInput, ModelError, StoreError, ThinkbackError
from thinkback.forgotten import without_forgotten
from thinkback.indexing import Indexer, TextEncoder
from thinkback.language.safety.quarantine import redact, redact_memory, withheld_reason
from thinkback.llms.metering import MeteredLLM
from thinkback.memory_changes import MemoryChanges
from thinkback.memory_config import MemoryConfig, MemoryOptions
from thinkback.memory_recall import MemoryRecall
from thinkback.network.cross_encoder import get_cross_encoder, load_cross_encoder
from thinkback.presets import CAREFUL, HYBRID, Preset, get_preset
from thinkback.protocols import Embedder, ProgressCallback, Store
from thinkback.recall.acknowledgements import ToldTurn, own_words
from thinkback.recall.asked_restrictions import asks_for_restrictions
from thinkback.recall.chat import ChatStream
from thinkback.recall.consistency import AnswerCheck, CheckerFactory, TouchedConstraint
from thinkback.recall.question_classifier import mark_question
from thinkback.recall.synthesis import synthesise, synthesise_by_rules
from thinkback.session.context import (
    RECENT_TURNS,
    VERBATIM_TURNS,
    Context,
    compose_context,
    narrow_recollection,
)
from thinkback.think.reader_extractive import find_likely_facts
from thinkback.think.readers import WithoutModelReader
from thinkback.think.worker import Worker
from thinkback.types import (
    Answer,
    Candidate,
    Message,
    NewTurn,
    Recollection,
    SpaceKey,
    Summary,
    SummaryUpdate,
    Synthesis,
    ThinkResult,
    Turn,
    Usage,
)
from thinkback.usage import Stopwatch, count_usage
from thinkback.validation import checked_limit, checked_name, checked_tenant

POLL_SECONDS = 0.01
MAX_WAIT_SECONDS = 2.0  # for the background thread, before an answer without a model says what was kept
MAX_PENDING_BEFORE_ANSWER = 8  # turns; with a longer backlog the answer does not wait for thinking


class Memory(MemoryChanges, MemoryRecall):
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

        if unknown := options.keys() - MemoryOptions.__annotations__.keys():
            raise TypeError(f"Memory() has no option {min(unknown)!r}")
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
        self._get_cross_encoder = get_cross_encoder
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

    def post_think(
        self,
        *,
        limit: int | None = None,
        max_seconds: float | None = None,
        progress: ProgressCallback | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> ThinkResult:
        """Think about pending turns now and update session summaries. The background thread does the same.

        Args:
            limit: think about at most this many turns.
            max_seconds: begin no further batch of turns after this time. Summaries are updated anyway.
            progress: called with (done, total).
            stopping: checked between turns; return True to stop early.
        """
        started, batches = time.monotonic(), itertools.count()

        def ends() -> bool:  # asked before each batch of turns; the first one is always thought over
            is_over = next(batches) > 0 and time.monotonic() - started > (max_seconds or 0.0)
            return (max_seconds is not None and is_over) or stopping()

        result = self._thinker.think_pending(
            self.user, limit=checked_limit(limit), progress=progress, stopping=ends
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

    @property
    def _answers_itself(self) -> bool:
        """Whether memory itself answers questions about what was told, because no capable model does."""
        return self.llm is None or not self.llm.extracts

    @property
    def _model_preset(self) -> Preset:
        """How to recall for a capable model: it judges itself whether the memories tell the answer."""
        return replace(self._preset, min_confidence=0.0)

    def _answer_preset(self, *, for_chat: bool = False) -> Preset:
        """How to recall for an answer: carefully where memory itself, not a capable model, answers.

        The chat is never silent: where it is not sure, it says so and quotes the nearest memory.
        """
        if not self._answers_itself:
            return self._model_preset
        if self._preset != HYBRID or load_cross_encoder() is None:
            return self._preset
        return replace(CAREFUL, min_confidence=0.0) if for_chat else CAREFUL

    def chat(self, message: str, *, session: str = "default", k: int = 5) -> Answer:
        """Recall memories, let the model answer with them, and remember the turn."""
        stream = self.chat_stream(message, session=session, k=k)
        for _ in stream:
            pass
        return stream.answer

    def chat_stream(
        self, message: str, *, session: str = "default", k: int = 5, key: str | None = None
    ) -> ChatStream:
        """Like `chat`, but streaming: iterate over the pieces of text, then read `.answer`.

        `key` is an idempotency key, as in `remember`: a second turn with it is not stored.
        """
        new_turn = self._new_turn(message, "", None, session, key)
        recent = self._recent_turns(new_turn.session, RECENT_TURNS)
        try:
            query = mark_question(message, use_network=self._answers_itself)
            recalled = self.recall(query, k=k, preset=self._answer_preset(for_chat=True))
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
            look_up=self.recall,
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
        recent = self._recent_turns(new_turn.session, VERBATIM_TURNS)
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
        recollection = self._with_restrictions(self.recall(question, k=k, preset=self._answer_preset()))
        watch = Stopwatch()
        with count_usage() as counter, watch("synthesise"):
            llm = None if self.llm is None else MeteredLLM(self.llm)
            synthesis = synthesise(llm, recollection.query, recollection, max_words)
            if synthesis.by == "rules" and not self._answers_itself and self._preset.min_confidence:
                # The model failed, which would have judged what is unsure.
                sure = self._with_restrictions(self.recall(question, k=k))
                synthesis = synthesise_by_rules(sure.query, sure, max_words, synthesis.note)
        return replace(synthesis, usage=counter.to_usage({**recollection.usage.ms, **watch.ms}))

    ask = synthesise

    def _with_restrictions(self, recollection: Recollection) -> Recollection:
        """The recollection; with all restrictions if the query asks for them, as a part is taken for all."""
        if not asks_for_restrictions(recollection.query):
            return recollection
        return self._links().expand(recollection, recollection.query)

    def context(self, message: str, *, session: str = "default", k: int = 5) -> Context:
        """The context a model would get for this message now. Nothing is stored."""
        new_turn = self._new_turn(message, "", None, session, None)
        recent = self._recent_turns(new_turn.session, RECENT_TURNS)
        summary = self._summarizer.current_summary(self.user, new_turn.session)
        recalled = self.recall(new_turn.query, k=k, preset=self._model_preset)
        recalled = narrow_recollection(recalled, summary, new_turn.query)
        recalled = self._links().expand(recalled, new_turn.query)
        return self._build_context(new_turn.query, summary, recalled, recent, new_turn.at)

    def context_before(self, *, session: str = "default", k: int = 5) -> Context | None:
        """The context for the last turn of a session, from current memories; None if there is no turn."""
        turns = self.turns(session=session, limit=RECENT_TURNS + 1, newest=True)
        if not turns:
            return None
        *recent, last = turns
        summary = self._summarizer.summary_before(self.user, last.session, last.id)
        recollection = self.recall(last.query or last.response, k=k + 1, preset=self._model_preset)
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

    def _imported_turn(self, turn: transfer.ImportedTurn) -> NewTurn:
        try:
            return self._new_turn(turn.query, turn.response, turn.at, turn.session, turn.key)
        except InvalidInput as error:
            raise InvalidInput(f"line {turn.line_number}: {error}") from error

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
        is_read = not self.store.pending(self.user)
        mentioned: list[str] = []
        is_plain = not (drawn or actions) and redact_memory(turn) is turn  # no instructions, no secrets
        if is_read and is_plain and isinstance(self._reader, WithoutModelReader):
            mentioned = find_likely_facts(own_words(turn.query), turn.at)
        return ToldTurn(turn, tuple(actions), visible, tuple(mentioned), is_read)

    def _think_before_answer(self) -> None:
        """Think about the pending turns, unless they are many; it takes some milliseconds a turn."""
        pending = self.store.pending(self.user)
        if pending > MAX_PENDING_BEFORE_ANSWER:
            return
        try:
            done = self._thinker.think_pending(self.user, limit=max(pending, 1))
        except ThinkbackError:  # the turns are stored: the background thread tries again
            return
        if done.turns or done.failed:
            return
        deadline = time.monotonic() + MAX_WAIT_SECONDS  # the background thread has just taken the turn
        while time.monotonic() < deadline and self.store.pending(self.user):
            time.sleep(POLL_SECONDS)

    def _recent_turns(self, session: str, limit: int) -> list[Turn]:
        """The last turns of a session, without what was forgotten."""
        turns = self.turns(session=session, limit=limit, newest=True)
        kept = without_forgotten(self.store, self.user, turns)
        return [turn for turn in kept if turn.query.strip() or turn.response.strip()]

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


def _is_known_before(item: Candidate, turn: int) -> bool:
    return (item.thought.last_turn if item.thought else item.ref.id) < turn
