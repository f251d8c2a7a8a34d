"""The loop (TiM 3.1.2): answer with the recalled thoughts and in accord with them, then remember the turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from thinkback.errors import InvalidInput
from thinkback.ports import LLM
from thinkback.recall.answer import from_memory
from thinkback.recall.check import Checks
from thinkback.recall.compose import compose_small
from thinkback.recall.consistent import Asking, Tally, consistent, unchecked
from thinkback.recall.integrate import integrate
from thinkback.text.clean import clean
from thinkback.text.language import language
from thinkback.types import Answer, Candidate, Message, Receipt, Recollection, Said, Turn, Used

ANSWER = 512  # tokens
SMALL_ANSWER = 80  # tokens; a very small model that says more says it again and again


class ChatStream:
    """One answer on its way: iterate for its pieces, then `.answer` is the whole of it.

    The turn is remembered when the answer ends: complete, stopped early (`close`, or simply dropped), or
    because the model failed. What the user said is never lost.
    """

    def __init__(
        self,
        said: Said,
        recollection: Recollection,
        recent: Sequence[Turn],
        llm: LLM | None,
        keep: Callable[[Said], Turn],
        checks: Checks,
        composed: Callable[[str], Sequence[Message]],
        integrating: bool = False,
    ) -> None:
        self.recollection = recollection
        self._said = said
        self._llm = llm = _able(llm, said.query)
        self._keep = keep
        self._tally = Tally()
        # No generator here may hold this stream: it would not be freed, and so not kept, when it is dropped.
        if llm is None:
            self._pieces = _from_memory(said.query, recollection)
        else:
            given = _Given(said, recollection, recent, composed, integrating)
            self._pieces = _from_model(llm, given, checks, self._tally)
        self._spoken: list[str] = []
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
            self._spoken.append(piece)
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
        text = "".join(self._spoken)
        recalled = tuple(used(item) for item in self.recollection)
        # Without a model this is memory speaking of itself, and must not be remembered as news.
        tally = self._tally
        response = "" if self._llm is None else clean(text.removesuffix(tally.warning).rstrip("\n"))
        checks = tuple(tally.checks)
        turn = self._keep(replace(self._said, response=response, recalled=recalled, checks=checks))
        self._answer = Answer(
            text=text,
            turn=turn,
            recollection=self.recollection,
            receipt=self._receipt(),
            warning=tally.warning,
            integrated=tally.integrated,
            not_integrated=tally.not_integrated,
        )

    def _receipt(self) -> Receipt:
        ms = dict(self.recollection.receipt.ms)
        if self._llm is None:
            return Receipt(ms=ms)
        return Receipt(
            llm_calls=self._tally.calls,
            prompt_tokens=self._tally.prompt_tokens,
            completion_tokens=self._tally.completion_tokens,
            ms={**ms, "answer": (time.perf_counter() - self._started) * 1000},
        )


def _able(llm: LLM | None, message: str) -> LLM | None:
    """The model, unless it does not speak the user's language: then memory answers for itself."""
    if llm is None or llm.speaks is None or language(message) in (*llm.speaks, "und"):
        return llm
    return None


def _from_memory(query: str, recollection: Recollection) -> Generator[str, None, None]:
    yield from_memory(query, recollection)


@dataclass(frozen=True, slots=True)
class _Given:
    """What an answer is made from; `composed` gives the messages, around the one thought of an integrator."""

    said: Said
    recollection: Recollection
    recent: Sequence[Turn]
    composed: Callable[[str], Sequence[Message]]
    integrating: bool


def _asking(llm: LLM, given: _Given, tally: Tally) -> Asking:
    """A very small model is given less, and may say less."""
    said, found = given.said, given.recollection
    if given.integrating and found.items:
        joined = integrate(llm, said.query, found, tally.count)
        tally.integrated, tally.not_integrated = joined.text, joined.refused
    if llm.follows:
        return Asking(llm, list(given.composed(tally.integrated)), ANSWER)
    return Asking(llm, compose_small(said.query, found), SMALL_ANSWER)


def _from_model(llm: LLM, given: _Given, checks: Checks, tally: Tally) -> Generator[str, None, None]:
    """The model's answer: checked where something was recalled that it could contradict."""
    asking = _asking(llm, given, tally)
    checker = checks.of(given.said, given.recollection, given.recent)
    if checker is None:
        yield from unchecked(asking, tally)
    else:
        yield from consistent(asking, checker, given.said.query, tally)


def used(item: Candidate) -> Used:
    """What is kept of a recalled memory with the turn it was recalled for."""
    score = item.score
    return Used(
        "thought" if item.thought else "turn",
        item.ref.id,
        round(score.total, 4),
        round(score.cosine, 4),
        round(score.lexical, 4),
        item.group,
    )
