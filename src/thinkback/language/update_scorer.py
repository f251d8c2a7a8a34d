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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import log1p
from os import PathLike
from typing import IO, TYPE_CHECKING, ClassVar
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


def score_update(
    old: str,
    new: str,
    *,
    question: str = "",
    days: float = UNKNOWN_DAYS,
    cosine: float | None = None,
    embedder: str | None = None,
) -> float:
    """The probability that `new`, said `days` after `old`, is an update of it, as far as `question` asks."""
    return UpdateModel.shipped().score(SentencePair(old, new, days, cosine, embedder, question))


@dataclass(frozen=True, slots=True, eq=False)
class PairWeights:
    """The weights of the hashed words of a pair, in 8 bits with one scale, and of its other features."""

    words: npt.NDArray[np.int8]
    scale: float
    dense: Floats


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
        weights = self.by_embedder[str(pair.embedder) if known else self.TEXT_ALONE]
        slots, values, dense = self.features(pair)
        words = float((weights.words[slots] * values).sum()) * weights.scale
        return float(1 / (1 + np.exp(-(words + float(np.dot(dense, weights.dense))))))

    def features(self, pair: SentencePair) -> tuple[npt.NDArray[np.int64], Floats, list[float]]:
        """The buckets and values of the words of a pair, and its other features."""
        old, new = _terms(pair.old), _terms(pair.new)
        asked, synonyms = _asked_terms(pair.question[:MAX_CHARS])
        shared, union = old & new, old | new | asked
        rare = {term: float(self.rarity[_bucket(term)]) for term in union}
        common, total = sum(rare[term] for term in shared), sum(rare[term] for term in old | new)
        wanted = max(sum(rare[term] for term in asked), 0.1)
        in_both = sum(rare[term] for term in asked & shared) / wanted
        old_synonym, new_synonym = float(bool(synonyms & old)), float(bool(synonyms & new))
        topic = asked | synonyms
        same_topic = float(bool(topic & old) and bool(topic & new))
        smaller = min(sum(rare[term] for term in old), sum(rare[term] for term in new))
        overlap, containment = common / max(total, 0.1), common / max(smaller, 0.1)
        rarest = max((rare[term] for term in shared), default=0.0)
        old_numbers, new_numbers = _numbers(pair.old), _numbers(pair.new)
        differ = float(bool(old_numbers and new_numbers and not old_numbers & new_numbers))
        units = float(bool(_units(pair.old) & _units(pair.new)))
        change = min(len(_CHANGE.findall(pair.new)), 3) / 3
        strong = float(bool(_STRONG_CHANGE.search(pair.new)))
        plan = float(bool(_PLAN.search(pair.old)))
        negation = float(bool(_NEGATION.search(pair.new)) != bool(_NEGATION.search(pair.old)))
        corrected = float(corrects(pair.new[:MAX_CHARS]))
        cosine = max(pair.cosine or 0.0, 0.0)
        dense = [
            1.0,
            overlap,
            containment,
            rarest,
            min(common, 4.0) / 4,
            float(not shared),
            differ,
            units,
            units * differ,
            change,
            strong,
            plan,
            negation,
            log1p(max(pair.days, 0.0)) / 5,
            float(pair.days < 0.5),
            cosine,
            cosine * cosine,
            cosine * overlap,
            containment * strong,
            containment * differ,
            sum(rare[term] for term in asked & old) / wanted,
            sum(rare[term] for term in asked & new) / wanted,
            in_both,
            in_both * differ,
            float(bool(_ASKS_SEVERAL.search(pair.question))),
            float(bool(_ASKS_NOW.search(pair.question))),
            float(bool(_ASKS_BEFORE.search(pair.question))),
            corrected,
            corrected * float(pair.days < 0.5),
            old_synonym,
            new_synonym,
            same_topic,
            same_topic * differ,
        ]
        words = [f"n:{term}" for term in sorted(new)] + [f"s:{term}" for term in sorted(shared)]
        words += [f"q:{term}" for term in sorted(asked)]
        slots = np.array([_bucket(word) for word in words], dtype=np.int64)
        return slots, np.full(len(words), 1 / max(len(words), 1) ** 0.5), dense

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


@lru_cache(maxsize=256)
def _asked_terms(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of a question, and those of their synonyms and narrower words in both languages."""
    return _terms(question), frozenset(related_terms(question))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text[:MAX_CHARS]))


def _units(text: str) -> frozenset[str]:
    return frozenset(_NUMBER_AND_UNIT.findall(fold_text(text[:MAX_CHARS])))


def _bucket(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) % BUCKETS
