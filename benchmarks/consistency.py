"""Detection rate and false alarms of the consistency check, by method.

    python benchmarks/consistency.py [--embedder minilm] [--wrong]

Each sentence of `consistency.jsonl` answers a question about something the user said. It is checked against
the thought of that statement and four thoughts about other things, as they would be recalled together. The
margins and rules were chosen on the sets "tuned" and "hard" (sentences that look like contradictions but are
none); "held out" was written later in the same style, "free" last and in the style of a chat model.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from thinkback.embedders.registry import create_embedder
from thinkback.language.writing_systems import detect_language
from thinkback.recall import consistency
from thinkback.recall.consistency import CheckerFactory, ConsistencyChecker
from thinkback.think.answer_reader import AnswerReader
from thinkback.types import NewTurn, Thought

PAIRS = Path(__file__).with_suffix(".jsonl")
NOW = datetime(2024, 5, 1, tzinfo=UTC)
OTHER_THOUGHTS = 4


@dataclass(frozen=True)
class Pair:
    set: str
    told: str
    ask: str
    answer: str
    contradicts: bool


def pairs() -> list[Pair]:
    return [Pair(**json.loads(line)) for line in PAIRS.read_text("utf-8").splitlines()]


def thoughts_of(told: str, reader: AnswerReader, first: int) -> list[Thought]:
    drafts = reader.read_statements(told, NOW)
    return [
        Thought(
            id=first + n,
            recorded_at=NOW,
            subject=draft.subject,
            relation=draft.relation,
            objects=draft.objects,
            sentence=draft.sentence,
            kind=draft.kind,
            sources=draft.sources,
            negated=draft.negated,
        )
        for n, draft in enumerate(drafts)
    ]


def recalled(told: str, known: dict[str, list[Thought]]) -> list[Thought]:
    """The thoughts of a statement, and the next few in the file with other relations."""
    own = known[told]
    order = list(known)
    at = order.index(told)
    rest = [thought for other in order[at + 1 :] + order[:at] for thought in known[other]]
    relations = {thought.relation for thought in own}
    chosen: list[Thought] = []
    for thought in rest:
        same_language = detect_language(thought.sentence) == detect_language(own[0].sentence)
        if same_language and thought.relation not in relations and len(chosen) < OTHER_THOUGHTS:
            relations.add(thought.relation)
            chosen.append(thought)
    return [*own, *chosen]


def conflict_methods(pair: Pair, thoughts: Sequence[Thought], factory: CheckerFactory) -> Iterator[str]:
    new_turn = NewTurn(query=pair.ask, at=NOW)
    yield from {
        conflict.method
        for conflict in ConsistencyChecker(thoughts, factory, new_turn).conflicts("", pair.answer)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--margin", type=float, default=consistency.VARIANT_MARGIN)
    parser.add_argument("--share", type=float, default=consistency.VARIANT_THRESHOLD_SHARE)
    parser.add_argument("--alone", action="store_true", help="embeddings alone, without the triples")
    parser.add_argument("--wrong", action="store_true", help="print every miss and false alarm")
    options = parser.parse_args()
    consistency.VARIANT_MARGIN, consistency.VARIANT_THRESHOLD_SHARE = options.margin, options.share
    reader = AnswerReader()
    factory = CheckerFactory(
        NoStatements() if options.alone else reader, create_embedder(options.embedder).embed
    )
    every = pairs()
    known: dict[str, list[Thought]] = {}
    for pair in every:
        if pair.told not in known:
            known[pair.told] = thoughts_of(pair.told, reader, sum(map(len, known.values())) + 1)
    counts: Counter[tuple[str, str, bool, str]] = Counter()
    started = time.perf_counter()
    for pair in every:
        lang = "zh" if detect_language(pair.told) == "zh" else "en"
        found = sorted(conflict_methods(pair, recalled(pair.told, known), factory))
        verdict = "triple" if "triple" in found else "embedding" if found else "none"
        counts[pair.set, lang, pair.contradicts, verdict] += 1
        if options.wrong and pair.contradicts == (verdict == "none"):
            print(
                "missed" if pair.contradicts else f"false alarm ({verdict})", f"| {pair.told} | {pair.answer}"
            )
    spent = time.perf_counter() - started
    print(f"{options.embedder}, margin {options.margin:g}, share {options.share:g}; {len(every)} sentences, "
          f"{spent / len(every) * 1000:.1f} ms each")  # fmt: skip
    print("| set | language | contradicting | by triples | by embeddings only | consistent | false alarms |")
    print("|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(pair.set for pair in every):
        for lang in ("en", "zh"):
            wrong = {way: counts[name, lang, True, way] for way in ("triple", "embedding", "none")}
            right = {way: counts[name, lang, False, way] for way in ("triple", "embedding", "none")}
            alarms = f"{right['triple']} + {right['embedding']}"
            print(f"| {name} | {lang} | {sum(wrong.values())} | {wrong['triple']} | {wrong['embedding']} "
                  f"| {sum(right.values())} | {alarms} |")  # fmt: skip


class NoStatements(AnswerReader):
    """Reads no statements, so that only the embeddings decide."""

    def read_answer(self, text: str, query: str, at: datetime) -> list[object]:  # type: ignore[override]
        return []


if __name__ == "__main__":
    main()
