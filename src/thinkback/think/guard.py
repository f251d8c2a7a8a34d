"""Judges the changes that a reader proposes, one by one: what is not supported is dropped, the rest is kept.

The guard checks grounding and identity, not vocabulary:

- the quote must be part of the user's message (the assistant's words are no evidence);
- the turn, or what the reader was shown besides it, must contain words of the fact, or the quote must be
  near to the fact in meaning;
- a thought is replaced or ended only by a statement about the same person or thing and the same matter (the
  same relation, shared words, or sentences alike in meaning), or together with such a thought that it hangs
  on: the floor of a flat, when the user moves out of it;
- a thought is forgotten only if the user asks for it;
- secrets and instructions to the assistant never become thoughts.

A replacement that is about another matter is kept as an addition: its fact is stored, nothing is retired.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from thinkback.language.names import USER, normalise_name
from thinkback.language.relations import canonical_relation
from thinkback.language.safety.quarantine import filter_drafts
from thinkback.prompts import own_answer
from thinkback.think.aliases import Aliases
from thinkback.think.contract import ChangeKind, ProposedChange, ProposedFact, ReadRequest
from thinkback.think.grounding import SupportingText, content_units, locate_quote
from thinkback.think.similarity import (
    MIN_FACT_SIMILARITY,
    MIN_PARAPHRASE_SIMILARITY,
    MIN_QUOTE_SIMILARITY,
    SentenceSimilarity,
)
from thinkback.think.word_lists import word_lists
from thinkback.types import Side, Source, Thought, ThoughtDraft, Turn

ASSISTANT = "assistant"
_USER_MENTION = re.compile(rf"\b{USER}\b|用户|用戶", re.IGNORECASE)
MIN_SENTENCE_SUPPORT = 0.15  # low: a sentence says "parents divorced" where the user said "mum and dad split"
MIN_VALUE_SUPPORT = 0.34
WELL_SUPPORTED_SENTENCE = 0.6  # then the value may be in other words: "my boy" -> "the user's son"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedChange:
    """A change that may be applied.

    `position` is that of the proposal in its reading. `premises` are known thoughts that support the draft.
    """

    position: int
    action: ChangeKind
    turn: Turn
    source: Source
    draft: ThoughtDraft | None = None
    targets: tuple[int, ...] = ()
    new_targets: tuple[int, ...] = ()
    ended_at: datetime | None = None
    premises: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The accepted changes of a reading, and why others were dropped or reduced."""

    accepted: tuple[AcceptedChange, ...]
    problems: tuple[str, ...]


class _Rejected(Exception):
    """The reason why a change is dropped."""


