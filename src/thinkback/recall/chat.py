"""Streamed chat answers, checked against recalled thoughts sentence by sentence."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Self

from thinkback.errors import InvalidInput
from thinkback.language.scripts import clean_text, detect_language
from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import count_tokens
from thinkback.protocols import LLM
from thinkback.recall.answer import answer_from_memory
from thinkback.recall.compose import compose_for_small_model, compose_retry, integrate_memories
from thinkback.recall.consistency import CheckerFactory, Conflict, ConsistencyChecker
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

MAX_RETRIES = 2  # drafts after the first
_WARNING = {"en": "(This may contradict what you told me: {})", "zh": "（这可能与你告诉过我的不一致：{}）"}
_SENTENCE_ENDS = frozenset(".!?。！？…\n")


@dataclass(slots=True)
class GenerationLog:
    """What the drafts of one answer cost and what was caught in them, while it is on its way."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    checks: list[ConsistencyCheck] = field(default_factory=list)
    warning: str = ""
    integrated: str = ""
    not_integrated: str = ""

    def record_call(self, messages: Sequence[Message], said: str, reply: Reply | None) -> None:
        """One draft more: at the price the server tells, or, where it tells none or was left, an estimate."""
        asked = sum(count_tokens(message.content) for message in messages)
        self.calls += 1 if reply is None else reply.calls
        self.prompt_tokens += (reply.prompt_tokens if reply else 0) or asked
        self.completion_tokens += (reply.completion_tokens if reply else 0) or count_tokens(said)


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """How a model is asked: what it is given, and how much it may say."""

    llm: LLM
    messages: Sequence[Message]
    max_tokens: int

    def stream_draft(
        self, messages: Sequence[Message], forbid: Sequence[str], log: GenerationLog
    ) -> Generator[str, None, None]:
        """The pieces of one draft; what they cost is in the tally, however early the reader leaves.

        Leaving ends the model's stream at once: a local model answers one question at a time.
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
    """The model's pieces as they come: nothing was recalled that they could contradict."""
    yield from request.stream_draft(request.messages, (), log)


def stream_checked(
    request: GenerationRequest, checker: ConsistencyChecker, query: str, log: GenerationLog
) -> Generator[str, None, None]:
    """The answer sentence by sentence, each checked before it is said."""
    said = ""
    messages: Sequence[Message] = request.messages
    forbid: tuple[str, ...] = ()
    for number in range(1, MAX_RETRIES + 2):
        caught: list[Conflict] = []
        fragment = ""
        with closing(request.stream_draft(messages, forbid, log)) as pieces:
            for sentence in _skip_repeated(_split_stream(pieces), said):
                caught = checker.conflicts(said, sentence) if sentence.strip() else []
                if caught and number <= MAX_RETRIES:
                    fragment = sentence
                    break
                log.checks += [_to_check(conflict, number, "warned") for conflict in caught]
                piece = _with_space(said, sentence)
                said += piece
                yield piece
        if not fragment:
            break
        more = tuple(word for conflict in caught for word in conflict.forbid) if request.llm.masks else ()
        forbid = tuple(dict.fromkeys((*forbid, *more)))
        log.checks += [
            _to_check(conflict, number, "masked" if more else "regenerated") for conflict in caught
        ]
        messages = compose_retry(request.messages, said, fragment, caught)
    warned = [check.thought for check in log.checks if check.outcome == "warned"]
    if warned:
        log.warning = _format_warning(checker, warned, query)
        yield f"\n{log.warning}"


def _format_warning(checker: ConsistencyChecker, thoughts: Sequence[int], query: str) -> str:
    words = " ".join(dict.fromkeys(checker.sentence_of(id_) for id_ in thoughts))
    return _WARNING["zh" if detect_language(query) == "zh" else "en"].format(words)


def _to_check(conflict: Conflict, number: int, outcome: CheckOutcome) -> ConsistencyCheck:
    return ConsistencyCheck(
        thought=conflict.thought.id,
        way=conflict.method,
        words=conflict.sentence,
        reason=conflict.reason,
        score=conflict.score,
        threshold=conflict.threshold,
        draft=number,
        outcome=outcome,
    )


def _split_stream(pieces: Iterator[str]) -> Iterator[str]:
    """The text in whole sentences with the blanks after them, each as soon as the next one begins."""
    held = ""
    for piece in pieces:
        held += piece
        if _SENTENCE_ENDS.isdisjoint(held):
            continue
        begun = 0
        for start in [sentence.start for sentence in split_sentences(held)][1:]:
            yield held[begun:start]
            begun = start
        held = held[begun:]
    if held:
        yield held


def _skip_repeated(drafted: Iterator[str], said: str) -> Iterator[str]:
    """Without the sentences that the user has read: a model asked to go on often begins anew."""
    read = [sentence.text for sentence in split_sentences(said)]
    for sentence in drafted:
        if read and sentence.strip() == read[0]:
            read.pop(0)
            continue
        read = []
        yield sentence


