"""Tunes a language model with LoRA (transformers and PEFT), as TiM (arXiv, 3.5) does: rank 16, 10 epochs.

The loss counts the reply only. Batches are filled up to a number of tokens with examples of similar length.
The adapter is trained in the precision of the base model, with 32-bit copies of its weights in the optimizer.
Attention is computed without fused kernels: `sdpa` gave NaN gradients.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from thinkback_lab.errors import LabError

IGNORED = -100  # label of tokens that the loss does not count
WEIGHTS_FILE = "adapter_model.safetensors"
CONFIG_FILE = "adapter_config.json"
HISTORY_FILE = "history.json"
STATE_FILE, PROGRESS_FILE = "optimizer.safetensors", "progress.json"
MIN_RATE_SHARE = 0.05  # of the learning rate at the end

TrainProgress = Callable[[int, int, float], None]
"""Called as `progress(step, steps, loss)` after each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraSettings:
    """How to tune.

    Attributes:
        epochs: Passes over all examples, unless `max_steps` or `max_seconds` end the training before.
        batch_tokens: Tokens of a batch, padding included.
        evaluations: How often the held-out loss is computed, besides at the beginning.
        max_seconds: The learning rate falls so that the training ends after this time.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    epochs: float = 10
    learning_rate: float = 2e-4
    batch_tokens: int = 16384
    warmup_steps: int = 30
    max_length: int = 1400
    evaluations: int = 5
    seed: int = 7
    max_steps: int | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TextExample:
    """A prompt (system, user), and the right reply."""

    prompt: tuple[str, str]
    reply: str


@dataclass(frozen=True, slots=True)
class TokenExample:
    """Tokens of prompt and reply; the first `prompt_size` ones are the prompt."""

    tokens: tuple[int, ...]
    prompt_size: int


@dataclass(slots=True)
class History:
    """The losses of a training: (step, mean loss since the last one) and (step, held-out loss)."""

    training: list[tuple[int, float]] = field(default_factory=list)
    held_out: list[tuple[int, float]] = field(default_factory=list)


def read_text_examples(path: Path) -> list[TextExample]:
    """Read examples from JSON lines (see `update_examples`), plain or gzipped."""
    import gzip

    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [TextExample((*row["prompt"],), row["reply"]) for row in rows]


def load_base(path: Path, dtype: str = "bfloat16") -> Any:
    """The model of a GGUF file, or of a folder in the format of transformers.

    Raises:
        LabError: there is no such file, or it is no model.
    """
    import torch
    from transformers import AutoModelForCausalLM

    folder, extra = _location(path)
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), attn_implementation="eager", **extra
        )
    except (OSError, ValueError) as error:
        raise LabError(f"{path} cannot be loaded as a language model: {error}") from error
    # The loader of GGUF files marks the model as quantised, although its weights are not any more.
    if getattr(model.config, "quantization_config", None) is not None:
        del model.config.quantization_config
    model.hf_quantizer = None
    model.is_quantized = False
    return model


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a model; reading it from a GGUF file takes minutes.

    Raises:
        LabError: there is no such file, or it has no tokenizer with a chat template.
    """
    from transformers import AutoTokenizer

    folder, extra = _location(path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **extra)
    except (OSError, ValueError) as error:
        raise LabError(f"{path} has no tokenizer: {error}") from error
    if not tokenizer.chat_template:
        raise LabError(f"{path} has no chat template: tune a model that was made for chats")
    return tokenizer


def _location(path: Path) -> tuple[str, dict[str, str]]:
    if not path.exists():
        raise LabError(f"{path}: no such model")
    return (str(path), {}) if path.is_dir() else (str(path.parent), {"gguf_file": path.name})


def add_adapter(model: Any, settings: LoraSettings) -> Any:
    """The model with new LoRA weights on all linear layers except the output layer."""
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    tuned = get_peft_model(model, config, autocast_adapter_dtype=False)
    for parameter in tuned.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(model.dtype)
    return tuned


def render_prompt(tokenizer: Any, prompt: tuple[str, str]) -> str:
    """The prompt as the model is given it, by its own chat template."""
    system, user = prompt
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def tokenize(
    tokenizer: Any, prompts: Sequence[tuple[str, str]], replies: Sequence[str]
) -> list[TokenExample]:
    """Tokens of prompts and their replies, each with the token that ends a reply."""
    if not prompts:
        return []
    rendered = [render_prompt(tokenizer, prompt) for prompt in prompts]
    starts = tokenizer(rendered, add_special_tokens=False)["input_ids"]
    ends = tokenizer(list(replies), add_special_tokens=False)["input_ids"]
    return [
        TokenExample((*start, *end, tokenizer.eos_token_id), len(start))
        for start, end in zip(starts, ends, strict=True)
    ]


