"""LoRA training on a tiny model: it learns, can be resumed, and llama.cpp says the same with the export."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from tests.lab.tiny_model import write_tiny_model

from thinkback.errors import ModelUnavailable
from thinkback.types import Message
from thinkback_lab.errors import LabError

MISSING = [
    name
    for name in ("torch", "transformers", "peft", "safetensors", "gguf")
    if importlib.util.find_spec(name) is None
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"the extra `lora` is not installed: {', '.join(MISSING)}"),
    pytest.mark.filterwarnings("ignore"),
]
PROMPTS = [("Repeat.", f"word {n}") for n in range(6)]
REPLIES = ["the theme here"] * 6


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("base") / "tiny.gguf")


def make_trainer(base: Path, folder: Path | None, **changes: object):  # type: ignore[no-untyped-def]
    import torch

    from thinkback_lab.training import lora

    options = {"batch_tokens": 256, "learning_rate": 0.02, "warmup_steps": 2, "dropout": 0.0, "rank": 8}
    settings = lora.LoraSettings(**{**options, **changes})  # type: ignore[arg-type]
    torch.manual_seed(1)
    model = lora.add_adapter(lora.load_base(base, "float32"), settings)
    examples = [lora.TextExample(prompt, reply) for prompt, reply in zip(PROMPTS, REPLIES, strict=True)]
    tokenizer = lora.load_tokenizer(base)
    return lora.LoraTrainer(model, tokenizer, examples[1:], examples[:1], settings, folder), model, tokenizer


def test_twenty_steps_lower_the_held_out_loss(base: Path, tmp_path: Path) -> None:
    trainer, _, _ = make_trainer(base, tmp_path, max_steps=20, epochs=100)
    history = trainer.train()
    assert trainer.step == 20
    assert history.held_out[-1][1] < 0.5 * history.held_out[0][1]
    assert json.loads((tmp_path / "history.json").read_text())["settings"]["rank"] == 8


def test_a_resumed_training_ends_like_an_uninterrupted_one(base: Path, tmp_path: Path) -> None:
    options = {"max_steps": 6, "epochs": 100, "evaluations": 2}
    whole, _, _ = make_trainer(base, None, **options)
    expected = whole.train().held_out[-1][1]
    broken, _, _ = make_trainer(base, tmp_path, **options)

    def stop(step: int, steps: int, loss: float) -> None:
        if step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken.train(stop)
    resumed, _, _ = make_trainer(base, tmp_path, **options)
    assert resumed.load_checkpoint()
    assert 0 < resumed.step < 5
    assert resumed.train().held_out[-1][1] == pytest.approx(expected, rel=1e-4)
    other, _, _ = make_trainer(base, tmp_path, **{**options, "learning_rate": 0.5})
    with pytest.raises(LabError, match="other settings"):
        other.load_checkpoint()


def test_the_loss_counts_the_reply_only(base: Path) -> None:
    from thinkback_lab.training import lora

    tokenizer = lora.load_tokenizer(base)
    (example,) = lora.tokenize(tokenizer, [("Repeat.", "word")], ["the"])
    _, count = lora.compute_loss(lora.load_base(base, "float32"), [example])
    assert count == len(example.tokens) - example.prompt_size == 3  # "th", "e", end


def test_saved_exported_and_merged_adapters_say_the_same(base: Path, tmp_path: Path) -> None:
    from thinkback.llms.local import LocalLLM
    from thinkback_lab.training import lora
    from thinkback_lab.training.lora_export import export_adapter, merge_adapter

    trainer, model, tokenizer = make_trainer(base, None, max_steps=60, epochs=100)
    trainer.train()
    prompt = PROMPTS[0]
    expected = lora.generate(model, tokenizer, [prompt], max_tokens=20)
    assert expected == REPLIES[:1]
    lora.save_adapter(model, tmp_path / "adapter")
    loaded = lora.load_adapter(lora.load_base(base, "float32"), tmp_path / "adapter")
    assert lora.generate(loaded, tokenizer, [prompt], max_tokens=20) == expected
    merge_adapter(tmp_path / "adapter", base, tmp_path / "merged")
    merged = lora.load_base(tmp_path / "merged", "float32")
    assert lora.generate(merged, tokenizer, [prompt], max_tokens=20) == expected
    full = export_adapter(tmp_path / "adapter", base, tmp_path / "full.gguf")
    small = export_adapter(tmp_path / "adapter", base, tmp_path / "small.gguf", max_bytes=(1 << 16) + 12_000)
    assert set(full.ranks) == {8}
    assert small.size < full.size
    assert 0.5 < small.energy_kept < 1
    pytest.importorskip("xllamacpp", reason="llama.cpp (the extra `local`) is not installed")
    messages = [Message("system", prompt[0]), Message("user", prompt[1])]
    for written in (full, small):
        llm = LocalLLM(base, adapter=str(written.path), context=512, threads=1)
        assert llm.complete(messages, max_tokens=20).text == expected[0]
        llm.close()
    plain = LocalLLM(base, adapter=None, context=512, threads=1)
    assert plain.complete(messages, max_tokens=20).text != expected[0]


def test_an_adapter_for_thinking_leaves_answers_alone(base: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="llama.cpp (the extra `local`) is not installed")
    from thinkback.llms.local import LocalLLM
    from thinkback_lab.training import lora
    from thinkback_lab.training.lora_export import export_adapter
    from thinkback_lab.training.transformers_llm import TransformersLLM

    trainer, model, _ = make_trainer(base, None, max_steps=60, epochs=100)
    trainer.train()
    lora.save_adapter(model, tmp_path / "adapter")
    written = export_adapter(tmp_path / "adapter", base, tmp_path / "thinker.gguf", task="find_updates")
    messages = [Message("system", PROMPTS[0][0]), Message("user", PROMPTS[0][1])]
    llm = LocalLLM(base, adapter=str(written.path), context=512, threads=1)
    plain = LocalLLM(base, adapter=None, context=512, threads=1)
    grammar = "root ::= [a-z ]+"
    assert llm.complete_with_grammar(messages, grammar=grammar, max_tokens=20).text == REPLIES[0]
    assert llm.complete(messages, max_tokens=12).text == plain.complete(messages, max_tokens=12).text
    assert llm.complete_with_grammar(messages, grammar=grammar, max_tokens=20).text == REPLIES[0]
    read_with_torch = TransformersLLM(base, tmp_path / "adapter")
    assert read_with_torch.complete_with_grammar(messages, grammar=grammar, max_tokens=20).text == REPLIES[0]


def test_wrong_and_damaged_adapters_are_refused(base: Path, tmp_path: Path) -> None:
    from thinkback.llms.local import LocalLLM
    from thinkback_lab.training import lora
    from thinkback_lab.training.lora_export import export_adapter

    _, model, _ = make_trainer(base, None)
    path = lora.save_adapter(model, tmp_path / "adapter")
    other = write_tiny_model(tmp_path / "other.gguf", "Other")
    wide = write_tiny_model(tmp_path / "wide.gguf", "Wide", hidden=128)
    with pytest.raises(LabError, match="does not fit"):
        export_adapter(tmp_path / "adapter", wide, tmp_path / "x.gguf")
    with pytest.raises(LabError, match="does not fit"):
        lora.load_adapter(lora.load_base(wide, "float32"), tmp_path / "adapter")
    written = export_adapter(tmp_path / "adapter", base, tmp_path / "a.gguf").path
    with pytest.raises(ModelUnavailable, match="made for 'Tiny'"):
        LocalLLM(other, adapter=str(written))
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(LabError, match="no usable adapter"):
        export_adapter(tmp_path / "adapter", base, tmp_path / "y.gguf")
    with pytest.raises(LabError, match="does not fit"):
        lora.load_adapter(lora.load_base(base, "float32"), tmp_path / "adapter")
