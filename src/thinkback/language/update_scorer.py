"""How likely is a newer sentence an update of an older one?

    What is my rent?    the rent is 4200    they raised the rent to 4500    high
                        the rent is 4200    my brother lives in Perth       low

Both were recalled for the same question, so that what they share with it counts: two sentences that both
answer "What do I weigh?" rival each other, two that answer "Which languages do I speak?" do not. The score is
a probability, by logistic regression on the shared words, the numbers, words of change, the words of the
question, the time between the two sentences and the cosine of their vectors. It is good enough to order and
to label memories ("possibly outdated"), and not good enough to retire one: nothing that changes the memory
may rest on it.
`thinkback-lab train pairs` writes the model file.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from math import exp, fsum, log1p, sqrt
from operator import mul
from os import PathLike
from typing import IO, TYPE_CHECKING, ClassVar, NamedTuple
from zipfile import BadZipFile

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.language.commands import corrects
from thinkback.language.thesaurus import related_terms
from thinkback.language.tokens import extract_terms, fold_text

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LABEL_THRESHOLD = 0.5
"""From this probability on, an older memory is labelled as possibly outdated."""

BUCKETS = 1 << 14
MODEL_FILE = "updates.npz"
FORMAT_VERSION = 2
MAX_CHARS = 400
UNKNOWN_DAYS = 30.0
DENSE_FEATURES = 33
_QUANTISATION_LEVELS = 127
_MAX_EXPONENT = 700.0  # beyond this exp() overflows and the probability is 0
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*|[零一二两三四五六七八九十百千万]{1,6}(?=[^\W\d])")
_NUMBER_AND_UNIT = re.compile(
    r"(?:\d+(?:[.,:]\d+)*\s?|[零一二两三四五六七八九十百千万]{2,6})([\u3400-\u9fff]{1,2}|[^\W\d_\u3400-\u9fff]{1,8})"
)
_CHANGE = re.compile(
    r"\b(?:now|instead|chang\w+|moved?|moving|no longer|not any ?more|any ?more|switch\w*|new|actually"
    r"|turns out|correction|sorry|wrong|up to|down to|rais\w+|dropped|quit|left|stopped|gave up|back to"
    r"|bec[ao]mes?|cancel\w*|postpon\w+|resched\w+|pushed|done|finished|already|again|finally|got|sold"
    r"|broke up|over)\b"
    r"|改|换|不再|现在|其实|搬|变|升|降|涨|又|重新|作废|取消|推迟|提前|不是|了|已经|终于|分手|辞|停|卖|完",
    re.IGNORECASE,
)
_STRONG_CHANGE = re.compile(
    r"\b(?:no longer|not any ?more|instead|changed|switched|moved|correction|turns out|now)\b"
    r"|改成?|换成?|不再|作废|取消|推迟|搬到?|其实",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:will|going to|gonna|plan\w*|want to|hop\w+|due|booked|next|soon|thinking of|might)\b|'ll\b"
    r"|要|准备|打算|想|计划|定在|预|下周|下个?月|明年|等",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not?|never|none|nobody|\w+n't|dont|didnt|isnt|cant)\b|[不没无别]", re.IGNORECASE
)
_ASKS_SEVERAL = re.compile(
    r"\b(?:all|both|each|every|everyone|everything|list|ever|so far|several|others?|else|history|names"
    r"|(?:which|what) \w+s (?:do|did|have|are|were|can))\b"
    r"|哪些|哪几|都|分别|所有|一共|几个|各|历次|先后|还有",
    re.IGNORECASE,
)
_ASKS_NOW = re.compile(
    r"\b(?:now|current\w*|these days|at the moment|latest|still|today|right now|at present)\b"
    r"|现在|目前|如今|眼下|最近|最新|还",
    re.IGNORECASE,
)
_ASKS_BEFORE = re.compile(
    r"\b(?:before|used to|first|originally|previous\w*|former\w*|old|earlier|back then|was|were|did|had)\b"
    r"|以前|之前|原来|当初|最早|最初|过去|曾经|那时|当时|旧",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SentencePair:
    """An older and a newer sentence of one user, both recalled for a question; `days` lie between them.

    `cosine` is that of their vectors by the embedder of this name.
    """

    old: str
    new: str
    days: float = UNKNOWN_DAYS
    cosine: float | None = None
    embedder: str | None = None
    question: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SentenceFeatures:
    """Everything about one sentence that its score in any pair needs; see `read_sentence`."""

    terms: frozenset[str]
    rarity: Mapping[str, float]  # by term
    total_rarity: float
    new_slots: tuple[int, ...]  # buckets of its terms as those of the newer sentence
    shared_slots: Mapping[str, int]  # by term: its bucket as a term of both sentences
    numbers: frozenset[str]
    units: frozenset[str]
    change: float
    strong_change: float
    plan: float
    negated: bool
    corrects: float

    def shares_word(self, other: SentenceFeatures) -> bool:
        """Whether any word occurs in both sentences; an update without one scores low."""
        return not self.terms.isdisjoint(other.terms)


class AskedWords(NamedTuple):
    """What a sentence shares with a question."""

    terms: frozenset[str]
    share: float  # of the rarity of the question's terms
    has_synonym: bool


@dataclass(frozen=True, slots=True, eq=False)
class QuestionFeatures:
    """The same for a question."""

    rarity: Mapping[str, float]
    terms: frozenset[str]
    wanted: float  # rarity of all terms
    synonyms: frozenset[str]
    slots: tuple[int, ...]
    dense: tuple[float, float, float]
    _asked: dict[SentenceFeatures, AskedWords] = field(default_factory=dict)

    def asked_words(self, sentence: SentenceFeatures) -> AskedWords:
        """What a sentence shares with the question; computed once for all pairs of the sentence."""
        found = self._asked.get(sentence)
        if found is None:
            terms = self.terms & sentence.terms
            found = self._asked[sentence] = AskedWords(
                terms,
                fsum(map(self.rarity.__getitem__, terms)) / self.wanted,
                not self.synonyms.isdisjoint(sentence.terms),
            )
        return found


def read_sentence(text: str) -> SentenceFeatures:
    """The features of a sentence by the model of this package.

    Reading costs more than scoring, so a caller that scores a sentence more than once should keep them.
    """
    return UpdateModel.shipped().read_sentence(text)


def read_question(text: str) -> QuestionFeatures:
    """The features of a question by the model of this package."""
    return UpdateModel.shipped().read_question(text)


def score_update(
    old: str | SentenceFeatures,
    new: str | SentenceFeatures,
    *,
    question: str | QuestionFeatures = "",
    days: float = UNKNOWN_DAYS,
) -> float:
    """The probability that `new`, said `days` after `old`, is an update of it, as far as `question` asks."""
    before = read_sentence(old) if isinstance(old, str) else old
    after = read_sentence(new) if isinstance(new, str) else new
    asked = read_question(question) if isinstance(question, str) else question
    return UpdateModel.shipped().score_sentences(before, after, asked, days)


@dataclass(frozen=True, eq=False)
class PairWeights:
    """The weights of the hashed words of a pair, in 8 bits with one scale, and of its other features."""

    words: npt.NDArray[np.int8]
    scale: float
    dense: Floats

    @cached_property
    def word_list(self) -> list[int]:
        """`words` as a list: a sentence has few words, and numpy costs more than their sum."""
        words: list[int] = self.words.tolist()
        return words

    @cached_property
    def dense_list(self) -> list[float]:
        dense: list[float] = self.dense.tolist()
        return dense


@dataclass(frozen=True, slots=True, eq=False)
class UpdateModel:
    """Weights by name of the embedder, `TEXT_ALONE` for any other one, and how rare each term is."""

    BUCKETS: ClassVar[int] = BUCKETS
    TEXT_ALONE: ClassVar[str] = "text alone"
    LABEL_THRESHOLD: ClassVar[float] = LABEL_THRESHOLD
    Pair: ClassVar[type[SentencePair]] = SentencePair

    rarity: npt.NDArray[np.float32]
    by_embedder: Mapping[str, PairWeights]

    @staticmethod
    @cache
    def shipped() -> UpdateModel:
        """The model of this package, loaded at the first call."""
        with files("thinkback.language").joinpath("models", MODEL_FILE).open("rb") as file:
            return UpdateModel.load(file)

    @staticmethod
    def learn_rarity(sentences: Iterable[str]) -> npt.NDArray[np.float32]:
        """The rarity of all terms: log(sentences / sentences with the term), by bucket, between 0 and 1."""
        counts = np.ones(BUCKETS)
        total = 1
        for sentence in sentences:
            total += 1
            counts[list({_bucket(term) for term in _terms(sentence)})] += 1
        rarity = np.log(total / counts) / np.log(total)
        return np.asarray(rarity, dtype=np.float16).astype(np.float32)

    @staticmethod
    def terms(text: str) -> frozenset[str]:
        """The terms of a text that pairs are compared by."""
        return _terms(text)

    def with_weights(self, embedder: str, words: Floats, dense: Floats) -> UpdateModel:
        """A copy of the model that knows these weights for the embedder, too."""
        scale = float(np.float32(max(float(np.abs(words).max()), 1e-9) / _QUANTISATION_LEVELS))
        weights = PairWeights(
            np.rint(words / scale).astype(np.int8), scale, dense.astype(np.float32).astype(np.float64)
        )
        return UpdateModel(self.rarity, {**self.by_embedder, embedder: weights})

    def score(self, pair: SentencePair) -> float:
        """The probability that the newer sentence of a pair is an update of the older one."""
        known = pair.cosine is not None and pair.embedder in self.by_embedder
        return self.score_sentences(
            self.read_sentence(pair.old),
            self.read_sentence(pair.new),
            self.read_question(pair.question),
            pair.days,
            pair.cosine,
            pair.embedder if known else None,
        )

    def score_sentences(
        self,
        old: SentenceFeatures,
        new: SentenceFeatures,
        question: QuestionFeatures,
        days: float,
        cosine: float | None = None,
        embedder: str | None = None,
    ) -> float:
        """The same for sentences that were read before."""
        weights = self.by_embedder[embedder or self.TEXT_ALONE]
        slots, dense = _pair_features(old, new, question, days, cosine)
        words = sum(map(weights.word_list.__getitem__, slots)) * _word_value(slots) * weights.scale
        total = words + sum(map(mul, dense, weights.dense_list))
        return 1 / (1 + exp(-total)) if total > -_MAX_EXPONENT else 0.0

    def features(self, pair: SentencePair) -> tuple[npt.NDArray[np.int64], Floats, list[float]]:
        """The buckets and values of the words of a pair, and its other features."""
        slots, dense = _pair_features(
            self.read_sentence(pair.old),
            self.read_sentence(pair.new),
            self.read_question(pair.question),
            pair.days,
            pair.cosine,
        )
        return np.array(slots, dtype=np.int64), np.full(len(slots), _word_value(slots)), dense

    def read_sentence(self, text: str) -> SentenceFeatures:
        """The features of one sentence."""
        terms = _terms(text)
        rarity = self._rarity(terms)
        return SentenceFeatures(
            terms=terms,
            rarity=rarity,
            total_rarity=sum(rarity.values()),
            new_slots=tuple(_bucket(f"n:{term}") for term in rarity),
            shared_slots={term: _bucket(f"s:{term}") for term in rarity},
            numbers=_numbers(text),
            units=_units(text),
            change=min(len(_CHANGE.findall(text)), 3) / 3,
            strong_change=float(bool(_STRONG_CHANGE.search(text))),
            plan=float(bool(_PLAN.search(text))),
            negated=bool(_NEGATION.search(text)),
            corrects=float(corrects(text[:MAX_CHARS])),
        )

    def read_question(self, text: str) -> QuestionFeatures:
        """The features of a question."""
        cut = text[:MAX_CHARS]
        rarity = self._rarity(_terms(cut))
        return QuestionFeatures(
            rarity=rarity,
            terms=frozenset(rarity),
            wanted=max(sum(rarity.values()), 0.1),
            synonyms=frozenset(related_terms(cut)),  # and narrower words, in both languages
            slots=tuple(_bucket(f"q:{term}") for term in rarity),
            dense=(
                float(bool(_ASKS_SEVERAL.search(text))),
                float(bool(_ASKS_NOW.search(text))),
                float(bool(_ASKS_BEFORE.search(text))),
            ),
        )

    def _rarity(self, terms: Iterable[str]) -> dict[str, float]:
        """The rarity of each term, in alphabetical order, so that sums of them are the same every time."""
        ordered = sorted(terms)
        slots = [_bucket(term) for term in ordered]
        return dict(zip(ordered, self.rarity[slots].tolist() if slots else (), strict=True))

    def save(self, file: str | PathLike[str] | IO[bytes]) -> None:
        """Write the model as .npz; the same weights give the same bytes."""
        names = sorted(self.by_embedder)
        arrays = {
            "version": np.array(FORMAT_VERSION),
            "rarity": self.rarity.astype(np.float16),
            "embedders": np.array(names),
            "scales": np.array([self.by_embedder[name].scale for name in names], dtype=np.float32),
            "dense": np.array([self.by_embedder[name].dense for name in names], dtype=np.float32),
            "words": np.array([self.by_embedder[name].words for name in names], dtype=np.int8),
        }
        np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, file: str | PathLike[str] | IO[bytes]) -> UpdateModel:
        """Read a model written by `save`.

        Raises:
            InvalidInput: the file is no such model, or one of another version.
        """
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive)
            if int(arrays["version"]) != FORMAT_VERSION or arrays["dense"].shape[1] != DENSE_FEATURES:
                raise InvalidInput("this update model was made for another version: train it again")
            weights = {
                name: PairWeights(words, float(scale), dense.astype(np.float64))
                for name, words, scale, dense in zip(
                    arrays["embedders"].tolist(),
                    arrays["words"],
                    arrays["scales"],
                    arrays["dense"],
                    strict=True,
                )
            }
            if cls.TEXT_ALONE not in weights or arrays["words"].shape[1] != BUCKETS:
                raise InvalidInput("not an update model: it has no weights for the text alone")
            return cls(arrays["rarity"].astype(np.float32), weights)
        except (KeyError, ValueError, TypeError, IndexError, EOFError, OSError, BadZipFile) as error:
            raise InvalidInput(f"not an update model: {error}") from error


def _terms(text: str) -> frozenset[str]:
    return frozenset(extract_terms(text[:MAX_CHARS]))


def _word_value(slots: Sequence[int]) -> float:
    """The value of each word of a pair: they have length 1 together."""
    return 1 / sqrt(max(len(slots), 1))


def _pair_features(
    old: SentenceFeatures,
    new: SentenceFeatures,
    question: QuestionFeatures,
    days: float,
    cosine: float | None,
) -> tuple[list[int], list[float]]:
    """The buckets of the words of a pair, and its other features."""
    shared = old.terms & new.terms
    rarities = [new.rarity[term] for term in shared]
    in_old, in_new = question.asked_words(old), question.asked_words(new)
    # fsum: the sum does not depend on the order of the terms
    common = fsum(rarities)
    total = old.total_rarity + new.total_rarity - common
    in_both = fsum(map(question.rarity.__getitem__, in_old.terms & in_new.terms)) / question.wanted
    same_topic = float(
        (in_old.has_synonym or bool(in_old.terms)) and (in_new.has_synonym or bool(in_new.terms))
    )
    overlap = common / max(total, 0.1)
    containment = common / max(min(old.total_rarity, new.total_rarity), 0.1)
    differ = float(bool(old.numbers and new.numbers and old.numbers.isdisjoint(new.numbers)))
    units = float(not old.units.isdisjoint(new.units))
    same_day = float(days < 0.5)
    near = max(cosine or 0.0, 0.0)
    dense = [
        1.0,
        overlap,
        containment,
        max(rarities, default=0.0),
        min(common, 4.0) / 4,
        float(not shared),
        differ,
        units,
        units * differ,
        new.change,
        new.strong_change,
        old.plan,
        float(new.negated != old.negated),
        log1p(max(days, 0.0)) / 5,
        same_day,
        near,
        near * near,
        near * overlap,
        containment * new.strong_change,
        containment * differ,
        in_old.share,
        in_new.share,
        in_both,
        in_both * differ,
        *question.dense,
        new.corrects,
        new.corrects * same_day,
        float(in_old.has_synonym),
        float(in_new.has_synonym),
        same_topic,
        same_topic * differ,
    ]
    return [*new.new_slots, *map(new.shared_slots.__getitem__, shared), *question.slots], dense


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text[:MAX_CHARS]))


def _units(text: str) -> frozenset[str]:
    return frozenset(_NUMBER_AND_UNIT.findall(fold_text(text[:MAX_CHARS])))


def _bucket(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) % BUCKETS
