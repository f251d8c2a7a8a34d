"""The command `demo`: a guided demonstration of remembering, replacing, explaining and undoing."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from thinkback.cli import output
from thinkback.cli.command import CommandCall, register_command
from thinkback.cli.output import one_line
from thinkback.config import Settings, open_memory
from thinkback.errors import Conflict, InvalidInput, ModelError
from thinkback.times import utc_now

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.recall.chat import ChatStream
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
ANSWER_TIMEOUT_SECONDS = 6.0  # keeps the demo under a minute with slow models
HOME_QUESTION, ALLERGY_QUESTION, ERASED_WORD = QUESTIONS[0], QUESTIONS[1], "peanut"


@dataclass(frozen=True, slots=True)
class Scene:
    """One step of the demo: a title and the lines printed below it."""

    title: str
    lines: tuple[str, ...]


def play_scenes(settings: Settings) -> Iterator[Scene]:
    """Run two sessions on one database; the memory is closed and reopened between them."""
    with open_memory(settings, background=False) as memory:
        if memory.turns(limit=1):
            raise Conflict(f"user {memory.user!r} already has memories: choose another --user for the demo")
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
        "Last week you said a few things. Each message was stored on disk first.",
        tuple(f"you: {turn.query}   ({turn.ref})" for turn in turns),
    )


def _thoughts_scene(memory: Memory) -> Scene:
    result = memory.post_think()
    lines: list[str] = []
    thoughts = memory.thoughts()
    for thought in thoughts:
        lines.append(f"{thought.ref}: {thought.sentence}")
        lines += [f"  {line}" for line in memory.why(thought).lines if line.startswith("from ")]
    return Scene(
        f"Then thoughts were extracted: {len(thoughts)} from {result.turns} turns, each with its source.",
        tuple(lines),
    )


def _second_session_scene(memory: Memory) -> Scene:
    lines: list[str] = []
    for question in QUESTIONS:
        lines += _exchange_lines(memory, question, k=2)
    author = f"written by {memory.llm.name}" if memory.llm else "taken from memory, without a language model"
    return Scene(f"Today you ask in a new session. The answers are {author}.", tuple(lines))


def _exchange_lines(memory: Memory, question: str, *, k: int) -> Iterator[str]:
    """The question, its answer, and the memories that it was given."""
    yield f"you: {question}"
    stream = memory.chat_stream(question, session="today", k=k)
    try:
        text = _read_answer(stream)
    except ModelError as error:
        text = f"({error})"
    first, *rest = text.strip().splitlines() or [""]
    yield f"memory: {first}"
    yield from (f"        {line}" for line in rest)
    yield from _recalled_lines(stream.recollection)


def _read_answer(stream: ChatStream) -> str:
    """The answer, cut off after a timeout because very small models may not stop by themselves."""
    deadline = time.monotonic() + ANSWER_TIMEOUT_SECONDS
    chunks: list[str] = []
    with stream:
        for chunk in stream:
            chunks.append(chunk)
            if time.monotonic() > deadline:
                chunks.append(f"… (stopped after {ANSWER_TIMEOUT_SECONDS:.0f} s)")
                break
    return "".join(chunks)


def _update_scene(memory: Memory) -> Scene:
    memory.remember(UPDATE_MESSAGE, session="today")
    result = memory.post_think()
    lines = [f"you: {UPDATE_MESSAGE}", *(line for action in result.actions for line in _action_lines(action))]
    lines += _exchange_lines(memory, HOME_QUESTION, k=1)
    return Scene("Facts change: the new thought supersedes the old one.", tuple(lines))


def _undo_scenes(memory: Memory) -> Iterator[Scene]:
    supersede = next((action for action in reversed(memory.journal()) if action.action == "supersede"), None)
    if supersede is None:
        raise InvalidInput("the demo failed: no thought was superseded")
    old = next(thought for thought in supersede.after if not thought.current)
    yield Scene(f"Nothing is lost: why {old.ref}?", tuple(memory.why(old).lines))
    undo = memory.undo(supersede)
    yield Scene(
        f"Every action can be undone: {supersede.ref}.",
        (*_action_lines(undo), *_exchange_lines(memory, HOME_QUESTION, k=1)),
    )


def _erase_scene(memory: Memory, db: str) -> Scene:
    occurrences_before = _count_occurrences(db)
    turn = next(turn for turn in memory.turns() if ERASED_WORD in turn.query)
    results = (memory.erase(turn=turn), memory.erase(session="today"))
    turns, thoughts, actions = (
        sum(counts) for counts in zip(*((r.turns, r.thoughts, r.actions) for r in results), strict=True)
    )
    return Scene(
        f"Erase deletes permanently: {turn.ref} and today's session, with everything derived from them.",
        (
            f"erased: {turns} turns, {thoughts} thoughts, {actions} actions",
            f"'{ERASED_WORD}' in the database files: {occurrences_before} times before, "
            f"{_count_occurrences(db)} now",
            *_exchange_lines(memory, ALLERGY_QUESTION, k=1),
        ),
    )


def _recalled_lines(recollection: Recollection) -> Iterator[str]:
    for item in recollection:
        yield f"  recalled {item.ref}: {one_line(item.text, limit=120)}"
        yield f"    reason: {item.reason}"


def _action_lines(action: Action) -> Iterator[str]:
    yield f"  {action.ref} {action.action}: {action.reason}"
    for thought in action.after:
        yield f"    {thought.ref}: {thought.sentence}   ({_thought_state(thought)})"


def _thought_state(thought: Thought) -> str:
    return "current" if thought.current else "retired"


def _count_occurrences(db: str) -> int:
    """How often `ERASED_WORD` occurs in the bytes of the database file, its WAL and its other files."""
    path = Path(db)
    return sum(
        file.read_bytes().lower().count(ERASED_WORD.encode())
        for file in path.parent.glob(f"{path.name}*")
        if file.is_file()
    )


def register(app: typer.Typer) -> None:
    register_command(app, "llm", "embedder", "preset")(demo)


def demo(call: CommandCall) -> None:
    """Show all features in under a minute: remember, recall, update, explain, undo, erase.

    All output comes from a real memory in a temporary database (or in --db, with a new --user). An installed
    local language model writes the answers; the demo also works without one.

    \b
    Examples:
      thinkback demo
      thinkback demo --llm none
    """
    from thinkback.config import NONE, llm_spec

    settings = call.settings
    # A remote model costs money, so the demo uses one only if the --llm flag names it.
    use_llm = (llm_spec(settings) or "").startswith("local:") or settings.origin("llm") == "flag --llm"
    with tempfile.TemporaryDirectory(prefix="thinkback-demo-") as folder:
        demo_call = call.with_flags(
            db=str(Path(folder) / "memory.db") if call.flags["db"] is None else settings.db,
            user=call.flags["user"] or "demo",
            llm=settings.llm if use_llm else NONE,
        )
        scenes = play_scenes(demo_call.settings)
        if call.json:
            output.print_json([{"title": scene.title, "lines": list(scene.lines)} for scene in scenes])
            return
        for number, scene in enumerate(scenes, start=1):
            _print_scene(number, scene)


def _print_scene(number: int, scene: Scene) -> None:
    output.print_line(f"\n{number}. {scene.title}", "bold cyan")
    for line in scene.lines:
        output.print_line(f"   {line}", "dim" if line.startswith("  ") else "")
