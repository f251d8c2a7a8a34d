"""Trains the reranker, a cross-encoder with two tasks: does a memory answer a question, is a text outdated?

    tokens   <s> question </s> memory </s>     or     <s> older text </s> newer text </s>
    scores = W2 tanh(W1 mean(encoder(tokens))), one for each task; the task is a token type of the encoder

The loss of a question is the cross-entropy of its answers among the memories shown and "none of them", plus
the binary cross-entropy of each memory; of pairs, twice the binary cross-entropy. Word vectors stay the same,
so that they stay in four bits. `reranker_export.py` writes the network for onnxruntime.

A trained network can be continued with new examples, beside which older ones are repeated (`replay`), so that
they are not forgotten.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback.network.cross_encoder import (
    MAX_CHARS,
    MAX_MEMORY_TOKENS,
    MAX_NEWER_TOKENS,
    MAX_OLDER_TOKENS,
    MAX_QUESTION_TOKENS,
)
from thinkback_lab.errors import LabError
from thinkback_lab.training.reranker_base import (
    BLOCK,
    BLOCK_BYTES,
    PADDING,
    WORDS,
    EncoderBase,
    make_tokenizer,
)
from thinkback_lab.training.reranker_data import (
    Examples,
    PairExample,
    RankingExample,
    choose_memories,
    distinct_texts,
)
from thinkback_lab.training.reranker_export import MAX_POSITIONS, quantise_columns

if TYPE_CHECKING:
    import numpy.typing as npt

    Arrays = dict[str, npt.NDArray[Any]]

ANSWERS, OUTDATES = 0, 1  # tasks
START, END = 0, 2  # tokens
HEAD_WIDTH = 32
MAX_LOGIT = 15.0
EMBEDDING_BATCH = 512
_LINEAR = {  # in the file of the base, in transformers, in the exported network
    "q": ("attention.self.query", "query"),
    "k": ("attention.self.key", "key"),
    "v": ("attention.self.value", "value"),
    "ao": ("attention.output.dense", "mixed"),
    "fi": ("intermediate.dense", "inner"),
    "fo": ("output.dense", "outer"),
}
_NORMS = {"aln": ("attention.output.LayerNorm", "mixed.norm"), "oln": ("output.LayerNorm", "outer.norm")}

StepProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerSettings:
    """How to train.

    Attributes:
        head_rate: learning rate of the two last layers, as a multiple of that of the encoder.
        positive_weight: of an answer or an outdated text in the binary cross-entropy.
        warmup: share of the steps in which the learning rate rises; then it falls to 0.
        frozen_layers: of the encoder, counted from the first; with any, its embeddings stay the same too.
        replay_ratio: examples drawn anew for each epoch from the older ones, as a multiple of the new ones.
    """

    epochs: int = 4
    learning_rate: float = 1.5e-4
    head_rate: float = 5.0
    questions_per_batch: int = 32
    pairs_per_batch: int = 256
    positive_weight: float = 2.0
    warmup: float = 0.06
    weight_decay: float = 0.01
    dropout: float = 0.1
    frozen_layers: int = 0
    replay_ratio: float = 0.5
    seed: int = 0
    max_steps: int | None = None


@dataclass(slots=True)
class EpochLosses:
    """The losses of all batches of an epoch."""

    rankings: list[float] = field(default_factory=list)
    pairs: list[float] = field(default_factory=list)

    def means(self) -> dict[str, float | None]:
        return {
            name: round(float(np.mean(losses)), 4) if losses else None
            for name, losses in (("rankings", self.rankings), ("pairs", self.pairs))
        }


class RerankerNetwork:
    """The encoder with two new layers."""

    def __init__(self, base: EncoderBase, dropout: float, device: str) -> None:
        import torch

        self.device = device
        self.encoder = _load_encoder(base, dropout).to(device)
        self.encoder.embeddings.word_embeddings.requires_grad_(False)
        self.dense = torch.nn.Linear(base.width, base.width).to(device)
        self.scores = torch.nn.Linear(base.width, 2).to(device)
        self._dropout = dropout

    def freeze(self, layers: int) -> None:
        """Keep the embeddings and the first layers of the encoder as they are; nothing for 0 layers."""
        if layers:
            for part in (self.encoder.embeddings, *self.encoder.encoder.layer[:layers]):
                part.requires_grad_(False)

    @property
    def head(self) -> list[Any]:
        return [*self.dense.parameters(), *self.scores.parameters()]

    def mean_vectors(self, sequences: Sequence[Sequence[int]], task: int) -> Any:
        """The mean of the encoder's outputs over the tokens of each sequence."""
        import torch

        width = max(map(len, sequences))
        tokens = torch.tensor([[*each, *[PADDING] * (width - len(each))] for each in sequences])
        tokens = tokens.to(self.device)
        mask = tokens != PADDING
        hidden = self.encoder(
            input_ids=tokens, attention_mask=mask.long(), token_type_ids=torch.full_like(tokens, task)
        ).last_hidden_state
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)

    def score(self, sequences: Sequence[Sequence[int]], task: int) -> Any:
        """The log odds of each sequence."""
        from torch.nn.functional import dropout

        training = self.encoder.training
        pooled = dropout(self.mean_vectors(sequences, task), self._dropout, training)
        dense = dropout(self.dense(pooled).tanh(), self._dropout, training)
        return self.scores(dense)[:, task].float()

    def autocast(self) -> Any:
        import torch

        return torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda")


