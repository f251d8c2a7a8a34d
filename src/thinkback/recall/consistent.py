"""The loop of thought-consistent answers (TiM 001, 3.4): each sentence is said once it has been checked.

A sentence that contradicts a recalled thought is held back, and the model is asked again with the conflict
named and, where it can mask words (Eq. 9), without the words that contradict; it goes on after what the user
has read already. When the tries are used up the answer goes out with a warning, never silently.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from thinkback.ports import LLM
from thinkback.recall.check import Checker, Conflict
from thinkback.recall.compose import ask_again
from thinkback.text.language import language
from thinkback.text.sentences import sentences
from thinkback.text.tokens import count_tokens
from thinkback.types import Check, CheckOutcome, Message, Reply

TRIES = 2  # drafts after the first
_WARNING = {"en": "(This may contradict what you told me: {})", "zh": "（这可能与你告诉过我的不一致：{}）"}
_STOPS = frozenset(".!?。！？…\n")


@dataclass(slots=True)
class Tally:
    """What the drafts of one answer cost and what was caught in them, while it is on its way."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    checks: list[Check] = field(default_factory=list)
    warning: str = ""
    integrated: str = ""
    not_integrated: str = ""

    def count(self, messages: Sequence[Message], said: str, reply: Reply | None) -> None:
        """One draft more: at the price the server tells, or, where it tells none or was left, an estimate."""
        asked = sum(count_tokens(message.content) for message in messages)
        self.calls += 1 if reply is None else reply.calls
        self.prompt_tokens += (reply.prompt_tokens if reply else 0) or asked
        self.completion_tokens += (reply.completion_tokens if reply else 0) or count_tokens(said)


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked: what it is given, and how much it may say."""

    llm: LLM
    messages: Sequence[Message]
    max_tokens: int

    def draft(
        self, messages: Sequence[Message], forbid: Sequence[str], tally: Tally
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
            tally.count(messages, "".join(pieces), reply)


def unchecked(asking: Asking, tally: Tally) -> Generator[str, None, None]:
    """The model's pieces as they come: nothing was recalled that they could contradict."""
    yield from asking.draft(asking.messages, (), tally)


def consistent(asking: Asking, checker: Checker, query: str, tally: Tally) -> Generator[str, None, None]:
    """The answer sentence by sentence, each checked before it is said."""
    said = ""
    messages: Sequence[Message] = asking.messages
    forbid: tuple[str, ...] = ()
    for number in range(1, TRIES + 2):
        caught: list[Conflict] = []
        fragment = ""
        with closing(asking.draft(messages, forbid, tally)) as pieces:
            for sentence in _unsaid(_sentences(pieces), said):
                caught = checker.conflicts(said, sentence) if sentence.strip() else []
                if caught and number <= TRIES:
                    fragment = sentence
                    break
                tally.checks += [_noted(conflict, number, "warned") for conflict in caught]
                piece = _joined(said, sentence)
                said += piece
                yield piece
        if not fragment:
            break
        more = tuple(word for conflict in caught for word in conflict.forbid) if asking.llm.masks else ()
        forbid = tuple(dict.fromkeys((*forbid, *more)))
        tally.checks += [_noted(conflict, number, "masked" if more else "regenerated") for conflict in caught]
        messages = ask_again(asking.messages, said, fragment, caught)
    warned = [check.thought for check in tally.checks if check.outcome == "warned"]
    if warned:
        tally.warning = _warning(checker, warned, query)
        yield f"\n{tally.warning}"


def _warning(checker: Checker, thoughts: Sequence[int], query: str) -> str:
    words = " ".join(dict.fromkeys(checker.sentence_of(id_) for id_ in thoughts))
    return _WARNING["zh" if language(query) == "zh" else "en"].format(words)


def _noted(conflict: Conflict, number: int, outcome: CheckOutcome) -> Check:
    return Check(
        thought=conflict.thought.id,
        way=conflict.way,
        words=conflict.words,
        reason=conflict.reason,
        score=conflict.score,
        threshold=conflict.threshold,
        draft=number,
        outcome=outcome,
    )


def _sentences(pieces: Iterator[str]) -> Iterator[str]:
    """The text in whole sentences with the blanks after them, each as soon as the next one begins."""
    held = ""
    for piece in pieces:
        held += piece
        if _STOPS.isdisjoint(held):
            continue
        begun = 0
        for start in [sentence.start for sentence in sentences(held)][1:]:
            yield held[begun:start]
            begun = start
        held = held[begun:]
    if held:
        yield held


def _unsaid(drafted: Iterator[str], said: str) -> Iterator[str]:
    """Without the sentences that the user has read: a model asked to go on often begins anew."""
    read = [sentence.text for sentence in sentences(said)]
    for sentence in drafted:
        if read and sentence.strip() == read[0]:
            read.pop(0)
            continue
        read = []
        yield sentence


def _joined(said: str, sentence: str) -> str:
    """A sentence of another draft after what was said: with the blank it may have lost."""
    if not said or said[-1].isspace() or sentence[:1].isspace() or not said[-1].isascii():
        return sentence
    return f" {sentence}"
