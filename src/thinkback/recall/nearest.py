"""The memories nearest to a question, which the chat quotes if no sentence surely answers."""

from __future__ import annotations

from thinkback.recall.answerable import AnswerJudge, asks
from thinkback.recall.chat_phrases import load_patterns
from thinkback.recall.question_classifier import THRESHOLD_IF_STORED, asks_for_memory
from thinkback.types import INSTRUCTION, Candidate, Recollection

MIN_UNSHARED_SCORE = 0.2  # of a memory that is quoted without having a word of the question
MIN_NEAREST_SHARE = 0.5  # of the best score: the newest memory above it is quoted where no answer is sure


def find_nearest(judge: AnswerJudge, recollection: Recollection) -> list[Candidate]:
    """The newest and the best of the memories that match well: the newest may be the change.

    A memory without a word of the question must match better.
    """
    relevant = [
        item
        for item in recollection
        if item.outdated is None
        and item.score.total >= recollection.threshold
        and (item.score.total >= MIN_UNSHARED_SCORE or judge.shares_word(item.text))
        and is_told(item)
    ]
    if not relevant:
        return []
    best = max(relevant, key=lambda item: item.score.total)
    close = [item for item in relevant if item.score.total >= MIN_NEAREST_SHARE * best.score.total]
    newest = max(close, key=last_turn)
    return [newest] if last_turn(newest) == last_turn(best) else [newest, best]


def is_told(item: Candidate) -> bool:
    """Whether a memory is something that the user told: no wish, no question, no reply."""
    if item.thought is not None:
        return item.thought.relation != INSTRUCTION
    asked = item.turn is not None and (is_stored_question(item.turn.query) or not item.turn.query.strip())
    return not item.with_response and not asked


def is_stored_question(text: str) -> bool:
    """Whether a stored message is surely a question, so that it answers nothing."""
    if asks(text) or load_patterns("asks_permission").search(text):
        return True
    return asks_for_memory(text, threshold=THRESHOLD_IF_STORED)


def last_turn(item: Candidate) -> int:
    """The turn in which a memory was told last."""
    return item.thought.last_turn if item.thought else item.ref.id
