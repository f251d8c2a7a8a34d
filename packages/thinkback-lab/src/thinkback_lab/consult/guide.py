"""Medical knowledge of the rule-based doctor: questions, cues, diagnoses, treatments, and matching of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from thinkback_lab.consult.records import PACKAGE_DIR, Finding, Lang, NonEmptyStr, StrictModel, load_yaml
from thinkback_lab.metrics.answers import normalise_text
from thinkback_lab.systems.tokens import tokenize
from thinkback_lab.text import contains_chinese

_DENIAL = re.compile(
    r"\b(?:no|not|never|none|nothing|without|neither|nor|denies)\b|n't\b|没|无|不|未|否认", re.IGNORECASE
)
_VALUE = re.compile(
    r"\d+(?:[.,/]\d+)*|[零〇一二两三四五六七八九十百千万]{2,}"
    r"|\b(?:positive|negative|normal|abnormal|elevated|raised)\b|阳性|阴性|正常|异常",
    re.IGNORECASE,
)


def is_statement(sentence: str) -> bool:
    return not sentence.rstrip("\"'” ").endswith(("?", "？"))


def is_denial(sentence: str) -> bool:
    return _DENIAL.search(sentence.replace("’", "'")) is not None


def mentions(sentence: str, cue: str) -> bool:
    """Whether every word of the cue stands in it, in any form; of Chinese, the cue as it is."""
    if contains_chinese(cue):
        return normalise_text(cue) in normalise_text(sentence)
    return set(tokenize(cue)) <= set(tokenize(sentence))


def affirms_any(sentence: str, wanted: Iterable[str]) -> bool:
    """Whether it says one of these, and does not deny it; a wanted word may be a denial itself."""
    said = [word for word in wanted if mentions(sentence, word)]
    return any(is_denial(word) for word in said) or (bool(said) and not is_denial(sentence))


def extract_values(text: str) -> list[str]:
    """Numbers and the words that results are given in."""
    return [found.casefold() for found in _VALUE.findall(normalise_text(text))]


def find_invented_values(reply: str, known: Iterable[str]) -> list[str]:
    """The values in a patient's reply that nothing known holds."""
    held = {value for text in known for value in extract_values(text)}
    return [value for value in extract_values(reply) if value not in held]


Findings = Mapping[str, Sequence[str]]  # item -> the sentences that tell of it
_REFUSAL_TOPIC = "preference"  # the topic whose statements are refusals: a denial there denies nothing
_DEFAULT_QUESTION = {"en": "What can you tell me about {}?", "zh": "请说说{}的情况。"}


class TopicQuestion(StrictModel):
    """One item in one language: its names, its question, and the words that a statement about it has."""

    item: NonEmptyStr
    ask: NonEmptyStr
    cues: tuple[NonEmptyStr, ...]


class Topic(StrictModel):
    en: TopicQuestion
    zh: TopicQuestion


class TreatmentPlan(StrictModel):
    """A treatment; not for whom a finding of the named topics has one of the words, or who refused it."""

    en: NonEmptyStr
    zh: NonEmptyStr
    unless: Mapping[str, tuple[NonEmptyStr, ...]] = {}
    refused: tuple[NonEmptyStr, ...] = ()


class Diagnosis(StrictModel):
    en: NonEmptyStr
    zh: NonEmptyStr
    signs: Mapping[str, tuple[NonEmptyStr, ...]]
    plans: tuple[TreatmentPlan, ...]


