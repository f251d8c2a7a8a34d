"""Carries out commands to the memory as soon as a turn with one is stored, without a model.

    forget that                  hides the previous turn and takes back what was drawn from it
    forget X                     hides the turns about X and retires the thoughts about X; what a hidden turn
                                 says besides is kept as thoughts
    don't mention X again        the same; if X was never told, a standing wish
    off the record, ...          hides the turn itself
    I meant Lyon, not Paris      replaces the value of the thought just drawn, if there is exactly one
    always answer in German      keeps an instruction, which every context carries
    undo that                    takes back what the message before did, if it was one of these

Each is a journal action by the user that names the turn and can be undone. A command whose target is not
certain does nothing: the reader of turns may still understand it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from thinkback.errors import Conflict, ModelError, NotFound
from thinkback.indexing import Indexer
from thinkback.language.commands import (
    Command,
    blank_requests,
    corrects,
    find_commands,
    has_most_characters,
    instruction_topic,
    is_about_next,
    is_about_previous,
    is_only_commands,
    is_safe_instruction,
    loose_topic_pattern,
    loose_topic_terms,
    may_undo,
    only_undoes,
    topic_relation,
    topic_terms,
)
from thinkback.language.corrections import Correction, CorrectionStrength, read_correction
from thinkback.language.names import USER, normalise_name
from thinkback.language.safety.quarantine import find_secrets, redact
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.spoken_dates import add_dates
from thinkback.language.statements import find_statements
from thinkback.language.tokens import extract_terms
from thinkback.language.value_types import find_values, value_type
from thinkback.language.writing_systems import has_han
from thinkback.protocols import Clock, Store
from thinkback.think.corrections import ValueSimilarity, find_corrected, said_text
from thinkback.think.forgetting import RemainderKeeper
from thinkback.types import (
    INSTRUCTION,
    SAID,
    USER_ACTOR,
    Action,
    Operation,
    Plan,
    Ref,
    Source,
    Thought,
    ThoughtDraft,
    Turn,
)

_log = logging.getLogger(__name__)

MAX_INSTRUCTION_TURN_CHARS = 600  # a longer turn is pasted text: its sentences are not wishes of the user
_LOOK_BACK_TURNS = 8  # turns of the session among which the previous one is searched
_CORRECTED_TURNS = 3  # previous turns whose thoughts a correction may mean
_MAX_BARE_GAP = timedelta(minutes=10)  # between a fact and a bare value that corrects it
_MAX_KEPT_CHARS = 500  # of a message whose sentences are kept because one is corrected
_MAX_GAP = timedelta(days=1)  # "that" does not mean what was said longer ago
_PAGE_ROWS = 500
_MAX_RETRIES = 3  # of a command after a concurrent change
_MAX_FORGOTTEN_TURNS = 200  # on one topic; more is no topic


@contextmanager
def _log_failure(step: str) -> Iterator[None]:
    """Log, and go on after, an error that another process or a model causes.

    The log gets the class of the error only: its message may quote what the user wants forgotten.
    """
    try:
        yield
    except (Conflict, NotFound, ModelError) as error:
        _log.warning("%s failed: %s", step, type(error).__name__)


def _without_restated(text: str, commands: Sequence[Command]) -> tuple[Command, ...]:
    """The commands without "as if I had not said it" in a sentence that names what to forget."""
    named = [
        (sentence.start, sentence.end)
        for sentence in split_sentences(text)
        if any(
            command.kind == "forget_topic" and sentence.start <= command.start < sentence.end
            for command in commands
        )
    ]
    return tuple(
        command
        for command in commands
        if command.kind != "forget_last" or not any(start <= command.start < end for start, end in named)
    )


class CommandRunner:
    """Carries out the commands of turns for the spaces of one tenant."""

    def __init__(
        self,
        store: Store,
        indexer: Indexer,
        clock: Clock,
        similarity: ValueSimilarity,
        *,
        reads_corrections: bool = False,
    ) -> None:
        """With `reads_corrections`, also corrections without a fixed form count.

        They should not if a model or another reader thinks: it reads them with what was said before.
        """
        self._store = store
        self._indexer = indexer
        self._clock = clock
        self._similarity = similarity
        self._reads_corrections = reads_corrections
        self._remainder = RemainderKeeper(store, indexer, clock)

    def run(self, space: str, turn: Turn) -> list[Action]:
        """Carry out the commands of a stored turn, once. Returns the actions."""
        commands = find_commands(turn.query)
        correction = read_correction(turn.query) if self._reads_corrections and not commands else None
        if not (commands or correction) or turn.hidden or self._was_run(space, turn):
            return []
        if correction is not None:
            with _log_failure(f"correction of {turn.ref}"):
                action = self._run_with_retries(partial(self._correct, space, turn, correction))
                return [] if action is None else [action]
            return []  # it failed: the reader comes later
        commands = _without_restated(turn.query, commands)
        actions: list[Action] = []
        for command in commands:
            # The space may change at the same time, or the embedder may be down: the reader comes later.
            with _log_failure(f"command {command.kind} of {turn.ref}"):
                action = self._run_with_retries(partial(self._run_command, space, turn, command))
                if action is not None:
                    actions.append(action)
            if command.kind == "off_record" and any(turn.id in action.hides for action in actions):
                break
        return actions

    def may_correct(self, turn: Turn) -> bool:
        """Whether a turn may correct what was told before it, which must have been thought over then.

        Never if the reader reads corrections itself, with the turns before them.
        """
        if not self._reads_corrections:
            return False
        commands = find_commands(turn.query)
        return any(command.kind == "correct" for command in commands) or (
            not commands and read_correction(turn.query) is not None
        )

    def _was_run(self, space: str, turn: Turn) -> bool:
        return any(action.actor == USER_ACTOR for action in self._store.journal(space, turn=turn.id))

    def _run_with_retries(self, command: Callable[[], Action | None]) -> Action | None:
        """Carry out a command, again if thinking changed the space at the same time."""
        for _ in range(_MAX_RETRIES):
            with suppress(Conflict):
                return command()
        return command()

    def _run_command(self, space: str, turn: Turn, command: Command) -> Action | None:
        if command.kind == "forget_topic":
            action = self._forget_topic(space, turn, command)
            return self._instruct(space, turn, command) if action is None and command.or_wish else action
        if command.kind == "correct":
            strength: CorrectionStrength = "certain" if command.old or corrects(command.text) else "likely"
            tells_more = not is_only_commands(turn.query)
            correction = Correction(command.new, command.old, strength, tells_more, in_fixed_form=True)
            return self._correct(space, turn, correction, command.start)
        if command.kind == "instruct":
            return self._instruct(space, turn, command)
        if may_undo(command) and is_only_commands(turn.query):
            return self._undo_last(space, turn, command)
        return None if only_undoes(command) else self._forget_turns(space, turn, command)

    def _undo_last(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Undo the last command; after a statement, forget the statement, unless it can only mean to undo.

        Messages that told nothing and changed nothing are passed over: questions, thanks, a command that
        found nothing.
        """
        turns = self._store.turns(
            space, session=turn.session, newest=True, limit=_LOOK_BACK_TURNS + 1, hidden=True
        )
        before = [other for other in turns if other.id < turn.id and turn.at - other.at <= _MAX_GAP]
        for other in reversed(before):
            actions = self._store.journal(space, turn=other.id)
            if done := [action for action in actions if action.actor == USER_ACTOR]:
                return self._undo(space, turn, done)
            if self._tells(space, other):
                forgets = other is before[-1] and not only_undoes(command)
                return self._forget_turns(space, turn, command) if forgets else None
        return None

    def _tells(self, space: str, turn: Turn) -> bool:
        """Whether a message tells something, or may do so because it was not thought over yet."""
        if turn.thought_at is None:
            return not all(is_question(sentence.text) for sentence in split_sentences(turn.query))
        return bool(self._thoughts_of(space, [turn]))

    def _undo(self, space: str, turn: Turn, done: Sequence[Action]) -> Action | None:
        """Undo those of the actions that are not undone yet, the last one first; None if there are none."""
        undone: Action | None = None
        for action in reversed(done):
            if not action.undone_by and action.action != "undo":
                undone = self._store.undo(space, action.id, USER_ACTOR, self._clock(), cause=turn.id)
        return undone

    def _forget_turns(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Hide the turn that "forget that" or "off the record" means."""
        if command.kind == "off_record":
            hidden = [turn.id]
            means_previous = is_only_commands(turn.query) and not is_about_next(command)
        else:
            means_previous = is_about_previous(command, turn.query)
            hidden = [turn.id] if not means_previous or is_only_commands(turn.query) else []
        previous = self._previous_turns(space, turn)[-1:] if means_previous else []
        hidden += [other.id for other in previous]
        if command.kind == "forget_last" and means_previous and not previous:
            return None
        reason = f"{turn.ref} asks to forget {_list_refs('turn', hidden)}"
        return self._forget(space, turn, reason, turns=hidden)

    def _forget_topic(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Hide the turns and retire the thoughts that have all words of the topic.

        If there are none, those that the topic names less exactly.
        """
        topic = _Topic(command.topic)
        thoughts, told = self._find_topic(space, turn, topic)
        if not (thoughts or told):
            topic = _Topic(command.topic, loosely=True)
            thoughts, told = self._find_topic(space, turn, topic)
        thoughts, told = self._with_same_words(space, thoughts, told)
        turns = [other.id for other in told]
        if not (thoughts or turns) or len(turns) > _MAX_FORGOTTEN_TURNS:
            return None
        if not is_only_commands(turn.query) and topic.is_of_text(blank_requests(turn.query)):
            told.append(turn)  # the message tells more about it
        for other in told:
            # Whatever fails here, the request itself is carried out.
            with _log_failure(f"keeping what {other.ref} says besides the topic of {turn.ref}"):
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

    def _correct(self, space: str, turn: Turn, correction: Correction, start: int = 0) -> Action | None:
        """Replace the value that a correction means, if only one can be meant; it stands after `start`.

        Nothing may have been drawn from the message before. If it has the value, its sentences are kept
        first.
        """
        previous = self._previous_turns(space, turn)[-_CORRECTED_TURNS:]
        if not previous or (correction.strength == "bare" and turn.at - previous[-1].at > _MAX_BARE_GAP):
            return None
        last = previous[-1]
        if (
            correction.strength != "bare"
            and last.thought_at is not None
            and len(last.query) <= _MAX_KEPT_CHARS
            and len(find_values(last.query, correction.new)) == 1
            and not self._thoughts_of(space, [last])
        ):
            self._remainder.keep(space, last, lambda text: False)
        thoughts = self._thoughts_of(space, previous)
        target = find_corrected(correction, thoughts, last, self._similarity)
        if target is None:
            return None
        thought, value = target
        start = turn.query.find(correction.new, start)
        source = Source(turn.id, turn.asker, "query", start, start + len(correction.new))
        new = _without_repeated_unit(thought.sentence, value, correction.new)
        sentence = said_text(thought).replace(value, new)
        is_said = thought.relation == SAID
        is_date = value_type(new) in ("weekday", "date", "month")
        draft = ThoughtDraft(
            subject=thought.subject,
            relation=thought.relation,
            objects=(sentence,) if is_said else tuple(_replace(item, value, new) for item in thought.objects),
            sentence=add_dates(sentence, self._said_at(space, thought, last)) if is_said else sentence,
            kind=thought.kind,
            sources=(*thought.sources, source),
            negated=thought.negated,
            valid_from=None if is_date else thought.valid_from,
            valid_to=None if is_date else thought.valid_to,
        )
        reason = f"{turn.ref} corrects {value!r} to {correction.new!r}"
        operation = Operation(action="supersede", reason=reason, add=(draft,), retire=(thought.id,))
        return self._apply(space, turn, operation, completes=not correction.tells_more)

    def _said_at(self, space: str, thought: Thought, last: Turn) -> datetime:
        """When a sentence was said first: its relative times are counted from there."""
        turns = self._store.turns(space, ids=[thought.sources[0].turn]) if thought.sources else []
        return turns[0].at if turns else last.at

    def _instruct(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Keep a standing wish; it replaces an older one on the same topic."""
        wish = command.text.strip()
        if (
            len(turn.query) > MAX_INSTRUCTION_TURN_CHARS
            or find_secrets(wish)
            or not is_safe_instruction(wish)
        ):
            return None
        draft = ThoughtDraft(
            subject=USER,
            relation=INSTRUCTION,
            objects=(wish.rstrip(".!。！ "),),
            sentence=wish,
            kind="profile",
            sources=(Source(turn.id, turn.asker, "query", command.start, command.end),),
            valid_from=turn.at,
        )
        topic = instruction_topic(wish)
        held = self._store.thoughts(space, relation=INSTRUCTION)
        if any(normalise_name(old.object) == normalise_name(draft.object) for old in held):
            return None
        replaced = [old for old in held if topic is not None and instruction_topic(old.sentence) == topic]
        if not replaced:
            reason = f"{turn.ref} asks for it from now on"
            return self._apply(space, turn, Operation(action="insert", reason=reason, add=(draft,)))
        reason = f"{turn.ref} asks for another {topic} from now on"
        retire = tuple(old.id for old in replaced)
        return self._apply(
            space, turn, Operation(action="supersede", reason=reason, add=(draft,), retire=retire)
        )

    def _apply(
        self, space: str, turn: Turn, operation: Operation, *, completes: bool | None = None
    ) -> Action:
        """Apply an operation; the turn is done if it `completes` it (default: if it is only commands)."""
        plan = Plan(
            turn=None,
            lease="",
            actor=USER_ACTOR,
            operations=(operation,),
            cause=turn.id,
            completes_cause=is_only_commands(turn.query) if completes is None else completes,
        )
        entries, epoch = self._indexer.entries_for_plan(space, plan)
        (action,) = self._store.apply(space, plan, entries, self._clock(), epoch)
        return action

    def _previous_turns(self, space: str, turn: Turn) -> list[Turn]:
        """The turns just before this one in the same conversation, without those that are only commands."""
        turns = self._store.turns(space, session=turn.session, newest=True, limit=_LOOK_BACK_TURNS + 1)
        return [
            other
            for other in turns
            if other.id < turn.id and turn.at - other.at <= _MAX_GAP and not is_only_commands(other.query)
        ]

    def _turns_before(self, space: str, turn: Turn) -> Iterator[Turn]:
        after = 0
        while page := self._store.turns(space, after=after, limit=_PAGE_ROWS):
            yield from (other for other in page if other.id < turn.id)
            after = page[-1].id

    def _thoughts_of(self, space: str, turns: Sequence[Turn]) -> list[Thought]:
        """The current thoughts that were drawn from these turns, without instructions."""
        ids = {
            thought.id
            for turn in turns
            for action in self._store.journal(space, turn=turn.id)
            for thought in action.after
            if any(source.turn == turn.id for source in thought.sources)
        }
        found = self._store.thoughts(space, ids=sorted(ids)) if ids else []
        return [thought for thought in found if thought.current and thought.relation != INSTRUCTION]


def thought_terms(thought: Thought) -> set[str]:
    """The search terms of a thought: its sentence, subject, relation and values."""
    return set(extract_terms(f"{thought.sentence}\n{thought.subject} {thought.relation} {thought.object}"))


class _Topic:
    """What to forget: by its words, or by the attribute or person that they name.

    `loosely`, by fewer words ("cousin Otto" by "Otto") or with particles between Chinese characters.
    """

    def __init__(self, topic: str, *, loosely: bool = False) -> None:
        self._words = loose_topic_terms(topic) if loosely else topic_terms(topic)
        self._relation = None if loosely else topic_relation(topic)
        self._pattern = loose_topic_pattern(topic) if loosely else None
        self._loose_topic = topic if loosely and has_han(topic) else ""

    @property
    def is_known(self) -> bool:
        """Whether it says what to forget at all."""
        return bool(self._words) or self._relation is not None or bool(self._loose_topic)

    def is_of_thought(self, thought: Thought) -> bool:
        terms = thought_terms(thought)
        if self._has_words(terms) or self._is_in(thought.sentence):
            return True
        relation = self._relation
        if relation is None or normalise_name(thought.subject) != USER:
            return False
        return thought.relation == relation.name or (
            thought.relation == SAID and self._is_stated(thought.object, terms)
        )

    def is_of_turn(self, turn: Turn) -> bool:
        return self.is_of_text(turn.query) or self._has_words(set(extract_terms(turn.response)))

    def is_of_text(self, text: str) -> bool:
        """Whether words of the user are about it."""
        terms = set(extract_terms(text))
        return self._has_words(terms) or self._is_in(text) or self._is_stated(text, terms)

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


def _without_repeated_unit(sentence: str, value: str, new: str) -> str:
    """The new value without the words that already follow the old one: "8 people" and "13 people" -> "13"."""
    rest = sentence.partition(value)[2].lower().lstrip()
    first, _, unit = new.partition(" ")
    return first if unit and rest.startswith(unit.lower()) else new


def _replace(item: str, value: str, new: str) -> str:
    """An object of a triple with the new value. The value may have a unit that the object has not: 5, 5岁."""
    if item in value and item != value:
        return new.removesuffix(value.removeprefix(item))
    return item.replace(value, new) if item.count(value) == 1 else item


def _list_refs(kind: Literal["turn", "thought"], ids: Sequence[int]) -> str:
    shown = ", ".join(str(Ref(kind, id_)) for id_ in sorted(ids)[:8])
    return f"{shown} and {len(ids) - 8} more" if len(ids) > 8 else shown
