"""`judgements.jsonl` in a run's folder: one line for what one judge said of one answer.

A line stands for good: what is judged is not judged again. Only a failure is: its line is outdone by the one
that follows. Lines of other prompts are kept and do not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from thinkback_lab.errors import LabError
from thinkback_lab.files import read_text
from thinkback_lab.judge.verdict import Verdict
from thinkback_lab.runs.folder import append_line, cut_torn_line, open_alone

JUDGEMENTS = "judgements.jsonl"


@dataclass(frozen=True, slots=True)
class Judgement:
    """`verdict` is None where the judge gave none twice; `failure` then tells why."""

    case: str
    id: str
    judge: str
    prompt: str  # its version
    verdict: Verdict | None
    failure: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The question's, as in its record."""
        return self.case, self.id

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Judgement:
        """Raises ValueError on a line that `to_json` never wrote."""
        try:
            told = json.loads(line)
            verdict = told.pop("verdict")
            return cls(**told, verdict=None if verdict is None else Verdict(**verdict))
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a judgement: {error!r}") from error


class Judgements:
    """Those of one run, opened to add to; use it in a `with`."""

    def __init__(self, run: Path, prompt: str) -> None:
        self._path = run / JUDGEMENTS
        self._prompt = prompt
        self.made: dict[tuple[str, str, str], Judgement] = {}  # (case, id, judge)
        try:
            self._lines: IO[bytes] = open_alone(self._path)
            try:
                cut_torn_line(self._path)
                for each in read_judgements(run):
                    self._take(each)
            except BaseException:
                self._lines.close()
                raise
        except OSError as error:
            raise LabError(f"{self._path}: {error.strerror or error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    def wants(self, key: tuple[str, str], judge: str) -> bool:
        """Whether this judge has no verdict on that answer yet."""
        kept = self.made.get((*key, judge))
        return kept is None or kept.verdict is None

    def add(self, judgement: Judgement) -> None:
        append_line(self._lines, judgement.to_json())
        self._take(judgement)

    def of(self, judges: Iterable[str]) -> list[Judgement]:
        """What these judges said."""
        wanted = set(judges)
        return [each for each in self.made.values() if each.judge in wanted]

    def _take(self, judgement: Judgement) -> None:
        if judgement.prompt == self._prompt:
            self.made[*judgement.key, judgement.judge] = judgement


def read_judgements(run: Path) -> list[Judgement]:
    """Every line of a run's judgements, in the order they were made; none where nobody judged."""
    path = run / JUDGEMENTS
    if not path.exists():
        return []
    made = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line:
            try:
                made.append(Judgement.from_json(line))
            except ValueError as error:
                raise LabError(f"{path}, line {number}: {error}: take the line out") from error
    return made
