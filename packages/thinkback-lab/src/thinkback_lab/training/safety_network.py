"""Training of the part of the safety detector that reads a whole message with the network.

One layer of attention over the token vectors of the cross-encoder is trained (`network_detector`); the
network itself stays as it is. It learns from the same texts as the linear detector: which of them contain an
order, and which tokens are the secret. Each text has a variant with other digits or without capitals.

The thresholds are chosen with a third of the files left out in turn, from the scores of both detectors
together. Deterministic by seed on one machine.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thinkback.language.safety.access_values import find_candidates
from thinkback.language.safety.detector import hash_features
from thinkback.language.safety.network_detector import (
    HEADS,
    INNER_WIDTH,
    WIDTH,
    NetworkReading,
    NetworkThresholds,
    SafetyNetwork,
    TokenScore,
    linear_secret_term,
)
from thinkback.language.safety.normalise import normalise_text
from thinkback.language.safety.secret_detection import detect_secrets
from thinkback.network.cross_encoder import VECTOR_WIDTH, CrossEncoder
from thinkback_lab.datasets.safety import SafetyCase
from thinkback_lab.errors import LabError
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.access_values import ValueTrainer
from thinkback_lab.training.safety_detector import (
    FOLD_TALK,
    NO_MARKS,
    TALK_WEIGHT,
    FeatureRows,
    fit_kind,
    lowest_threshold,
    match_patterns,
    score_text,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Fold = frozenset[str]

FOLDS = 3
EPOCHS = 8
LEARNING_RATE = 1.5e-3
WEIGHT_DECAY = 0.05
DROPOUT = 0.15
WARMUP = 0.06  # share of the steps in which the learning rate rises; then it falls to 0
BATCH_TOKENS = 8192
TOKEN_LOSS_WEIGHT, POSITIVE_WEIGHT = 4.0, 2.0  # of the loss of the tokens, and of those of secrets in it
LOWER_CASE_SHARE, NO_END_SHARE = 0.35, 0.2  # of the variants
MAX_QUOTED = 0.08  # share of harmless texts in files left out that may be shown as quotations
MAX_QUOTED_TALK = 0.01  # share of messages of ordinary talk
MAX_OVERRULED = 0.01  # share of the orders that the patterns see
MAX_REDACTED_VALUE, MAX_REDACTED_WORD = 0.03, 0.03  # shares of harmless texts in files left out
MAX_REDACTED_TALK = 0.002
NO_SCORE = -99.0
TALK = "/talk"  # in place of the name of a file
_DIGITS = re.compile(r"\d{3,}|(?<=[A-Za-z])\d{2,}")
_YEAR = re.compile(r"(?:19|20)\d\d")

Label = Literal[-1, 0, 1]  # unknown, no, yes


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A text with the vectors of its tokens; `secret` has a label for each token."""

    file: str
    case: SafetyCase
    text: str  # normalised
    places: Sequence[tuple[int, int]]
    vectors: npt.NDArray[np.float16]
    order: Label
    secret: tuple[Label, ...]
    is_variant: bool = False


@dataclass(frozen=True, slots=True)
class TrainedSafetyNetwork:
    model: SafetyNetwork
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of both detectors together for a text of a file that was left out."""

    case: SafetyCase
    order: float
    value: float  # the highest one of a value: of the secret, if there is one
    word: float
    order_matched: bool  # by the patterns alone
    secret_matched: bool


def train_safety_network(
    files: Mapping[str, Sequence[SafetyCase]],
    values: Mapping[str, Sequence[SafetyCase]],
    talk: Sequence[str],
    development: Sequence[str],
    encoder: CrossEncoder,
    *,
    epochs: int = EPOCHS,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
) -> TrainedSafetyNetwork:
    """Train on all files and on `talk`; choose the thresholds on files left out and on `development`.

    From the secrets of the files of `values` nothing is learned about orders.

    Raises:
        LabError: torch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise LabError("this training needs torch: pip install 'thinkback-lab[reranker]'") from error
    torch.manual_seed(seed)
    chance = random.Random(seed)  # noqa: S311
    everything = {**files, **{f"values/{name}": cases for name, cases in values.items()}}
    said = [SafetyCase(kind="benign", lang="en", text=text) for text in talk]
    examples = _read_examples({**everything, TALK: said}, encoder, chance, on_progress)
    names = sorted(everything)
    chance.shuffle(names)
    folds = [frozenset(names[first::FOLDS]) for first in range(FOLDS)]
    scores: list[Scores] = []
    talk_scores: list[Scores] = []
    for number, fold in enumerate(folds):
        network = _fit([each for each in examples if each.file not in fold], epochs, seed)
        linear = _LinearScores(everything, talk, fold)
        tested = [each for each in examples if each.file in fold and not each.is_variant]
        scores += (_score(network, linear, each) for each in tested)
        if number == 0:
            ordinary = [SafetyCase(kind="benign", lang="en", text=text) for text in development]
            read = _read_examples({TALK: ordinary}, encoder, None, no_progress)
            talk_scores = [_score(network, linear, each) for each in read]
    thresholds = _choose_thresholds(scores, talk_scores)
    fitted = _fit(examples, epochs, seed)
    figures = {
        "texts": sum(map(len, everything.values())),
        "talk": len(talk),
        "thresholds": {name: round(value, 3) for name, value in thresholds._asdict().items()},
        "left_out": _figures(scores, thresholds),
        "ordinary_talk": _figures(talk_scores, thresholds),
    }
    return TrainedSafetyNetwork(SafetyNetwork(fitted.weights, thresholds), figures)


