"""The loop (TiM 3.1.2): answer with the recalled thoughts, then remember the turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from thinkback.errors import InvalidInput
from thinkback.ports import LLM
from thinkback.recall.answer import from_memory
from thinkback.recall.compose import compose
from thinkback.receipts import Stopwatch
from thinkback.text.clean import clean
from thinkback.text.tokens import count_tokens
from thinkback.types import Answer, Candidate, Receipt, Recollection, Said, Turn, Used


class ChatStream:
    """One answer on its way: iterate for its pieces, then `.answer` is the whole of it.

    The turn is remembered when the answer ends, also when the reader stops early or the model fails: what
    the user said is never lost.
    """

    def __init__(
        self,
        said: Said,
        recollection: Recollection,
        recent: Sequence[Turn],
        llm: LLM | None,
        keep: Callable[[Said], Turn],
    ) -> None:
        self.recollection = recollection
        self._said = said
        self._recent = recent
        self._llm = llm
        self._keep = keep
        self._watch = Stopwatch()
        self._answer: Answer | None = None
        self._pieces = self._from_memory() if llm is None else self._from_model(llm)

    @property
    def answer(self) -> Answer:
        if self._answer is None:
            raise InvalidInput("the answer is not complete yet: iterate the stream to its end first")
        return self._answer

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    def _from_memory(self) -> Iterator[str]:
        text = from_memory(self._said.query, self.recollection)
        # Nobody answered: this is memory speaking of itself, and must not be remembered as news.
        self._finish(text, response="", receipt=Receipt(ms=self.recollection.receipt.ms))
        yield text

    def _from_model(self, llm: LLM) -> Iterator[str]:
        messages = compose(self._said.query, self.recollection, self._recent)
        spoken: list[str] = []
        try:
            with self._watch("answer"):
                for piece in llm.stream(messages):
                    spoken.append(piece)
                    yield piece
        finally:
            text = "".join(spoken)
            receipt = Receipt(
                llm_calls=1,
                prompt_tokens=sum(count_tokens(message.content) for message in messages),
                completion_tokens=count_tokens(text),
                ms={**self.recollection.receipt.ms, **self._watch.ms},
            )
            self._finish(text, response=text, receipt=receipt)

    def _finish(self, text: str, *, response: str, receipt: Receipt) -> None:
        used = tuple(_used(item) for item in self.recollection)
        turn = self._keep(replace(self._said, response=clean(response), recalled=used))
        self._answer = Answer(text=text, turn=turn, recollection=self.recollection, receipt=receipt)


def _used(item: Candidate) -> Used:
    score = item.score
    kind = "thought" if item.thought else "turn"
    return Used(
        kind, item.ref.id, round(score.total, 4), round(score.cosine, 4), round(score.lexical, 4), item.group
    )