def _with_space(said: str, sentence: str) -> str:
    """A sentence of another draft after what was said: with the blank it may have lost."""
    if not said or said[-1].isspace() or sentence[:1].isspace() or not said[-1].isascii():
        return sentence
    return f" {sentence}"


MAX_ANSWER_TOKENS = 512  # tokens
MAX_SMALL_MODEL_TOKENS = 80  # tokens; a very small model that says more says it again and again


class ChatStream:
    """One answer on its way: iterate for its pieces, then `.answer` is the whole of it.

    The turn is remembered when the answer ends: complete, stopped early (`close`, or simply dropped), or
    because the model failed. What the user said is never lost.
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
    ) -> None:
        self.recollection = recollection
        self._new_turn = new_turn
        self._llm = llm = _usable_llm(llm, new_turn.query)
        self._save_turn = save_turn
        self._log = GenerationLog()
        # No generator here may hold this stream: it would not be freed, and so not kept, when it is dropped.
        if llm is None:
            self._pieces = _stream_from_memory(new_turn.query, recollection)
        else:
            given = _AnswerInput(new_turn, recollection, recent, compose, use_integrator)
            self._pieces = _stream_from_model(llm, given, checker_factory, self._log)
        self._sent: list[str] = []
        self._started = time.perf_counter()
        self._answer: Answer | None = None
        self._lock = threading.Lock()  # one may close what another is waiting for

    @property
    def answer(self) -> Answer:
        if self._answer is None:
            raise InvalidInput("the answer is not complete yet: iterate the stream to its end, or close it")
        return self._answer

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        with self._lock:
            try:
                piece = next(self._pieces)
            except BaseException:  # the end, a failing model, Ctrl-C: what was said so far is kept
                self._finish()
                raise
            self._sent.append(piece)
            return piece

    def close(self) -> None:
        """End here: the turn is remembered with as much of the answer as was read."""
        with self._lock:
            self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _finish(self) -> None:
        if self._answer is not None:
            return
        self._pieces.close()
        text = "".join(self._sent)
        recalled = tuple(to_recalled_item(item) for item in self.recollection)
        # Without a model this is memory speaking of itself, and must not be remembered as news.
        tally = self._log
        response = "" if self._llm is None else clean_text(text.removesuffix(tally.warning).rstrip("\n"))
        checks = tuple(tally.checks)
        turn = self._save_turn(replace(self._new_turn, response=response, recalled=recalled, checks=checks))
        self._answer = Answer(
            text=text,
            turn=turn,
            recollection=self.recollection,
            usage=self._usage(),
            warning=tally.warning,
            integrated=tally.integrated,
            not_integrated=tally.not_integrated,
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


def _usable_llm(llm: LLM | None, message: str) -> LLM | None:
    """The model, unless it does not speak the user's language: then memory answers for itself."""
    if llm is None or llm.speaks is None or detect_language(message) in (*llm.speaks, "und"):
        return llm
    return None


def _stream_from_memory(query: str, recollection: Recollection) -> Generator[str, None, None]:
    yield answer_from_memory(query, recollection)


@dataclass(frozen=True, slots=True)
class _AnswerInput:
    """What an answer is made from; `composed` gives the messages, around the one thought of an integrator."""

    new_turn: NewTurn
    recollection: Recollection
    recent: Sequence[Turn]
    compose: Callable[[str], Sequence[Message]]
    use_integrator: bool


def _build_request(llm: LLM, given: _AnswerInput, log: GenerationLog) -> GenerationRequest:
    """A very small model is given less, and may say less."""
    said, found = given.new_turn, given.recollection
    if given.use_integrator and found.items:
        joined = integrate_memories(llm, said.query, found, log.record_call)
        log.integrated, log.not_integrated = joined.text, joined.refusal
    if llm.follows:
        return GenerationRequest(llm, list(given.compose(log.integrated)), MAX_ANSWER_TOKENS)
    return GenerationRequest(llm, compose_for_small_model(said.query, found), MAX_SMALL_MODEL_TOKENS)


def _stream_from_model(
    llm: LLM, given: _AnswerInput, checker_factory: CheckerFactory, log: GenerationLog
) -> Generator[str, None, None]:
    """The model's answer: checked where something was recalled that it could contradict."""
    asking = _build_request(llm, given, log)
    checker = checker_factory.create(given.new_turn, given.recollection, given.recent)
    if checker is None:
        yield from stream_unchecked(asking, log)
    else:
        yield from stream_checked(asking, checker, given.new_turn.query, log)


def to_recalled_item(item: Candidate) -> RecalledItem:
    """What is kept of a recalled memory with the turn it was recalled for."""
    score = item.score
    return RecalledItem(
        "thought" if item.thought else "turn",
        item.ref.id,
        round(score.total, 4),
        round(score.cosine, 4),
        round(score.lexical, 4),
        item.group,
    )