def _load_encoder(base: EncoderBase, dropout: float) -> Any:
    """The base as a model of transformers; the vectors of both tasks begin as that of the only token type."""
    import torch
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=len(base.pieces),
        hidden_size=base.width,
        num_hidden_layers=base.layers,
        num_attention_heads=base.width // HEAD_WIDTH,
        intermediate_size=base.arrays["l0.fi.b"].size,
        max_position_embeddings=base.arrays["emb.pos"].size // base.width,
        type_vocab_size=2,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=PADDING,
        attn_implementation="eager",
    )
    arrays: Arrays = {
        "embeddings.word_embeddings.weight": base.floats(WORDS),
        "embeddings.position_embeddings.weight": base.floats("emb.pos"),
        "embeddings.token_type_embeddings.weight": base.floats("emb.type")[[0, 0]],
        "embeddings.LayerNorm.weight": base.arrays["emb.ln.w"],
        "embeddings.LayerNorm.bias": base.arrays["emb.ln.b"],
    }
    for number in range(base.layers):
        prefix = f"encoder.layer.{number}."
        for short, (name, _) in _LINEAR.items():
            inputs = config.intermediate_size if short == "fo" else base.width
            arrays[f"{prefix}{name}.weight"] = base.floats(f"l{number}.{short}.w", inputs)
            arrays[f"{prefix}{name}.bias"] = base.arrays[f"l{number}.{short}.b"]
        for short, (name, _) in _NORMS.items():
            arrays[f"{prefix}{name}.weight"] = base.arrays[f"l{number}.{short}.w"]
            arrays[f"{prefix}{name}.bias"] = base.arrays[f"l{number}.{short}.b"]
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict({name: torch.tensor(values) for name, values in arrays.items()}, strict=True)
    return model


