"""The story of memory, scene by scene; nothing in it is scripted but what is told and asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from thinkback.cli.output import one_line
from thinkback.config import Settings, open_memory
from thinkback.errors import Conflict, InvalidInput, ModelError
from thinkback.memory import Memory
from thinkback.recall.chat import ChatStream
from thinkback.times import utc_now
from thinkback.types import Action, Recollection, Thought

FIRST_SESSION_MESSAGES = (
    "My name is Ann and I live in Paris.",
    "I am allergic to peanuts.",
    "My sister Clara is a doctor.",
    "我养了一只猫，名字叫小白。",
)
QUESTIONS = (
    "Where do I live?",
    "What am I allergic to?",
    "What does Clara do?",
    "我的猫叫什么名字？",
)
UPDATE_MESSAGE = "I moved to Lyon."
ANSWER_TIMEOUT_SECONDS = 6.0  # so that the story stays under a minute with any model
HOME_QUESTION, ALLERGY_QUESTION, ERASED_WORD = QUESTIONS[0], QUESTIONS[1], "peanut"


@dataclass(frozen=True, slots=True)
class Scene:
    title: str
    lines: tuple[str, ...]


def play_scenes(settings: Settings) -> Iterator[Scene]:
    """Two sessions on one database, the second with a memory opened anew."""
    with open_memory(settings, background=False) as memory:
        if memory.turns(limit=1):
            raise Conflict(f"user {memory.user!r} has memories already: name another --user for the demo")
        yield _first_session_scene(memory)
        yield _thoughts_scene(memory)
    with open_memory(settings, background=False) as memory:
        yield _second_session_scene(memory)
        yield _update_scene(memory)
        yield from _undo_scenes(memory)
        yield _erase_scene(memory, settings.db)


def _first_session_scene(memory: Memory) -> Scene:
    last_week = utc_now() - timedelta(days=7)
    turns = [memory.remember(text, at=last_week, session="last week") for text in FIRST_SESSION_MESSAGES]
    return Scene(
        "Last week you tell a few things. Each is safe on disk before anything else happens.",
        tuple(f"you: {turn.query}   ({turn.ref})" for turn in turns),
    )


def _thoughts_scene(memory: Memory) -> Scene:
    over = memory.post_think()
    lines: list[str] = []
    thoughts = memory.thoughts()
    for thought in thoughts:
        lines.append(f"{thought.ref}: {thought.sentence}")
        lines += [f"  {line}" for line in memory.why(thought).lines if line.startswith("from ")]
    return Scene(
        f"Then memory thinks: {over.turns} turns, {len(thoughts)} thoughts, each with its source.",
        tuple(lines),
    )


def _second_session_scene(memory: Memory) -> Scene:
    lines: list[str] = []
    for question in QUESTIONS:
        lines += [f"you: {question}", *_answer_lines(memory, question)]
    who = memory.llm.name if memory.llm else "memory itself, for no language model is needed"
    return Scene(
        f"Today, another session, a memory opened anew. The answers are worded by {who}.", tuple(lines)
    )


def _answer_lines(memory: Memory, question: str) -> Iterator[str]:
    stream = memory.chat_stream(question, session="today", k=2)
    try:
        text = _read_answer(stream)
    except ModelError as error:
        text = f"({error})"
    first, *rest = text.strip().splitlines() or [""]
    yield f"memory: {first}"
    yield from (f"        {line}" for line in rest)
    yield from _recalled_lines(stream.recollection)


def _read_answer(stream: ChatStream) -> str:
    """What the model says within its time; a small one may not find an end by itself."""
    deadline = time.monotonic() + ANSWER_TIMEOUT_SECONDS
    pieces: list[str] = []
    with stream:
        for piece in stream:
            pieces.append(piece)
            if time.monotonic() > deadline:
                pieces.append(f"… (stopped after {ANSWER_TIMEOUT_SECONDS:.0f} s)")
                break
    return "".join(pieces)


def _update_scene(memory: Memory) -> Scene:
    memory.remember(UPDATE_MESSAGE, session="today")
    over = memory.post_think()
    lines = [f"you: {UPDATE_MESSAGE}", *(line for action in over.actions for line in _action_lines(action))]
    lines += [f"you: {HOME_QUESTION}", *_recalled_lines(memory.recall(HOME_QUESTION, k=1))]
    return Scene("Things change: the new thought takes the place of the old one.", tuple(lines))


def _undo_scenes(memory: Memory) -> Iterator[Scene]:
    action = next((each for each in reversed(memory.journal()) if each.action == "supersede"), None)
    if action is None:
        raise InvalidInput("the demo expects its own story: nothing was superseded")
    old = next(thought for thought in action.after if not thought.current)
    history = memory.why(old).lines
    yield Scene(f"Nothing is lost: why {old.ref}?", tuple(history))
    undone = memory.undo(action)
    yield Scene(
        f"And every action can be undone: {action.ref}.",
        (
            *_action_lines(undone),
            f"you: {HOME_QUESTION}",
            *_recalled_lines(memory.recall(HOME_QUESTION, k=1)),
        ),
    )


def _erase_scene(memory: Memory, db: str) -> Scene:
    before = _count_occurrences(db)
    turn = next(turn for turn in memory.turns() if ERASED_WORD in turn.query)
    gone = memory.erase(turn=turn)
    asked = memory.erase(session="today")
    found = memory.recall(ALLERGY_QUESTION)
    return Scene(
        f"Erasing is your right: {turn.ref} and today's session, with all that came of them.",
        (
            f"erased: {gone.turns + asked.turns} turns, {gone.thoughts + asked.thoughts} thoughts, "
            f"{gone.actions + asked.actions} actions",
            f"'{ERASED_WORD}' in the files of the database: {before} times before, {_count_occurrences(db)} now",
            f"you: {ALLERGY_QUESTION}",
            *(_recalled_lines(found) if len(found) else ["  nothing is recalled"]),
        ),
    )


def _recalled_lines(found: Recollection) -> Iterator[str]:
    for item in found:
        yield f"  recalled {item.ref}: {one_line(item.text, limit=120)}"
        yield f"    because it {item.reason}"


def _action_lines(action: Action) -> Iterator[str]:
    yield f"  {action.ref} {action.action}: {action.reason}"
    for thought in action.after:
        yield f"    {thought.ref}: {thought.sentence}   ({_thought_state(thought)})"


def _thought_state(thought: Thought) -> str:
    return "held true" if thought.current else "held true no longer"


def _count_occurrences(db: str) -> int:
    """How often the secret stands in the database, its log and the files beside it."""
    path = Path(db)
    return sum(
        file.read_bytes().lower().count(ERASED_WORD.encode())
        for file in path.parent.glob(f"{path.name}*")
        if file.is_file()
    )
