"""Carries out requests to forget: of the previous turn, of a turn itself, and of a topic.

A topic is found by its words, or by the attribute or person that they name. What a hidden turn says besides
the topic is kept (`forgetting`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from thinkback.language.commands import (
    Command,
    asks_for_fact,
    blank_requests,
    has_most_characters,
    is_about_next,
    is_about_previous,
    is_only_commands,
    loose_topic_pattern,
    loose_topic_terms,
    secret_topic,
    topic_relation,
    topic_terms,
)
from thinkback.language.names import USER, normalise_name
from thinkback.language.safety.normalise import QuarantinedSpan
from thinkback.language.safety.quarantine import find_secrets, redact, turn_findings
from thinkback.language.safety.secret_kinds import API_KEY, PASSWORD, PIN
from thinkback.language.sentences import split_sentences
from thinkback.language.statements import find_statements
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import has_han
from thinkback.protocols import Clock, Store
from thinkback.think.command_context import log_failure, previous_turns
from thinkback.think.forgetting import RemainderKeeper
from thinkback.types import SAID, USER_ACTOR, Action, Ref, Thought, Turn

_PAGE_ROWS = 500
_SECRET_KINDS = frozenset((PASSWORD, PIN, API_KEY))  # what people call a password or a code
_MAX_FORGOTTEN_TURNS = 200  # on one topic; more is no topic


class Forgetter:
    """Hides the turns and retires the thoughts that a request to forget means."""

    def __init__(self, store: Store, clock: Clock, remainder: RemainderKeeper) -> None:
        self._store = store
        self._clock = clock
        self._remainder = remainder

    def forget_turns(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Hide the turn that "forget that" or "off the record" means."""
        if command.kind == "off_record":
            hidden = [turn.id]
            means_previous = is_only_commands(turn.query) and not is_about_next(command)
        else:
            means_previous = is_about_previous(command, turn.query)
            hidden = [turn.id] if not means_previous or is_only_commands(turn.query) else []
        previous = previous_turns(self._store, space, turn)[-1:] if means_previous else []
        hidden += [other.id for other in previous]
        if command.kind == "forget_last" and means_previous and not previous:
            return None
        reason = f"{turn.ref} asks to forget {_list_refs('turn', hidden)}"
        return self._forget(space, turn, reason, turns=hidden)

    def forget_topic(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Hide the turns and retire the thoughts that have all words of the topic.

        If there are none, those that the topic names less exactly. Not if it is a question: "where the
        neighbour lives" would become "lives".
        """
        topic = _Topic(command.topic)
        thoughts, told = self._find_topic(space, turn, topic)
        if not (thoughts or told) and not asks_for_fact(command.topic):
            topic = _Topic(command.topic, loosely=True)
            thoughts, told = self._find_topic(space, turn, topic)
        if topic.is_any_secret and len(told) > 1:  # which one is not known
            return None
        thoughts, told = self._with_same_words(space, thoughts, told)
        turns = [other.id for other in told]
        if not (thoughts or turns) or len(turns) > _MAX_FORGOTTEN_TURNS:
            return None
        if not is_only_commands(turn.query) and topic.is_of_text(blank_requests(turn.query)):
            told.append(turn)  # the message tells more about it
        for other in told:
            # Whatever fails here, the request itself is carried out.
            with log_failure(f"keeping what {other.ref} says besides the topic of {turn.ref}"):
                self._remainder.keep(
                    space, other, lambda text: topic.is_of_text(text) or is_only_commands(text), thoughts
                )
        refs = _list_refs("thought", thoughts) if thoughts else _list_refs("turn", turns)
        reason = f"{turn.ref} asks to forget {redact(command.topic)!r}: {refs}"
        if is_only_commands(turn.query) or turn in told:
            turns.append(turn.id)
        return self._forget(space, turn, reason, turns=turns, thoughts=thoughts, keep_thoughts=True)

    def _with_same_words(
        self, space: str, thoughts: Sequence[int], told: Sequence[Turn]
    ) -> tuple[list[int], list[Turn]]:
        """The thoughts and turns to forget, with the sentences kept as said that contain these facts.

        Such a sentence need not have a word of the topic: "I'm Dana, 34" contains an age.
        """
        facts = self._store.thoughts(space, ids=sorted(thoughts)) if thoughts else []
        passages = [source for fact in facts for source in fact.sources if fact.relation != SAID]
        if not passages:
            return list(thoughts), list(told)
        sentences = [
            thought
            for thought in self._store.thoughts(space)
            if thought.relation == SAID
            and any(one.overlaps(other) for one in thought.sources for other in passages)
        ]
        found = {thought.id for thought in sentences}.union(thoughts)
        known = {turn.id for turn in told}
        more = {source.turn for thought in sentences for source in thought.sources} - known
        turns = [*told, *(self._store.turns(space, ids=sorted(more)) if more else ())]
        return sorted(found), sorted(turns, key=lambda turn: turn.id)

    def _find_topic(self, space: str, turn: Turn, topic: _Topic) -> tuple[list[int], list[Turn]]:
        """The thoughts about a topic, and the turns before this one."""
        if not topic.is_known:
            return [], []
        thoughts = [
            thought.id
            for thought in self._store.thoughts(space)
            if thought.last_turn != turn.id and topic.is_of_thought(thought)
        ]
        return thoughts, [other for other in self._turns_before(space, turn) if topic.is_of_turn(other)]

    def _turns_before(self, space: str, turn: Turn) -> Iterator[Turn]:
        after = 0
        while page := self._store.turns(space, after=after, limit=_PAGE_ROWS):
            yield from (other for other in page if other.id < turn.id)
            after = page[-1].id

    def _forget(
        self,
        space: str,
        turn: Turn,
        reason: str,
        *,
        turns: Sequence[int],
        thoughts: Sequence[int] = (),
        keep_thoughts: bool = False,
    ) -> Action:
        earlier = self._store.journal(space, turn=turn.id)  # another command of the message
        hidden = {id_ for action in earlier for id_ in action.hides}
        return self._store.forget(
            space,
            turns=sorted(set(turns) - hidden),
            thoughts=thoughts,
            reason=reason,
            actor=USER_ACTOR,
            now=self._clock(),
            cause=turn.id,
            keep_thoughts=keep_thoughts,
        )


class _Topic:
    """What to forget: by its words, or by the attribute or person that they name.

    `loosely`, by fewer words ("cousin Otto" by "Otto"), with particles between Chinese characters, or as a
    secret with another word for it ("the wifi password" by "wifi pw").
    """

    def __init__(self, topic: str, *, loosely: bool = False) -> None:
        self._words = loose_topic_terms(topic) if loosely else topic_terms(topic)
        self._relation = None if loosely else topic_relation(topic)
        self._pattern = loose_topic_pattern(topic) if loosely else None
        self._loose_topic = topic if loosely and has_han(topic) else ""
        self._secret_words = secret_topic(topic) if loosely else None

    @property
    def is_known(self) -> bool:
        """Whether it says what to forget at all."""
        return bool(self._words) or self._relation is not None or bool(self._loose_topic)

    @property
    def is_any_secret(self) -> bool:
        """Whether it is a secret without a word that says which: "my pin code"."""
        return self._secret_words is not None and not self._secret_words

    def is_of_thought(self, thought: Thought) -> bool:
        terms = _thought_terms(thought)
        if self._has_words(terms) or self._is_in(thought.sentence):
            return True
        relation = self._relation
        if relation is None or normalise_name(thought.subject) != USER:
            return False
        return thought.relation == relation.name or (
            thought.relation == SAID and self._is_stated(thought.object, terms)
        )

    def is_of_turn(self, turn: Turn) -> bool:
        if self._tells_secret(turn.query) and _has_secret(turn_findings(turn, "query").secrets):
            return True
        return self.is_of_text(turn.query) or self._has_words(set(extract_terms(turn.response)))

    def is_of_text(self, text: str) -> bool:
        """Whether words of the user are about it."""
        terms = set(extract_terms(text))
        if self._tells_secret(text) and _has_secret(find_secrets(text)):
            return True
        return self._has_words(terms) or self._is_in(text) or self._is_stated(text, terms)

    def _tells_secret(self, text: str) -> bool:
        """Whether a text has the words of the secret that is meant, besides its value."""
        words = self._secret_words
        return words is not None and words <= set(extract_terms(text))

    def _is_in(self, text: str) -> bool:
        if self._pattern is not None and self._pattern.search(text) is not None:
            return True
        if not self._loose_topic:
            return False
        return any(has_most_characters(self._loose_topic, each.text) for each in split_sentences(text))

    def _has_words(self, terms: set[str]) -> bool:
        return bool(self._words) and self._words <= terms

    def _is_stated(self, text: str, terms: set[str]) -> bool:
        """Whether the user tells about the attribute or person in other words."""
        relation = self._relation
        if relation is None or not any(words and words <= terms for words in relation.words):
            return False
        return relation.is_person or any(
            statement.about == USER and statement.relation == relation.name
            for statement in find_statements(text)
        )


def _has_secret(secrets: Sequence[QuarantinedSpan]) -> bool:
    return any(span.kind in _SECRET_KINDS for span in secrets)


def _thought_terms(thought: Thought) -> set[str]:
    """The search terms of a thought: its sentence, subject, relation and values."""
    return set(extract_terms(f"{thought.sentence}\n{thought.subject} {thought.relation} {thought.object}"))


def _list_refs(kind: Literal["turn", "thought"], ids: Sequence[int]) -> str:
    shown = ", ".join(str(Ref(kind, id_)) for id_ in sorted(ids)[:8])
    return f"{shown} and {len(ids) - 8} more" if len(ids) > 8 else shown
