"""A reader of turns for tests: it proposes what the test says, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest
from thinkback.types import Kind, Thought, Turn

Propose = Callable[[Turn, ReadRequest], list[ProposedChange]]


def known(request: ReadRequest, words: str) -> Thought:
    """The related thought whose sentence contains these words."""
    (thought,) = [thought for thought in request.related if words in thought.sentence]
    return thought


def fact(
    value: str, sentence: str, *, about: str = "user", relation: str = "has", kind: Kind = "profile"
) -> ProposedFact:
    return ProposedFact(about=about, relation=relation, value=value, sentence=sentence, kind=kind)


def add(quote: str, stated: ProposedFact, **fields: object) -> ProposedChange:
    """An addition; `turn` is filled in by the reader."""
    return replace(ProposedChange(action="add", turn=0, quote=quote, fact=stated), **fields)  # type: ignore[arg-type]


@dataclass
class ScriptedReader:
    """Proposes the changes given for the text of a turn, or nothing."""

    script: Mapping[str, Propose | list[ProposedChange]]
    max_turns: int = 8
    needs_related: bool = True
    name: str = "scripted"
    requests: list[ReadRequest] = field(default_factory=list)

    def prepare(self) -> None:
        pass

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        self.requests.append(request)
        changes: list[ProposedChange] = []
        for turn in request.turns:
            proposed = self.script.get(turn.query, [])
            found = proposed(turn, request) if callable(proposed) else proposed
            changes += (replace(change, turn=turn.id) for change in found)
        return changes
