"""Cost and error rate of the quarantine: microseconds per text, alarms on real dialogue.

    python benchmarks/quarantine.py [--data DIR] [--show] [--json]

Ordinary texts are the lines of five public dialogue sets. They contain no instructions to the assistant and
no secrets, so every alarm counts as false until somebody has read it (--show prints them). Hostile texts are
the instructions and secrets of tests/unit/language/safety/quarantine_cases.py; alarms there are detections.
The data is not part of the project; it is read from --data, $THINKBACK_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.language.safety.quarantine_cases import HARMLESS, INSTRUCTIONS, SECRETS  # noqa: E402

from thinkback.language.safety import quarantine  # noqa: E402

REPEATS = 3
Lines = tuple[list[str], list[str]]  # lines of the user, lines of the assistant


def gvd(data: Path) -> Lines:
    asked, answered = [], []
    for language in ("en", "cn"):
        for memory in _json(data / f"gvd/memory_bank_{language}.json.gz").values():
            for turns in memory["history"].values():
                asked += [turn["query"] for turn in turns]
                answered += [turn["response"] for turn in turns]
    return asked, answered


def madial(data: Path) -> Lines:
    said: Lines = ([], [])
    for language in ("en", "zh"):
        for line in _text(data / f"madial/dialogues_{language}_even.jsonl.gz").splitlines():
            for spoken in json.loads(line)["dialogue"]:
                speaker, _, words = spoken.partition(":" if ":" in spoken[:40] else "：")
                if words.strip():
                    said["ssistant" in speaker or "助手" in speaker].append(words.strip().strip('"'))
    return said


def kdconv(data: Path) -> Lines:
    said: Lines = ([], [])
    for topic in ("film", "music", "travel"):
        for dialogue in _json(data / f"kdconv/{topic}_dev.json.gz"):
            for number, message in enumerate(dialogue["messages"]):
                said[number % 2].append(message["message"])
    return said


def cmtmedqa(data: Path) -> Lines:
    said: Lines = ([], [])
    for item in _json(data / "cmtmedqa/CMtMedQA_test.json.gz"):
        last = item.get("instruction") or item["instruct"], item["output"]  # two spellings in one file
        for asked, answered in (*item.get("history", ()), last):
            said[0].append(asked)
            said[1].append(answered)
    return said


def mts_dialog(data: Path) -> Lines:
    csv.field_size_limit(10**9)
    said: Lines = ([], [])
    for part in ("Training", "Validation"):
        for row in csv.DictReader(io.StringIO(_text(data / f"mts_dialog/MTS-Dialog-{part}Set.csv.gz"))):
            for line in row["dialogue"].splitlines():
                speaker, _, words = line.partition(":")
                if words.strip():
                    said["octor" in speaker].append(words.strip())
    return said


SETS: tuple[Callable[[Path], Lines], ...] = (gvd, madial, kdconv, cmtmedqa, mts_dialog)


def microseconds(lines: Sequence[str]) -> float:
    """Median over the lines of the best time of several runs."""

    def once(line: str) -> float:
        started = time.perf_counter_ns()
        quarantine.find_quarantined(line)
        return (time.perf_counter_ns() - started) / 1000

    return median(min(once(line) for _ in range(REPEATS)) for line in lines)


def alarms(lines: Sequence[str]) -> list[tuple[str, str]]:
    return [(span.kind, line) for line in lines for span in quarantine.find_quarantined(line)[:1]]


def _text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def _json(path: Path) -> Any:
    return json.loads(_text(path))


def rows(data: Path, show: bool) -> Iterator[dict[str, object]]:
    for name, lines in (("orders", INSTRUCTIONS), ("secrets", list(SECRETS)), ("harmless", HARMLESS)):
        yield {
            "lines": f"own {name}",
            "n": len(lines),
            "found": len(alarms(lines)),
            "us": round(microseconds(lines), 1),
            "chars": round(median(map(len, lines))),
        }
    for read in SETS:
        for side, lines in zip(("asks", "answers"), read(data), strict=True):
            found = alarms(lines)
            if show:
                for kind, line in found:
                    print(f"{kind}: {' '.join(line.split())}", file=sys.stderr)
            yield {
                "lines": f"{read.__name__} {side}",
                "n": len(lines),
                "found": len(found),
                "us": round(microseconds(lines), 1),
                "chars": round(median(map(len, lines))),
            }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = os.environ.get("THINKBACK_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument(
        "--show", action="store_true", help="print the texts that raised an alarm to standard error"
    )
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if not (Path(args.data) / "gvd").is_dir():
        sys.exit(f"no dialogue sets in {args.data}: fetch them from their homes, set THINKBACK_DATA")
    report = list(rows(Path(args.data), args.show))
    if args.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{'lines':20} {'n':>6} {'alarms':>7} {'us (median)':>12} {'characters':>11}")
    for row in report:
        print(f"{row['lines']:20} {row['n']:6} {row['found']:7} {row['us']:12} {row['chars']:11}")


if __name__ == "__main__":
    main()
