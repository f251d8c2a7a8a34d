"""Reads two texts together: does a memory answer a question, does a newer text make an older one outdated?

    what's my sister's job?       "Anna started at the bakery on monday"      answers
                                  "Anna moved to Leeds"                       does not
    "I cycle to work"             "my bike got stolen, taking the bus now"    makes it outdated

It also gives the vector of a single text and those of its tokens, from which small trained models decide
what the text is and what is in it.

Search compares words and vectors of whole texts, and so finds what is about the same thing. A network that
reads both texts together also sees whether one says what the other asks for. It costs ten to thirty
milliseconds a pair, so only the best candidates of a search are read: in `preset="careful"`, and in answers
without a language model. The network is in a distribution of its own, `thinkback-reranker`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from thinkback.errors import ModelUnavailable
from thinkback.network.runtime import available_cores, import_onnxruntime

if TYPE_CHECKING:
    import numpy.typing as npt

    Tokens = npt.NDArray[np.int64]
    Vector = npt.NDArray[np.float32]

PACKAGE = "thinkback_reranker"
DISTRIBUTION = "thinkback-reranker"
MODEL_FILE, TOKENIZER_FILE = "reranker.onnx", "tokenizer.json"
MODEL_SHA256 = "2622331737f3d1a8cfa9d49c660b8c83bbe6eca53bd2721569159f06b9862670"
MAX_CHARS = 800  # of a text; more than the tokens that are read
MAX_QUESTION_TOKENS, MAX_MEMORY_TOKENS = 60, 170
MAX_OLDER_TOKENS, MAX_NEWER_TOKENS = 100, 140
MAX_TEXT_TOKENS = 120  # of a single text
RUN_TOKENS, RUN_OVERLAP = 200, 40  # of a text whose tokens are read one by one
VECTOR_WIDTH = 768  # of the token vectors of layers 4 and 8, or their mean
_SCORES_OUTPUT, _VECTOR_OUTPUT, _TOKENS_OUTPUT = "scores", "vector", "vectors"
_log = logging.getLogger(__name__)
_START, _END = 0, 2  # tokens around the texts

Task = Literal["answers", "outdates"]
_TASKS: tuple[Task, ...] = ("answers", "outdates")


class TokenRun(NamedTuple):
    """Tokens of a text that follow each other, and their places in it."""

    tokens: Sequence[int]
    places: Sequence[tuple[int, int]]

    @property
    def span(self) -> tuple[int, int]:
        """Where the run begins and ends in the text."""
        return self.places[0][0], self.places[-1][1]


class CrossEncoder:
    """Scores pairs of texts. The network is loaded by the first call. Thread-safe.

    Each pair runs through the network alone, so that its score does not depend on the others.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._session: Any = None
        self._tokenizer: Any = None
        self._pool: Any = None

    def answer_scores(self, question: str, memories: Sequence[str]) -> list[float]:
        """For each memory the log odds that it answers the question, or is needed for the answer."""
        return self._scores("answers", [(question, memory) for memory in memories])

    def outdated_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair of an older and a newer text the log odds that the newer one makes it outdated."""
        return self._scores("outdates", pairs)

    def vector(self, text: str) -> Vector:
        """The mean token vectors of two middle layers for a single text, concatenated."""
        self.load()
        return self._run(_VECTOR_OUTPUT, "answers", self._join((text,), (MAX_TEXT_TOKENS,)))

    def token_runs(self, text: str) -> list[TokenRun]:
        """The tokens of a text in overlapping runs, for `token_vectors`."""
        self.load()
        # replaces each lone surrogate, which the tokenizer refuses, by one character
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode())
        starts = range(0, max(len(encoding.ids) - RUN_OVERLAP, 1), RUN_TOKENS - RUN_OVERLAP)
        runs = (slice(first, first + RUN_TOKENS) for first in starts)
        return [TokenRun(encoding.ids[run], encoding.offsets[run]) for run in runs if encoding.ids]

    def token_vectors(self, run: TokenRun) -> Vector:
        """The vectors of the tokens of a run.

        The first and the last row belong to the marks of the beginning and the end.
        """
        self.load()
        return self._run(_TOKENS_OUTPUT, "answers", np.array([_START, *run.tokens, _END], dtype=np.int64))

    def _scores(self, task: Task, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.load()
        limits = (
            (MAX_QUESTION_TOKENS, MAX_MEMORY_TOKENS)
            if task == "answers"
            else (MAX_OLDER_TOKENS, MAX_NEWER_TOKENS)
        )
        run = self._pool.map if len(pairs) > 1 else map
        return list(run(lambda pair: self._score(task, self._join(pair, limits)), pairs))

    def _join(self, texts: Sequence[str], limits: Sequence[int]) -> Tokens:
        tokens = [_START]
        for text, limit in zip(texts, limits, strict=True):
            # joins surrogate pairs and replaces lone surrogates, which the tokenizer refuses
            valid = text[:MAX_CHARS].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            tokens += self._tokenizer.encode(valid).ids[:limit]
            tokens.append(_END)
        return np.array(tokens, dtype=np.int64)

    def _score(self, task: Task, tokens: Tokens) -> float:
        return float(self._run(_SCORES_OUTPUT, task, tokens)[_TASKS.index(task)])

    def _run(self, output: str, task: Task, tokens: Tokens) -> Vector:
        feed = {
            "tokens": tokens,
            "task": np.array([_TASKS.index(task)], dtype=np.int64),
            "wants_scores": np.array(output == _SCORES_OUTPUT),
        }
        values: Vector = self._session.run([output], feed)[0]
        return values

    def load(self) -> None:
        """Load the network, unless it is loaded.

        Raises:
            ModelUnavailable: A file is missing, or is not the one that this version expects.
        """
        with self._lock:
            if self._session is not None:
                return
            from concurrent.futures import ThreadPoolExecutor

            from tokenizers import Tokenizer

            onnxruntime = import_onnxruntime()
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1  # pairs run in parallel
            options.log_severity_level = 3
            try:
                model = (self._folder / MODEL_FILE).read_bytes()
                if hashlib.sha256(model).hexdigest() != MODEL_SHA256:
                    raise ValueError(f"{MODEL_FILE} has another SHA-256")
                self._tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER_FILE))
                session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            except Exception as error:  # tokenizers and onnxruntime raise plain exceptions
                raise ModelUnavailable(
                    f"{DISTRIBUTION} is not the version that this version of thinkback expects ({error}). "
                    f"Reinstall it: pip install --force-reinstall --no-deps {DISTRIBUTION}"
                ) from error
            self._pool = ThreadPoolExecutor(available_cores(), thread_name_prefix="cross-encoder")
            self._session = session


@lru_cache(maxsize=1)
def find_cross_encoder() -> CrossEncoder | None:
    """The installed cross-encoder; None if `thinkback-reranker` is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / MODEL_FILE).is_file():
            return CrossEncoder(Path(folder))
    return None


@lru_cache(maxsize=1)
def load_cross_encoder() -> CrossEncoder | None:
    """The installed cross-encoder, loaded; None with a warning if it does not belong to this version."""
    encoder = find_cross_encoder()
    if encoder is not None:
        try:
            encoder.load()
        except ModelUnavailable as error:
            _log.warning("%s", error)
            return None
    return encoder


def get_cross_encoder() -> CrossEncoder:
    """The installed cross-encoder, loaded.

    Raises:
        ModelUnavailable: `thinkback-reranker` is not installed, or belongs to another version.
    """
    encoder = find_cross_encoder()
    if encoder is None:
        raise ModelUnavailable(
            f"preset 'careful' and some trainings need the package {DISTRIBUTION}. "
            f"Install it: pip install {DISTRIBUTION}"
        )
    encoder.load()
    return encoder
