"""Detection rate and false alarms of the check without a model on 480 plain answer sentences.

    python benchmarks/consistency.py [--wrong]

Each sentence of `consistency.jsonl` answers a question about something the user said, and is checked against
the user's words. The sets "tuned" and "hard" (sentences that look like contradictions but are none) were used
to write the rules; of "held out" and "free" (in the style of a chat model) only the false alarms were looked
at and removed, so the zeros are no estimate. Contradictions in longer prose are measured
by `thinkback-lab eval contradictions scenarios/consistency/`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from thinkback.language.sentences import split_sentences
from thinkback.language.writing_systems import detect_language
from thinkback.recall.consistency import ConsistencyChecker
from thinkback.types import NewTurn, Thought

PAIRS = Path(__file__).with_suffix(".jsonl")
NOW = datetime(2024, 5, 1, tzinfo=UTC)


def thoughts_of(told: str) -> list[Thought]:
    """The sentences of the user, kept as said."""
    return [
        Thought(
            id=number,
            recorded_at=NOW,
            subject="user",
            relation="said",
            objects=(sentence.text,),
            sentence=sentence.text,
            kind="profile",
            sources=(),
        )
        for number, sentence in enumerate(split_sentences(told), start=1)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="print every miss and false alarm")
    options = parser.parse_args()
    rows = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    counts: Counter[tuple[str, str, bool, bool]] = Counter()
    started = time.perf_counter()
    for row in rows:
        checker = ConsistencyChecker(thoughts_of(row["told"]), NewTurn(query=row["ask"], at=NOW))
        found = bool(checker.conflicts("", row["answer"]))
        lang = "zh" if detect_language(row["told"]) == "zh" else "en"
        counts[row["set"], lang, row["contradicts"], found] += 1
        if options.wrong and row["contradicts"] != found:
            print("missed" if row["contradicts"] else "false alarm", f"| {row['told']} | {row['answer']}")
    spent = time.perf_counter() - started
    print(f"{len(rows)} sentences, {spent / len(rows) * 1000:.1f} ms each")
    print("| set | language | contradicting | caught | consistent | false alarms |")
    print("|---|---|---|---|---|---|")
    for name in dict.fromkeys(row["set"] for row in rows):
        for lang in ("en", "zh"):
            caught, missed = counts[name, lang, True, True], counts[name, lang, True, False]
            alarms, passed = counts[name, lang, False, True], counts[name, lang, False, False]
            print(f"| {name} | {lang} | {caught + missed} | {caught} | {alarms + passed} | {alarms} |")


if __name__ == "__main__":
    main()
