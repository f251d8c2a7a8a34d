"""What commands share: the turns before a command, the thoughts of turns, and the logging of failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from thinkback.errors import Conflict, ModelError, NotFound
from thinkback.language.commands import is_only_commands
from thinkback.language.sentences import is_question, split_sentences
from thinkback.protocols import Store
from thinkback.types import INSTRUCTION, Thought, Turn

SeemsQuestion = Callable[[str], bool]
"""Whether a text without a question mark is likely a question."""

_log = logging.getLogger(__name__)

_LOOK_BACK_TURNS = 8  # turns of the session among which the previous one is searched
_MAX_GAP = timedelta(days=1)  # "that" does not mean what was said longer ago


@contextmanager
def log_failure(step: str) -> Iterator[None]:
    """Log, and go on after, an error that another process or a model causes.

    The log gets the class of the error only: its message may quote what the user wants forgotten.
    """
    try:
        yield
    except (Conflict, NotFound, ModelError) as error:
        _log.warning("%s failed: %s", step, type(error).__name__)


def recent_turns(store: Store, space: str, turn: Turn, *, hidden: bool = False) -> list[Turn]:
    """The turns just before this one in the same conversation; hidden ones only with `hidden`."""
    turns = store.turns(space, session=turn.session, newest=True, limit=_LOOK_BACK_TURNS + 1, hidden=hidden)
    return [other for other in turns if other.id < turn.id and turn.at - other.at <= _MAX_GAP]


def previous_turns(store: Store, space: str, turn: Turn) -> list[Turn]:
    """The turns just before this one in the same conversation, without those that are only commands."""
    return [other for other in recent_turns(store, space, turn) if not is_only_commands(other.query)]


def only_asks(turn: Turn, seems_question: SeemsQuestion) -> bool:
    """Whether a message is nothing but questions, with or without question marks."""
    return all(
        is_question(sentence.text) or seems_question(sentence.text)
        for sentence in split_sentences(turn.query)
    )


def thoughts_of(store: Store, space: str, turns: Sequence[Turn]) -> list[Thought]:
    """The current thoughts that were drawn from these turns, without instructions."""
    ids = {
        thought.id
        for turn in turns
        for action in store.journal(space, turn=turn.id)
        for thought in action.after
        if any(source.turn == turn.id for source in thought.sources)
    }
    found = store.thoughts(space, ids=sorted(ids)) if ids else []
    return [thought for thought in found if thought.current and thought.relation != INSTRUCTION]
