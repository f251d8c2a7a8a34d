"""Scoring of scenarios: the verdict on a probe, and triple F1.

Each object of a thought gives one triple (subject, relation, object). Triples match if all three parts are
equal after normalisation of width, case, white space, articles and punctuation; "I", "the user", 我 and
用户 are the same subject. There is no partial credit and no table of synonyms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from thinkback import Recollection, Thought
from thinkback_lab.evaluations.scenario_format import ExpectedTriple, Probe


@dataclass(frozen=True, slots=True)
class ProbeMemory:
    """One recalled memory: a current thought or a raw turn."""

    ref: str
    text: str
    is_thought: bool
    is_outdated: bool = False  # marked as outdated in the recollection


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeVerdict:
    """Whether a probe passed, and why not."""

    recalled: tuple[ProbeMemory, ...]
    missing: tuple[tuple[str, ...], ...]  # `expect` lists without a recalled alternative
    rejected: tuple[tuple[str, str], ...]
    """(reject string, thought that contains it); not if it is marked as (possibly) outdated."""
    leaked: tuple[
        tuple[str, str], ...
    ]  # the same for raw turns that are not marked as outdated; does not affect the verdict

    @property
    def passed(self) -> bool:
        return not self.missing and not self.rejected

    @property
    def reasons(self) -> list[str]:
        absent = [f"nothing recalled says {' or '.join(map(repr, each))}" for each in self.missing]
        return absent + [f"rejected {word!r} stands in {ref}" for word, ref in self.rejected]


def current_memories(recollection: Recollection) -> tuple[ProbeMemory, ...]:
    """The recalled memories that count: retired thoughts do not."""
    return tuple(
        ProbeMemory(str(item.ref), item.text, item.thought is not None, item.outdated is not None)
        for item in recollection
        if item.thought is None or item.thought.current
    )


def judge_probe(probe: Probe, recalled: tuple[ProbeMemory, ...]) -> ProbeVerdict:
    """Apply the rules of the scenario format, ignoring case."""
    texts = [(item, item.text.casefold()) for item in recalled]
    present = [(word, item) for word in probe.reject for item, text in texts if word.casefold() in text]
    return ProbeVerdict(
        recalled=recalled,
        missing=tuple(
            alternatives
            for alternatives in probe.expect
            if not any(word.casefold() in text for word in alternatives for _, text in texts)
        ),
        rejected=tuple(
            (word, item.ref) for word, item in present if item.is_thought and not item.is_outdated
        ),
        leaked=tuple(
            (word, item.ref) for word, item in present if not item.is_thought and not item.is_outdated
        ),
    )


TripleKey = tuple[str, str, str]

_EDGE_PUNCTUATION = " .,;:!?\"'“”‘’。，！？；：、「」『』《》()（）"
_ARTICLE = re.compile(r"\b(?:the|an?)\s+(?=\S)")
_USER_NAMES = frozenset(("i", "me", "user", "我", "用户"))


@dataclass(frozen=True, slots=True)
class TripleMatch:
    """Expected and actual triples of one scenario, compared as sets."""

    right: frozenset[TripleKey]
    missing: frozenset[TripleKey]
    extra: frozenset[TripleKey]


@dataclass(frozen=True, slots=True)
class F1Score:
    precision: float | None
    recall: float | None
    f1: float | None


def match_triples(expected: Iterable[ExpectedTriple], thoughts: Iterable[Thought]) -> TripleMatch:
    gold = frozenset(
        (_normalise_subject(each.s), normalise_part(each.r), normalise_part(each.o)) for each in expected
    )
    actual = frozenset(
        (
            _normalise_subject(each.subject),
            normalise_part(f"not {each.relation}" if each.negated else each.relation),
            normalise_part(o),
        )
        for each in thoughts
        if each.search_text  # alias decisions are about names, not facts
        for o in each.objects
    )
    return TripleMatch(gold & actual, gold - actual, actual - gold)


def score_triples(matches: Iterable[TripleMatch]) -> F1Score:
    """Micro-averaged F1 over all scenarios; None if there is nothing to divide by."""
    pairs = list(matches)
    right = sum(len(each.right) for each in pairs)
    missing = sum(len(each.missing) for each in pairs)
    extra = sum(len(each.extra) for each in pairs)
    return F1Score(
        precision=_ratio(right, right + extra),
        recall=_ratio(right, right + missing),
        f1=_ratio(2 * right, 2 * right + missing + extra),
    )


def normalise_part(words: str) -> str:
    """Normalise a part of a triple for comparison."""
    plain = unicodedata.normalize("NFKC", words).casefold().replace("’", "'")
    return _ARTICLE.sub("", " ".join(plain.split())).strip(_EDGE_PUNCTUATION)


def _normalise_subject(words: str) -> str:
    folded = normalise_part(words)
    return "user" if folded in _USER_NAMES else folded


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
