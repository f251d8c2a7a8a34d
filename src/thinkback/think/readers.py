"""Chooses the reader of turns: a capable model, else a small tuned one, else sentences and certain rules."""

from __future__ import annotations

from typing import Literal, cast

from thinkback.errors import InvalidInput
from thinkback.protocols import LLM, Embedder
from thinkback.think.contract import ProposedChange, ReadRequest, TurnReader
from thinkback.think.grounding import locate_quote
from thinkback.think.organise import LLMConsolidator
from thinkback.think.reader_extractive import EXAMPLE_REQUEST, ExtractiveReader
from thinkback.think.reader_lines import GrammarLLM, LineReader
from thinkback.think.reader_llm import LLMReader
from thinkback.think.reader_rules import RuleReader

ThinkMode = Literal["auto", "extractive", "llm"]

MIN_COVERED_SHARE = 0.6
"""A sentence is not kept as said if triples quote this share of it."""


class WithoutModelReader:
    """Certain triples by rules, and the other sentences that carry facts, kept as said.

    With `keep_all`, all other statements are kept as said.
    """

    needs_related = False

    def __init__(self, encoder: Embedder | None = None, *, keep_all: bool = False) -> None:
        self._rules = RuleReader()
        self._sentences = ExtractiveReader(encoder, keep_all=keep_all)

    @property
    def name(self) -> str:
        return f"{self._sentences.name} + {self._rules.name}"

    @property
    def max_turns(self) -> int:
        return min(self._rules.max_turns, self._sentences.max_turns)

    def prepare(self) -> None:
        """Load the classifier, the encoder and the word lists by reading an example."""
        self.read(EXAMPLE_REQUEST)

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """Propose the triples first (they may refer to each other by position), then the sentences."""
        triples = self._rules.read(request)
        turns = {turn.id: turn for turn in request.turns}
        quoted: dict[int, set[int]] = {}  # turn -> positions of the characters that triples quote
        for change in triples:
            if (span := locate_quote(change.quote, turns[change.turn].query)) is not None:
                quoted.setdefault(change.turn, set()).update(range(*span))

        def is_covered(change: ProposedChange) -> bool:
            span = locate_quote(change.quote, turns[change.turn].query)
            if span is None or change.turn not in quoted:
                return False
            return len(quoted[change.turn].intersection(range(*span))) >= MIN_COVERED_SHARE * (
                span[1] - span[0]
            )

        return [*triples, *(change for change in self._sentences.read(request) if not is_covered(change))]


class TunedModelReader:
    """What a small tuned model is sure of, beside what is read without a model.

    The model adds updates and precise facts; the sentences kept as said cannot be misread.
    """

    needs_related = True
    max_turns = 1

    def __init__(self, llm: GrammarLLM, encoder: Embedder | None) -> None:
        self._lines = LineReader(llm)
        self._without_model = WithoutModelReader(encoder)

    @property
    def name(self) -> str:
        return f"{self._lines.name} + {self._without_model.name}"

    def prepare(self) -> None:
        """Load what both need."""
        self._lines.prepare()
        self._without_model.prepare()

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """Propose what needs no model first: its changes may refer to each other by position."""
        lines = self._lines.read(request)
        return [*self._without_model.read(request), *lines]


def create_reader(
    think: ThinkMode | TurnReader, llm: LLM | None, encoder: Embedder | None = None
) -> TurnReader:
    """Create the reader for a think mode; a reader passed instead of a mode is returned as it is.

    `encoder` embeds sentences for the extractive reader (`embedders.registry.sentence_encoder`).

    - `auto`: the model if it is able to read facts (`llm.extracts`), else a model that is tuned to read
      lines (`llm.reads_lines`) together with extractive reading, else extractive reading alone
    - `extractive`: no model; sentences that carry facts are kept as said
    - `llm`: the model, whatever its size; in the line form if it is tuned to it

    Raises:
        InvalidInput: the mode is unknown, or `llm` was chosen without a model.
    """
    if not isinstance(think, str):
        return think
    if think == "llm":
        if llm is None:
            raise InvalidInput("think='llm' needs a language model: pass llm=, or think='extractive'")
        return LLMReader(llm) if llm.extracts or not reads_lines(llm) else LineReader(cast(GrammarLLM, llm))
    if think not in ("auto", "extractive"):
        raise InvalidInput(f"think={think!r}: choose auto, extractive or llm")
    if think == "auto" and llm is not None and llm.extracts:
        return LLMReader(llm)
    if think == "auto" and llm is not None and reads_lines(llm):
        return TunedModelReader(cast(GrammarLLM, llm), encoder)
    return WithoutModelReader(encoder)


def reads_lines(llm: LLM) -> bool:
    """Whether a model is tuned to read turns in the line form."""
    return bool(getattr(llm, "reads_lines", False))


def create_llm_consolidator(
    think: ThinkMode | TurnReader, llm: LLM | None, *, organise_groups: bool
) -> LLMConsolidator | None:
    """The model side of consolidation; None unless the preset asks for it and a model thinks."""
    if not organise_groups or llm is None or think == "extractive" or not (llm.extracts or think == "llm"):
        return None
    return LLMConsolidator(llm)
