"""What a doctor without a model knows of medicine, and of no patient.

How to ask for an item, by which words its answer is known, which findings speak for which diagnosis, and
which treatment fits whom.

An item that is not in the guide is asked for by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from thinkback_lab.consult.load import HERE, parsed
from thinkback_lab.consult.record import Lang, Strict, Text
from thinkback_lab.consult.words import about, asserts, mentions

Findings = Mapping[str, Sequence[str]]  # item -> the sentences that tell of it
_REFUSALS = "preference"  # the topic whose statements are refusals: a denial there denies nothing
_ASK = {"en": "What can you tell me about {}?", "zh": "请说说{}的情况。"}


class Asking(Strict):
    """One item in one language: its names, its question, and the words that a statement about it has."""

    item: Text
    ask: Text
    cues: tuple[Text, ...]


class Topic(Strict):
    en: Asking
    zh: Asking


class Plan(Strict):
    """A treatment; not for whom a finding of the named topics has one of the words, or who refused it."""

    en: Text
    zh: Text
    unless: Mapping[str, tuple[Text, ...]] = {}
    refused: tuple[Text, ...] = ()


class Diagnosis(Strict):
    en: Text
    zh: Text
    signs: Mapping[str, tuple[Text, ...]]
    plans: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Guide:
    """Topics in the order a doctor goes through them, and diagnoses."""

    topics: Mapping[str, Topic]
    diagnoses: tuple[Diagnosis, ...]

    def asking(self, item: str, lang: Lang) -> Asking:
        key = self.key(item, lang)
        if key is None:
            return Asking(item=item, ask=_ASK[lang].format(item), cues=(item,))
        found: Asking = getattr(self.topics[key], lang)
        return found

    def key(self, item: str, lang: Lang) -> str | None:
        folded = item.casefold()
        return next(
            (key for key, topic in self.topics.items() if getattr(topic, lang).item.casefold() == folded),
            None,
        )

    def place(self, item: str, lang: Lang) -> int:
        """When it is asked; what the guide does not know comes last."""
        key = self.key(item, lang)
        return len(self.topics) if key is None else list(self.topics).index(key)

    def states(self, sentence: str, item: str, lang: Lang) -> bool:
        """Whether a sentence tells something of the item; a question tells nothing."""
        return asserts(sentence) and any(mentions(sentence, cue) for cue in self.asking(item, lang).cues)

    def diagnose(self, findings: Findings, lang: Lang) -> Diagnosis | None:
        """The diagnosis most of whose signs are there; none where less than half of any one's signs are."""
        said = self._by_key(findings, lang)
        scored = [(self._share(each.signs, said), -place) for place, each in enumerate(self.diagnoses)]
        share, place = max(scored, default=(0.0, 0))
        return self.diagnoses[-place] if share >= 0.5 else None

    def treat(self, diagnosis: Diagnosis, findings: Findings, lang: Lang) -> Plan | None:
        """The first treatment that nothing known speaks against."""
        said = self._by_key(findings, lang)
        return next((plan for plan in diagnosis.plans if not _speaks_against(plan, said)), None)

    def _by_key(self, findings: Findings, lang: Lang) -> dict[str, Sequence[str]]:
        keyed = ((self.key(item, lang), sentences) for item, sentences in findings.items())
        return {key: sentences for key, sentences in keyed if key is not None}

    def _share(self, signs: Mapping[str, tuple[str, ...]], said: Findings) -> float:
        there = sum(_tells(said.get(key, ()), words) for key, words in signs.items())
        return there / len(signs)


def _tells(sentences: Iterable[str], words: Sequence[str]) -> bool:
    return any(about(sentence, words) for sentence in sentences)


def _speaks_against(plan: Plan, said: Findings) -> bool:
    refused = any(mentions(each, word) for each in said.get(_REFUSALS, ()) for word in plan.refused)
    return refused or any(_tells(said.get(key, ()), words) for key, words in plan.unless.items())


@lru_cache(maxsize=1)
def guide() -> Guide:
    """The guide that the laboratory brings."""
    topics: dict[str, Topic] = parsed(HERE / "guide" / "questions.yaml", dict[str, Topic])
    diagnoses: tuple[Diagnosis, ...] = parsed(HERE / "guide" / "diagnoses.yaml", tuple[Diagnosis, ...])
    return Guide(topics, diagnoses)
