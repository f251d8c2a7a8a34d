"""Chat answers: streamed, checked against recalled thoughts sentence by sentence, and remembered.

The loop of TiM (ACL), section 3.4: a sentence that contradicts a recalled thought is held back, and the model
is asked again with the conflict named and, if it supports masking (Eq. 9), without the contradicting words.
If no try succeeds, the answer ends with a warning.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Self

from thinkback.errors import Conflict as KeyConflict
from thinkback.errors import InvalidInput
from thinkback.language.clauses import telling_clauses
from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import count_tokens
from thinkback.language.writing_systems import clean_text, detect_language
from thinkback.protocols import LLM
from thinkback.recall.acknowledgements import ToldTurn
from thinkback.recall.consistency import CheckerFactory, Conflict, ConsistencyChecker
from thinkback.recall.constraints import Constraint
from thinkback.recall.memory_chat import LookUp, declines, reply_from_memory
from thinkback.recall.message_parts import needs_model, split_message
from thinkback.recall.prompt_messages import (
    compose_for_small_model,
    compose_retry,
    integrate_memories,
)
from thinkback.types import (
    Answer,
    Candidate,
    CheckOutcome,
    ConsistencyCheck,
    Message,
    NewTurn,
    RecalledItem,
    Recollection,
    Reply,
    Turn,
    Usage,
)

MAX_ANSWER_TOKENS = 512
MAX_SMALL_MODEL_TOKENS = 80  # a very small model repeats itself in longer answers
MAX_RETRIES = 2  # drafts after the first
_WARNING = {"en": "(This may contradict what you told me: {})", "zh": "（这可能与你告诉过我的不一致：{}）"}
_SENTENCE_ENDS = frozenset(".!?。！？…\n")


@dataclass(slots=True)
class GenerationLog:
    """Usage and consistency checks of one answer, filled while it is generated."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    checks: list[ConsistencyCheck] = field(default_factory=list)
    warning: str = ""
    integrated: str = ""
    not_integrated: str = ""

    def record_call(self, messages: Sequence[Message], text: str, reply: Reply | None) -> None:
        """Count one call.

        Tokens are estimated if the server does not report them or the stream was closed.
        """
        prompt_tokens = sum(count_tokens(message.content) for message in messages)
        self.calls += 1 if reply is None else reply.calls
        self.prompt_tokens += (reply.prompt_tokens if reply else 0) or prompt_tokens
        self.completion_tokens += (reply.completion_tokens if reply else 0) or count_tokens(text)


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """A model, the messages for it, and the maximum length of its answer."""

    llm: LLM
    messages: Sequence[Message]
    max_tokens: int

    def stream_draft(
        self, messages: Sequence[Message], forbid: Sequence[str], log: GenerationLog
    ) -> Generator[str, None, None]:
        """Stream one draft; its usage is logged even if the reader stops early.

        Closing this generator closes the stream of the model at once, because a local model serves one
        request at a time.
        """
        pieces: list[str] = []
        reply: Reply | None = None
        stream = self.llm.stream(messages, max_tokens=self.max_tokens, forbid=forbid)
        try:
            while reply is None:
                try:
                    pieces.append(next(stream))
                except StopIteration as end:
                    reply = end.value
                else:
                    yield pieces[-1]
        finally:
            stream.close()
            log.record_call(messages, "".join(pieces), reply)


def stream_unchecked(request: GenerationRequest, log: GenerationLog) -> Generator[str, None, None]:
    """The answer as the model streams it, for a recall without thoughts that it could contradict."""
    yield from request.stream_draft(request.messages, (), log)


def stream_checked(
    request: GenerationRequest, checker: ConsistencyChecker, query: str, log: GenerationLog
) -> Generator[str, None, None]:
    """The answer sentence by sentence; each is checked before it is sent.

    With a capable model, the first sentence that needs its check and all after it are held back until the
    draft is complete, and checked together by one call.
    """
    sent = ""
    messages: Sequence[Message] = request.messages
    forbid: tuple[str, ...] = ()
    for draft in range(1, MAX_RETRIES + 2):
        conflicts: list[Conflict] = []
        rejected = ""
        held: list[str] = []  # sentences that wait for the check by the model
        with closing(request.stream_draft(messages, forbid, log)) as pieces:
            for sentence in _skip_repeated(_split_stream(pieces), sent):
                conflicts = checker.conflicts(sent + "".join(held), sentence) if sentence.strip() else []
                if conflicts and draft <= MAX_RETRIES:
                    rejected = "".join((*held, sentence))
                    break
                log.checks += [_to_check(conflict, draft, "warned") for conflict in conflicts]
                if held or (not conflicts and checker.needs_model(sentence)):
                    held.append(sentence)
                    continue
                piece = _with_space(sent, sentence)
                sent += piece
                yield piece
        if held and not rejected:
            conflicts = checker.model_conflicts(sent, "".join(held), log.record_call)
            if conflicts and draft <= MAX_RETRIES:
                rejected = "".join(held)
            else:
                log.checks += [_to_check(conflict, draft, "warned") for conflict in conflicts]
                for sentence in held:
                    piece = _with_space(sent, sentence)
                    sent += piece
                    yield piece
        if not rejected:
            break
        new_forbidden = (
            tuple(word for conflict in conflicts for word in conflict.forbid) if request.llm.masks else ()
        )
        forbid = tuple(dict.fromkeys((*forbid, *new_forbidden)))
        log.checks += [
            _to_check(conflict, draft, "masked" if new_forbidden else "regenerated") for conflict in conflicts
        ]
        messages = compose_retry(request.messages, sent, rejected, conflicts)
    warned = [check.thought for check in log.checks if check.outcome == "warned"]
    if warned:
        log.warning = _format_warning(checker, warned, query)
        yield f"\n{log.warning}"


