"""Scores of replayed lives: what became a thought, what is still current, and what questions recall.

Everything here is a pure function of a `PlayedLife`. Texts are compared after `normalise_text` (width, case,
apostrophes, white space); numbers stay as they are written. A value is found if it is contained in a text,
but a number only as a whole run of digits: 42 is in "42,000" and not in "142".

A thought covers a gold fact if one of the passages it quotes lies in the fact's turn, and either these
passages contain at least half of the characters of the gold quote, or its sentence or one of its objects
contains the gold value. Earlier messages that only explain a thought are sources, but no quotes: they cover
nothing.
One thought can cover several facts, and a thought that quotes the whole message covers all facts of the turn.
Coverage is therefore an upper bound, value coverage (the value alone) a lower one.

Whether a fact is current is decided by the covering thoughts that state its value, and among these by the
ones that resemble no other fact of the turn more; all of them decide where there are none such. Then

- a fact that still holds is also current if a thought that replaced one of these states its value: "takes
  50 mg on weekdays" keeps what "takes 50 mg" said;
- a fact that was replaced is not current through a thought that also covers the fact in its place: "moves on
  the first of May" was said again when it had happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from thinkback.language.tokens import extract_terms
from thinkback_lab.datasets.lives import FactStatus, GoldFact, Life, LifeQuestion, LifeTurn
from thinkback_lab.metrics.answers import normalise_text
from thinkback_lab.text import count_tokens

RecallMode = Literal["both", "thoughts", "brief", "raw"]
RECALL_MODES: tuple[RecallMode, ...] = ("both", "thoughts", "brief", "raw")
FactState = Literal["current", "past", "missing"]
Figures = dict[str, int | float | None]

MAX_RECALLED = 10
CONTEXT_ITEMS = 5  # recalled items that a model is given by default; answer@5, clean@5 and tokens read them
MIN_QUOTE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Passage:
    """Characters `start` to `end` of a turn: of the user's message ("query") or the reply ("response")."""

    turn: int
    side: Literal["query", "response"]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeThought:
    """A thought drawn from a life. `passages` are what it quotes, first the passage it was drawn from.

    Passages count turns as the life does. Messages that only explain the thought are left out.
    """

    ref: str
    sentence: str
    objects: tuple[str, ...]
    current: bool
    passages: tuple[Passage, ...]
    replaced_by: tuple[str, ...] = ()  # references of the thoughts that took its place


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMemory:
    """One recalled thought or raw turn, and the turns it comes from."""

    ref: str
    text: str
    turns: tuple[int, ...]
    is_thought: bool = False
    outdated: bool = False  # the recollection marks it as outdated


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """What a question recalled in each mode. `known` is what `synthesise` said, for absent questions only."""

    recalled: Mapping[RecallMode, tuple[RecalledMemory, ...]]
    known: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedLife:
    """A replayed life: all its thoughts at the end, and its questions in the order of the file."""

    life: Life
    thoughts: tuple[LifeThought, ...]
    asked: tuple[AskedQuestion, ...]
    unprocessed_turns: int = 0  # post-think failed for these turns
    llm_calls: int = 0  # of post-think
    llm_tokens: int = 0


def contains_value(text: str, value: str) -> bool:
    """Whether the text contains the value, both normalised; digits next to a number are not ignored."""
    haystack, needle = normalise_text(text), normalise_text(value)
    at = haystack.find(needle) if needle else -1
    while at >= 0:
        end = at + len(needle)
        if not (_splits_number(haystack, at) or _splits_number(haystack, end)):
            return True
        at = haystack.find(needle, at + 1)
    return False


def _splits_number(text: str, at: int) -> bool:
    return text[max(at - 1, 0) : at].isdecimal() and text[at : at + 1].isdecimal()


def covers(thought: LifeThought, fact: GoldFact, turn: LifeTurn) -> bool:
    """Whether a thought states the fact of this turn (leniently, see the head of this module)."""
    passages = [passage for passage in thought.passages if passage.turn == turn.n]
    if not passages:
        return False
    if states_value(thought, fact):
        return True
    return _quoted_characters(passages, fact.quote, turn) >= MIN_QUOTE_SHARE * len(fact.quote)


def states_value(thought: LifeThought, fact: GoldFact) -> bool:
    """Whether the sentence or an object of the thought contains the value of the fact."""
    return any(contains_value(text, fact.value) for text in (thought.sentence, *thought.objects))


def _quoted_characters(passages: Sequence[Passage], quote: str, turn: LifeTurn) -> int:
    """How many characters of the quote the passages contain; of several occurrences the best one counts."""
    return max(
        len(occurrence & _characters(passages, side))
        for side, text in (("query", turn.user), ("response", turn.assistant))
        for occurrence in (set[int](), *_occurrences(text, quote))
    )


