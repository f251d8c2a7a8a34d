"""CPU cost of a recall besides its embedding, by stage, with and without a turn stored before it.

    python benchmarks/recall_cost.py [--json] [--embedder wordllama] [--recalls 60]

replaced: 30 turns, most of which replace earlier facts. talk: 200 turns of conversation, a third of them with
facts. talk, Chinese: the same in Chinese. Times are medians in ms within one process; `stages` are wall times
from the usage of the recalls that follow a turn.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from thinkback import Memory

PLACES = ("Paris", "Lyon", "Berlin", "Kyoto", "Oslo", "Lima", "Cairo", "Porto", "Austin", "Quito")
THINGS = ("tea", "chess", "jazz", "hiking", "pottery", "sailing", "poetry", "football", "cooking", "maps")
PLACES_ZH = ("北京", "上海", "广州", "成都", "杭州", "西安", "南京", "武汉", "苏州", "青岛")
THINGS_ZH = ("茶", "象棋", "爵士乐", "徒步", "陶艺", "帆船", "诗歌", "足球", "烹饪", "地图")


class Case(NamedTuple):
    """The turns to store, the questions, and the turns stored before each question."""

    told: Sequence[str]
    asked: Sequence[str]
    said: Sequence[str]


def replaced(count: int) -> Case:
    return Case(
        [f"I like thing {n} and live in City{n}." for n in range(30)],
        [f"What do I like most about City{n}?" for n in range(count)],
        [f"Today I saw Bird{n}." for n in range(count)],
    )


def talk(count: int) -> Case:
    facts = (
        "I like {t}.",
        "My sister Anna lives in {p}.",
        "I went to {p} for the {t} last week, number {n}.",
    )
    said = [facts[n % 3].format(p=PLACES[n % 10], t=THINGS[n // 3 % 10], n=n) for n in range(200)]
    asks = ("Where does my sister live?", "Who told me about {t} in {p}?", "When did I go to {p}?")
    asked = [asks[n % 3].format(p=PLACES[n % 10], t=THINGS[n // 3 % 10]) for n in range(count)]
    return Case(said, asked, [f"Today I saw {n} birds." for n in range(count)])


def talk_zh(count: int) -> Case:
    facts = ("我喜欢{t}。", "我妹妹小安住在{p}。", "上周我去{p}看{t}，第{n}次了。")
    said = [facts[n % 3].format(p=PLACES_ZH[n % 10], t=THINGS_ZH[n // 3 % 10], n=n) for n in range(200)]
    asks = ("我妹妹住在哪里？", "谁跟我说过{p}的{t}？", "我什么时候去过{p}？")
    asked = [asks[n % 3].format(p=PLACES_ZH[n % 10], t=THINGS_ZH[n // 3 % 10]) for n in range(count)]
    return Case(said, asked, [f"今天我看见了{n}只鸟。" for n in range(count)])


CASES: dict[str, Callable[[int], Case]] = {"replaced": replaced, "talk": talk, "talk, Chinese": talk_zh}


def cpu(call: Callable[[str], Any], words: str) -> float:
    started = time.process_time()
    call(words)
    return (time.process_time() - started) * 1000


def measure(case: Case, embedder: str, path: Path) -> dict[str, Any]:
    with Memory.open(path, embedder=embedder, background=False) as memory:
        for text in case.told:
            memory.remember(text, "I see.")
        memory.post_think()
        for query in case.asked[:5]:
            memory.recall(query)
        alone = [cpu(lambda query: memory.embedder.embed([query]), query) for query in case.asked]
        quiet = [cpu(memory.recall, query) for query in case.asked]
        after, kept, stages = [], [], []
        for query, text in zip(case.asked, case.said, strict=True):
            kept.append(cpu(lambda said: memory.remember(said, "I see."), text))
            after.append(cpu(lambda asked: stages.append(memory.recall(asked).usage.ms), query))
        thinking = cpu(lambda _: memory.post_think(), "") / len(case.said)
    return {
        "embed_ms": median(alone),
        "recall_ms": median(quiet),
        "recall_after_a_turn_ms": median(after),
        "remember_ms": median(kept),
        "think_ms_a_turn": thinking,
        "stages": {name: median(each.get(name, 0.0) for each in stages) for name in stages[0]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--recalls", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {
            name: measure(make(options.recalls), options.embedder, Path(folder) / f"{number}.db")
            for number, (name, make) in enumerate(CASES.items())
        }
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, figures in found.items():
        print(name)
        for figure, value in figures.items():
            if figure == "stages":
                print("   ", ", ".join(f"{stage} {ms:.2f}" for stage, ms in value.items()))
            else:
                print(f"    {figure:24} {value:8.2f}")


if __name__ == "__main__":
    main()