@dataclass(frozen=True, slots=True)
class Guide:
    """Topics in the order a doctor goes through them, and diagnoses."""

    topics: Mapping[str, Topic]
    diagnoses: tuple[Diagnosis, ...]

    def question_for(self, item: str, lang: Lang) -> TopicQuestion:
        key = self.topic_key(item, lang)
        if key is None:
            return TopicQuestion(item=item, ask=_DEFAULT_QUESTION[lang].format(item), cues=(item,))
        found: TopicQuestion = getattr(self.topics[key], lang)
        return found

    def topic_key(self, item: str, lang: Lang) -> str | None:
        folded = item.casefold()
        return next(
            (key for key, topic in self.topics.items() if getattr(topic, lang).item.casefold() == folded),
            None,
        )

    def topic_order(self, item: str, lang: Lang) -> int:
        """When it is asked; what the guide does not know comes last."""
        key = self.topic_key(item, lang)
        return len(self.topics) if key is None else list(self.topics).index(key)

    def states_item(self, sentence: str, item: str, lang: Lang) -> bool:
        """Whether a sentence tells something of the item; a question tells nothing."""
        return is_statement(sentence) and any(
            mentions(sentence, cue) for cue in self.question_for(item, lang).cues
        )

    def diagnose(self, findings: Findings, lang: Lang) -> Diagnosis | None:
        """The diagnosis most of whose signs are there; none where less than half of any one's signs are."""
        said = self._by_key(findings, lang)
        scored = [(self._share(each.signs, said), -place) for place, each in enumerate(self.diagnoses)]
        share, place = max(scored, default=(0.0, 0))
        return self.diagnoses[-place] if share >= 0.5 else None

    def treat(self, diagnosis: Diagnosis, findings: Findings, lang: Lang) -> TreatmentPlan | None:
        """The first treatment that nothing known speaks against."""
        said = self._by_key(findings, lang)
        return next((plan for plan in diagnosis.plans if not _is_ruled_out(plan, said)), None)

    def _by_key(self, findings: Findings, lang: Lang) -> dict[str, Sequence[str]]:
        keyed = ((self.topic_key(item, lang), sentences) for item, sentences in findings.items())
        return {key: sentences for key, sentences in keyed if key is not None}

    def _share(self, signs: Mapping[str, tuple[str, ...]], said: Findings) -> float:
        there = sum(_affirmed_in_any(said.get(key, ()), words) for key, words in signs.items())
        return there / len(signs)


def _affirmed_in_any(sentences: Iterable[str], words: Sequence[str]) -> bool:
    return any(affirms_any(sentence, words) for sentence in sentences)


def _is_ruled_out(plan: TreatmentPlan, said: Findings) -> bool:
    refused = any(mentions(each, word) for each in said.get(_REFUSAL_TOPIC, ()) for word in plan.refused)
    return refused or any(_affirmed_in_any(said.get(key, ()), words) for key, words in plan.unless.items())


@lru_cache(maxsize=1)
def load_guide() -> Guide:
    """The guide that the laboratory brings."""
    topics: dict[str, Topic] = load_yaml(PACKAGE_DIR / "guide" / "questions.yaml", dict[str, Topic])
    diagnoses: tuple[Diagnosis, ...] = load_yaml(
        PACKAGE_DIR / "guide" / "diagnoses.yaml", tuple[Diagnosis, ...]
    )
    return Guide(topics, diagnoses)


MAX_FINDINGS_PER_QUESTION = 2  # findings a question may bring: the patient is lazy


def retrieve_findings(
    question: str, findings: Iterable[Finding], guide: Guide, lang: Lang
) -> tuple[Finding, ...]:
    """Of these findings, best first, those that a question asks for; none where the record has none."""
    every = tuple(findings)
    if exact := tuple(each for each in every if guide.question_for(each.item, lang).ask == question):
        return exact
    fits = [(each, _matching_words(question, each.item, guide, lang)) for each in every]
    there = [(each, fit) for each, fit in fits if fit]
    widest = [(each, fit) for each, fit in there if not any(fit < other for _, other in there)]
    if not widest:
        return tuple(each for each in every if mentions(question, each.category))[:MAX_FINDINGS_PER_QUESTION]
    return tuple(each for each, _ in sorted(widest, key=lambda pair: -len(pair[1])))[
        :MAX_FINDINGS_PER_QUESTION
    ]


def _matching_words(question: str, item: str, guide: Guide, lang: Lang) -> frozenset[str]:
    """The words by which the question asks for the item: those of the longest cue it has."""
    cues = (item, *guide.question_for(item, lang).cues)
    return max(
        (frozenset(tokenize(cue)) for cue in cues if mentions(question, cue)), key=len, default=frozenset()
    )
