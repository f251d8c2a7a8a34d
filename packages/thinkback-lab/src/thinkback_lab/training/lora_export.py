"""Writes a LoRA adapter as a GGUF file for llama.cpp, or merges it into its base model.

The file may have a size limit. Then each pair of matrices keeps only its strongest directions (singular value
decomposition of their product), chosen over all layers by what they contribute per byte. The first matrix of
a pair is stored in 8 bits (Q8_0), the second, whose rows are too short for that, in 16 bits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from thinkback.llms.adapters import DIGEST_KEY, TASK_KEY
from thinkback.llms.gguf_header import read_header
from thinkback_lab.errors import LabError
from thinkback_lab.training.lora import CONFIG_FILE, WEIGHTS_FILE

Matrix = npt.NDArray[np.float32]
MODULE_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""Module of transformers -> tensor of llama.cpp, for the families that share these names (Qwen, Llama)."""
PERMUTED_ARCHITECTURES = ("llama",)  # their query and key rows are stored in another order
_Q8_BLOCK, _Q8_BYTES = 32, 34
_HEADER_BYTES = 1 << 16  # more than the metadata and tensor list of an adapter take


@dataclass(frozen=True, slots=True)
class LoraPair:
    """The two matrices of one layer: it adds `b @ a @ x` to the output of the layer."""

    name: str
    a: Matrix
    b: Matrix

    @property
    def rank(self) -> int:
        return int(self.a.shape[0])

    @property
    def bytes_per_rank(self) -> float:
        return int(self.a.shape[1]) * _Q8_BYTES / _Q8_BLOCK + int(self.b.shape[0]) * 2


@dataclass(frozen=True, slots=True)
class ExportedAdapter:
    """The written file, and what was left out of it."""

    path: Path
    size: int
    ranks: tuple[int, ...]
    energy_kept: float


