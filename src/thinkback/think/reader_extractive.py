"""Thinking without a model: keeps the sentences of the user that state lasting facts, as they were said.

    I start at the bakery on Monday, wish me luck
    -> I start at the bakery on Monday (2025-03-10)

A trained classifier (`think.sentence_classifier`) chooses the sentences; allergies, diets and other
restrictions are kept unless a request, question or supposition names them. The words stay as said. What is
added stands in parentheses or in front: the date that a relative time means, and the question that a short
answer answers. The reader proposes nothing but `add`; it never retires a thought.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from thinkback.language.clauses import is_order, telling_clauses
from thinkback.language.commands import after_keep_request, has_content
from thinkback.language.protocol import load_language
from thinkback.language.relations import LANGUAGES
from thinkback.language.restrictions import find_restriction
from thinkback.language.sentences import count_words, is_question, is_supposition, split_sentences
from thinkback.language.spoken_dates import add_dates
from thinkback.language.writing_systems import has_han
from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest
from thinkback.think.sentence_classifier import ScoredPiece, SentenceModel
from thinkback.think.sentence_features import MAX_PIECE_CHARS, Piece, split_pieces
from thinkback.types import SAID, Turn

if TYPE_CHECKING:
    from thinkback.protocols import Embedder

READER_VERSION = 2
MAX_TURNS = 16
MAX_ANSWER_WORDS = 8
MAX_ANSWER_CHARS_ZH = 14
MIN_LIKELY_PROBABILITY = 0.15  # of a sentence that is said back to the user although it is not kept


_EXAMPLE_TIME = datetime(2026, 1, 1, tzinfo=UTC)
EXAMPLE_REQUEST = ReadRequest(
    turns=tuple(
        Turn(id=number, query=query, at=_EXAMPLE_TIME, recorded_at=_EXAMPLE_TIME)
        for number, query in enumerate(("I moved to Lyon last week.", "我上周搬到了里昂。"), start=1)
    )
)
"""Reading it loads everything that reading needs."""


class ExtractiveReader:
    """Reads turns with the trained sentence classifier; deterministic.

    The vectors of the sentences are used if the model was trained with the encoder; otherwise the text
    alone decides. The name says which. With `keep_all`, every statement is kept, and only the kind of its
    fact is learned from the model. Short questions are never kept: by the rules, or by
    the classifier `seems_question`.
    """

    max_turns = MAX_TURNS
    needs_related = False

    def __init__(
        self,
        encoder: Embedder | None = None,
        model: SentenceModel | None = None,
        *,
        keep_all: bool = False,
        seems_question: Callable[[str], bool] | None = None,
    ) -> None:
        self._encoder = encoder
        self._model = model
        self._keep_all = keep_all
        self._seems_question = seems_question

    @property
    def name(self) -> str:
        known = self._encoder is not None and self._encoder.name in self._sentence_model.keep
        source = self._encoder.name if known and self._encoder is not None else SentenceModel.TEXT_ALONE
        return f"extractive-{READER_VERSION} ({source})"

    @property
    def _sentence_model(self) -> SentenceModel:
        return self._model or SentenceModel.shipped()

    def prepare(self) -> None:
        """Load the classifier and the encoder by reading an example."""
        self.read(EXAMPLE_REQUEST)

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """Propose one `add` for each kept sentence of the user's messages, in order."""
        changes: list[ProposedChange] = []
        earlier = list(request.recent)
        for turn in request.turns:
            changes.extend(self._read_turn(turn, earlier))
            earlier.append(turn)
        return changes

    def _read_turn(self, turn: Turn, earlier: Sequence[Turn]) -> Iterator[ProposedChange]:
        told, wanted = _split_keep_request(turn.query)
        pieces = split_pieces(told, _previous_reply(turn, earlier))
        is_task = any(load_language(code).lexicon.task.search(turn.query) for code in LANGUAGES)
        for scored in self._sentence_model.score(pieces, self._encoder):
            is_statement = scored.probability > 0 and has_content(scored.piece.text)
            # A longer piece is noise without a place to cut it, and the classifier saw only its beginning.
            is_long = len(scored.piece.text) > MAX_PIECE_CHARS
            is_wanted = self._keep_all or scored.piece.sentence.start < wanted
            is_wanted = is_wanted or (not is_task and self._states_restriction(scored.piece.text))
            if is_long or not (scored.kept or (is_wanted and is_statement)):
                continue
            # a longer question may tell a fact beside
            if not (_is_short(scored.piece.text) and self._asks(scored.piece.text)):
                yield self._add(turn, scored)

    def _asks(self, text: str) -> bool:
        return is_question(text) or (self._seems_question is not None and self._seems_question(text))

    def _states_restriction(self, text: str) -> bool:
        """Whether a sentence says what somebody must not or does not eat, drink or take."""
        if is_order(text) or is_supposition(text) or (self._asks(text) and not telling_clauses(text)):
            return False
        restriction = find_restriction(text)
        return restriction is not None and restriction.kind != "contraindication"

    def _add(self, turn: Turn, scored: ScoredPiece) -> ProposedChange:
        words = scored.piece.text
        fact = ProposedFact(
            about="user",
            relation=SAID,
            value=words,
            sentence=compose_sentence(scored.piece, turn.at),
            kind=scored.kind,
        )
        return ProposedChange(action="add", turn=turn.id, quote=words, fact=fact)


def _split_keep_request(message: str) -> tuple[str, int]:
    """The message without "remember" or "note that", and the length of the sentence that these ask to keep.

    The length is 0 if the message does not begin with such words.
    """
    first = next(iter(split_sentences(message[:MAX_PIECE_CHARS])), None)
    wanted = after_keep_request(first.text) if first else ""
    if first is None or not wanted:
        return message, 0
    return message[first.end - len(wanted) :], len(wanted)


def find_likely_facts(message: str, at: datetime) -> list[str]:
    """The sentences that may state a fact, with dates; `ExtractiveReader` keeps only the sure ones."""
    return [
        compose_sentence(scored.piece, at)
        for scored in SentenceModel.shipped().score(split_pieces(message))
        if scored.probability >= MIN_LIKELY_PROBABILITY and len(scored.piece.text) <= MAX_PIECE_CHARS
    ]


def compose_sentence(piece: Piece, at: datetime) -> str:
    """The words of a piece with the dates they mean, after the question that they answer."""
    words = add_dates(piece.text, at.replace(tzinfo=UTC))
    if not _is_short_answer(piece):
        return words
    if has_han(piece.question):
        return f"问：{piece.question} 答：{words}"
    return f"Asked: {piece.question} Answered: {words}"


def _is_short_answer(piece: Piece) -> bool:
    """Whether a piece answers the assistant's question and is too short to be understood without it."""
    if not piece.question or piece.position > 0:
        return False
    return _is_short(piece.text)


def _is_short(text: str) -> bool:
    return count_words(text) <= (MAX_ANSWER_CHARS_ZH if has_han(text) else MAX_ANSWER_WORDS)


def _previous_reply(turn: Turn, earlier: Sequence[Turn]) -> str:
    """What the assistant said just before this turn in the same session."""
    return earlier[-1].response if earlier and earlier[-1].session == turn.session else ""
