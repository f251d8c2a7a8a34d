"""The verdict on a probe: all that is expected came back, and no recalled thought says what is rejected."""

from __future__ import annotations

from dataclasses import dataclass

from thinkback import Recollection
from thinkback_lab.scenarios.format import Probe


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory that came back: a current thought, or a raw fragment of the bank."""

    ref: str
    text: str
    is_thought: bool
    past: bool = False  # it says so itself, and what is so now


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a probe passed; if not, every reason."""

    recalled: tuple[Recalled, ...]
    missing: tuple[tuple[str, ...], ...]  # lists of `expect` of which no alternative came back
    rejected: tuple[tuple[str, str], ...]  # (reject string, the current thought that says it)
    leaked: tuple[tuple[str, str], ...]  # the same in raw fragments not told as past: does not decide

    @property
    def passed(self) -> bool:
        return not self.missing and not self.rejected

    @property
    def why(self) -> list[str]:
        absent = [f"nothing recalled says {' or '.join(map(repr, each))}" for each in self.missing]
        return absent + [f"rejected {word!r} stands in {ref}" for word, ref in self.rejected]


def came_back(recollection: Recollection) -> tuple[Recalled, ...]:
    """What counts of it: a thought held no more does not."""
    return tuple(
        Recalled(str(item.ref), item.text, item.thought is not None, item.past is not None)
        for item in recollection
        if item.thought is None or item.thought.current
    )


def judge(probe: Probe, recalled: tuple[Recalled, ...]) -> Verdict:
    """The rules of the format, without regard to case."""
    said = [(item, item.text.casefold()) for item in recalled]
    present = [(word, item) for word in probe.reject for item, text in said if word.casefold() in text]
    return Verdict(
        recalled=recalled,
        missing=tuple(
            alternatives
            for alternatives in probe.expect
            if not any(word.casefold() in text for word in alternatives for _, text in said)
        ),
        rejected=tuple((word, item.ref) for word, item in present if item.is_thought),
        leaked=tuple((word, item.ref) for word, item in present if not item.is_thought and not item.past),
    )