def _format_warning(checker: ConsistencyChecker, thoughts: Sequence[int], query: str) -> str:
    sentences = " ".join(dict.fromkeys(checker.sentence_of(id_) for id_ in thoughts))
    return _WARNING["zh" if detect_language(query) == "zh" else "en"].format(sentences)


def _to_check(conflict: Conflict, draft: int, outcome: CheckOutcome) -> ConsistencyCheck:
    return ConsistencyCheck(
        thought=conflict.thought.id,
        way=conflict.method,
        words=conflict.sentence,
        reason=conflict.reason,
        score=conflict.score,
        threshold=conflict.threshold,
        draft=draft,
        outcome=outcome,
    )


def _split_stream(pieces: Iterator[str]) -> Iterator[str]:
    """Whole sentences with the white space after them, each as soon as the next one begins."""
    buffer = ""
    for piece in pieces:
        buffer += piece
        if _SENTENCE_ENDS.isdisjoint(buffer):
            continue
        start_of_sentence = 0
        for start in [sentence.start for sentence in split_sentences(buffer)][1:]:
            yield buffer[start_of_sentence:start]
            start_of_sentence = start
        buffer = buffer[start_of_sentence:]
    if buffer:
        yield buffer


def _skip_repeated(draft: Iterator[str], sent: str) -> Iterator[str]:
    """Skip sentences that were already sent: a model asked to continue often starts again."""
    sent_sentences = [sentence.text for sentence in split_sentences(sent)]
    for sentence in draft:
        if sent_sentences and sentence.strip() == sent_sentences[0]:
            sent_sentences.pop(0)
            continue
        sent_sentences = []
        yield sentence


def _with_space(sent: str, sentence: str) -> str:
    """Add a space before the first sentence of another draft if it is missing."""
    if not sent or sent[-1].isspace() or sentence[:1].isspace() or not sent[-1].isascii():
        return sentence
    return f" {sentence}"


class ChatStream:
    """An answer while it is generated: iterate over its pieces, then read `.answer`.

    The turn is remembered when the answer ends: complete, stopped early (`close`, or garbage collected), or
    because the model failed. The user's message is never lost. Without a model, `tell` stores a turn and
    thinks about it at once, so that the answer can say what was kept.
    """

    def __init__(
        self,
        new_turn: NewTurn,
        recollection: Recollection,
        recent: Sequence[Turn],
        llm: LLM | None,
        save_turn: Callable[[NewTurn], Turn],
        checker_factory: CheckerFactory,
        compose: Callable[[str], Sequence[Message]],
        use_integrator: bool = False,
        constraints: Sequence[Constraint] = (),
        wishes: Sequence[str] = (),
        tell: Callable[[NewTurn], ToldTurn] | None = None,
        look_up: LookUp | None = None,
    ) -> None:
        self.recollection = recollection
        self._new_turn = new_turn
        self._llm = llm = _usable_llm(llm, new_turn.query, recollection, recent)
        self._save_turn = save_turn
        self._log = GenerationLog()
        # The generators must not refer to this stream: it could not be garbage collected, and so not be
        # remembered.
        self._told = _ToldHolder()
        if llm is None:
            recalled = to_recalled_items(recollection)
            self._pieces = _stream_from_memory(
                replace(new_turn, recalled=recalled), recollection, recent, tell, look_up, self._told
            )
        else:
            given = _AnswerInput(
                new_turn, recollection, recent, compose, use_integrator, tuple(constraints), tuple(wishes)
            )
            self._pieces = _stream_from_model(llm, given, checker_factory, self._log)
        self._sent: list[str] = []
        self._started = time.perf_counter()
        self._answer: Answer | None = None
        self._is_refused = False  # the key of the turn belongs to another one: it can never be stored
        self._lock = threading.Lock()  # one thread may close what another one reads

    @property
    def answer(self) -> Answer:
        """The complete answer.

        Raises:
            InvalidInput: if the stream has not ended yet.
        """
        if self._answer is None:
            raise InvalidInput("the answer is not complete yet: iterate the stream to its end, or close it")
        return self._answer

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        with self._lock:
            try:
                piece = next(self._pieces)
            except BaseException:  # the end, a failing model, Ctrl-C: remember what was sent so far
                self._finish()
                raise
            self._sent.append(piece)
            return piece

    def close(self) -> None:
        """Stop here; the turn is remembered with the part of the answer that was read."""
        with self._lock:
            self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _finish(self) -> None:
        if self._answer is not None or self._is_refused:
            return
        self._pieces.close()
        text = "".join(self._sent)
        recalled = to_recalled_items(self.recollection)
        # Without a model the answer is a quotation from memory and must not be remembered as something new.
        log = self._log
        response = "" if self._llm is None else clean_text(text.removesuffix(log.warning).rstrip("\n"))
        checks = tuple(log.checks)
        try:
            turn = self._told.turn or self._save_turn(
                replace(self._new_turn, response=response, recalled=recalled, checks=checks)
            )
        except KeyConflict:
            self._is_refused = True
            raise
        self._answer = Answer(
            text=text,
            turn=turn,
            recollection=self.recollection,
            usage=self._usage(),
            warning=log.warning,
            integrated=log.integrated,
            not_integrated=log.not_integrated,
        )

    def _usage(self) -> Usage:
        ms = dict(self.recollection.usage.ms)
        if self._llm is None:
            return Usage(ms=ms)
        return Usage(
            llm_calls=self._log.calls,
            prompt_tokens=self._log.prompt_tokens,
            completion_tokens=self._log.completion_tokens,
            ms={**ms, "answer": (time.perf_counter() - self._started) * 1000},
        )