def make_batches(
    examples: Sequence[TokenExample], batch_tokens: int, chance: random.Random | None = None
) -> list[list[TokenExample]]:
    """Batches of examples of similar length, each of so many tokens with padding; in random order."""

    def length(example: TokenExample) -> float:
        return len(example.tokens) + (chance.uniform(0, 24) if chance else 0)

    batches: list[list[TokenExample]] = []
    for example in sorted(examples, key=length, reverse=True):
        longest = max((len(other.tokens) for other in batches[-1]), default=0) if batches else 0
        if not batches or max(longest, len(example.tokens)) * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
        batches[-1].append(example)
    if chance:
        chance.shuffle(batches)
    return batches


def compute_loss(model: Any, batch: Sequence[TokenExample]) -> tuple[Any, int]:
    """The summed loss of the replies of a batch, and the number of their tokens."""
    import torch

    device = next(model.parameters()).device
    width = max(len(example.tokens) for example in batch)
    tokens = torch.zeros((len(batch), width), dtype=torch.long)
    labels = torch.full((len(batch), width), IGNORED, dtype=torch.long)
    mask = torch.zeros((len(batch), width), dtype=torch.long)
    for row, example in enumerate(batch):
        size = len(example.tokens)
        tokens[row, :size] = torch.tensor(example.tokens)
        labels[row, example.prompt_size : size] = tokens[row, example.prompt_size : size]
        mask[row, :size] = 1
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    body = getattr(base, base.base_model_prefix)
    hidden = body(input_ids=tokens.to(device), attention_mask=mask.to(device), use_cache=False)[0]
    targets = labels[:, 1:].to(device)
    wanted = targets != IGNORED
    # The output layer has 150,000 rows: it is computed for the tokens of replies only.
    logits = base.get_output_embeddings()(hidden[:, :-1][wanted]).float()
    loss = torch.nn.functional.cross_entropy(logits, targets[wanted], reduction="sum")
    return loss, int(wanted.sum())


def mean_loss(model: Any, batches: Sequence[Sequence[TokenExample]]) -> float:
    """The mean loss per token of the replies."""
    import torch

    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            loss, size = compute_loss(model, batch)
            total, count = total + float(loss), count + size
    model.train()
    return total / max(count, 1)


