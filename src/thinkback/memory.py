"""Memory: the whole of thinkback for one user, composed of its parts and of nothing else.

with Memory.open("memory.db", user="ann") as memory:
    memory.remember("I moved to Lyon.", "How exciting!")
    memory.recall("Where do I live?")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from os import PathLike, fspath
from typing import Any, Self
from weakref import WeakSet

from thinkback import transfer
from thinkback.components import Components, create_shared_components
from thinkback.errors import Conflict, InvalidInput, ModelError, NotFound, StoreUnavailable
from thinkback.history import filter_by_time, replay
from thinkback.index.cache import DEFAULT_CACHE_BYTES, CachedSpace
from thinkback.index.row_cache import RowCache
from thinkback.indexing import Indexer, ProgressCallback
from thinkback.llms.metering import MeteredLLM
from thinkback.presets import HYBRID, Preset
from thinkback.presets import get_preset as named_preset
from thinkback.protocols import LLM, Clock, Embedder, Store
from thinkback.queries import MemoryQueries, checked_time
from thinkback.recall.chat import ChatStream
from thinkback.recall.consistency import CheckerFactory
from thinkback.recall.entities import EntityGraph
from thinkback.recall.kinds import classify_query
from thinkback.recall.pack import fit_to_budget
from thinkback.recall.query import (
    KnowledgeSnapshot,
    MemoryLoader,
    PreparedQuery,
    ResolvedQuery,
    may_name_entity,
    resolve_query,
)
from thinkback.recall.retention import RetentionScorer
from thinkback.recall.retrieve import retrieve
from thinkback.recall.synthesis import synthesise
from thinkback.refs import parse_ref
from thinkback.session.context import (
    RECENT_TURNS,
    VERBATIM_TURNS,
    Context,
    compose_context,
    narrow_recollection,
)
from thinkback.think.answer_reader import AnswerReader
from thinkback.think.factory import ThinkMode
from thinkback.think.generator import ThoughtGenerator
from thinkback.think.worker import Worker
from thinkback.times import to_utc, utc_now
from thinkback.types import (
    CORRECTED_IN_PREFIX,
    Action,
    Answer,
    Candidate,
    EraseResult,
    Kind,
    Message,
    NewTurn,
    RecalledItem,
    Recollection,
    Ref,
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
from thinkback.validation import checked_limit, checked_name, checked_tenant, checked_text


class Memory(MemoryQueries):
    """What one user told, and what was thought of it. Thread-safe; close it, or use it in a `with`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        user: str = "default",
        llm: LLM | None = None,
        think: ThinkMode | ThoughtGenerator = "auto",
        preset: Preset = HYBRID,
        integrate: bool = False,
        background: bool = True,
        clock: Clock = utc_now,
        summary_llm: LLM | None = None,
        instructions: str = "",
        summary_instructions: str = "",
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        self.user = checked_name(user, "user")
        self.llm = llm
        self.embedder = embedder
        self._preset = preset
        self._integrate = integrate
        self._clock = clock
        of_all = create_shared_components(
            embedder,
            preset,
            clock,
            think=think,
            llm=llm,
            summary_llm=summary_llm,
            summary_instructions=summary_instructions,
            cache_bytes=cache_bytes,
        )
        self._set_components(Components(store, of_all))
        self._instructions = instructions
        self._worker = Worker(self._process_space) if background else None
        self._checks = CheckerFactory(AnswerReader(), embedder.embed)
        self._streams: WeakSet[ChatStream] = WeakSet()
        self._owns_components = True
        self._owned: list[object] = []
        store.bind_embedder(embedder.name)
        self._wake()

    @classmethod
    def open(
        cls,
        url: str | PathLike[str] = "thinkback.db",
        *,
        llm: LLM | str | None = None,
        embedder: Embedder | str = "minilm",
        user: str = "default",
        tenant: str = "",
        think: ThinkMode | ThoughtGenerator = "auto",
        preset: Preset | str = "hybrid",
        integrate: bool = False,
        background: bool = True,
        clock: Clock = utc_now,
        summary_llm: LLM | str | None = None,
        instructions: str = "",
        summary_instructions: str = "",
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> Self:
        """Open (or create) the database at `url`, for a user (of a tenant, where a server shares it out).

        `llm` and `embedder` are adapters or their names: `openai:gpt-4o-mini`, `local:smollm2`; `minilm`,
        `wordllama`, `openai:text-embedding-3-small`. Without an `llm` everything works by rules; with one,
        `integrate` has it join what is recalled into one thought before it answers a chat: one more call.
        Without a `summary_llm` rules summarise sessions. `instructions` are given to the model that answers,
        `summary_instructions` to the one that summarises. Spaces that are read stay in memory up to
        `cache_bytes` together: those of least recent use are read again when they are asked for.
        """
        from thinkback import storage
        from thinkback.embedders.registry import create_embedder
        from thinkback.llms.registry import create_llm

        chosen = named_preset(preset) if isinstance(preset, str) else preset
        embeds = create_embedder(embedder) if isinstance(embedder, str) else embedder
        speaks = create_llm(llm) if isinstance(llm, str) else llm
        notes = create_llm(summary_llm) if isinstance(summary_llm, str) else summary_llm
        whose = checked_tenant(tenant)
        store = storage.connect(fspath(url))
        try:
            memory = cls(
                store.for_tenant(whose),
                embeds,
                user=user,
                llm=speaks,
                think=think,
                preset=chosen,
                integrate=integrate,
                background=background,
                clock=clock,
                summary_llm=notes,
                instructions=instructions,
                summary_instructions=summary_instructions,
                cache_bytes=cache_bytes,
            )
        except BaseException:
            store.close()
            raise
        pairs = ((embeds, embedder), (speaks, llm), (notes, summary_llm))
        made = [model for model, given in pairs if isinstance(given, str)]
        return memory.own(store, *made)

    def own(self, *models: object) -> Self:
        """Close these, too (their connections, their weights), when this memory closes."""
        self._owned += models
        return self

    def for_user(self, user: str) -> Self:
        """The memory of another user in the same database; it lives as long as this one."""
        other = copy(self)
        other.user = checked_name(user, "user")
        other._owns_components = False
        other._wake()
        return other

    @property
    def tenant(self) -> str:
        """Whose memories these are; empty for the library and the command line."""
        return self.store.tenant

    def for_tenant(self, tenant: str) -> Self:
        """The memories of another tenant in the same database; they live as long as this one."""
        other = copy(self)
        other._set_components(self._components.for_tenant(checked_tenant(tenant)))
        other._owns_components = False
        other._wake()
        return other

    def close(self) -> None:
        """End the background work after the turn in hand, and release the database. Nothing is lost."""
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

    # --- the write path -----------------------------------------------------------------------

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
        """Keep one turn; it is durable when this returns. The same `key` again returns the same turn.

        `recalled` are the memories that whoever answered was given: `why` tells them.
        """
        said = self._new_turn(query, response, at, session, key)
        return self._append_turn(replace(said, recalled=tuple(recalled)))

    def remember_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        at: datetime | None = None,
        session: str = "default",
        key: str | None = None,
    ) -> list[Turn]:
        """Keep a list of role/content messages as turns, all or none of them."""
        said = [
            self._new_turn(query, response, at, session, transfer.numbered_key(key, number))
            for number, (query, response) in enumerate(transfer.pair_messages(messages))
        ]
        if not said:
            raise InvalidInput("no user or assistant message to remember")
        turns = self.store.append(self.user, said, self._clock())
        self._wake()
        return turns

    def post_think(
        self,
        *,
        limit: int | None = None,
        progress: ProgressCallback | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> ThinkResult:
        """Think over what is pending now, and follow with summaries; the background does so by itself.

        It ends after the turn in hand once `stopping()` is true.
        """
        done = self._thinker.think_pending(
            self.user, limit=checked_limit(limit), progress=progress, stopping=stopping
        )
        if stopping() or not self.store.summaries_behind(self.user):
            return done
        watch = Stopwatch()
        with count_usage() as tally, watch("summarise"):
            problems = self._summarizer.update_summaries(self.user, stopping)
        cost = done.usage
        receipt = Usage(
            cost.llm_calls + tally.calls,
            cost.prompt_tokens + tally.prompt_tokens,
            cost.completion_tokens + tally.completion_tokens,
            ms={**cost.ms, **watch.ms},
        )
        return replace(done, problems=(*done.problems, *problems), usage=receipt)

    def release_claims(self) -> None:
        """Leave the turn that is being thought over to whoever comes next: this process must end now."""
        self._thinker.release_claims()

    def organise(self, *, group: int | None = None, progress: ProgressCallback | None = None) -> ThinkResult:
        """Put one group of thoughts in order now, or all: merge, and forget what others speak against.

        The background does so by itself whenever a group has doubled.
        """
        watch = Stopwatch()
        with count_usage() as tally, watch("organise"):
            if group is None:
                done = self._consolidator.consolidate_all(self.user, progress)
            else:
                done = self._consolidator.consolidate_group(self.user, group)
        receipt = Usage(tally.calls, tally.prompt_tokens, tally.completion_tokens, ms=watch.ms)
        return ThinkResult(actions=tuple(done), usage=receipt)

    def retry_failures(self) -> int:
        """Put every dead letter back among what is pending; how many those were."""
        count = self.store.retry_failures(self.user)
        self._wake()
        return count

    def wait(self, timeout: float | None = None) -> bool:
        """Until the background worker has nothing left to do now; raises what made it fail.

        A turn that waits for another try (a model was down) is not waited for: `stats().pending` counts it.
        """
        return self._worker is None or self._worker.wait(timeout)

    # --- the read path ------------------------------------------------------------------------

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
        """The few memories that matter for `query`, each with its reason; sees every turn remembered before.

        `as_of` asks what held at that time, `known_at` what this memory knew at that time. `explain` adds
        what was looked at and dropped, every part of every score, and what the query was taken for:
        `why(recollection)` tells it in words. `preset` searches in another way, this once, in the groups
        there are. `budget` is how many tokens their texts may take together: long ones are trimmed around
        what is asked (the `turn` of an item stays whole).
        """
        chosen = named_preset(preset) if isinstance(preset, str) else preset or self._preset
        if not isinstance(k, int) or k < 1:
            raise InvalidInput(f"k={k!r}: ask for at least one memory, by a whole number")
        if budget is not None and (not isinstance(budget, int) or budget < 1):
            raise InvalidInput(f"budget={budget!r}: give at least one token, by a whole number")
        text = checked_text(query, "query")
        if not text.strip():
            raise InvalidInput("the query is empty: ask something")
        when, then = checked_time(as_of, "as_of"), None
        watch = Stopwatch()
        if known_at is not None:
            with watch("replay"):
                then = self._known_at(when, to_utc(known_at, "known_at"))
        with watch("index"):
            view = self._indexer.fresh_view(self.user)
        with watch("understand"):
            meant = self._understand(text, view) if then is None else ResolvedQuery("none")
        with watch("embed"):
            vector, terms = self._indexer.embed(text)
        with watch("search"), view.lock:
            known, lookup = then or (None, self._lookup(view.row_cache))
            fading = self._fading(chosen) if when is None and known is None else None
            question = PreparedQuery(
                text,
                vector,
                terms,
                k,
                when,
                explain,
                known,
                fading,
                self._clock(),
                meant.about_ids,
                meant.expand(text),
                classify_query(text, vector, self.embedder.name) if chosen.uses_kinds else {},
                meant,
            )
            found = retrieve(question, view.index, view.hashing, chosen, lookup)
        if budget is not None:
            with watch("pack"):
                found = fit_to_budget(found, budget, explain=explain)
        if fading is not None and (recalled := [item.ref.id for item in found if item.thought]):
            # to count a recall is not worth failing it: the database may be busy, the user just erased
            with watch("retain"), suppress(StoreUnavailable, NotFound):
                self.store.record_recalls(self.user, recalled, self._clock())
        return replace(found, usage=Usage(ms=watch.ms))

    def kinds(self, query: str) -> dict[Kind, float]:
        """Which kind of memory a query asks for, as probabilities (PerLTQA, Eq. 1)."""
        text = checked_text(query, "query")
        vector, _ = self._indexer.embed(text)
        return classify_query(text, vector, self.embedder.name)

    def chat(self, message: str, *, session: str = "default", k: int = 5) -> Answer:
        """Recall, answer with the thoughts, remember the turn; thinking follows in the background."""
        stream = self.chat_stream(message, session=session, k=k)
        for _ in stream:
            pass
        return stream.answer

    def chat_stream(self, message: str, *, session: str = "default", k: int = 5) -> ChatStream:
        """The same, piece by piece: iterate it, then read `.answer`."""
        said = self._new_turn(message, "", None, session, None)
        recent = self.turns(session=said.session, limit=RECENT_TURNS, newest=True)
        try:
            recalled = self.recall(message, k=k)
        except ModelError:  # the embedder failed: nobody can answer, but what was said is kept
            self._append_turn(said)
            raise
        summary = self._summarizer.current_summary(self.user, said.session)
        if self.llm is not None and self.llm.follows:
            recalled = narrow_recollection(recalled, summary, said.query)

        def composed(integrated: str) -> Sequence[Message]:
            context = self._build_context(said.query, summary, recalled, recent, said.at, integrated)
            return context.messages

        last = recent[-VERBATIM_TURNS:]
        stream = ChatStream(
            said, recalled, last, self.llm, self._append_turn, self._checks, composed, self._integrate
        )
        self._streams.add(stream)
        return stream

    def synthesise(self, question: str, k: int = 5, max_words: int = 50) -> Synthesis:
        """A short answer from what is recalled, each fact cited, or that it is not known; keeps no turn."""
        if not isinstance(max_words, int) or max_words < 1:
            raise InvalidInput(f"max_words={max_words!r}: allow at least one word, by a whole number")
        found = self.recall(question, k=k)
        watch = Stopwatch()
        with count_usage() as tally, watch("synthesise"):
            llm = None if self.llm is None else MeteredLLM(self.llm)
            made = synthesise(llm, found.query, found, max_words)
        ms = {**found.usage.ms, **watch.ms}
        receipt = Usage(tally.calls, tally.prompt_tokens, tally.completion_tokens, ms=ms)
        return replace(made, usage=receipt)

    # --- working memory -----------------------------------------------------------------------

    def context(self, message: str, *, session: str = "default", k: int = 5) -> Context:
        """What a model would be given for this message now, part by part; nothing is remembered of it."""
        said = self._new_turn(message, "", None, session, None)
        recent = self.turns(session=said.session, limit=RECENT_TURNS, newest=True)
        summary = self._summarizer.current_summary(self.user, said.session)
        recalled = narrow_recollection(self.recall(said.query, k=k), summary, said.query)
        return self._build_context(said.query, summary, recalled, recent, said.at)

    def context_before(self, *, session: str = "default", k: int = 5) -> Context | None:
        """The context of the session's last turn, from what is remembered now; None before the first."""
        turns = self.turns(session=session, limit=RECENT_TURNS + 1, newest=True)
        if not turns:
            return None
        *recent, last = turns
        summary = self._summarizer.summary_before(self.user, last.session, last.id)
        found = self.recall(last.query or last.response, k=k + 1)
        earlier = tuple(item for item in found if _is_known_before(item, last.id))[:k]
        recalled = narrow_recollection(replace(found, items=earlier), summary, last.query)
        return self._build_context(last.query, summary, recalled, recent, last.at)

    def summary(self, session: str = "default") -> Summary:
        """What a session has come to, as of its last turn."""
        return self._summarizer.current_summary(self.user, checked_name(session, "session"))

    def summary_history(self, session: str = "default") -> list[SummaryUpdate]:
        """Every update of a session's summary, oldest first, with what was refused and why."""
        self.summary(session)
        return self.store.summary_updates(self.user, checked_name(session, "session"))

    def revise_summary(self, summary: Summary, reason: str) -> SummaryUpdate:
        """Put a session's summary as a person wants it; the reason is kept in its journal."""
        text = checked_text(reason, "reason").strip()
        if not text:
            raise InvalidInput("revising a summary needs a reason: it is kept in its journal")
        return self._summarizer.revise(self.user, summary.session, summary, text)

    def undo_summary(self, session: str = "default") -> SummaryUpdate:
        """Take back the last update of a session's summary; to undo that does it again."""
        return self._summarizer.undo(self.user, checked_name(session, "session"))

    # --- changing one's mind ------------------------------------------------------------------

    def forget(self, thought: Thought | Ref | str | int, reason: str) -> Action:
        """Retire a thought: it is recalled no more, its history stays, `undo` brings it back."""
        ref, why = _thought_ref(thought), _checked_reason(reason, "forgetting")
        return self.store.retire(self.user, ref.id, why, "user", self._clock())

    def correct(
        self, thought: Thought | Ref | str | int, text: str, reason: str, *, session: str = "default"
    ) -> Turn:
        """Put what is so in the place of a thought: the text is remembered, the thought retired for it.

        What is made of the text follows like that of any turn; the journal names the turn as the reason.
        """
        ref, why = _thought_ref(thought), _checked_reason(reason, "correcting")
        said = self._new_turn(text, "", None, session, None)
        held = self.store.thoughts(self.user, ids=[ref.id], current=False)
        if not held:
            raise NotFound(f"no {ref} of user {self.user!r}")
        if held[0].retired_at is not None:
            raise Conflict(f"{ref} is already retired: correct what is held true now")
        (turn,) = self.store.append(self.user, [said], self._clock())
        with suppress(Conflict):  # another worker has thought it over already, and retired the thought for it
            self.store.retire(
                self.user, ref.id, f"{CORRECTED_IN_PREFIX}{turn.ref}: {why}", "user", self._clock()
            )
        self._wake()
        return turn

    def undo(self, action: Action | Ref | str | int) -> Action:
        """Take back one action of the journal; undoing the undo does it again."""
        ref = (
            action.ref if isinstance(action, Action) else _require_kind(parse_ref(action, "action"), "action")
        )
        return self.store.undo(self.user, ref.id, "user", self._clock())

    def erase(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        turn: Turn | Ref | str | int | None = None,
    ) -> EraseResult:
        """Physically delete a turn, a session or a user with everything derived from it. No undo."""
        if sum(choice is not None for choice in (user, session, turn)) != 1:
            raise InvalidInput("erase exactly one of user=, session= or turn=")
        if user is not None:
            gone = self.store.erase(checked_name(user, "user"), now=self._clock())
            self._indexer.evict(user)
            return gone
        if session is not None:
            erased = self.store.erase(self.user, session=checked_name(session, "session"), now=self._clock())
        elif turn is not None:
            ref = turn.ref if isinstance(turn, Turn) else _require_kind(parse_ref(turn, "turn"), "turn")
            erased = self.store.erase(self.user, turn=ref.id, now=self._clock())
        self._indexer.regroup_if_needed(self.user)  # groups learned from the erased went with them
        self._wake()
        return erased

    # --- moving -------------------------------------------------------------------------------

    def export(self) -> Iterator[str]:
        """The whole space as JSON lines; `import_` of them gives the same space."""
        return transfer.export_space(self.store, self.user)

    def import_(self, lines: Iterable[str], *, progress: ProgressCallback | None = None) -> int:
        """Read an export into an empty user, or remember turns from elsewhere; how many turns came in.

        Everything is checked before anything is written. An export's own user name gives way to this one.
        """
        exported, foreign = transfer.parse_import(lines)
        if exported is not None:
            transfer.load_export(self.store, self.user, exported)
            count = len(exported.turns)
        else:
            said = [self._imported_turn(line) for line in foreign]
            self.store.append(self.user, said, self._clock())
            count = len(said)
        self._indexer.index_pending(self.user, progress, total=count)
        self._indexer.regroup_if_needed(self.user)
        self._wake()
        return count

    @staticmethod
    def reembed(
        url: str | PathLike[str],
        embedder: Embedder | str,
        *,
        preset: Preset | str = "hybrid",
        progress: ProgressCallback | None = None,
    ) -> int:
        """Convert the whole database at `url`, every user, to another embedder; how many vectors that were.

        If it is interrupted, call it again: what is converted stays so, and nobody else can open the
        database meanwhile.
        """
        from thinkback import storage
        from thinkback.embedders.registry import create_embedder

        chosen = named_preset(preset) if isinstance(preset, str) else preset
        embeds = create_embedder(embedder) if isinstance(embedder, str) else embedder
        store = storage.connect(fspath(url))
        try:
            return Indexer(store, embeds, chosen).reembed(progress)
        finally:
            store.close()

    # --- inside -------------------------------------------------------------------------------

    def _new_turn(
        self, query: str, response: str, at: datetime | None, session: str, key: str | None
    ) -> NewTurn:
        asked, answered = checked_text(query, "query"), checked_text(response, "response")
        if not asked.strip() and not answered.strip():
            raise InvalidInput("a turn needs a query or a response: both are empty")
        return NewTurn(
            query=asked,
            response=answered,
            at=self._clock() if at is None else to_utc(at, "at"),
            session=checked_name(session, "session"),
            key=None if key is None else checked_name(key, "key"),
        )

    def _imported_turn(self, line: transfer.ImportedTurn) -> NewTurn:
        try:
            return self._new_turn(line.query, line.response, line.at, line.session, line.key)
        except InvalidInput as error:
            raise InvalidInput(f"line {line.number}: {error}") from error

    def _append_turn(self, said: NewTurn) -> Turn:
        (turn,) = self.store.append(self.user, [said], self._clock())
        self._wake()
        return turn

    def _build_context(
        self,
        message: str,
        summary: Summary,
        recalled: Iterable[Candidate],
        recent: Sequence[Turn],
        now: datetime,
        integrated: str = "",
    ) -> Context:
        own = self._instructions
        return compose_context(
            message, summary, recalled, recent, now, instructions=own, integrated=integrated
        )

    def _set_components(self, parts: Components) -> None:
        self._components = parts
        self.store = parts.store
        self._indexer = parts.indexer
        self._thinker = parts.thinker
        self._consolidator = parts.consolidator
        self._summarizer = parts.summarizer

    def _process_space(self, place: SpaceKey, *, stopping: Callable[[], bool]) -> bool:
        """One worker thinks for all tenants: it is given the parts of the one whose space it is."""
        tenant, space = place
        parts = self._components if tenant == self.tenant else self._components.for_tenant(tenant)
        return parts.process_space(space, stopping=stopping)

    def _lookup(self, kept: RowCache) -> MemoryLoader:
        def thoughts(ids: Sequence[int]) -> Sequence[Thought]:
            return self.store.thoughts(self.user, ids=ids, current=False)

        def turns(ids: Sequence[int]) -> Sequence[Turn]:
            return self.store.turns(self.user, ids=ids)

        return MemoryLoader(
            lambda ids: kept.thoughts(ids, thoughts),
            lambda ids: kept.turns(ids, turns),
            lambda id_: self.store.journal(self.user, thought=id_),
            kept.lifecycles,
            kept.memoise,
        )

    def _understand(self, text: str, view: CachedSpace) -> ResolvedQuery:
        """Whom the query speaks of; who is who is read only for a phrase that may name somebody."""
        if not may_name_entity(text):
            return ResolvedQuery("none")
        with view.lock:
            if view.row_cache.entity_graph is None:
                view.row_cache.entity_graph = EntityGraph.from_thoughts(self.store.thoughts(self.user))
            graph: EntityGraph = view.row_cache.entity_graph
        return resolve_query(text, graph)

    def _fading(self, preset: Preset) -> RetentionScorer | None:
        policy = preset.retention
        recalls = partial(self.store.recall_counts, self.user)
        return None if policy is None else RetentionScorer(policy, self._clock(), recalls)

    def _known_at(self, as_of: datetime | None, known_at: datetime) -> tuple[KnowledgeSnapshot, MemoryLoader]:
        """The space as this memory knew it then: the journal replayed, and the turns recorded by then."""
        past = replay(self.store.journal(self.user), known_at)
        held = frozenset(thought.id for thought in filter_by_time(past.values(), as_of, known_at))
        turns = {turn.id: turn for turn in self.store.turns(self.user) if turn.recorded_at <= known_at}
        lookup = MemoryLoader(
            lambda ids: [past[id_] for id_ in ids if id_ in past],
            lambda ids: [turns[id_] for id_ in ids if id_ in turns],
            lambda id_: [each for each in self.store.journal(self.user, thought=id_) if each.at <= known_at],
        )
        return KnowledgeSnapshot(held, frozenset(past), frozenset(turns)), lookup

    def _wake(self) -> None:
        if self._worker is not None:
            self._worker.wake((self.tenant, self.user))


def _is_known_before(item: Candidate, turn: int) -> bool:
    return (item.thought.last_turn if item.thought else item.ref.id) < turn


def _thought_ref(thought: Thought | Ref | str | int) -> Ref:
    return (
        thought.ref
        if isinstance(thought, Thought)
        else _require_kind(parse_ref(thought, "thought"), "thought")
    )


def _checked_reason(text: str, doing: str) -> str:
    reason = checked_text(text, "reason").strip()
    if not reason:
        raise InvalidInput(f"{doing} needs a reason: it is kept in the journal")
    return reason


def _require_kind(ref: Ref, kind: str) -> Ref:
    if ref.kind != kind:
        raise InvalidInput(f"{ref} is no {kind}: give the number alone, or {kind}:{ref.id}")
    return ref
