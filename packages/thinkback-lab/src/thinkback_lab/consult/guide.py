"""Medical knowledge of the rule-based doctor: questions, cues, diagnoses, treatments, and sentence matching.

It contains nothing about individual patients. An item that is not in the guide is asked for by its name.
"""

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
    """Whether the sentence contains every word of the cue (stemmed); a Chinese cue must occur as it is."""
    if contains_chinese(cue):
        return normalise_text(cue) in normalise_text(sentence)
    return set(tokenize(cue)) <= set(tokenize(sentence))


def affirms_any(sentence: str, words: Iterable[str]) -> bool:
    """Whether the sentence mentions one of the words without denying it; a word may itself be a denial."""
    mentioned = [word for word in words if mentions(sentence, word)]
    return any(is_denial(word) for word in mentioned) or (bool(mentioned) and not is_denial(sentence))


def extract_values(text: str) -> list[str]:
    """Numbers and result words ("positive", "normal") of a text."""
    return [value.casefold() for value in _VALUE.findall(normalise_text(text))]


def find_invented_values(reply: str, facts: Iterable[str]) -> list[str]:
    """Values of a patient's reply that do not occur in the known facts."""
    known_values = {value for text in facts for value in extract_values(text)}
    return [value for value in extract_values(reply) if value not in known_values]


Findings = Mapping[str, Sequence[str]]  # item -> sentences about it
_REFUSAL_TOPIC = (
    "preference"  # statements about this topic are refusals, so a negation in them is not a denial
)
_DEFAULT_QUESTION = {"en": "What can you tell me about {}?", "zh": "请说说{}的情况。"}


class TopicQuestion(StrictModel):
    """An item in one language: its name, its question, and cue words of statements about it."""

    item: NonEmptyStr
    ask: NonEmptyStr
    cues: tuple[NonEmptyStr, ...]


class Topic(StrictModel):
    en: TopicQuestion
    zh: TopicQuestion


class TreatmentPlan(StrictModel):
    """A treatment with findings that rule it out (`unless`, by topic) and words of patients who refuse it."""

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
    """Topics in the order a doctor asks for them, and diagnoses."""

    topics: Mapping[str, Topic]
    diagnoses: tuple[Diagnosis, ...]

    def question_for(self, item: str, lang: Lang) -> TopicQuestion:
        key = self.topic_key(item, lang)
        if key is None:
            return TopicQuestion(item=item, ask=_DEFAULT_QUESTION[lang].format(item), cues=(item,))
        question: TopicQuestion = getattr(self.topics[key], lang)
        return question

    def topic_key(self, item: str, lang: Lang) -> str | None:
        folded = item.casefold()
        return next(
            (key for key, topic in self.topics.items() if getattr(topic, lang).item.casefold() == folded),
            None,
        )

    def topic_order(self, item: str, lang: Lang) -> int:
        """Position of the item in the order of questions; unknown items come last."""
        key = self.topic_key(item, lang)
        return len(self.topics) if key is None else list(self.topics).index(key)

    def states_item(self, sentence: str, item: str, lang: Lang) -> bool:
        """Whether the sentence states something about the item; a question does not."""
        return is_statement(sentence) and any(
            mentions(sentence, cue) for cue in self.question_for(item, lang).cues
        )

    def diagnose(self, findings: Findings, lang: Lang) -> Diagnosis | None:
        """The diagnosis with the largest share of its signs present, or None if all are below one half."""
        by_topic = self._by_key(findings, lang)
        scored = [
            (self._share(each.signs, by_topic), -position) for position, each in enumerate(self.diagnoses)
        ]
        share, position = max(scored, default=(0.0, 0))
        return self.diagnoses[-position] if share >= 0.5 else None

    def treat(self, diagnosis: Diagnosis, findings: Findings, lang: Lang) -> TreatmentPlan | None:
        """The first treatment that no finding rules out."""
        by_topic = self._by_key(findings, lang)
        return next((plan for plan in diagnosis.plans if not _is_ruled_out(plan, by_topic)), None)

    def _by_key(self, findings: Findings, lang: Lang) -> dict[str, Sequence[str]]:
        keyed = ((self.topic_key(item, lang), sentences) for item, sentences in findings.items())
        return {key: sentences for key, sentences in keyed if key is not None}

    def _share(self, signs: Mapping[str, tuple[str, ...]], by_topic: Findings) -> float:
        present = sum(_affirmed_in_any(by_topic.get(key, ()), words) for key, words in signs.items())
        return present / len(signs)


def _affirmed_in_any(sentences: Iterable[str], words: Sequence[str]) -> bool:
    return any(affirms_any(sentence, words) for sentence in sentences)


def _is_ruled_out(plan: TreatmentPlan, by_topic: Findings) -> bool:
    refused = any(mentions(each, word) for each in by_topic.get(_REFUSAL_TOPIC, ()) for word in plan.refused)
    return refused or any(
        _affirmed_in_any(by_topic.get(key, ()), words) for key, words in plan.unless.items()
    )


@lru_cache(maxsize=1)
def load_guide() -> Guide:
    """Load the guide of this package."""
    topics: dict[str, Topic] = load_yaml(PACKAGE_DIR / "guide" / "questions.yaml", dict[str, Topic])
    diagnoses: tuple[Diagnosis, ...] = load_yaml(
        PACKAGE_DIR / "guide" / "diagnoses.yaml", tuple[Diagnosis, ...]
    )
    return Guide(topics, diagnoses)


MAX_FINDINGS_PER_QUESTION = 2  # the simulated patient volunteers little


def retrieve_findings(
    question: str, findings: Iterable[Finding], guide: Guide, lang: Lang
) -> tuple[Finding, ...]:
    """Return the findings that a question asks for, best first.

    An item is asked for if the question contains all words of its name or of one of its cues. An item that
    matches by a superset of words wins: "blood pressure" is not "blood". A question that names no item may
    name a category ("What are your symptoms?"); then the first findings of the category are returned.
    """
    candidates = tuple(findings)
    if exact := tuple(each for each in candidates if guide.question_for(each.item, lang).ask == question):
        return exact
    fits = [(each, _matching_words(question, each.item, guide, lang)) for each in candidates]
    matching = [(each, fit) for each, fit in fits if fit]
    best = [(each, fit) for each, fit in matching if not any(fit < other for _, other in matching)]
    if not best:
        return tuple(each for each in candidates if mentions(question, each.category))[
            :MAX_FINDINGS_PER_QUESTION
        ]
    return tuple(each for each, _ in sorted(best, key=lambda pair: -len(pair[1])))[:MAX_FINDINGS_PER_QUESTION]


def _matching_words(question: str, item: str, guide: Guide, lang: Lang) -> frozenset[str]:
    """Words of the longest cue of the item that the question contains."""
    cues = (item, *guide.question_for(item, lang).cues)
    return max(
        (frozenset(tokenize(cue)) for cue in cues if mentions(question, cue)), key=len, default=frozenset()
    )
