"""Reads turns with a small model that was tuned to the line form (`think.line_form`).

It runs on the user's machine: prompts are short and begin alike, the reply is bound by a grammar, and one
turn is read at a time. A line that the model was not sure of is left out, or retires nothing. With `verify`,
a message is read twice with different words, and only facts that both readings state are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from thinkback.prompts import load_prompt
from thinkback.think.contract import ChangeKind, ProposedChange, ReadRequest
from thinkback.think.grounding import SupportingText
from thinkback.think.line_form import (
    MIN_CONFIDENCE,
    MIN_RETIREMENT_CONFIDENCE,
    Wording,
    build_prompt,
    grammar,
    line_confidence,
    mean,
    parse_lines,
    split_message,
)
from thinkback.types import Message, Reply

MAX_REPLY_TOKENS = 420
MIN_SHARED_VALUE = 0.5  # of the words of a value that the other reading must state too


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
class LineReader:
    """A `TurnReader` that asks a small tuned model."""

    llm: GrammarLLM
    verify: bool = False
    min_confidence: float = MIN_CONFIDENCE
    min_retirement_confidence: float = MIN_RETIREMENT_CONFIDENCE
    max_turns: int = 1
    needs_related: bool = True

    @property
    def name(self) -> str:
        version = load_prompt("thinkback.think", "read_lines").version
        return f"{self.llm.name} lines@{version}{' verified' if self.verify else ''}"

    def prepare(self) -> None:
        """Load the prompt. A model is loaded by its first call."""
        load_prompt("thinkback.think", "read_lines")

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """Read the message of the turn, a long one in parts.

        Raises:
            ModelError: the model failed.
        """
        turn = request.turns[0]
        changes: list[ProposedChange] = []
        for part in split_message(turn):
            found = self._read_part(request, part, "first")
            if found and self.verify:
                found = agreed_changes(found, self._read_part(request, part, "second"))
            changes += found
        return changes

    def _read_part(self, request: ReadRequest, part: str, wording: Wording) -> list[ProposedChange]:
        prompt = build_prompt(request, part, wording)
        rules = grammar(len(prompt.known))
        tokens = TokensByLine()
        reply = self.llm.complete_with_grammar(
            prompt.messages, grammar=rules, max_tokens=MAX_REPLY_TOKENS, on_token=tokens.add
        )
        changes: list[ProposedChange] = []
        for line, said in zip(reply.text.splitlines(), tokens.lines(), strict=False):
            sure = mean([probability for _, probability in said]) >= self.min_retirement_confidence
            for change in parse_lines(line, prompt, request.turns[0]):
                targets = change.targets if sure else ()
                if change.fact is None:
                    keep = bool(targets)
                else:
                    keep = line_confidence(said, change.fact.value, part) >= self.min_confidence
                if keep:
                    changes.append(_with_targets(change, targets))
        return changes


class TokensByLine:
    """The tokens of a reply with their log probabilities, line by line."""

    def __init__(self) -> None:
        self._lines: list[list[tuple[str, float]]] = [[]]

    def add(self, text: str, log_probability: float) -> None:
        """A line break belongs to the line that it ends."""
        self._lines[-1].append((text, log_probability))
        if "\n" in text:
            self._lines.append([])

    def lines(self) -> Iterator[list[tuple[str, float]]]:
        """One list for each line; without end, because a model may not tell probabilities."""
        yield from self._lines
        while True:
            yield []


def agreed_changes(first: Sequence[ProposedChange], second: Sequence[ProposedChange]) -> list[ProposedChange]:
    """The changes of the first reading that the second one makes too.

    A fact is agreed if the second reading states most words of its value. What it retires must be agreed
    too: otherwise the fact is added and nothing is retired.
    """
    stated = SupportingText(
        f"{change.fact.about} {change.fact.value} {change.fact.sentence}" for change in second if change.fact
    )
    retired = {target for change in second for target in change.targets}
    agreed: list[ProposedChange] = []
    for change in first:
        targets = tuple(target for target in change.targets if target in retired)
        if change.fact is None:
            if targets:
                agreed.append(_with_targets(change, targets))
        elif stated.share(change.fact.value) >= MIN_SHARED_VALUE:
            agreed.append(_with_targets(change, targets))
    return agreed


def _with_targets(change: ProposedChange, targets: tuple[int, ...]) -> ProposedChange:
    action: ChangeKind = "add" if change.action == "replace" and not targets else change.action
    return replace(change, action=action, targets=targets)
