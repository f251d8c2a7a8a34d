"""Working memory: does the context stay small, and does it keep what was told?

    python benchmarks/working.py [--json] [--turns 1000] [--embedder minilm] [--show]

bounded:   a generated conversation of 1,000 turns with 50 facts planted in it (needs, constraints,
           exclusions, numbers; English and Chinese). Tokens of the context at turn 20 and at the end, over
           the same messages; how many facts are in the context when they are asked for (the question itself
           is not counted); and what the full history would cost.
excluded:  40 options rejected in the course of a conversation, then each proposed again: how many are named
           as excluded, with their reason, and how many a context mentions without saying so.
hostile:   a model that summarises badly (nothing, no JSON, no fields, emptied fields, 1 MB, lies): how
           many confirmed items are lost.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.working_talk import FACTS, Option, Planted, options, talk

from thinkback import Memory
from thinkback.language.tokens import count_tokens
from thinkback.llms.scripted import ScriptedLLM, ScriptedReply
from thinkback.session.context import Context
from thinkback.session.render import FIELD_HEADINGS
from thinkback.types import Summary

EARLY = 20
PROBES = 12
EMPTIED: dict[str, list[str]] = {
    name: [] for name in ("needs", "constraints", "excluded", "facts", "to_clarify", "settled", "reopened")
}
NOTHING_LEFT = {"talk": "small talk", "topic": "", "conclusion": "", **EMPTIED, "revised": []}


@dataclass
class Clock:
    now: datetime = datetime(2024, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=30)
        return self.now


def opened(embedder: str, **given: Any) -> Memory:
    return Memory.open(":memory:", embedder=embedder, background=False, clock=Clock(), **given)


def conversation(turns: int, planted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """So many turns, what is planted spread evenly over all but the last few of them."""
    gap = (turns - EARLY) / len(planted)
    at = {int(EARLY // 4 + number * gap): said for number, said in enumerate(planted)}
    for number, (said, answered) in enumerate(islice(talk(7), turns)):
        yield (at[number], "Good to know.") if number in at else (said, answered)


def without_question(context: Context) -> str:
    return "\n".join(message.content for message in context.messages[:-1])


def bounded(turns: int, embedder: str, show: bool) -> dict[str, Any]:
    probes = [said for said, _ in islice(talk(11), PROBES)]
    memory, full, early = opened(embedder), 0, 0.0
    with memory:
        for number, (said, answered) in enumerate(
            conversation(turns, [fact.said for fact in FACTS]), start=1
        ):
            memory.remember(said, answered)
            memory.post_think()
            memory.summary()
            full += count_tokens(said) + count_tokens(answered)
            if number == EARLY:
                early = fmean(memory.context(probe).tokens for probe in probes)
        late = [memory.context(probe).tokens for probe in probes]
        missing = [fact for fact in FACTS if not _kept(memory, fact)]
        asked = [memory.context(fact.asked).tokens for fact in FACTS]
    for fact in missing if show else ():
        print(f"missing: {fact.kind}: {fact.said} <- {fact.asked}", file=sys.stderr)
    return {
        "turns": turns,
        "tokens_early": round(early, 1),
        "tokens_late": round(fmean(late), 1),
        "tokens_most": max(*late, *asked),
        "growth": round(fmean(late) / early, 3),
        "facts": len(FACTS),
        "facts_kept": round(1 - len(missing) / len(FACTS), 3),
        "full_history_tokens": full,
        "full_history_times": round(full / fmean(late), 1),
    }


def _kept(memory: Memory, fact: Planted) -> bool:
    told = without_question(memory.context(fact.asked))
    return all(proof in told for proof in fact.proof)


def excluded(embedder: str, show: bool) -> dict[str, Any]:
    planted = options()
    named = open_ = 0
    with opened(embedder) as memory:
        for said, answered in conversation(200, [option.said for option in planted]):
            memory.remember(said, answered)
        memory.post_think()
        for option in planted:
            asked = f"{option.name}怎么样？" if option.zh else f"Shall we take {option.name}?"
            told = without_question(memory.context(asked))
            good = _named(told, option)
            stray = [each.name for each in planted if _open(told, each)]
            named += good
            open_ += len(stray)
            if show and (not good or stray):
                print(f"excluded: {option.said} named {good}, open {stray}", file=sys.stderr)
    return {"options": len(planted), "named_with_reason": named, "mentioned_as_open": open_}


def _lines(told: str) -> list[str]:
    """The lines under the heading of what is excluded."""
    _, _, rest = told.partition(FIELD_HEADINGS["excluded"])
    lines: list[str] = []
    for line in rest.strip("\n").split("\n"):
        if not line.startswith("- "):
            break
        lines.append(line)
    return lines


def _bare(option: Option) -> str:
    return option.name.removeprefix("the ").removeprefix("a ").lower()


def _named(told: str, option: Option) -> bool:
    return any(_bare(option) in line.lower() and option.reason in line for line in _lines(told))


def _open(told: str, option: Option) -> bool:
    """Whether the context speaks of the option (its whole name) without naming it as excluded."""
    return option.name in told and not any(_bare(option) in line.lower() for line in _lines(told))


def hostile(embedder: str) -> dict[str, Any]:
    told = [fact.said for fact in FACTS[::3]]
    lies = {
        **NOTHING_LEFT,
        "reopened": ["oak table", "玻璃门"],
        "revised": [
            {
                "field": "constraints",
                "old": "The rent can be at most 1450 euros a month.",
                "new": "Rent is free.",
                "reason": "x",
            }
        ],
    }
    replies: dict[str, ScriptedReply] = {
        "nothing": " ",
        "no JSON": "I have updated the summary for you!",
        "no fields": "{}",
        "emptied": json.dumps(NOTHING_LEFT),
        "1 MB": json.dumps({**NOTHING_LEFT, "facts": ["x" * 1_000_000]}),
        "cut off": json.dumps(NOTHING_LEFT)[:-9],
        "lies": json.dumps(lies),
    }
    lost: dict[str, int] = {}
    said: dict[str, bool] = {}
    for name, reply in replies.items():
        with opened(embedder) as memory:
            for line in told:
                memory.remember(line)
            memory.post_think()
            before = memory.summary()
            path = memory.store
            with Memory(
                path, memory.embedder, background=False, summary_llm=ScriptedLLM({"": reply})
            ) as other:
                other.remember("And the weather is fine.", "Good.")
                problems = other.post_think().problems
                lost[name] = len(_confirmed(before) - _confirmed(other.summary()))
                said[name] = bool(problems)
    return {"items": len(_confirmed(before)), "lost": lost, "told_of_a_problem": said}


def _confirmed(summary: Summary) -> set[str]:
    out = {f"{each.option}: {each.reason}" for each in summary.excluded}
    return out | {*summary.needs, *summary.constraints, *summary.facts}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--show", action="store_true", help="what is missing, on standard error")
    given = parser.parse_args()
    result = {
        "bounded": bounded(given.turns, given.embedder, given.show),
        "excluded": excluded(given.embedder, given.show),
        "hostile": hostile(given.embedder),
    }
    if given.json:
        print(json.dumps(result, indent=2))
        return
    for name, figures in result.items():
        print(name)
        for what, value in figures.items():
            print(f"  {what:22} {value}")


if __name__ == "__main__":
    main()