def read_adapter(folder: Path) -> list[LoraPair]:
    """The matrices of an adapter in the format of PEFT, scaled.

    Raises:
        LabError: the folder has no adapter, or one with layers that are not supported.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        tensors = load_file(folder / WEIGHTS_FILE)
        scale = config["lora_alpha"] / config["r"]
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise LabError(f"{folder} has no usable adapter: {error}") from error
    pairs = []
    for key in sorted(tensors):
        if not key.endswith(".lora_A.weight"):
            continue
        other = tensors.get(key.replace(".lora_A.", ".lora_B."))
        if other is None:
            raise LabError(f"{folder}: the adapter is damaged: {key} has no second matrix")
        b = other.astype(np.float32) * np.float32(scale)
        pairs.append(LoraPair(_tensor_name(key), tensors[key].astype(np.float32), b))
    if not pairs or 2 * len(pairs) != len(tensors):
        raise LabError(f"{folder}: the adapter has {len(tensors)} tensors, of which {len(pairs)} are pairs")
    return pairs


def _tensor_name(key: str) -> str:
    """base_model.model.model.layers.3.mlp.up_proj.lora_A.weight -> blk.3.ffn_up.weight"""
    parts = key.split(".")
    if "layers" not in parts:
        raise LabError(f"the layer {key!r} cannot be exported")
    at = parts.index("layers")
    module = ".".join(parts[at + 2 : -2])
    if module not in MODULE_NAMES:
        raise LabError(f"the layer {key!r} cannot be exported: known are {', '.join(MODULE_NAMES)}")
    return f"blk.{parts[at + 1]}.{MODULE_NAMES[module]}.weight"


def shrink(pairs: Sequence[LoraPair], max_bytes: int) -> tuple[list[LoraPair], float]:
    """The pairs with smaller ranks, so that they fit; and the share of the squared weights that is kept."""
    decompositions = [_decompose(pair) for pair in pairs]
    directions = [
        (strength**2 / pair.bytes_per_rank, number, pair.bytes_per_rank)
        for number, (pair, (_, strengths, _)) in enumerate(zip(pairs, decompositions, strict=True))
        for strength in strengths.tolist()
    ]
    ranks, used = [0] * len(pairs), 0.0
    for _, number, size in sorted(directions, reverse=True):
        if used + size <= max_bytes:
            ranks[number] += 1
            used += size
    kept = total = 0.0
    result = []
    for pair, rank, (left, strengths, right) in zip(pairs, ranks, decompositions, strict=True):
        energies = strengths.astype(np.float64) ** 2
        kept, total = kept + float(energies[:rank].sum()), total + float(energies.sum())
        if rank:
            root = np.sqrt(strengths[:rank])
            result.append(LoraPair(pair.name, root[:, None] * right[:rank], left[:, :rank] * root))
    return result, kept / max(total, 1e-12)


def _decompose(pair: LoraPair) -> tuple[Matrix, Matrix, Matrix]:
    """The singular value decomposition of b @ a, without computing the large product."""
    q_b, r_b = np.linalg.qr(pair.b)
    q_a, r_a = np.linalg.qr(pair.a.T)
    left, strengths, right = np.linalg.svd(r_b @ r_a.T)
    return q_b @ left, strengths, right @ q_a.T


def export_adapter(
    folder: Path, base: Path, out: Path, *, max_bytes: int | None = None, task: str = "", name: str = ""
) -> ExportedAdapter:
    """Write the adapter of a folder for the base model of a GGUF file.

    Args:
        folder: The adapter in the format of PEFT.
        base: The GGUF file that it will be used with.
        out: The file to write.
        max_bytes: Its largest size.
        task: What thinkback uses it for, such as `find_updates`; empty if for everything.
        name: The name in its metadata; by default that of the file.
    """
    header = read_header(base)
    architecture = header.text("general.architecture")
    if architecture in PERMUTED_ARCHITECTURES:
        raise LabError(f"{base.name}: adapters for the architecture {architecture!r} cannot be exported")
    pairs = read_adapter(folder)
    _check_shapes(pairs, {tensor.name: tensor.shape for tensor in header.tensors}, base)
    energy = 1.0
    limit = None if max_bytes is None else max_bytes - _HEADER_BYTES
    if limit is not None and sum(pair.bytes_per_rank * pair.rank for pair in pairs) > limit:
        pairs, energy = shrink(pairs, limit)
    tensors = {}
    for pair in pairs:
        tensors[f"{pair.name}.lora_a"] = pair.a
        tensors[f"{pair.name}.lora_b"] = pair.b.astype(np.float16)
    metadata = {
        "general.type": "adapter",
        "general.architecture": architecture,
        "general.name": name or out.stem,
        "general.base_model.0.name": header.text("general.name"),
        "adapter.type": "lora",
        TASK_KEY: task,
    }
    _write_gguf(out, architecture, metadata, tensors)
    return ExportedAdapter(out, out.stat().st_size, tuple(pair.rank for pair in pairs), energy)


def _check_shapes(pairs: Sequence[LoraPair], shapes: Mapping[str, tuple[int, ...]], base: Path) -> None:
    for pair in pairs:
        if shapes.get(pair.name) != (pair.a.shape[1], pair.b.shape[0]):
            raise LabError(f"the adapter does not fit {base.name}: {pair.name} is {shapes.get(pair.name)}")


def _write_gguf(
    path: Path, architecture: str, metadata: Mapping[str, str], tensors: Mapping[str, Any]
) -> None:
    """Write twice: the digest of the tensors is part of the header."""
    digest = "0" * 64
    for _ in range(2):
        _write_once(path, architecture, {**metadata, DIGEST_KEY: digest}, tensors)
        header = read_header(path)
        digest = hashlib.sha256(path.read_bytes()[header.data_start :]).hexdigest()


def _write_once(
    path: Path, architecture: str, metadata: Mapping[str, str], tensors: Mapping[str, Any]
) -> None:
    from gguf import GGMLQuantizationType, GGUFWriter, quantize

    writer = GGUFWriter(str(path), architecture)
    for key, value in metadata.items():
        if key != "general.architecture" and value:
            writer.add_string(key, value)
    writer.add_float32("adapter.lora.alpha", 0.0)  # the scale is already in the matrices
    for name, matrix in tensors.items():
        if matrix.dtype == np.float32 and matrix.shape[1] % _Q8_BLOCK == 0:
            kind = GGMLQuantizationType.Q8_0
            writer.add_tensor(name, quantize(matrix, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, np.ascontiguousarray(matrix.astype(np.float16)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def merge_adapter(folder: Path, base: Path, out: Path) -> None:
    """Write the base model with the adapter added to its weights, in the format of transformers."""
    from thinkback_lab.training.lora import load_adapter, load_base, load_tokenizer

    model = load_adapter(load_base(base), folder).merge_and_unload()
    model.save_pretrained(str(out))
    load_tokenizer(base).save_pretrained(str(out))
