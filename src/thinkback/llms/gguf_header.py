"""Reads the header of a GGUF file: what kind of model it is, its tensors, and whether the file is complete.

Lists (the vocabulary) are skipped. The format is described in the ggml project, docs/gguf.md.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from thinkback.errors import ModelUnavailable

GGUF_MAGIC = b"GGUF"
_SUPPORTED_VERSIONS = (2, 3)
_NUMBER_FORMATS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
_MAX_STRING_BYTES = 1 << 24
_MAX_ITEMS = 1 << 24
_DEFAULT_ALIGNMENT = 32
_BLOCKS = {0: (1, 4), 1: (1, 2), 8: (32, 34), 30: (1, 2)}
"""Tensor type -> (values, bytes) of a block, for the types that adapters have: F32, F16, Q8_0, BF16."""

HeaderValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class GGUFTensor:
    """Name, shape (the row length first), type and position of a tensor."""

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int

    @property
    def size(self) -> int | None:
        """Its bytes; None for types that adapters do not have."""
        if self.type not in _BLOCKS:
            return None
        values, size = _BLOCKS[self.type]
        count = 1
        for length in self.shape:
            count *= length
        return count // values * size


@dataclass(frozen=True, slots=True)
class GGUFHeader:
    """The metadata and tensors of a GGUF file; tensor offsets count from `data_start`."""

    metadata: Mapping[str, HeaderValue]
    tensors: tuple[GGUFTensor, ...]
    data_start: int

    def text(self, key: str) -> str:
        """A string of the metadata, empty if it is missing."""
        value = self.metadata.get(key, "")
        return value if isinstance(value, str) else ""


class _Damaged(Exception):
    """The file ends too early, or is not what it says."""


def read_header(path: Path) -> GGUFHeader:
    """Read the header of a file.

    Raises:
        ModelUnavailable: it is not a GGUF file, or it is damaged.
    """
    try:
        with path.open("rb") as file:
            return _read(file)
    except (_Damaged, struct.error, UnicodeDecodeError) as error:
        raise ModelUnavailable(
            f"The file {path.name} is not a GGUF file, or it is damaged: {error}."
        ) from None


def data_digest(path: Path, header: GGUFHeader) -> str:
    """The SHA-256 of the tensors of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(header.data_start)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _read(file: BinaryIO) -> GGUFHeader:
    if file.read(4) != GGUF_MAGIC:
        raise _Damaged("it does not begin with GGUF")
    version = _number(file, "<I")
    if version not in _SUPPORTED_VERSIONS:
        raise _Damaged(f"version {version} is unknown")
    tensor_count, value_count = _count(file), _count(file)
    metadata: dict[str, HeaderValue] = {}
    for _ in range(value_count):
        key = _string(file)
        value = _value(file, int(_number(file, "<I")))
        if value is not None:
            metadata[key] = value
    tensors = tuple(_tensor(file) for _ in range(tensor_count))
    alignment = int(metadata.get("general.alignment", _DEFAULT_ALIGNMENT)) or _DEFAULT_ALIGNMENT
    return GGUFHeader(metadata, tensors, -(-file.tell() // alignment) * alignment)


def _tensor(file: BinaryIO) -> GGUFTensor:
    name = _string(file)
    dimensions = int(_number(file, "<I"))
    if not 1 <= dimensions <= 4:
        raise _Damaged(f"a tensor with {dimensions} dimensions")
    shape = tuple(int(_number(file, "<Q")) for _ in range(dimensions))
    return GGUFTensor(name, shape, int(_number(file, "<I")), int(_number(file, "<Q")))


def _value(file: BinaryIO, kind: int) -> HeaderValue | None:
    """A value of the metadata; None for a list, which is skipped."""
    if kind == _STRING:
        return _string(file)
    if kind in _NUMBER_FORMATS:
        return _number(file, _NUMBER_FORMATS[kind])
    if kind != _ARRAY:
        raise _Damaged(f"a value of the unknown type {kind}")
    item_kind, count = int(_number(file, "<I")), _count(file)
    if item_kind in _NUMBER_FORMATS:
        file.seek(count * struct.calcsize(_NUMBER_FORMATS[item_kind]), 1)
    else:
        for _ in range(count):
            _value(file, item_kind)
    return None


def _number(file: BinaryIO, form: str) -> int | float | bool:
    value: int | float | bool = struct.unpack(form, file.read(struct.calcsize(form)))[0]
    return value


def _count(file: BinaryIO) -> int:
    count = int(_number(file, "<Q"))
    if count > _MAX_ITEMS:
        raise _Damaged(f"it claims to have {count} items")
    return count


def _string(file: BinaryIO) -> str:
    size = int(_number(file, "<Q"))
    if size > _MAX_STRING_BYTES:
        raise _Damaged("a text is too long")
    data = file.read(size)
    if len(data) != size:
        raise _Damaged("it ends too early")
    return data.decode("utf-8", errors="replace")
