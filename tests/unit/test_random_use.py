"""Random sequences of what users do: whatever they are, only documented errors are raised."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.errors import Conflict
from thinkback.memory import Memory

CHATS = Path(__file__).parents[2] / "scenarios" / "chats" / "guiding"
STEPS = 60
PRESETS = ("hybrid", "tim", "fuzzy", "perltqa", "bm25", "dense", "fading")
PLAIN = (
    "i live in leeds",
    "my rent is 850",
    "im vegan",
    "i have two cats called tom and max",
    "dentist on friday at 3",
    "i moved to york",
    "i quit my job",
    "My neighbour drinks. We planted two apple trees in the garden last autumn.",
    "我住在杭州",
    "我养了一只猫叫咪咪",
    "我对花生过敏",
)
COMMANDS = (
    "forget that",
    "undo that",
    "forget what I said about my neighbour",
    "off the record, my boss is leaving",
    "no wait, its friday",
    "oops, 950",
    "I meant Lyon, not Paris",
    "always answer in german",
    "forget everything about work",
    "what do you know about me?",
    "忘掉刚才说的",
    "不对，是周五",
    "撤销",
    "?",
    "😀",
)


def messages() -> list[str]:
    texts = [path.read_text("utf-8") for path in sorted(CHATS.glob("*.jsonl"))]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    return [words for line in lines if (words := line.get("say") or line.get("ask"))]


@pytest.mark.parametrize("seed", range(6))
def test_no_sequence_of_uses_fails(open_memory: OpenMemory, clock: FakeClock, seed: int) -> None:
    choose = random.Random(seed)
    memory, texts = open_memory(), messages()
    for _ in range(STEPS):
        clock.advance(choose.choice((1, 60, 36_000, 2_000_000)))
        text = choose.choice(choose.choice((texts, PLAIN, COMMANDS)))
        take_step(memory, clock, choose, text)
    assert memory.stats().failed == 0


def take_step(memory: Memory, clock: FakeClock, choose: random.Random, text: str) -> None:
    match choose.choice(("chat", "remember", "recall", "recall", "ask", "known", "change", "change")):
        case "chat":
            memory.chat(text)
            memory.post_think()
        case "remember":
            memory.remember(text, choose.choice(("", "I see.", "When is it?")))
            if choose.random() < 0.7:
                memory.post_think()
        case "recall":
            explain = choose.random() < 0.5
            as_of = choose.choice((None, None, clock() - timedelta(days=30)))
            preset = choose.choice(PRESETS)
            found = memory.recall(
                text, choose.choice((1, 5, 10)), explain=explain, as_of=as_of, preset=preset
            )
            if explain:
                memory.why(found)
        case "ask":
            memory.ask(text)
        case "known":
            memory.recall(text, known_at=clock() - timedelta(days=choose.choice((1, 40))))
        case _:
            change_something(memory, choose)


def change_something(memory: Memory, choose: random.Random) -> None:
    actions, thoughts = memory.journal(), memory.thoughts()
    if actions and choose.random() < 0.5:
        with suppress(Conflict):  # it is undone already, or something rests on it
            memory.undo(choose.choice(actions).id)
    elif thoughts:
        memory.why(choose.choice(thoughts))
        memory.forget(choose.choice(thoughts).id, "no longer wanted")