def _read_examples(
    files: Mapping[str, Sequence[SafetyCase]],
    encoder: CrossEncoder,
    chance: random.Random | None,
    on_progress: ProgressCallback,
) -> list[Example]:
    """The texts of all files, and with `chance` a variant of each that is no ordinary talk."""
    wanted: list[tuple[str, SafetyCase, bool]] = []
    for name, cases in files.items():
        for case in cases:
            wanted.append((name, case, False))
            if chance is not None and name != TALK:
                wanted.append((name, vary(case, chance), True))
    examples: list[Example] = []
    with ThreadPoolExecutor() as pool:
        for example in pool.map(lambda each: _read(encoder, *each), wanted):
            examples += [example] if example else []
            on_progress(len(examples), len(wanted))
    return examples


def _read(encoder: CrossEncoder, file: str, case: SafetyCase, is_variant: bool) -> Example | None:
    text = normalise_text(case.text, NO_MARKS).text
    runs = encoder.token_runs(text)
    if not runs:
        return None
    places, vectors = runs[0].places, encoder.token_vectors(runs[0]).astype(np.float16)
    order: Label = 1 if case.kind == "order" else 0
    if file.startswith("values/") and case.kind == "secret":
        order = -1
    secret = tuple(label_tokens(case, text, places))
    return Example(file, case, text, places, vectors, order, secret, is_variant)


def label_tokens(case: SafetyCase, text: str, places: Sequence[tuple[int, int]]) -> Iterator[Label]:
    """Which tokens belong to the secret; unknown in an order, and where it is not said and not found."""
    spans = secret_spans(case, text) if case.kind == "secret" else []
    known = case.kind == "benign" or bool(case.values and spans)
    for start, end in places:
        begin = end - len(text[start:end].lstrip())  # a token may contain the space before it
        if any(first < end and begin < last for first, last in spans):
            yield 1
        else:
            yield 0 if known else -1


def secret_spans(case: SafetyCase, text: str) -> list[tuple[int, int]]:
    """Where the secrets of a case are in its normalised text: as given, or as the patterns find them."""
    values = [value for each in case.values if (value := normalise_text(each, NO_MARKS).text.strip())]
    if spans := [at.span() for value in values for at in re.finditer(re.escape(value), text, re.I)]:
        return spans
    return [(start, end) for start, end, _ in detect_secrets(text)]


def vary(case: SafetyCase, chance: random.Random) -> SafetyCase:
    """The same text with other digits; some variants without capitals or without the last mark."""
    exchanged: dict[str, str] = {}

    def exchange(found: re.Match[str]) -> str:
        digits = found[0]
        if _YEAR.fullmatch(digits) and digits not in case.values:
            return digits
        if digits not in exchanged:
            first = chance.choice("0123456789" if digits[0] == "0" else "123456789")
            exchanged[digits] = first + "".join(chance.choice("0123456789") for _ in digits[1:])
        return exchanged[digits]

    separate = "|".join(re.escape(value) for value in sorted(case.values, key=len, reverse=True))
    parts = re.split(f"({separate})", case.text) if separate else [case.text]
    text = "".join(_DIGITS.sub(exchange, part) for part in parts)
    secrets = [_DIGITS.sub(exchange, value) for value in case.values]
    if chance.random() < LOWER_CASE_SHARE:
        text, secrets = text.lower(), [value.lower() for value in secrets]
    if chance.random() < NO_END_SHARE and not any(text.endswith(value) for value in secrets):
        text = text.rstrip(".!。！") or text
    return case.model_copy(update={"text": text, "secret": "", "secrets": tuple(secrets)})


