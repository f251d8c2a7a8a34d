"""Adapters of local models: found by name, refused if they are damaged or made for another model."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from thinkback.errors import ModelUnavailable
from thinkback.llms import adapters
from thinkback.llms.adapters import open_adapter
from thinkback.llms.gguf_header import read_header
from thinkback.llms.registry import create_llm, create_local_thinker

F16 = 1
Shapes = Mapping[str, tuple[int, ...]]


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def write_gguf(path: Path, metadata: Mapping[str, str], shapes: Shapes, data: bytes | None = None) -> Path:
    """A GGUF file with 16-bit tensors, all bytes of which are zero unless `data` says otherwise."""
    body = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(metadata) + 1)
    for key, value in metadata.items():
        body += text(key) + struct.pack("<I", 8) + text(value)
    words = b"".join(map(text, ("a", "list", "that is skipped")))
    body += text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 3) + words
    offset = 0
    for name, shape in shapes.items():
        body += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        body += struct.pack("<IQ", F16, offset)
        size = 2
        for length in shape:
            size *= length
        offset += -(-size // 32) * 32
    body += b"\0" * (-len(body) % 32)
    path.write_bytes(body + (bytes(offset) if data is None else data))
    return path


MODEL = {"general.architecture": "qwen2", "general.type": "model", "general.name": "Tiny Qwen"}
ADAPTER = {
    "general.architecture": "qwen2",
    "general.type": "adapter",
    "adapter.type": "lora",
    "general.base_model.0.name": "Tiny Qwen",
    "thinkback.task": "find_updates",
    "thinkback.data_sha256": hashlib.sha256(bytes(64 + 96)).hexdigest(),
}
WEIGHT = "blk.0.attn_q.weight"
PAIR: Shapes = {f"{WEIGHT}.lora_a": (16, 2), f"{WEIGHT}.lora_b": (2, 24)}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "base.gguf", MODEL, {WEIGHT: (16, 24)})


def test_an_adapter_is_found_by_path_and_by_name(tmp_path: Path, base: Path) -> None:
    path = write_gguf(tmp_path / "mine.gguf", ADAPTER, PAIR)
    for name in (str(path), "mine", "mine.gguf"):
        adapter = open_adapter(name, base, tmp_path)
        assert (adapter.path, adapter.name, adapter.task) == (path, "mine", "find_updates")
    with pytest.raises(ModelUnavailable, match="no adapter 'other'"):
        open_adapter("other", base, tmp_path)


def test_the_header_of_a_file_is_read_without_its_lists(base: Path) -> None:
    header = read_header(base)
    assert header.metadata == MODEL
    assert [(tensor.name, tensor.shape, tensor.size) for tensor in header.tensors] == [
        (WEIGHT, (16, 24), 768)
    ]


@pytest.mark.parametrize(
    ("metadata", "shapes", "message"),
    [
        ({"general.architecture": "llama"}, PAIR, "architecture 'llama'"),
        ({"general.base_model.0.name": "Large Qwen"}, PAIR, "made for 'Large Qwen'"),
        ({"general.type": "model"}, PAIR, "not a LoRA adapter"),
        ({}, {f"{WEIGHT}.lora_a": (24, 2), f"{WEIGHT}.lora_b": (2, 24)}, "does not fit"),
        ({}, {"blk.9.attn_q.weight.lora_a": (16, 2)}, "does not fit"),
        ({}, {}, "damaged"),
    ],
)
def test_an_adapter_of_another_model_is_refused(
    tmp_path: Path, base: Path, metadata: dict[str, str], shapes: Shapes, message: str
) -> None:
    path = write_gguf(tmp_path / "a.gguf", {**ADAPTER, "thinkback.data_sha256": "", **metadata}, shapes)
    with pytest.raises(ModelUnavailable, match=message):
        open_adapter(str(path), base)


def test_a_damaged_adapter_is_refused(tmp_path: Path, base: Path) -> None:
    whole = write_gguf(tmp_path / "whole.gguf", ADAPTER, PAIR).read_bytes()
    flipped = whole[:-1] + b"\1"
    without_digest = write_gguf(
        tmp_path / "b.gguf", {**ADAPTER, "thinkback.data_sha256": ""}, PAIR
    ).read_bytes()
    for content in (flipped, whole[:-40], without_digest[:-96], whole[:200], b"GGUF", b"hello", b""):
        path = tmp_path / "damaged.gguf"
        path.write_bytes(content)
        with pytest.raises(ModelUnavailable, match="damaged"):
            open_adapter(str(path), base)


def test_a_header_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1))
    with pytest.raises(ModelUnavailable, match="items"):
        read_header(path)


def test_a_spec_names_a_model_and_its_adapter(tmp_path: Path, base: Path) -> None:
    path = write_gguf(tmp_path / "mine.gguf", {**ADAPTER, "thinkback.task": ""}, PAIR)
    assert create_llm(f"local:{base}+{path}").name == "local:base+mine"
    thinker = write_gguf(tmp_path / "thinker.gguf", ADAPTER, PAIR)
    llm = create_llm(f"local:{base}+{thinker}")
    assert llm.name == "local:base"  # it answers without the adapter
    assert getattr(llm, "finds_updates", False)
    with pytest.raises(ModelUnavailable, match="no adapter"):
        create_llm(f"local:{base}+missing")


def test_the_thinker_is_used_if_it_and_its_model_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: Path
) -> None:
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path))
    monkeypatch.setattr(adapters, "installed_thinker", lambda: None)
    assert create_local_thinker() is None
    thinker = write_gguf(tmp_path / "installed.gguf", ADAPTER, PAIR)
    monkeypatch.setattr(adapters, "installed_thinker", lambda: thinker)
    assert create_local_thinker() is None  # the model is missing
    monkeypatch.setattr(adapters, "THINKER_BASE", str(base))
    llm = create_local_thinker()
    assert llm is not None
    assert llm.finds_updates
    old = write_gguf(tmp_path / "old.gguf", {**ADAPTER, "thinkback.task": "read_lines"}, PAIR)
    monkeypatch.setattr(adapters, "installed_thinker", lambda: old)
    assert create_local_thinker() is None  # of an older version of thinkback
    with pytest.raises(ModelUnavailable, match="upgrade"):
        open_adapter(str(old), base)