def _characters(passages: Iterable[Passage], side: str) -> set[int]:
    return {at for passage in passages if passage.side == side for at in range(passage.start, passage.end)}


def _occurrences(text: str, quote: str) -> Iterator[set[int]]:
    at = text.find(quote)
    while at >= 0:
        yield set(range(at, at + len(quote)))
        at = text.find(quote, at + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactScore:
    """A gold fact, what became of it (`status`), and the thoughts that cover it."""

    life: Life
    turn: int
    fact: GoldFact
    status: FactStatus
    thoughts: tuple[LifeThought, ...]
    deciding: tuple[LifeThought, ...]  # those that decide whether it is current

    @property
    def state(self) -> FactState:
        """Whether a current thought says it, only retired ones do, or none covers it."""
        if not self.thoughts:
            return "missing"
        return "current" if any(thought.current for thought in self.deciding) else "past"

    @property
    def value_stated(self) -> bool:
        return any(states_value(thought, self.fact) for thought in self.thoughts)


def score_facts(played: PlayedLife) -> list[FactScore]:
    statuses = played.life.fact_statuses
    covering = {
        fact.id: tuple(thought for thought in played.thoughts if covers(thought, fact, turn))
        for turn in played.life.turns
        for fact in turn.facts
    }
    scores = []
    for turn in played.life.turns:
        for fact in turn.facts:
            deciding = _deciding(covering[fact.id], fact, turn)
            if statuses[fact.id] == "valid":
                deciding += tuple(
                    thought for thought in _replacements(deciding, played) if states_value(thought, fact)
                )
            else:
                replacing = {
                    thought.ref for id_ in _facts_in_place_of(fact, played.life) for thought in covering[id_]
                }
                deciding = tuple(thought for thought in deciding if thought.ref not in replacing)
            scores.append(
                FactScore(
                    life=played.life,
                    turn=turn.n,
                    fact=fact,
                    status=statuses[fact.id],
                    thoughts=covering[fact.id],
                    deciding=deciding,
                )
            )
    return scores


def _deciding(covering: tuple[LifeThought, ...], fact: GoldFact, turn: LifeTurn) -> tuple[LifeThought, ...]:
    stating = tuple(thought for thought in covering if states_value(thought, fact)) or covering
    closest = tuple(
        thought
        for thought in stating
        if all(_resemblance(thought, fact) >= _resemblance(thought, other) for other in turn.facts)
    )
    return closest or stating


def _resemblance(thought: LifeThought, fact: GoldFact) -> float:
    """The share of common terms in all terms of the two sentences."""
    terms, others = (set(extract_terms(text)) for text in (thought.sentence, fact.text))
    return len(terms & others) / max(1, len(terms | others))


def _replacements(thoughts: Iterable[LifeThought], played: PlayedLife) -> list[LifeThought]:
    """The thoughts that took the place of these, and those that took theirs."""
    by_ref = {thought.ref: thought for thought in played.thoughts}
    found: dict[str, LifeThought] = {}
    waiting = [ref for thought in thoughts for ref in thought.replaced_by]
    while waiting:
        ref = waiting.pop()
        if ref in by_ref and ref not in found:
            found[ref] = by_ref[ref]
            waiting.extend(by_ref[ref].replaced_by)
    return list(found.values())


def _facts_in_place_of(fact: GoldFact, life: Life) -> set[str]:
    """The facts that replaced this one, directly or not."""
    found: set[str] = set()
    waiting = [fact.id]
    while waiting:
        old = waiting.pop()
        for turn in life.turns:
            for other in turn.facts:
                if old in other.replaces and other.id not in found:
                    found.add(other.id)
                    waiting.append(other.id)
    return found


def memory_figures(played: Sequence[PlayedLife]) -> Figures:
    """Figures about the thoughts of these lives, counted over all their turns and facts together.

    coverage: share of the facts that a thought covers, current or retired. value_coverage: the same, and the
    thought contains the gold value. silence: share of the turns without facts from which no thought was
    drawn. current: share of the facts still valid at the end that a current thought covers. stale: share of
    the replaced, ended or forgotten facts that a current thought still states. wrongly_retired: share of the
    valid facts with a thought that no current thought states any more.
    """
    facts = [fact for each in played for fact in score_facts(each)]
    valid = [fact for fact in facts if fact.status == "valid"]
    gone = [fact for fact in facts if fact.status != "valid"]
    thinking = [(turn, n) for each in played for turn, n in _thoughts_by_turn(each)]
    without_facts = [n for turn, n in thinking if not turn.facts]
    return {
        "lives": len(played),
        "turns": len(thinking),
        "turns_without_facts": len(without_facts),
        "facts": len(facts),
        "facts_gone": len(gone),
        "thoughts": sum(len(each.thoughts) for each in played),
        "coverage": _mean(fact.state != "missing" for fact in facts),
        "value_coverage": _mean(fact.value_stated for fact in facts),
        "silence": _mean(n == 0 for n in without_facts),
        "thoughts_per_turn": sum(len(each.thoughts) for each in played) / len(thinking) if thinking else None,
        "current": _mean(fact.state == "current" for fact in valid),
        "stale": _mean(fact.state == "current" for fact in gone),
        "wrongly_retired": _mean(fact.state == "past" for fact in valid if fact.state != "missing"),
    }


def _thoughts_by_turn(played: PlayedLife) -> Iterator[tuple[LifeTurn, int]]:
    # The first passage is the one that the thought was drawn from; further ones repeat it.
    sources = [{passage.turn for passage in thought.passages[:1]} for thought in played.thoughts]
    for turn in played.life.turns:
        yield turn, sum(turn.n in turns for turns in sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionScore:
    """The score of one question in one recall mode; None where a figure does not apply."""

    life: Life
    question: LifeQuestion
    evidence_recall_at_5: float | None
    evidence_recall_at_10: float | None
    answer: bool | None
    clean: bool | None
    abstained: bool | None
    silent: bool
    tokens: int  # of the first five items


def score_questions(played: PlayedLife, mode: RecallMode) -> list[QuestionScore]:
    return [
        _score_question(played.life, question, asked, mode)
        for question, asked in zip(played.life.questions, played.asked, strict=True)
    ]


def _score_question(
    life: Life, question: LifeQuestion, asked: AskedQuestion, mode: RecallMode
) -> QuestionScore:
    recalled = asked.recalled[mode]
    first = recalled[:CONTEXT_ITEMS]
    answer = all(
        any(contains_value(item.text, value) for value in group for item in first)
        for group in question.accept
    )
    rejected = any(
        contains_value(item.text, value) for value in question.reject for item in first if not item.outdated
    )
    answerable = question.answerable
    return QuestionScore(
        life=life,
        question=question,
        evidence_recall_at_5=_evidence_recall(question, first) if answerable else None,
        evidence_recall_at_10=_evidence_recall(question, recalled[:MAX_RECALLED]) if answerable else None,
        answer=answer if answerable else None,
        clean=answer and not rejected if answerable else None,
        abstained=None if answerable or mode != "both" else not recalled or asked.known is False,
        silent=not recalled,
        tokens=context_tokens(recalled),
    )


def context_tokens(items: Sequence[RecalledMemory]) -> int:
    """The tokens of the items that a model is given."""
    return count_tokens("\n".join(item.text for item in items[:CONTEXT_ITEMS]))


def within_tokens(items: Sequence[RecalledMemory], limit: int) -> tuple[RecalledMemory, ...]:
    """The longest beginning of the items with at most so many tokens, but at least one item."""
    count = min(len(items), CONTEXT_ITEMS)
    while count > 1 and context_tokens(items[:count]) > limit:
        count -= 1
    return tuple(items[:count])


def _evidence_recall(question: LifeQuestion, items: Iterable[RecalledMemory]) -> float:
    evidence = set(question.evidence)
    return len(evidence & {turn for item in items for turn in item.turns}) / len(evidence)


def question_figures(scores: Sequence[QuestionScore]) -> Figures:
    """Figures about these questions.

    recall@k: mean share of the evidence turns that the first k items come from. answer@5: every `accept`
    group is found in the first five items. clean@5: the same, and no `reject` value is found in them, where
    items marked as outdated are not searched. abstention: share of the absent questions that recalled
    nothing or for which `synthesise` knew no answer (mode `both` only). wrongly_silent: share of the other
    questions that recalled nothing. tokens: mean tokens of the first five items, over all questions.
    """
    answerable = [score for score in scores if score.question.answerable]
    return {
        "n": len(scores),
        "answerable": len(answerable),
        "recall@5": _mean(score.evidence_recall_at_5 for score in answerable),
        "recall@10": _mean(score.evidence_recall_at_10 for score in answerable),
        "answer@5": _mean(score.answer for score in answerable),
        "clean@5": _mean(score.clean for score in answerable),
        "abstention": _mean(score.abstained for score in scores),
        "wrongly_silent": _mean(score.silent for score in answerable),
        "tokens": _mean(score.tokens for score in scores),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean without None; None if nothing is left."""
    measured = [value for value in values if value is not None]
    return fmean(measured) if measured else None