class _Head:
    """The trained layers; their names are those of `SafetyNetwork.SHAPES`."""

    def __init__(self) -> None:
        from torch import nn

        self.layers = nn.ModuleDict(
            {
                "input": nn.Linear(VECTOR_WIDTH, WIDTH),
                **{name: nn.Linear(WIDTH, WIDTH) for name in ("query", "key", "value", "mixed")},
                "inner": nn.Linear(WIDTH, INNER_WIDTH),
                "outer": nn.Linear(INNER_WIDTH, WIDTH),
                **{name: nn.Linear(WIDTH, 1) for name in ("token", "pool", "order")},
            }
        )
        self.norms = nn.ModuleDict(
            {"input": nn.LayerNorm(VECTOR_WIDTH), "mixed": nn.LayerNorm(WIDTH), "outer": nn.LayerNorm(WIDTH)}
        )
        self.dropout = nn.Dropout(DROPOUT)

    def parameters(self) -> list[Any]:
        return [*self.layers.parameters(), *self.norms.parameters()]

    def __call__(self, vectors: Any, mask: Any) -> tuple[Any, Any]:
        """The log odds of each token, and of an order in each text."""
        import torch

        layers, norms, drop = self.layers, self.norms, self.dropout
        hidden = layers["input"](drop(norms["input"](vectors)))
        batch, length, _ = hidden.shape
        query, key, value = (
            layers[name](hidden).view(batch, length, HEADS, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        shares = query @ key.transpose(2, 3) / (WIDTH / HEADS) ** 0.5
        shares = shares.masked_fill(~mask[:, None, None, :], -1e4).softmax(-1)
        mixed = layers["mixed"]((shares @ value).transpose(1, 2).reshape(batch, length, WIDTH))
        hidden = norms["mixed"](hidden + drop(mixed))
        inner = layers["outer"](drop(layers["inner"](hidden).relu()))
        hidden = norms["outer"](hidden + drop(inner))
        pool = layers["pool"](hidden)[..., 0].masked_fill(~mask, -1e4).softmax(-1)
        pooled = torch.einsum("bn,bnd->bd", pool, hidden)
        return layers["token"](hidden)[..., 0], layers["order"](pooled)[:, 0]

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """The arrays of `SafetyNetwork`."""
        found: dict[str, npt.NDArray[np.float32]] = {}
        for name, layer in self.layers.items():
            rows = [layer.weight.detach().T, layer.bias.detach()[None]]
            found[f"{name}.weight"] = np.concatenate([row.numpy() for row in rows])
        for name, norm in self.norms.items():
            found[f"{name}.norm"] = np.stack([norm.weight.detach().numpy(), norm.bias.detach().numpy()])
        return found


def _fit(examples: Sequence[Example], epochs: int, seed: int) -> SafetyNetwork:
    """Train the layers; half of the epochs read the variants, beside the same ordinary talk."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    torch.manual_seed(seed)
    chance = random.Random(seed)  # noqa: S311
    head = _Head()
    optimizer = torch.optim.AdamW(head.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    plain = [each for each in examples if not each.is_variant]
    varied = [each for each in examples if each.is_variant or each.file == TALK]
    batches = [
        batch
        for epoch in range(epochs)
        for batch in _batches(varied if epoch % 2 and varied else plain, chance)
    ]
    secret_weight = torch.tensor(POSITIVE_WEIGHT)
    for step, batch in enumerate(batches):
        rate = min(1.0, (step + 1) / (WARMUP * len(batches))) * (1 - step / len(batches))
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * rate
        vectors, mask, secret, order = _pack(batch)
        tokens, orders = head(vectors, mask)
        token_loss = binary_cross_entropy_with_logits(
            tokens, secret.clamp(min=0), pos_weight=secret_weight, reduction="none"
        )
        order_loss = binary_cross_entropy_with_logits(orders, order.clamp(min=0), reduction="none")
        loss = TOKEN_LOSS_WEIGHT * _mean(token_loss, secret >= 0) + _mean(order_loss, order >= 0)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimizer.step()
    rounded = {name: values.astype(np.float16).astype(np.float32) for name, values in head.weights().items()}
    return SafetyNetwork(rounded, NetworkThresholds(0, 0, 0, 0))


def _mean(losses: Any, counts: Any) -> Any:
    return (losses * counts).sum() / counts.sum().clamp(min=1)


def _batches(examples: Sequence[Example], chance: random.Random) -> list[list[Example]]:
    """All examples in random order, in batches of about equal length."""
    ordered = sorted(examples, key=lambda each: (len(each.places), chance.random()))
    batches: list[list[Example]] = [[]]
    for each in ordered:
        if batches[-1] and (len(batches[-1]) + 1) * len(each.vectors) > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(each)
    chance.shuffle(batches)
    return batches


def _pack(batch: Sequence[Example]) -> tuple[Any, Any, Any, Any]:
    """Vectors, mask, labels of the tokens, and labels of the texts."""
    import torch

    length = max(len(each.vectors) for each in batch)
    vectors = torch.zeros(len(batch), length, VECTOR_WIDTH)
    secret = torch.full((len(batch), length), -1.0)
    mask = torch.zeros(len(batch), length, dtype=torch.bool)
    for row, each in enumerate(batch):
        size = len(each.vectors)
        vectors[row, :size] = torch.from_numpy(each.vectors)
        mask[row, :size] = True
        secret[row, 1 : size - 1] = torch.tensor(each.secret, dtype=torch.float32)
    return vectors, mask, secret, torch.tensor([float(each.order) for each in batch])


class _LinearScores:
    """The linear detector, trained without the files of a fold."""

    def __init__(
        self, files: Mapping[str, Sequence[SafetyCase]], talk: Sequence[str], left_out: Fold
    ) -> None:
        known = {name: cases for name, cases in files.items() if name not in left_out}
        texts = [case for name, cases in known.items() if not name.startswith("values/") for case in cases]
        self._rows, values = FeatureRows(), ValueTrainer()
        some = talk[::FOLD_TALK]
        self._order, self._secret = (
            fit_kind(kind, texts, some, self._rows, TALK_WEIGHT * FOLD_TALK) for kind in ("order", "secret")
        )
        self._value = values.fit((case for cases in known.values() for case in cases), some, float(FOLD_TALK))

    def order(self, text: str) -> float:
        return score_text(self._order, text, self._rows)

    def secret(self, text: str) -> float:
        return score_text(self._secret, text, self._rows)

    def values(self, text: str) -> Iterator[tuple[int, int, float]]:
        """The candidates of a normalised text and their scores."""
        for candidate, named in find_candidates(text):
            slots, strengths = hash_features(named)
            score = float(np.sum(self._value[slots] * strengths) + self._value[-1])
            yield candidate.start, candidate.end, score


def _score(network: SafetyNetwork, linear: _LinearScores, example: Example) -> Scores:
    order, tokens = network.score(example.vectors.astype(np.float32))
    places = example.places
    scored = [TokenScore(*place, float(score)) for place, score in zip(places, tokens, strict=True)]
    reading = NetworkReading(order, places[0][0], places[-1][1], scored, network.thresholds)
    case, text = example.case, example.text
    spans = secret_spans(case, text) if case.kind == "secret" else []

    def counts(start: int, end: int) -> bool:
        return not spans or any(first < end and start < last for first, last in spans)

    candidates = list(linear.values(text))
    value = (
        score + reading.secret_score(start, end) for start, end, score in candidates if counts(start, end)
    )
    added = linear_secret_term(linear.secret(case.text))
    word = (
        score + added
        for start, end, score in scored
        if counts(start, end) and not any(first < end and start < last for first, last, _ in candidates)
    )
    matched = [counts(start, end) for start, end, _ in detect_secrets(text)]
    return Scores(
        case,
        reading.order_score(linear.order(case.text)),
        max(value, default=NO_SCORE),
        max(word, default=NO_SCORE),
        match_patterns(case.text, "order"),
        any(matched),
    )


def _choose_thresholds(scores: Sequence[Scores], talk: Sequence[Scores]) -> NetworkThresholds:
    harmless = [each for each in scores if each.case.kind == "benign"]

    def choose(score: Callable[[Scores], float], share: float, talk_share: float) -> float:
        limits = [lowest_threshold(list(map(score, harmless)), share)]
        return max(*limits, lowest_threshold(list(map(score, talk)), talk_share)) if talk else limits[0]

    matched = sorted(each.order for each in scores if each.case.kind == "order" and each.order_matched)
    quoted = choose(lambda each: each.order, MAX_QUOTED, MAX_QUOTED_TALK)
    return NetworkThresholds(
        quoted=quoted,
        overruled=min(quoted, matched[int(MAX_OVERRULED * len(matched))]) if matched else quoted,
        value=choose(lambda each: each.value, MAX_REDACTED_VALUE, MAX_REDACTED_TALK),
        word=choose(lambda each: each.word, MAX_REDACTED_WORD, MAX_REDACTED_TALK),
    )


def _figures(scores: Sequence[Scores], limits: NetworkThresholds) -> dict[str, Any]:
    """Shares of the texts of each kind that are quoted or redacted, by the patterns or by the scores."""

    def is_order(each: Scores) -> bool:
        return each.order >= (limits.overruled if each.order_matched else limits.quoted)

    def is_secret(each: Scores) -> bool:
        return each.secret_matched or each.value >= limits.value or each.word >= limits.word

    def shares(chosen: Iterable[Scores]) -> dict[str, Any]:
        found = list(chosen)
        tests = {"quoted": is_order, "redacted": is_secret}
        return {"n": len(found)} | {
            name: round(sum(map(test, found)) / max(len(found), 1), 4) for name, test in tests.items()
        }

    return {
        kind: shares(each for each in scores if each.case.kind == kind)
        for kind in ("order", "secret", "benign")
    }
