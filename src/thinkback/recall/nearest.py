"""The memories nearest to a question, which the chat quotes if no sentence surely answers."""

from __future__ import annotations

from math import inf

from thinkback.language.clauses import telling_clauses
from thinkback.language.sentences import is_question
from thinkback.recall.answerable import AnswerJudge, asks
from thinkback.recall.chat_phrases import load_patterns, small_talk
from thinkback.recall.citations import SAID_TEXT
from thinkback.recall.question_classifier import THRESHOLD_IF_STORED, asks_for_memory
from thinkback.types import INSTRUCTION, Candidate, Recollection

MIN_UNSHARED_SCORE = 0.2  # of a memory that is quoted without having a word of the question
MIN_NEAREST_SHARE = 0.5  # of the best score: the newest memory above it is quoted where no answer is sure
MIN_SURE_ODDS = 2.0  # log odds of an answer from which a memory reads well
MIN_NEAR_ODDS = -2.0  # log odds of an answer from which a memory is near without a word of the question
CLEAR_LEAD = 2.5  # in log odds: a memory that leads by more is quoted alone


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


def find_best_read(judge: AnswerJudge, recollection: Recollection) -> list[Candidate]:
    """The memory that reads most like an answer, and the next one if it reads nearly as well.

    If none reads well, those with all required words of the question come first. One without any word of it
    must not read badly.
    """
    odds = recollection.answers
    near = [
        item
        for item in rank_by_odds(recollection)
        if odds[item.ref] >= MIN_NEAR_ODDS
        or (item.score.total >= recollection.threshold and judge.shares_word(item.text))
    ]
    if near and odds[near[0].ref] < MIN_SURE_ODDS:
        near.sort(key=lambda item: not judge.has_required_words(item.text))
    return [item for item in near[:2] if odds[item.ref] >= odds[near[0].ref] - CLEAR_LEAD]


def rank_by_odds(recollection: Recollection) -> list[Candidate]:
    """What was told and is not outdated, by the odds that it answers; of each message the best memory."""
    odds = recollection.answers
    told = [item for item in recollection if item.ref in odds and item.outdated is None and is_told(item)]
    ranked: dict[int, Candidate] = {}
    for item in sorted(told, key=lambda item: (odds[item.ref], last_turn(item)), reverse=True):
        ranked.setdefault(last_turn(item), item)
    return list(ranked.values())


def find_doubted(recollection: Recollection) -> Candidate | None:
    """What reads far more like the answer than anything current, although something may have replaced it.

    Only if what may have replaced it was read and is no answer: then that concerns another aspect more often
    than the question. "got 2300 so far for japan" is marked because of "landlord put the rent up".
    """
    odds = recollection.answers
    doubted = [
        item
        for item in recollection
        if odds.get(item.ref, -inf) >= MIN_SURE_ODDS
        and item.outdated is not None
        and not item.outdated.certain
        and is_told(item)
    ]
    best = max(doubted, key=lambda item: (odds[item.ref], last_turn(item)), default=None)
    newer = newer_items(best, recollection) if best is not None else []
    if best is None or not newer or odds.get(newer[0].ref, 0.0) >= 0:
        return None
    current = next(iter(rank_by_odds(recollection)), None)
    return best if current is None or odds[best.ref] >= odds[current.ref] + CLEAR_LEAD else None


def newer_items(item: Candidate, recollection: Recollection) -> list[Candidate]:
    """The memory that may have replaced an item, if it was recalled, too."""
    outdated = item.outdated
    if outdated is None or outdated.certain:
        return []
    if outdated.newer is not None:
        return [other for other in recollection if other.ref == outdated.newer]
    day = f"{outdated.until:%Y-%m-%d}"
    said = ((item, SAID_TEXT.fullmatch(item.text)) for item in recollection)
    return [item for item, words in said if words is not None and words["day"] == day][:1]


def odds_lead(item: Candidate, recollection: Recollection) -> float:
    """By how much the log odds of a memory exceed those of every other message.

    0 if it is the only one: it cannot stand out.
    """
    odds = recollection.answers
    others = [odds[other.ref] for other in rank_by_odds(recollection) if last_turn(other) != last_turn(item)]
    return odds.get(item.ref, -inf) - max(others) if others else 0.0


def is_told(item: Candidate) -> bool:
    """Whether a memory is something that the user told: no wish, no question, no greeting, no reply."""
    if item.thought is not None:
        return item.thought.relation != INSTRUCTION
    text = "" if item.turn is None else item.turn.query.strip()
    return bool(text) and not (item.with_response or small_talk(text) or is_stored_question(text))


def is_stored_question(text: str) -> bool:
    """Whether a stored message is surely a question, so that it answers nothing.

    Not if it tells something beside the question: "my daughter can't have nuts, any ideas?"
    """
    if is_question(text) and telling_clauses(text):
        return False
    if asks(text) or load_patterns("asks_permission").search(text):
        return True
    return asks_for_memory(text, threshold=THRESHOLD_IF_STORED)


def last_turn(item: Candidate) -> int:
    """The turn in which a memory was told last."""
    return item.thought.last_turn if item.thought else item.ref.id
