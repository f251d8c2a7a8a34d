"""Chooses the reader of turns: a capable model, or sentences as said, with or without a tuned model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, cast

from thinkback.errors import InvalidInput
from thinkback.language.commands import blank_requests
from thinkback.language.relations import get_relation
from thinkback.language.thesaurus import stated_terms
from thinkback.language.tokens import extract_terms, said_terms
from thinkback.protocols import LLM, CrossEncoder, Embedder
from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest, TurnReader
from thinkback.think.grounding import locate_quote
from thinkback.think.organise import LLMConsolidator
from thinkback.think.reader_extractive import EXAMPLE_REQUEST, ExtractiveReader
from thinkback.think.reader_llm import LLMReader
from thinkback.think.reader_rules import RuleReader
from thinkback.think.reader_updates import GrammarLLM, ModelUpdateFinder, UpdatingReader
from thinkback.think.word_lists import word_lists
from thinkback.types import SAID, Thought

ThinkMode = Literal["auto", "extractive", "llm"]

MIN_COVERED_SHARE = 0.6
"""A sentence is not kept as said if triples quote this share of it and state all of its words."""
MAX_RETIRED_TERMS = 2
"""A sentence that says at most so many words more than its triples is retired with one of them."""


class WithoutModelReader:
    """Certain triples by rules, and the other sentences that carry facts, kept as said.

    Requests to forget are left out: they are no facts. With `keep_all`, all other statements are kept as
    said.
    """

    needs_related = False

    def __init__(
        self,
        encoder: Embedder | None = None,
        *,
        keep_all: bool = False,
        seems_question: Callable[[str], bool] | None = None,
    ) -> None:
        self._rules = RuleReader()
        self._sentences = ExtractiveReader(encoder, keep_all=keep_all, seems_question=seems_question)

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
        request = replace(
            request, turns=tuple(replace(turn, query=blank_requests(turn.query)) for turn in request.turns)
        )
        triples = [_with_sentences(change, request) for change in self._rules.read(request)]
        turns = {turn.id: turn for turn in request.turns}
        quoted: dict[int, set[int]] = {}  # turn -> positions of the characters that triples quote
        stated: dict[int, set[str]] = {}  # turn -> terms that triples state
        for change in triples:
            stated.setdefault(change.turn, set()).update(_terms_of_change(change))
            if (span := locate_quote(change.quote, turns[change.turn].query)) is not None:
                quoted.setdefault(change.turn, set()).update(range(*span))

        def is_covered(change: ProposedChange) -> bool:
            span = locate_quote(change.quote, turns[change.turn].query)
            if span is None or change.turn not in quoted:
                return False
            share = len(quoted[change.turn].intersection(range(*span))) / (span[1] - span[0])
            return share >= MIN_COVERED_SHARE and not _unstated_terms(change.quote, stated[change.turn])

        return [*triples, *(change for change in self._sentences.read(request) if not is_covered(change))]


def _with_sentences(change: ProposedChange, request: ReadRequest) -> ProposedChange:
    """The change, which also retires the sentences as said of the triples that it retires.

    A sentence that says much more than its triples stays.
    """
    retired = list(change.targets)
    for target in change.targets if change.action != "same" else ():
        told = request.find_told_with(target)
        triples = [thought for thought in told if thought.relation != SAID]
        stated = {term for triple in triples for term in _terms_of_fact(triple)}
        retired += (
            thought.id
            for thought in told
            if thought.relation == SAID
            and any(_share_words(thought, triple) for triple in triples if triple.id == target)
            and len(_unstated_terms(thought.object, stated)) <= MAX_RETIRED_TERMS
        )
    return replace(change, targets=tuple(dict.fromkeys(retired)))


def _share_words(one: Thought, other: Thought) -> bool:
    """Whether two thoughts were drawn from the same words."""
    return any(first.overlaps(second) for first in one.sources for second in other.sources)


def _unstated_terms(sentence: str, stated: Iterable[str]) -> frozenset[str]:
    """The terms of a sentence that triples do not state."""
    return said_terms(sentence).difference(stated, word_lists().fillers)


def _terms_of_change(change: ProposedChange) -> frozenset[str]:
    """The terms that a change states: of a fact, or the words that end one."""
    return stated_terms(change.quote) if change.fact is None else _terms_of_fact(change.fact)


def _terms_of_fact(fact: ProposedFact | Thought) -> frozenset[str]:
    """The terms that a triple states, also by another name of its relation: "moved to" by "lives in"."""
    lists = word_lists()
    return stated_terms(fact.sentence).union(
        extract_terms(" ".join(get_relation(fact.relation).aliases)),
        lists.time_words if fact.valid_from or fact.valid_to else (),
        lists.negations if fact.negated else (),
    )


def create_reader(
    think: ThinkMode | TurnReader,
    llm: LLM | None,
    encoder: Embedder | None = None,
    seems_question: Callable[[str], bool] | None = None,
    get_cross_encoder: Callable[[], CrossEncoder | None] = lambda: None,
) -> TurnReader:
    """Create the reader for a think mode; a reader passed instead of a mode is returned as it is.

    `encoder` embeds sentences for the extractive reader (`embedders.registry.sentence_encoder`), which keeps
    no short text for which `seems_question` holds. A model that finds updates is asked only about facts that
    the cross-encoder suspects.

    - `auto`: the model if it is able to read facts (`llm.extracts`), else extractive reading, together with
      a model that is tuned to find updates (`llm.finds_updates`) if there is one
    - `extractive`: no model; sentences that carry facts are kept as said
    - `llm`: the model, whatever its size; a tuned one as in `auto`

    Raises:
        InvalidInput: the mode is unknown, or `llm` was chosen without a model.
    """
    if not isinstance(think, str):
        return think
    if think == "llm" and llm is None:
        raise InvalidInput("think='llm' needs a language model: pass llm=, or think='extractive'")
    if think not in ("auto", "extractive", "llm"):
        raise InvalidInput(f"think={think!r}: choose auto, extractive or llm")
    without_model = WithoutModelReader(encoder, seems_question=seems_question)
    if think == "extractive" or llm is None:
        return without_model
    if not llm.extracts and finds_updates(llm):
        return UpdatingReader(ModelUpdateFinder(cast(GrammarLLM, llm), get_cross_encoder), without_model)
    return LLMReader(llm) if llm.extracts or think == "llm" else without_model


def finds_updates(llm: LLM) -> bool:
    """Whether a model is tuned to mark which known facts still hold."""
    return bool(getattr(llm, "finds_updates", False))


def create_llm_consolidator(
    think: ThinkMode | TurnReader, llm: LLM | None, *, organise_groups: bool
) -> LLMConsolidator | None:
    """The model side of consolidation; None unless the preset asks for it and a model thinks."""
    if not organise_groups or llm is None or think == "extractive" or not (llm.extracts or think == "llm"):
        return None
    return LLMConsolidator(llm)
