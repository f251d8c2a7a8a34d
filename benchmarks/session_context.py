"""Working memory: does the context stay small, and does it keep the facts?

    python benchmarks/session_context.py [--json] [--turns 1000] [--embedder minilm] [--show]

bounded:   a generated conversation of 1,000 turns that contains 50 facts (needs, constraints, exclusions,
           numbers; English and Chinese). Tokens of the context at turn 20 and at the end for the same
           messages; how many facts are in the context when they are asked for (the question itself does not
           count); and the cost of the full history.
excluded:  40 options are rejected during a conversation and then proposed again: how many are named as
           excluded, with the reason, and how many a context mentions without saying so.
hostile:   a model that summarises badly (nothing, no JSON, no fields, emptied fields, 1 MB, lies): how many
           confirmed items are lost.
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

from benchmarks.session_context_talk import FACTS, Option, PlantedFact, rejected_options, small_talk

from thinkback import Memory
from thinkback.language.tokens import count_tokens
from thinkback.llms.scripted import ScriptedLLM, ScriptedReply
from thinkback.session.context import Context
from thinkback.session.render import FIELD_HEADINGS
from thinkback.types import Summary

EARLY_TURN = 20
PROBE_COUNT = 12
EMPTY_FIELDS: dict[str, list[str]] = {
    name: [] for name in ("needs", "constraints", "excluded", "facts", "to_clarify", "settled", "reopened")
}
EMPTY_PROPOSAL = {"talk": "small talk", "topic": "", "conclusion": "", **EMPTY_FIELDS, "revised": []}


@dataclass
class Clock:
    """Advances by 30 seconds at each call."""

    now: datetime = datetime(2024, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=30)
        return self.now


def open_memory(embedder: str) -> Memory:
    return Memory(":memory:", embedder=embedder, background=False, clock=Clock())


def conversation(turns: int, planted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Turns of small talk, with the planted messages spread evenly over all but the last few."""
    gap = (turns - EARLY_TURN) / len(planted)
    at = {int(EARLY_TURN // 4 + number * gap): said for number, said in enumerate(planted)}
    for number, (query, response) in enumerate(islice(small_talk(7), turns)):
        yield (at[number], "Good to know.") if number in at else (query, response)


def without_question(context: Context) -> str:
    return "\n".join(message.content for message in context.messages[:-1])


def bounded(turns: int, embedder: str, show: bool) -> dict[str, Any]:
    probes = [query for query, _ in islice(small_talk(11), PROBE_COUNT)]
    memory, full, early = open_memory(embedder), 0, 0.0
    with memory:
        for number, (query, response) in enumerate(
            conversation(turns, [fact.said for fact in FACTS]), start=1
        ):
            memory.remember(query, response)
            memory.post_think()
            memory.summary()
            full += count_tokens(query) + count_tokens(response)
            if number == EARLY_TURN:
                early = fmean(memory.context(probe).tokens for probe in probes)
        late = [memory.context(probe).tokens for probe in probes]
        missing = [fact for fact in FACTS if not _is_in_context(memory, fact)]
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


def _is_in_context(memory: Memory, fact: PlantedFact) -> bool:
    context = without_question(memory.context(fact.asked))
    return all(proof in context for proof in fact.proof)


def excluded(embedder: str, show: bool) -> dict[str, Any]:
    planted = rejected_options()
    named = open_ = 0
    with open_memory(embedder) as memory:
        for query, response in conversation(200, [option.said for option in planted]):
            memory.remember(query, response)
        memory.post_think()
        for option in planted:
            asked = f"{option.name}怎么样？" if option.zh else f"Shall we take {option.name}?"
            context = without_question(memory.context(asked))
            good = _is_named_as_excluded(context, option)
            stray = [each.name for each in planted if _is_mentioned_as_open(context, each)]
            named += good
            open_ += len(stray)
            if show and (not good or stray):
                print(f"excluded: {option.said} named {good}, open {stray}", file=sys.stderr)
    return {"options": len(planted), "named_with_reason": named, "mentioned_as_open": open_}


def _excluded_lines(context: str) -> list[str]:
    """The lines under the heading of excluded options."""
    _, _, rest = context.partition(FIELD_HEADINGS["excluded"])
    lines: list[str] = []
    for line in rest.strip("\n").split("\n"):
        if not line.startswith("- "):
            break
        lines.append(line)
    return lines


def _bare_name(option: Option) -> str:
    return option.name.removeprefix("the ").removeprefix("a ").lower()


def _is_named_as_excluded(context: str, option: Option) -> bool:
    return any(
        _bare_name(option) in line.lower() and option.reason in line for line in _excluded_lines(context)
    )


def _is_mentioned_as_open(context: str, option: Option) -> bool:
    """Whether the context mentions the option (by its whole name) without listing it as excluded."""
    return option.name in context and not any(
        _bare_name(option) in line.lower() for line in _excluded_lines(context)
    )


def hostile(embedder: str) -> dict[str, Any]:
    context = [fact.said for fact in FACTS[::3]]
    lies = {
        **EMPTY_PROPOSAL,
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
        "emptied": json.dumps(EMPTY_PROPOSAL),
        "1 MB": json.dumps({**EMPTY_PROPOSAL, "facts": ["x" * 1_000_000]}),
        "cut off": json.dumps(EMPTY_PROPOSAL)[:-9],
        "lies": json.dumps(lies),
    }
    lost: dict[str, int] = {}
    said: dict[str, bool] = {}
    for name, reply in replies.items():
        with open_memory(embedder) as memory:
            for line in context:
                memory.remember(line)
            memory.post_think()
            before = memory.summary()
            summary_llm = ScriptedLLM({"": reply})
            with Memory(
                memory.store, embedder=memory.embedder, background=False, summary_llm=summary_llm
            ) as other:
                other.remember("And the weather is fine.", "Good.")
                problems = other.post_think().problems
                lost[name] = len(_confirmed_items(before) - _confirmed_items(other.summary()))
                said[name] = bool(problems)
    return {"items": len(_confirmed_items(before)), "lost": lost, "told_of_a_problem": said}


def _confirmed_items(summary: Summary) -> set[str]:
    out = {f"{each.option}: {each.reason}" for each in summary.excluded}
    return out | {*summary.needs, *summary.constraints, *summary.facts}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--show", action="store_true", help="print missing facts to standard error")
    args = parser.parse_args()
    result = {
        "bounded": bounded(args.turns, args.embedder, args.show),
        "excluded": excluded(args.embedder, args.show),
        "hostile": hostile(args.embedder),
    }
    if args.json:
        print(json.dumps(result, indent=2))
        return
    for name, figures in result.items():
        print(name)
        for what, value in figures.items():
            print(f"  {what:22} {value}")


if __name__ == "__main__":
    main()
