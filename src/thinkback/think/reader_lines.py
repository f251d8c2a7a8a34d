"""Reads turns with a small model that was tuned to the line form (`think.line_form`).

It runs on the user's machine: prompts are short and begin alike, the reply is bound by a grammar, and one
turn is read at a time. A line that the model was not sure of is left out, or retires nothing. With `verify`,
a message is read twice with different words, and only facts that both readings state are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Protocol

from thinkback.prompts import load_prompt
from thinkback.think.contract import ChangeKind, ProposedChange, ReadRequest
from thinkback.think.grounding import SupportingText
from thinkback.think.line_form import Wording, build_prompt, grammar, parse_lines, split_message
from thinkback.types import Message, Reply

MAX_REPLY_TOKENS = 420
MIN_SHARED_VALUE = 0.5  # of the words of a value that the other reading must state too
MIN_CONFIDENCE = -0.15
"""Mean log probability of the tokens of a line below which it is left out. Chosen on the dev lives."""
MIN_RETIREMENT_CONFIDENCE = -0.15
"""The same for lines that replace, end or forget: an unsure replacement is an addition."""


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
        confidence = LineConfidence()
        reply = self.llm.complete_with_grammar(
            prompt.messages, grammar=rules, max_tokens=MAX_REPLY_TOKENS, on_token=confidence.add_token
        )
        changes: list[ProposedChange] = []
        for line, sure in zip(reply.text.splitlines(), confidence.of_lines(), strict=False):
            for change in parse_lines(line, prompt, request.turns[0]):
                targets = change.targets if sure >= self.min_retirement_confidence else ()
                if (sure >= self.min_confidence) if change.fact else targets:
                    changes.append(_with_targets(change, targets))
        return changes


class LineConfidence:
    """The mean log probability of the tokens of each line of a reply."""

    def __init__(self) -> None:
        self._lines: list[list[float]] = [[]]

    def add_token(self, text: str, log_probability: float) -> None:
        """A line break belongs to the line that it ends."""
        self._lines[-1].append(log_probability)
        if "\n" in text:
            self._lines.append([])

    def of_lines(self) -> Iterator[float]:
        """One value for each line; without end, because a model may not tell probabilities."""
        for line in self._lines:
            yield sum(line) / len(line) if line else 0.0
        yield from repeat(0.0)


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