class LoraTrainer:
    """Trains the LoRA weights of a model; `folder` receives checkpoints and the history of losses.

    At the end the model has the weights with the lowest held-out loss, if there are held-out examples.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        training: Sequence[TextExample],
        held_out: Sequence[TextExample],
        settings: LoraSettings,
        folder: Path | None = None,
    ) -> None:
        import torch

        if not training:
            raise LabError("there are no examples to train on")
        self._model, self._settings, self._folder = model, settings, folder
        self._training, tests = (
            tokenize(tokenizer, [each.prompt for each in examples], [each.reply for each in examples])
            for examples in (training, held_out)
        )
        self._held_out = make_batches(tests, settings.batch_tokens)
        self._weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._copies = [weight.detach().float().clone().requires_grad_() for weight in self._weights]
        self._optimizer = torch.optim.AdamW(self._copies, lr=settings.learning_rate, weight_decay=0.0)
        self._best: list[Any] | None = None
        self.history = History()
        self.step = 0

    def batches(self, epoch: int) -> list[list[TokenExample]]:
        """The batches of an epoch; always the same for the same seed."""
        chance = random.Random(f"{self._settings.seed} {epoch}")  # noqa: S311
        limit = self._settings.max_length
        chosen = [each for each in self._training if len(each.tokens) <= limit]
        return make_batches(chosen, self._settings.batch_tokens, chance)

    def train(self, progress: TrainProgress = lambda step, steps, loss: None) -> History:
        """Train to the end, from the step of a checkpoint if one was loaded."""
        import torch

        settings = self._settings
        torch.manual_seed(settings.seed)
        total = math.ceil(settings.epochs * len(self.batches(0)))
        total = min(total, settings.max_steps or total)
        started = time.monotonic()
        evaluated = int(self._evaluations_at(self.step / total))
        if not self.step:
            self._evaluate()
        losses: list[float] = []
        self._model.train()
        for batch in self._remaining_batches():
            share = self.step / total
            if settings.max_seconds:
                share = max(share, (time.monotonic() - started) / settings.max_seconds)
            if share >= 1:
                break
            losses.append(self._train_step(batch, share))
            progress(self.step, total, losses[-1])
            if int(self._evaluations_at(share)) > evaluated:
                evaluated += 1
                self._record(losses)
                self.save_checkpoint()
        self._record(losses)
        self._restore_best()
        return self.history

    def _restore_best(self) -> None:
        """Go back to the weights with the lowest held-out loss: more passes learn the examples by heart."""
        import torch

        if self._best is not None:
            with torch.no_grad():
                for copy, weight, best in zip(self._copies, self._weights, self._best, strict=True):
                    copy.copy_(best)
                    weight.copy_(copy)

    def _evaluations_at(self, share: float) -> float:
        return share * self._settings.evaluations + 1e-9

    def _remaining_batches(self) -> Iterator[list[TokenExample]]:
        done = self.step
        for epoch in range(math.ceil(self._settings.epochs)):
            batches = self.batches(epoch)
            yield from batches[done:]
            done = max(0, done - len(batches))

    def _record(self, losses: list[float]) -> None:
        if losses:
            self.history.training.append((self.step, sum(losses) / len(losses)))
            losses.clear()
        self._evaluate()

    def _evaluate(self) -> None:
        if self._held_out and self.step not in dict(self.history.held_out):
            loss = mean_loss(self._model, self._held_out)
            if loss <= min((known for _, known in self.history.held_out), default=loss):
                self._best = [copy.detach().cpu().clone() for copy in self._copies]
            self.history.held_out.append((self.step, loss))
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"settings": asdict(self._settings), **asdict(self.history)}, indent=1)
            (self._folder / HISTORY_FILE).write_text(text + "\n", encoding="utf-8")

    def _train_step(self, batch: Sequence[TokenExample], share: float) -> float:
        import torch

        rate = self._settings.learning_rate * min(1.0, (self.step + 1) / self._settings.warmup_steps)
        rate *= MIN_RATE_SHARE + (1 - MIN_RATE_SHARE) * 0.5 * (1 + math.cos(math.pi * share))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        total, count = self._backward(batch)
        if not math.isfinite(total):
            raise LabError(f"the loss is not a number at step {self.step}: lower the learning rate")
        for copy, weight in zip(self._copies, self._weights, strict=True):
            copy.grad = weight.grad.float() / count
            weight.grad = None
        torch.nn.utils.clip_grad_norm_(self._copies, 1.0)
        self._optimizer.step()
        with torch.no_grad():
            for copy, weight in zip(self._copies, self._weights, strict=True):
                weight.copy_(copy)
        self.step += 1
        return total / count

    def _backward(self, batch: Sequence[TokenExample]) -> tuple[float, int]:
        """Add up gradients; a batch that does not fit into the memory of the device is halved."""
        import torch

        try:
            loss, count = compute_loss(self._model, batch)
            loss.backward()
            return float(loss.detach()), count
        except torch.cuda.OutOfMemoryError:
            if len(batch) == 1:
                raise
        for weight in self._weights:
            weight.grad = None
        torch.cuda.empty_cache()
        half = len(batch) // 2
        first, second = self._backward(batch[:half]), self._backward(batch[half:])
        return first[0] + second[0], first[1] + second[1]

    def save_checkpoint(self) -> None:
        """Save what is needed to go on after an interruption: weights, optimizer, step."""
        import torch
        from safetensors.torch import save_file

        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        tensors = {f"copy.{n}": copy.detach().cpu() for n, copy in enumerate(self._copies)}
        for n, copy in enumerate(self._copies):
            state = self._optimizer.state.get(copy, {})
            tensors |= {f"{key}.{n}": torch.as_tensor(value).cpu() for key, value in state.items()}
        save_file(tensors, self._folder / f"{STATE_FILE}.part")
        (self._folder / f"{STATE_FILE}.part").replace(self._folder / STATE_FILE)
        text = json.dumps({"step": self.step, "settings": asdict(self._settings), **asdict(self.history)})
        (self._folder / PROGRESS_FILE).write_text(text, encoding="utf-8")

    def load_checkpoint(self) -> bool:
        """Go on from the checkpoint of the folder; False if there is none.

        Raises:
            LabError: it was made with other settings.
        """
        import torch
        from safetensors.torch import load_file

        if self._folder is None or not (self._folder / PROGRESS_FILE).is_file():
            return False
        saved = json.loads((self._folder / PROGRESS_FILE).read_text(encoding="utf-8"))
        if saved["settings"] != asdict(self._settings):
            raise LabError(
                f"{self._folder}: its checkpoint was made with other settings: {saved['settings']}"
            )
        tensors = load_file(self._folder / STATE_FILE)
        with torch.no_grad():
            for n, (copy, weight) in enumerate(zip(self._copies, self._weights, strict=True)):
                copy.copy_(tensors[f"copy.{n}"])
                weight.copy_(copy)
                keys = [key for key in ("step", "exp_avg", "exp_avg_sq") if f"{key}.{n}" in tensors]
                values = {key: tensors[f"{key}.{n}"] for key in keys}
                self._optimizer.state[copy] = {
                    key: value if key == "step" else value.to(copy.device) for key, value in values.items()
                }
        self.step = int(saved["step"])
        self.history = History(*([(n, loss) for n, loss in saved[key]] for key in ("training", "held_out")))
        return True


def save_adapter(model: Any, folder: Path) -> Path:
    """Save the adapter in the format of PEFT, in 16 bits; returns the file of its weights."""
    import torch
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = get_peft_model_state_dict(model, save_embedding_layers=False)
    path = folder / WEIGHTS_FILE
    save_file({name: value.to(torch.float16).cpu().contiguous() for name, value in weights.items()}, path)
    config = model.peft_config["default"]
    config.inference_mode = True
    config.save_pretrained(str(folder))
    return path


def load_adapter(model: Any, folder: Path) -> Any:
    """The model with the adapter of a folder.

    Raises:
        LabError: the folder has no adapter, or it belongs to another model.
    """
    from peft import PeftModel
    from safetensors import SafetensorError

    if not (folder / CONFIG_FILE).is_file() or not (folder / WEIGHTS_FILE).is_file():
        raise LabError(f"{folder} has no adapter: {CONFIG_FILE} and {WEIGHTS_FILE} are needed")
    try:
        return PeftModel.from_pretrained(model, str(folder), autocast_adapter_dtype=False).to(model.dtype)
    except (RuntimeError, ValueError, KeyError, OSError, SafetensorError) as error:
        raise LabError(f"{folder}: the adapter does not fit the model: {str(error)[:300]}") from error


def generate(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[tuple[str, str]],
    *,
    max_tokens: int = 420,
    batch_size: int = 128,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
) -> list[str]:
    """The greedy replies to prompts, in batches of similar length."""
    import torch

    model.eval()
    device = next(model.parameters()).device
    encoded = [
        tokenizer(render_prompt(tokenizer, prompt), add_special_tokens=False)["input_ids"]
        for prompt in prompts
    ]
    order = sorted(range(len(encoded)), key=lambda number: len(encoded[number]))
    replies = [""] * len(encoded)
    end = tokenizer.eos_token_id
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        width = max(len(encoded[row]) for row in rows)
        tokens = torch.full((len(rows), width), end, dtype=torch.long)
        mask = torch.zeros((len(rows), width), dtype=torch.long)
        for n, row in enumerate(rows):
            tokens[n, width - len(encoded[row]) :] = torch.tensor(encoded[row])
            mask[n, width - len(encoded[row]) :] = 1
        with torch.no_grad():
            output = model.generate(
                input_ids=tokens.to(device),
                attention_mask=mask.to(device),
                max_new_tokens=max_tokens,
                do_sample=False,
                pad_token_id=end,
                eos_token_id=end,
            )
        for n, row in enumerate(rows):
            replies[row] = tokenizer.decode(output[n, width:], skip_special_tokens=True).strip()
        on_batch(start + len(rows), len(order))
    return replies


def token_log_probabilities(
    model: Any, tokenizer: Any, prompts: Sequence[tuple[str, str]], replies: Sequence[str], batch_tokens: int
) -> list[list[tuple[str, float]]]:
    """For each reply its tokens and their log probabilities, given the prompt."""
    import torch

    model.eval()
    examples = tokenize(tokenizer, prompts, replies)
    numbers = {id(example): number for number, example in enumerate(examples)}
    results: list[list[tuple[str, float]]] = [[] for _ in examples]
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    device = next(model.parameters()).device
    for batch in make_batches(examples, batch_tokens):
        width = max(len(example.tokens) for example in batch)
        rows = [
            [*example.tokens, *[tokenizer.eos_token_id] * (width - len(example.tokens))] for example in batch
        ]
        mask = torch.tensor([[n < len(example.tokens) for n in range(width)] for example in batch]).long()
        with torch.no_grad():
            body = getattr(base, base.base_model_prefix)
            hidden = body(input_ids=torch.tensor(rows).to(device), attention_mask=mask.to(device))[0]
            for row, example in enumerate(batch):
                start, end = example.prompt_size, len(example.tokens)
                logits = base.get_output_embeddings()(hidden[row, start - 1 : end - 1]).float()
                chosen = torch.tensor(example.tokens[start:end]).to(device)
                values = torch.log_softmax(logits, dim=-1).gather(1, chosen[:, None])[:, 0].tolist()
                words = [tokenizer.decode([token]) for token in example.tokens[start:end]]
                results[numbers[id(example)]] = [
                    (word, round(value, 4)) for word, value in zip(words, values, strict=True)
                ]
    return results
