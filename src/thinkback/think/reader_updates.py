"""Reads turns with a small tuned model: facts as the user said them, and the model says which ones are over.

A small model that writes facts in its own words writes wrong ones, too. So the sentences are those that are
read without a model; the tuned model only marks which known facts a message replaces or ends. A wrong mark
can hide a fact, and `undo` brings it back; it cannot put a false one into memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from thinkback.language.sentences import split_sentences
from thinkback.prompts import load_prompt
from thinkback.protocols import CrossEncoder
from thinkback.think.contract import ProposedChange, ReadRequest, TurnReader
from thinkback.think.grounding import SupportingText, content_units
from thinkback.think.update_form import (
    PROMPT,
    Mark,
    build_prompt,
    choose_known,
    grammar,
    mark_probabilities,
    parse_reply,
    split_message,
)
from thinkback.types import Message, Reply, Thought

MIN_LOG_PROBABILITY = -0.5
"""Of a mark, below which a fact is kept. Chosen on the dev lives."""
_TOKENS_PER_FACT = 5


class GrammarLLM(Protocol):
    """A model whose replies can be bound by a grammar."""

    @property
    def name(self) -> str: ...

    def complete_with_grammar(
        self,
        messages: Sequence[Message],
        *,
        grammar: str,
        max_tokens: int,
        on_token: Callable[[str, float], None] = ...,
    ) -> Reply:
        """The reply, without randomness, in the language of the GBNF grammar; it may be cut off.

        `on_token` is called with every token and its log probability.
        """
        ...


@dataclass(frozen=True, slots=True)
class Update:
    """A known thought that a message replaces or ends."""

    thought: Thought
    mark: Mark


class UpdateFinder(Protocol):
    """Finds the known thoughts that no longer hold after the turn of a request."""

    @property
    def name(self) -> str: ...

    def prepare(self) -> None:
        """Load what finding needs."""
        ...

    def find(self, request: ReadRequest) -> list[Update]:
        """
        Raises:
            ModelError: the model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelUpdateFinder:
    """An `UpdateFinder` that asks a small tuned model. Marks that it is not sure of are left out.

    With a cross-encoder, the model is asked only about facts that the message may make outdated.
    """

    llm: GrammarLLM
    get_encoder: Callable[[], CrossEncoder | None] = lambda: None
    min_log_probability: float = MIN_LOG_PROBABILITY

    @property
    def name(self) -> str:
        return f"{self.llm.name} updates@{load_prompt('thinkback.think', PROMPT).version}"

    def prepare(self) -> None:
        """Load the prompt and the cross-encoder. A model is loaded by its first call."""
        load_prompt("thinkback.think", PROMPT)
        self.get_encoder()

    def find(self, request: ReadRequest) -> list[Update]:
        """Read the message of the turn, a long one in parts."""
        found: dict[int, Update] = {}
        for part in split_message(request.turns[0]):
            for update in self._find_in(request, part):
                found.setdefault(update.thought.id, update)
        return list(found.values())

    def _find_in(self, request: ReadRequest, part: str) -> list[Update]:
        prompt = build_prompt(request, part, choose_known(request, part, self.get_encoder()))
        count = len(prompt.known)
        if not count:
            return []
        tokens: list[tuple[str, float]] = []
        reply = self.llm.complete_with_grammar(
            prompt.messages,
            grammar=grammar(count),
            max_tokens=_TOKENS_PER_FACT * count + 1,
            on_token=lambda text, probability: tokens.append((text, probability)),
        )
        sure = mark_probabilities(tokens)
        return [
            Update(prompt.known[n - 1], mark)
            for n, mark in parse_reply(reply.text)
            if mark != "keep" and 1 <= n <= count and sure.get(n, -math.inf) >= self.min_log_probability
        ]


class UpdatingReader:
    """A `TurnReader` that adds what a reader without a model finds, and retires what a finder marks."""

    needs_related = True
    max_turns = 1

    def __init__(self, finder: UpdateFinder, sentences: TurnReader) -> None:
        self._finder = finder
        self._sentences = sentences

    @property
    def name(self) -> str:
        return f"{self._finder.name} + {self._sentences.name}"

    def prepare(self) -> None:
        """Load what both need."""
        self._finder.prepare()
        self._sentences.prepare()

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """The additions, those that take the place of known thoughts as replacements, then what ended."""
        changes = self._sentences.read(request)
        retired = {target for change in changes for target in change.targets}
        updates = [] if not request.related else self._finder.find(request)
        for update in updates:
            if update.thought.id in retired:
                continue
            position = _successor(update.thought, changes) if update.mark == "replace" else None
            if position is None:
                changes.append(_end(update.thought, request))
            else:
                change = changes[position]
                targets = (*change.targets, update.thought.id)
                changes[position] = replace(change, action="replace", targets=targets)
        return changes


def _successor(old: Thought, changes: Sequence[ProposedChange]) -> int | None:
    """The position of the addition that shares most words with a thought; None if none shares any."""
    units = content_units(f"{old.subject} {old.relation} {old.sentence}")
    best: tuple[int, int | None] = (0, None)
    for position, change in enumerate(changes):
        if change.fact is None or change.action not in ("add", "replace"):
            continue
        stated = SupportingText([f"{change.fact.about} {change.fact.relation} {change.fact.sentence}"])
        shared = sum(map(stated.has_unit, units))
        if shared > best[0]:
            best = shared, position
    return best[1]


def _end(old: Thought, request: ReadRequest) -> ProposedChange:
    turn = request.turns[0]
    quote = find_quote(f"{old.subject} {old.sentence}", turn.query)
    return ProposedChange(action="end", turn=turn.id, quote=quote, targets=(old.id,))


def find_quote(statement: str, message: str) -> str:
    """The sentence of a message that has most of the words of a statement; the first of equal ones."""
    units = content_units(statement)
    sentences = [sentence.text for sentence in split_sentences(message)]
    if not sentences:
        return message

    def shared(sentence: str) -> int:
        return sum(map(SupportingText([sentence]).has_unit, units))

    return max(sentences, key=shared)