def _usable_llm(
    llm: LLM | None, message: str, recollection: Recollection, recent: Sequence[Turn]
) -> LLM | None:
    """The model, or None if memory itself replies better.

    That is the case if the model does not speak the user's language. A small one only does what memory
    cannot: it answers questions about what was told wrongly from the same memories (docs/chat.md).
    """
    if llm is None or (llm.speaks is not None and detect_language(message) not in (*llm.speaks, "und")):
        return None
    after_model = bool(recent and recent[-1].response)
    if llm.extracts or needs_model(message, recollection, after_model=after_model):
        return llm
    return llm if declines(message, recollection) else None


@dataclass(slots=True)
class _ToldHolder:
    """The turn, once it was stored while the answer was made."""

    turn: Turn | None = None


def _stream_from_memory(
    new_turn: NewTurn,
    recollection: Recollection,
    recent: Sequence[Turn],
    tell: Callable[[NewTurn], ToldTurn] | None,
    look_up: LookUp | None,
    holder: _ToldHolder,
) -> Generator[str, None, None]:
    """Answer without a model. A statement is stored and read first: the answer names what was kept."""
    told, parts = None, split_message(new_turn.query)
    if tell is not None and (parts.tells or parts.may_tell or telling_clauses(new_turn.query)):
        told = tell(new_turn)
        holder.turn = told.turn
    before = recent[-1].query if recent else ""
    yield reply_from_memory(new_turn.query, recollection, told, look_up, before)


@dataclass(frozen=True, slots=True)
class _AnswerInput:
    """Inputs of an answer.

    `compose` builds the messages, given the integrated thought or "". `constraints` are the safety facts of
    the space, which the answer is checked against even if they were not recalled. `wishes` are the standing
    instructions of the user, for models too small for `compose`.
    """

    new_turn: NewTurn
    recollection: Recollection
    recent: Sequence[Turn]
    compose: Callable[[str], Sequence[Message]]
    use_integrator: bool
    constraints: tuple[Constraint, ...] = ()
    wishes: tuple[str, ...] = ()


def _build_request(llm: LLM, given: _AnswerInput, log: GenerationLog) -> GenerationRequest:
    """Integrate memories if configured, and build the request.

    A very small model gets less and may say less.
    """
    new_turn, recollection = given.new_turn, given.recollection
    if given.use_integrator and recollection.items:
        result = integrate_memories(llm, new_turn.query, recollection, log.record_call)
        log.integrated, log.not_integrated = result.text, result.refusal
    if llm.follows:
        return GenerationRequest(llm, list(given.compose(log.integrated)), MAX_ANSWER_TOKENS)
    return GenerationRequest(
        llm, compose_for_small_model(new_turn.query, recollection, given.wishes), MAX_SMALL_MODEL_TOKENS
    )


def _stream_from_model(
    llm: LLM, given: _AnswerInput, checker_factory: CheckerFactory, log: GenerationLog
) -> Generator[str, None, None]:
    """Stream the answer of the model, checked if there are thoughts that it could contradict."""
    request = _build_request(llm, given, log)
    checker = checker_factory.create(given.new_turn, given.recollection, given.recent, given.constraints)
    if checker is None:
        yield from stream_unchecked(request, log)
    else:
        yield from stream_checked(request, checker, given.new_turn.query, log)


def to_recalled_items(items: Iterable[Candidate]) -> tuple[RecalledItem, ...]:
    """The references to recalled memories that are stored with the turn.

    Thoughts that share an item with another one are named too: erasing must find every answer they are in.
    """
    return tuple(
        RecalledItem(
            ref.kind if ref.kind == "thought" else "turn",
            ref.id,
            round(item.score.total, 4),
            round(item.score.cosine, 4),
            round(item.score.lexical, 4),
            item.group,
        )
        for item in items
        for ref in (item.ref, *(thought.ref for thought in item.joined))
    )
