"""Writes a tiny Qwen2 model with random weights as a GGUF file for transformers and llama.cpp."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HIDDEN, LAYERS, HEADS, KV_HEADS, INNER = 64, 2, 4, 2, 128
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def write_tiny_model(path: Path, name: str = "Tiny", hidden: int = HIDDEN) -> Path:
    """A model whose vocabulary is the 256 bytes, two pairs of letters, and three control tokens."""
    from gguf import GGUFWriter, TokenType

    tokens = [*_byte_characters(), "th", "he", *SPECIAL]
    kinds = [TokenType.NORMAL] * (len(tokens) - len(SPECIAL)) + [TokenType.CONTROL] * len(SPECIAL)
    writer = GGUFWriter(str(path), "qwen2")
    writer.add_type("model")
    writer.add_name(name)
    writer.add_context_length(2048)
    writer.add_embedding_length(hidden)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(["t h", "h e"])
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_chat_template(CHAT_TEMPLATE)
    numbers = np.random.default_rng(5)
    kv = hidden // HEADS * KV_HEADS

    def add(tensor: str, *shape: int) -> None:
        writer.add_tensor(tensor, (numbers.standard_normal(shape) * 0.1).astype(np.float32))

    add("token_embd.weight", len(tokens), hidden)
    add("output.weight", len(tokens), hidden)
    writer.add_tensor("output_norm.weight", np.ones(hidden, np.float32))
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{norm}.weight", np.ones(hidden, np.float32))
        for part, size in (("q", hidden), ("k", kv), ("v", kv)):
            add(f"{block}.attn_{part}.weight", size, hidden)
            writer.add_tensor(f"{block}.attn_{part}.bias", np.zeros(size, np.float32))
        add(f"{block}.attn_output.weight", hidden, hidden)
        add(f"{block}.ffn_gate.weight", INNER, hidden)
        add(f"{block}.ffn_up.weight", INNER, hidden)
        add(f"{block}.ffn_down.weight", hidden, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _byte_characters() -> list[str]:
    """The printable characters that stand for the 256 bytes in byte-level vocabularies (GPT-2)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]