class Guard:
    """Judges the changes proposed for one request."""

    def __init__(
        self,
        request: ReadRequest,
        aliases: Aliases,
        get: Callable[[Sequence[int]], Sequence[Thought]],
        similarity: SentenceSimilarity,
    ) -> None:
        self._request = request
        self._similarity = similarity
        self._aliases = aliases
        self._get = get
        self._turns = {turn.id: turn for turn in request.turns}
        self._thoughts = {thought.id: thought for thought in request.related}
        self._supporting_texts: dict[str, SupportingText] = {}
        self._context = SupportingText(
            [
                *(turn.text for turn in (*request.recent, *request.turns)),
                *(f"{thought.subject} {thought.sentence}" for thought in request.related),
                *(name for group in request.names for name in group),
            ]
        )

    def judge(self, changes: Sequence[ProposedChange]) -> Verdicts:
        """Judge every change alone; a thought is retired by at most one change."""
        accepted: list[AcceptedChange] = []
        problems: list[str] = []
        retired: set[int] = set()
        for position, change in enumerate(changes):
            label = f"turn {change.turn}: {change.action} {change.quote[:60]!r}"
            try:
                verdict = self._judge(position, change, retired, problems)
            except _Rejected as reason:
                problems.append(f"{label} dropped: {reason}")
                continue
            accepted.append(verdict)
            retired.update(verdict.targets)
        return Verdicts(tuple(accepted), tuple(problems))

    def _judge(
        self, position: int, change: ProposedChange, retired: set[int], problems: list[str]
    ) -> AcceptedChange:
        turn = self._turns.get(change.turn)
        if turn is None:
            raise _Rejected("the turn is not one of those read")
        source = _find_source(change, turn)
        targets = self._current_targets([id_ for id_ in change.targets if id_ not in retired])
        accepted = AcceptedChange(
            position=position,
            action=change.action,
            turn=turn,
            source=source,
            ended_at=change.ended_at,
            new_targets=change.new_targets,
        )
        if change.fact is not None:
            draft, premises = self._check_fact(change.fact, turn, source)
            accepted = replace(accepted, draft=draft, premises=premises)
        if change.action == "forget" and not word_lists().forget_requests.search(turn.query):
            raise _Rejected("the user does not ask to forget anything")
        if change.action == "same":
            if not targets:
                raise _Rejected("it names no known fact")
            return replace(accepted, targets=(targets[0].id,), new_targets=())
        said = " ".join(
            (change.quote, *((change.fact.sentence, change.fact.relation) if change.fact else ()))
        )
        kept = targets if change.action == "forget" else self._concerned(targets, change, said)
        problems += (
            f"turn {turn.id}: {old.ref} stays: {change.quote[:60]!r} is about another matter"
            for old in targets
            if old not in kept
        )
        if change.action in ("end", "forget") and not (kept or change.new_targets):
            raise _Rejected("it names no known fact that it concerns")
        action = change.action if kept or change.new_targets or change.action != "replace" else "add"
        return replace(accepted, action=action, targets=tuple(old.id for old in kept))

    def _current_targets(self, ids: Sequence[int]) -> list[Thought]:
        """Those of the named thoughts that are current; the others are not in the way of a new fact."""
        named = [self._thoughts.get(id_) or next(iter(self._get([id_])), None) for id_ in ids]
        return [thought for thought in named if thought is not None and thought.current]

    def _check_fact(
        self, fact: ProposedFact, turn: Turn, source: Source
    ) -> tuple[ThoughtDraft, tuple[int, ...]]:
        """The draft of a fact and the known thoughts that support it."""
        about, sentence = fact.about.strip(), fact.sentence or fact.value
        if not (about and fact.relation and fact.value):
            raise _Rejected("subject, relation or value is missing")
        if normalise_name(about) in word_lists().pronouns:
            raise _Rejected(f"its subject is the pronoun {about!r}")
        quote = turn.text_of(source.side)[source.start : source.end]
        if not (self._has_words_of(fact, sentence) or self._is_paraphrase(quote, fact, sentence)):
            raise _Rejected(f"{fact.value!r} was not said")
        sources, premises = self._find_support(f"{fact.value} {sentence}", turn, source)
        draft = ThoughtDraft(
            subject=self._aliases.primary_name(about),
            relation=canonical_relation(fact.relation),
            objects=(fact.value,),
            sentence=sentence,
            kind=fact.kind,
            sources=sources,
            negated=fact.negated,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
        )
        if not filter_drafts([draft], turn):
            raise _Rejected("it holds a secret or an order to the assistant")
        return draft, premises

    def _has_words_of(self, fact: ProposedFact, sentence: str) -> bool:
        """Whether the turn, or what the reader was shown besides it, has enough words of a fact."""
        support = self._context.share(sentence)
        value_support = self._context.share(fact.value)
        if fact.kind == "relationship" and normalise_name(fact.about) != USER:
            # Who somebody is often follows from the whole exchange: then the name must have been said.
            value_support = max(value_support, self._context.share(fact.about))
        if support < MIN_SENTENCE_SUPPORT:
            return False
        return value_support >= MIN_VALUE_SUPPORT or support >= WELL_SUPPORTED_SENTENCE

    def _is_paraphrase(self, quote: str, fact: ProposedFact, sentence: str) -> bool:
        """Whether a quote may tell a fact in other words: "I live by myself" means "lives alone".

        The sentence and the value must be near to the quote in meaning, and all numbers must have been said.
        An invented detail on the same topic may still pass.
        """
        return (
            self._context.has_numbers_of(f"{fact.value} {sentence}")
            and self._similarity(quote, sentence) >= MIN_PARAPHRASE_SIMILARITY
            and self._similarity(quote, fact.value) >= MIN_PARAPHRASE_SIMILARITY
        )

    def _find_support(
        self, statement: str, turn: Turn, source: Source
    ) -> tuple[tuple[Source, ...], tuple[int, ...]]:
        """All sources of a statement, the quote first, and the known thoughts that give words of it.

        They are recorded so that nothing of an erased turn survives in a thought of another one.
        """
        sources, premises = [source], []
        missing = self._missing_units(content_units(statement), turn.text_of(source.side))
        for thought in reversed(self._request.related):
            left = self._missing_units(missing, f"{thought.subject}\n{thought.sentence}")
            if len(left) < len(missing):
                premises.append(thought.id)
                missing = left
        earlier = (*self._request.recent, *(other for other in self._request.turns if other.id < turn.id))
        for other in reversed(earlier):
            for side, speaker in _sides(other):
                left = self._missing_units(missing, other.text_of(side))
                if len(left) < len(missing):
                    sources.append(Source(other.id, speaker, side, 0, len(other.text_of(side))))
                    missing = left
        return tuple(sources), tuple(sorted(premises))

    def _missing_units(self, units: list[str], text: str) -> list[str]:
        """Those of the units that a text does not have. Texts are read once: a turn may be a whole book."""
        if not units:
            return []
        if text not in self._supporting_texts:
            self._supporting_texts[text] = SupportingText([text])
        supporting = self._supporting_texts[text]
        return [unit for unit in units if not supporting.has_unit(unit)]

    def _concerned(self, targets: Sequence[Thought], change: ProposedChange, said: str) -> list[Thought]:
        """Those of the targets that a change is about, or that hang on one that it is about."""
        direct = [old for old in targets if self._same_matter(old, change, said)]
        return [old for old in targets if old in direct or any(_hangs_on(old, other) for other in direct)]

    def _same_matter(self, old: Thought, change: ProposedChange, said: str) -> bool:
        """Whether a change is about the same subject, and the same relation or things, as a thought."""
        turn = self._turns[change.turn]
        if change.fact is not None:
            if not self._same_subject(old, change.fact, said):
                return False
            if canonical_relation(change.fact.relation) == canonical_relation(old.relation):
                return True
            said = f"{said} {change.fact.value}"
        else:
            said = f"{said} {turn.query}"
        own_name = SupportingText([old.subject, USER])
        matter = (
            unit for unit in content_units(f"{old.relation} {old.sentence}") if not own_name.has_unit(unit)
        )
        if any(map(SupportingText([said]).has_unit, matter)) or _mentions(said, old.subject):
            return True
        if change.fact is not None:
            return self._similarity(old.sentence, change.fact.sentence) >= MIN_FACT_SIMILARITY
        return self._similarity(old.sentence, change.quote) >= MIN_QUOTE_SIMILARITY

    def _same_subject(self, old: Thought, fact: ProposedFact, said: str) -> bool:
        """Whether a fact is about the subject of a thought, names it, or tells about the user as it does.

        The last one is for successors: "my boss is Ingrid" and "my boss is Paula" have two subjects.
        """
        return (
            self._aliases.are_same(fact.about, old.subject)
            or _mentions(said, old.subject)
            or _mentions(old.sentence, fact.about)
            or all(_tells_about_user(text) for text in (old.sentence, fact.sentence))
        )