class RerankerTrainer:
    """Trains a network; deterministic by seed on one machine."""

    def __init__(
        self,
        base: EncoderBase,
        rankings: Sequence[RankingExample],
        pairs: Sequence[PairExample],
        settings: RerankerSettings,
        *,
        start: Arrays | None = None,
        replay: Examples = ((), ()),
    ) -> None:
        """Prepare a training from the base, or from the weights of an exported network (`start`)."""
        import torch

        if not rankings and not pairs:
            raise LabError("there are no examples to train on")
        torch.manual_seed(settings.seed)
        self._settings, self._start, self._base = settings, start, base
        self._rankings, self._pairs = (*rankings, *replay[0]), (*pairs, *replay[1])
        self._new_counts = len(rankings), len(pairs)  # the others are replayed
        tokenizer = make_tokenizer(base)
        texts = distinct_texts(self._rankings, self._pairs)
        encodings = tokenizer.encode_batch([text[:MAX_CHARS] for text in texts])
        self._tokens = {text: encoding.ids for text, encoding in zip(texts, encodings, strict=True)}
        self._prefixes = {name: tokenizer.encode(name).ids for name in ("query:", "passage:")}
        self.network = RerankerNetwork(base, settings.dropout, "cuda" if torch.cuda.is_available() else "cpu")

    def train(self, progress: StepProgress = lambda step, steps: None) -> list[EpochLosses]:
        """Train to the end; returns the losses of each epoch."""
        import torch

        settings, network = self._settings, self.network
        torch.manual_seed(settings.seed)
        chance = random.Random(settings.seed)  # noqa: S311
        similarities = self._similarities()  # by the base, so before other weights are loaded
        if self._start is not None:
            load_weights(network, self._start)
        network.freeze(settings.frozen_layers)
        weights = [each for each in network.encoder.parameters() if each.requires_grad]
        groups = [
            {"params": weights, "lr": settings.learning_rate},
            {"params": network.head, "lr": settings.learning_rate * settings.head_rate},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
        total = settings.epochs * len(self._batches(random.Random(0)))  # noqa: S311
        total = min(total, settings.max_steps or total)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer,
            lambda step: min(1.0, (step + 1) / max(settings.warmup * total, 1)) * max(0.0, 1 - step / total),
        )
        history: list[EpochLosses] = []
        network.encoder.train()
        step = 0
        while step < total:
            history.append(EpochLosses())
            for rankings, pairs in self._batches(chance)[: total - step]:
                with network.autocast():
                    if rankings:
                        loss = self._ranking_loss(rankings, similarities, chance)
                    else:
                        loss = self._pair_loss(pairs)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_([*weights, *network.head], 1.0)
                optimizer.step()
                schedule.step()
                (history[-1].rankings if rankings else history[-1].pairs).append(loss.item())
                step += 1
                progress(step, total)
        network.encoder.eval()
        return history

    def pack_weights(self) -> Arrays:
        """The arrays of the trained network; those of frozen layers are the same bytes as before."""
        packed, frozen = pack_weights(self.network, self._base), self._settings.frozen_layers
        if self._start is None or not frozen:
            return packed
        if not np.array_equal(packed["words.values"], self._start["words.values"]):
            raise LabError("the network to continue has another vocabulary")
        trained = ("dense.", "scores.", *(f"layer.{n}." for n in range(frozen, self._base.layers)))
        return {
            name: values if name.startswith(trained) else self._start[name] for name, values in packed.items()
        }

    def _batches(self, chance: random.Random) -> list[tuple[list[int], list[PairExample]]]:
        """The batches of an epoch in random order, each of questions (by number) or of pairs."""
        numbers = self._with_replayed(len(self._rankings), self._new_counts[0], chance)
        pairs = [
            self._pairs[number]
            for number in self._with_replayed(len(self._pairs), self._new_counts[1], chance)
        ]
        size, pair_size = self._settings.questions_per_batch, self._settings.pairs_per_batch
        batches: list[tuple[list[int], list[PairExample]]] = [
            (numbers[start : start + size], []) for start in range(0, len(numbers), size)
        ]
        batches += [([], pairs[start : start + pair_size]) for start in range(0, len(pairs), pair_size)]
        chance.shuffle(batches)
        return batches

    def _with_replayed(self, count: int, new: int, chance: random.Random) -> list[int]:
        """The numbers of all new examples and of some replayed ones, in random order."""
        replayed = chance.sample(range(new, count), min(int(self._settings.replay_ratio * new), count - new))
        numbers = [*range(new), *replayed]
        chance.shuffle(numbers)
        return numbers

    def _ranking_loss(
        self, numbers: Sequence[int], similarities: Sequence[npt.NDArray[np.float32]], chance: random.Random
    ) -> Any:
        import torch

        sequences, groups, labels = [], [], []
        for group, number in enumerate(numbers):
            example = self._rankings[number]
            for memory in choose_memories(example, similarities[number], chance):
                sequences.append(self._join_ranking(example.question, example.memories[memory]))
                groups.append(group)
                labels.append(float(memory in example.answers))
        device = self.network.device
        scores = self.network.score(sequences, ANSWERS)
        label, group_of = torch.tensor(labels, device=device), torch.tensor(groups, device=device)
        weights = scores.clamp(-MAX_LOGIT, MAX_LOGIT).exp()
        none = torch.ones(len(numbers), device=device)  # the weight of "none of them"
        everything = none.index_add(0, group_of, weights)
        answered = torch.zeros_like(none).index_add(0, group_of, label) > 0
        right = torch.where(answered, torch.zeros_like(none).index_add(0, group_of, weights * label), none)
        return (everything.log() - right.clamp_min(1e-9).log()).mean() + self._binary_loss(scores, label)

    def _pair_loss(self, pairs: Sequence[PairExample]) -> Any:
        import torch

        scores = self.network.score([self._join_pair(pair.older, pair.newer) for pair in pairs], OUTDATES)
        labels = torch.tensor([float(pair.is_outdated) for pair in pairs], device=self.network.device)
        return 2 * self._binary_loss(scores, labels)

    def _binary_loss(self, scores: Any, labels: Any) -> Any:
        import torch

        weight = torch.tensor(self._settings.positive_weight, device=self.network.device)
        return torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, pos_weight=weight)

    def _similarities(self) -> list[npt.NDArray[np.float32]]:
        """Cosines of questions and memories by the encoder before it is trained, from which the hard
        negatives are chosen."""
        questions = self._embed("query:", dict.fromkeys(each.question for each in self._rankings))
        memories = self._embed(
            "passage:", dict.fromkeys(text for each in self._rankings for text in each.memories)
        )
        return [
            np.array([memories[text] for text in each.memories]) @ questions[each.question]
            for each in self._rankings
        ]

    def _embed(self, prefix: str, texts: dict[str, None]) -> dict[str, npt.NDArray[np.float32]]:
        import torch

        self.network.encoder.eval()
        ordered = sorted(texts, key=lambda text: len(self._tokens[text]))
        start = [START, *self._prefixes[prefix]]
        vectors: dict[str, npt.NDArray[np.float32]] = {}
        with torch.no_grad(), self.network.autocast():
            for at in range(0, len(ordered), EMBEDDING_BATCH):
                batch = ordered[at : at + EMBEDDING_BATCH]
                sequences = [
                    [*start, *self._tokens[text][: MAX_POSITIONS - len(start) - 1], END] for text in batch
                ]
                pooled = self.network.mean_vectors(sequences, ANSWERS).float()
                unit = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
                vectors |= dict(zip(batch, unit, strict=True))
        return vectors

    def _join_ranking(self, question: str, memory: str) -> list[int]:
        return self._join(question, MAX_QUESTION_TOKENS, memory, MAX_MEMORY_TOKENS)

    def _join_pair(self, older: str, newer: str) -> list[int]:
        return self._join(older, MAX_OLDER_TOKENS, newer, MAX_NEWER_TOKENS)

    def _join(self, first: str, first_limit: int, second: str, second_limit: int) -> list[int]:
        return [START, *self._tokens[first][:first_limit], END, *self._tokens[second][:second_limit], END]


