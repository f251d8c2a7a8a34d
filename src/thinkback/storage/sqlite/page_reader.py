"""Reads the records of an SQLite file page by page, without SQLite: for files that it refuses to read.

Every page is looked at by itself, so a damaged page costs its own records only, and those of other pages
whose overflow it held. The file format is described at https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

Value = int | float | str | bytes | None

DEFAULT_PAGE_SIZE = 4096
_MAGIC = b"SQLite format 3\x00"
_FILE_HEADER_BYTES = 100
_WAL_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24
_WAL_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # with the byte order of its checksums
_INTERIOR_INDEX, _LEAF_INDEX, _LEAF_TABLE = 2, 10, 13
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


@dataclass(frozen=True, slots=True)
class Record:
    """The values of one row. `rowid` is None in an index and in a table WITHOUT ROWID."""

    rowid: int | None
    values: Sequence[Value]


class PageReader:
    """The readable records of a database file and its WAL. Nothing is written."""

    def __init__(self, path: Path) -> None:
        self.unreadable_records = 0
        self._file: BinaryIO = path.open("rb")
        header = self._file.read(_FILE_HEADER_BYTES)
        self._page_size = _page_size(header)
        self._usable = self._page_size - (header[20] if header.startswith(_MAGIC) else 0)
        self._wal_pages = self._read_wal(Path(f"{path}-wal"))
        in_file = os.fstat(self._file.fileno()).st_size // self._page_size
        self.page_count = max(in_file, 0, *self._wal_pages)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def records(self) -> Iterator[Record]:
        """The records of all tables and indexes, in the order of their pages."""
        for number in range(1, self.page_count + 1):
            page = self._page(number)
            start = _FILE_HEADER_BYTES if number == 1 else 0
            kind = page[start] if len(page) == self._page_size else 0
            if kind not in (_INTERIOR_INDEX, _LEAF_INDEX, _LEAF_TABLE):
                continue
            pointers = start + (12 if kind == _INTERIOR_INDEX else 8)
            count = int.from_bytes(page[start + 3 : start + 5])
            for position in range(pointers, min(pointers + 2 * count, len(page) - 1), 2):
                try:
                    yield self._record(page, kind, int.from_bytes(page[position : position + 2]))
                except (ValueError, IndexError):
                    self.unreadable_records += 1

    def _record(self, page: bytes, kind: int, at: int) -> Record:
        at += 4 if kind == _INTERIOR_INDEX else 0  # the number of the child page
        size, at = _varint(page, at)
        rowid = None
        if kind == _LEAF_TABLE:
            rowid, at = _varint(page, at)
        return Record(rowid, _decode(self._payload(page, at, size, in_table=kind == _LEAF_TABLE)))

    def _payload(self, page: bytes, at: int, size: int, *, in_table: bool) -> bytes:
        """A payload, with what is on overflow pages."""
        usable = self._usable
        most = usable - 35 if in_table else (usable - 12) * 64 // 255 - 23
        if size > self.page_count * self._page_size:
            raise ValueError("the record is larger than the file")
        local = size
        if size > most:
            least = (usable - 12) * 32 // 255 - 23
            local = least + (size - least) % (usable - 4)
            local = local if local <= most else least
        if at + local > len(page):
            raise ValueError("the record ends outside its page")
        payload = bytearray(page[at : at + local])
        next_page = int.from_bytes(page[at + local : at + local + 4]) if size > local else 0
        while len(payload) < size:
            overflow = self._page(next_page)
            if not next_page or len(overflow) < self._page_size:
                raise ValueError("an overflow page is missing")
            payload += overflow[4 : min(usable, 4 + size - len(payload))]
            next_page = int.from_bytes(overflow[:4])
        return bytes(payload)

    def _page(self, number: int) -> bytes:
        if number in self._wal_pages:
            return self._wal_pages[number]
        if not 0 < number <= self.page_count:
            return b""
        self._file.seek((number - 1) * self._page_size)
        return self._file.read(self._page_size)

    def _read_wal(self, path: Path) -> dict[int, bytes]:
        """The newest committed version of every page in the WAL."""
        wal = path.read_bytes() if path.exists() else b""
        order = _WAL_MAGIC.get(int.from_bytes(wal[:4]))
        if order is None or int.from_bytes(wal[8:12]) != self._page_size:
            return {}
        committed: dict[int, bytes] = {}
        transaction: dict[int, bytes] = {}
        sums = _checksum(wal[:24], (0, 0), order)
        frame_bytes = _FRAME_HEADER_BYTES + self._page_size
        for start in range(_WAL_HEADER_BYTES, len(wal) - frame_bytes + 1, frame_bytes):
            header, page = wal[start : start + 24], wal[start + 24 : start + frame_bytes]
            sums = _checksum(page, _checksum(header[:8], sums, order), order)
            stored = (int.from_bytes(header[16:20]), int.from_bytes(header[20:24]))
            if header[8:16] != wal[16:24] or stored != sums:  # torn, or left from before a checkpoint
                break
            transaction[int.from_bytes(header[:4])] = page
            if int.from_bytes(header[4:8]):  # the last frame of a transaction
                committed |= transaction
                transaction = {}
        return committed


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18])
    size = 65536 if size == 1 else size
    is_valid = header.startswith(_MAGIC) and 512 <= size <= 65536 and size & (size - 1) == 0
    return size if is_valid else DEFAULT_PAGE_SIZE


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """The running checksum of the WAL. `order` is `<` or `>`, as in `struct`."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer, and the position after it."""
    value = 0
    for count in range(8):
        byte = data[at + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9


def _decode(payload: bytes) -> list[Value]:
    """The values of a record. Raises ValueError if it is damaged."""
    header_size, at = _varint(payload, 0)
    if not at <= header_size <= len(payload):
        raise ValueError("the header of the record is damaged")
    values: list[Value] = []
    body = header_size
    while at < header_size:
        kind, at = _varint(payload, at)
        size = _INTEGER_BYTES.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        data = payload[body : body + size]
        if kind < 0 or kind in (10, 11) or len(data) != size:
            raise ValueError("the record is damaged")
        values.append(_value(kind, data))
        body += size
    if body != len(payload):
        raise ValueError("the record has another length")
    return values


def _value(kind: int, data: bytes) -> Value:
    value: Value
    if kind == 0:
        value = None
    elif kind in _INTEGER_BYTES:
        value = int.from_bytes(data, signed=True)
    elif kind in (8, 9):
        value = kind - 8
    elif kind == 7:
        value = float(struct.unpack(">d", data)[0])
    else:
        value = data if kind % 2 == 0 else data.decode("utf-8")
    return value