def _find_source(change: ProposedChange, turn: Turn) -> Source:
    """The passage of the quote. What an assistant says is accepted only as its own words."""
    for side, speaker in _sides(turn):
        found = locate_quote(change.quote, turn.text_of(side))
        if found is None:
            continue
        if side == "response" and found[1] > len(own_answer(turn.response)):
            raise _Rejected("the model said it in the name of the user")
        by_assistant = side == "response" and speaker == ASSISTANT
        if by_assistant and not (change.fact and normalise_name(change.fact.about) == ASSISTANT):
            raise _Rejected("the assistant said it, not the user")
        return Source(turn.id, speaker, side, *found)
    raise _Rejected("the quote does not stand in the turn")


def _sides(turn: Turn) -> tuple[tuple[Side, str], ...]:
    return (("query", turn.asker), ("response", turn.answerer))


def _hangs_on(thought: Thought, other: Thought) -> bool:
    """Whether two thoughts were told together, or name the same thing besides the user."""
    if thought.sources and other.sources and thought.sources[0].turn == other.sources[0].turn:
        return True
    named = SupportingText([f"{other.subject} {other.sentence}"])
    user = SupportingText([USER, "用户"])
    units = set(content_units(f"{thought.subject} {thought.sentence}"))
    shared = [unit for unit in units if named.has_unit(unit) and not user.has_unit(unit)]
    return sum(len(unit) for unit in shared) > 1  # one Han character is not yet a word


def _tells_about_user(sentence: str) -> bool:
    return bool(_USER_MENTION.search(sentence))


def _mentions(text: str, name: str) -> bool:
    """Whether a text has all words of a name that is not the user's."""
    if normalise_name(name) in (USER, ""):
        return False
    units = content_units(name)
    supporting = SupportingText([text])
    return bool(units) and all(map(supporting.has_unit, units))
