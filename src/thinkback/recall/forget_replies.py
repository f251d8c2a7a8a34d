"""What the chat without a model says after requests to forget, or to undo that: what was done, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thinkback.language.commands import FORGET_KINDS, find_commands, may_undo, shown_topic
from thinkback.language.safety.quarantine import redact
from thinkback.recall.chat_phrases import say
from thinkback.types import Action


def forget_replies(message: str, actions: Sequence[Action]) -> Iterator[str]:
    """One sentence for the requests to forget of a message; `actions` are what its commands did."""
    commands = [command for command in find_commands(message) if command.kind in FORGET_KINDS]
    forgot = [action for action in actions if action.action == "forget"]
    topics = [redact(shown_topic(command)) for command in commands if command.kind == "forget_topic"]
    if not commands or (actions and not forgot and commands[0].or_wish):
        return
    if any(action.action == "undo" for action in actions):
        yield say("undone", message)
        return
    if may_undo(commands[0]) and not forgot:
        yield say("nothing_to_undo", message)
        return
    if forgot and all(action.hides == (action.turn,) and not action.before for action in forgot):
        yield say("off_record", message)  # only the message itself
    elif any(command.kind == "off_record" for command in commands) and forgot:
        yield say("off_record", message)
    elif not topics or not all(topics) or (forgot and len(topics) > 1):  # of several, which ones is not known
        yield say("forgotten" if forgot else "not_found", message)
    elif not forgot:
        yield say("not_found_about", message, topics[0])
    else:
        count = sum(map(count_forgotten, forgot))
        yield say("forgotten_one" if count == 1 else "forgotten_many", message, topics[0], str(count))


def count_forgotten(action: Action) -> int:
    """How many memories an action took back: messages, and thoughts that came from other messages."""
    turns = set(action.hides) - {action.turn}
    others = [
        thought
        for thought in action.before
        if thought.current and not any(source.turn in turns for source in thought.sources)
    ]
    return len(turns) + len(others)