def pack_weights(network: RerankerNetwork, base: EncoderBase) -> Arrays:
    """The arrays that `reranker_export.export_reranker` writes.

    Weights of the encoder are rounded to eight bits with one scale for each output. Word vectors are those of
    the base, in four bits.
    """
    state = {
        name: value.detach().float().cpu().numpy() for name, value in network.encoder.state_dict().items()
    }
    blocks = base.arrays[WORDS].reshape(len(base.pieces), base.width // BLOCK, BLOCK_BYTES)
    packed: Arrays = {
        "words.values": blocks[:, :, 2:],
        "words.scales": blocks[:, :, :2].copy().view("<f2")[:, :, 0],
        "positions": state["embeddings.position_embeddings.weight"][:MAX_POSITIONS],
        "tasks": state["embeddings.token_type_embeddings.weight"],
        "embedding.norm.weight": state["embeddings.LayerNorm.weight"],
        "embedding.norm.bias": state["embeddings.LayerNorm.bias"],
    }
    for number in range(base.layers):
        source, target = f"encoder.layer.{number}.", f"layer.{number}."
        for name, short in _LINEAR.values():
            weight = state[f"{source}{name}.weight"]
            packed[f"{target}{short}.values"], packed[f"{target}{short}.scales"] = quantise_columns(weight.T)
            packed[f"{target}{short}.bias"] = state[f"{source}{name}.bias"]
        for name, short in _NORMS.values():
            packed[f"{target}{short}.weight"] = state[f"{source}{name}.weight"]
            packed[f"{target}{short}.bias"] = state[f"{source}{name}.bias"]
    for name, layer in (("dense", network.dense), ("scores", network.scores)):
        for part, value in layer.state_dict().items():
            packed[f"{name}.{part}"] = value.float().cpu().numpy()
    return packed


def load_weights(network: RerankerNetwork, packed: Arrays) -> None:
    """Give a network the weights of an exported one (`pack_weights`); word vectors stay those of the base.

    Raises:
        LabError: the exported network has another shape.
    """
    import torch

    layers = network.encoder.config.num_hidden_layers
    if f"layer.{layers}.query.values" in packed:
        raise LabError(f"the network to continue has more than {layers} layers")
    try:
        positions = network.encoder.embeddings.position_embeddings.weight.detach().clone()
        positions[:MAX_POSITIONS] = torch.tensor(packed["positions"])
        state = {
            "embeddings.position_embeddings.weight": positions,
            "embeddings.token_type_embeddings.weight": torch.tensor(packed["tasks"]),
        }
        names = {"embeddings.LayerNorm": "embedding.norm"}
        for number in range(layers):
            target, source = f"encoder.layer.{number}.", f"layer.{number}."
            for name, short in _LINEAR.values():
                rows = packed[f"{source}{short}.values"].T.astype(np.float32)
                state[f"{target}{name}.weight"] = torch.tensor(
                    rows * packed[f"{source}{short}.scales"][:, None]
                )
                state[f"{target}{name}.bias"] = torch.tensor(packed[f"{source}{short}.bias"])
            names |= {f"{target}{name}": f"{source}{short}" for name, short in _NORMS.values()}
        for name, short in names.items():
            state |= {
                f"{name}.{part}": torch.tensor(packed[f"{short}.{part}"]) for part in ("weight", "bias")
            }
        network.encoder.load_state_dict(state, strict=False)
        for name, layer in (("dense", network.dense), ("scores", network.scores)):
            layer.load_state_dict(
                {part: torch.tensor(packed[f"{name}.{part}"]) for part in ("weight", "bias")}
            )
    except (KeyError, RuntimeError) as error:
        raise LabError(f"the network to continue has another shape: {error}") from error
