"""The tuned model on a GPU, with transformers, for evaluations that take hours with llama.cpp on a processor.

Weights are those of the GGUF file, computed in 16 bits. Replies are not bound by a grammar: the tuned model
keeps to the form by itself, and lines in another form are left out when the reply is read.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thinkback import Message, Reply
from thinkback_lab.errors import import_extra
from thinkback_lab.training import lora


class TransformersLLM:
    """A model with a LoRA adapter that marks which known facts still hold; it chats without the adapter.

    Args:
        base: A GGUF file or a folder of transformers.
        adapter: The folder that `thinkback-lab train lora` wrote.
        tokenizer: A folder with the tokenizer; reading it from a GGUF file takes minutes.
    """

    extracts, follows, masks, speaks, finds_updates = False, False, False, None, True

    def __init__(self, base: Path, adapter: Path, tokenizer: Path | None = None) -> None:
        device = "cuda" if import_extra("torch").cuda.is_available() else "cpu"
        self._model = lora.load_adapter(lora.load_base(base).to(device), adapter)
        self._tokenizer = lora.load_tokenizer(tokenizer or base)
        self.name = f"{base.stem}+{adapter.name}"

    def complete_with_grammar(
        self,
        messages: Sequence[Message],
        *,
        grammar: str,
        max_tokens: int,
        on_token: Callable[[str, float], None] = lambda text, log_probability: None,
    ) -> Reply:
        """The greedy reply of the tuned model; `on_token` receives every token and its log probability."""
        prompt = _system_and_user(messages)
        (text,) = lora.generate(self._model, self._tokenizer, [prompt], max_tokens=max_tokens)
        (tokens,) = lora.token_log_probabilities(self._model, self._tokenizer, [prompt], [text], 16384)
        for token, log_probability in tokens:
            on_token(token, log_probability)
        return Reply(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        """The greedy reply of the base model; a schema is not enforced."""
        prompt = _system_and_user(messages)
        with self._model.disable_adapter():
            (text,) = lora.generate(self._model, self._tokenizer, [prompt], max_tokens=max_tokens)
        return Reply(text)

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int = 512, temperature: float = 0.0, **options: Any
    ) -> Generator[str, None, Reply]:
        """The reply in one piece."""
        reply = self.complete(messages, max_tokens=max_tokens)
        yield reply.text
        return reply

    def close(self) -> None:
        """Nothing to release before the process ends."""


def _system_and_user(messages: Sequence[Message]) -> tuple[str, str]:
    """The first message if it is of the system, and the text of all others."""
    system = messages[0].content if messages[0].role == "system" else ""
    rest = messages[1:] if messages[0].role == "system" else messages
    return system, "\n\n".join(message.content for message in rest)
