"""Inverted index of one space with exact BM25 scores.

A score is the share of the query's information that a document contains, in [0, 1): the sum over the matched
terms of idf * tf / (tf + k1 * (1 - b + b * length / average)), divided by the sum of idf over all query
terms. It can therefore be combined with a cosine; idf is that of this space. The papers retrieve by vectors
alone; on dialogue, BM25 over stems is better than a small embedder, so we use both.

The structure is a small log-structured merge tree: one sorted segment of arrays, and a tail of new documents
in a dictionary that is merged when it has grown.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.index.vectors import ensure_capacity

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import TermHashes

    Slots = npt.NDArray[np.int32]
    Floats = npt.NDArray[np.float32]
    Scores = npt.NDArray[np.float64]

K1 = 1.2
B = 0.75
_MIN_TAIL_DOCUMENTS = 2048  # a long tail costs memory, not query time, so it may grow with the segment
_TERM_BYTES, _POSTING_BYTES = 560, 24  # measured size of a term and a posting in the tail
_MAX_CACHED_POSTINGS = 1 << 20  # the term cache is emptied beyond this


def hash_term(term: str) -> int:
    """A term as a 32-bit hash. CRC-32 is the same on every machine."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def hash_terms(terms: Iterable[str]) -> TermHashes:
    """The hashes of terms, repetitions included."""
    return np.array([zlib.crc32(term.encode("utf-8", "surrogatepass")) for term in terms], dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class QueryTerms:
    """One phrasing of a query. `optional_terms` count only if some document contains them."""

    terms: TermHashes
    optional_terms: TermHashes | None = None
    weight: float = 1.0

    @cached_property
    def required(self) -> frozenset[int]:
        """The terms that always count."""
        return frozenset(self.terms.tolist())

    @cached_property
    def names(self) -> list[int]:
        """All terms, in ascending order."""
        optional = () if self.optional_terms is None else self.optional_terms.tolist()
        return sorted(self.required.union(optional))


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Postings sorted by (term, slot): those of `terms[i]` are at `offsets[i]:offsets[i + 1]`.

    The document length is repeated in each posting, so that a query reads slices only.
    """

    terms: TermHashes
    offsets: npt.NDArray[np.int64]
    slots: Slots
    tf: Floats
    length: Floats


@dataclass(slots=True, eq=False)
class _Postings:
    """The documents of the tail that contain one term, or those of several terms in a row."""

    slots: array[int]
    tf: array[float]
    length: array[float]


class _TermInfo(NamedTuple):
    """Everything a query needs about a term.

    Document frequency and idf; the documents that contain it, how often, and what each gains by it: the BM25
    weight of that number, multiplied by the idf.
    """

    df: int
    idf: float
    slots: Slots
    tf: Floats
    gains: Scores


@dataclass(frozen=True, slots=True, eq=False)
class LexicalScores:
    """The score of every slot, and the slots that have one."""

    dense: Scores
    slots_by_term: tuple[Slots, ...]  # rarest terms first

    def matching_slots(self, enough: int | None = None) -> Slots:
        """The slots with a score, once per matched term, rarest terms first, until there are `enough`."""
        used = total = 0
        for slots in self.slots_by_term:
            if enough is not None and total >= enough:
                break
            used, total = used + 1, total + len(slots)
        return np.concatenate(self.slots_by_term[:used]) if used else np.zeros(0, dtype=np.int32)


class LexicalIndex:
    """The documents of one space by slot (a dense row number). One writer at a time."""

    def __init__(self) -> None:
        empty = np.zeros(0, dtype=np.int64)
        self._segment = _build_segment(
            empty.astype(np.uint64), empty.astype(np.float32), empty.astype(np.float32)
        )
        self._tail: dict[int, _Postings] = {}
        self._tail_docs: dict[int, list[int]] = {}
        self._tail_postings = 0
        self._length = np.zeros(0, dtype=np.float32)
        self._present = np.zeros(0, dtype=np.bool_)
        self._stale = np.zeros(0, dtype=np.bool_)  # slots whose postings in the segment are outdated
        self._stale_count = 0
        self._slot_count = 0
        self._document_count = 0
        self._total_length = 0
        self._term_cache: dict[int, _TermInfo] = {}  # valid until a document is added or removed
        self._cached_postings = 0

    def __len__(self) -> int:
        return self._document_count

    @property
    def nbytes(self) -> int:
        """Approximate memory use of the postings."""
        segment = self._segment
        columns = (segment.terms, segment.offsets, segment.slots, segment.tf, segment.length, self._length)
        tail = len(self._tail) * _TERM_BYTES + self._tail_postings * _POSTING_BYTES
        return sum(column.nbytes for column in columns) + tail

    def add(self, slot: int, terms: TermHashes) -> None:
        """Index a document, replacing the one at this slot."""
        self.remove(slot)
        self._register(np.array([slot]), np.array([len(terms)]))
        distinct, counts = np.unique(terms, return_counts=True)
        names = distinct.tolist()
        self._tail_docs[slot] = names
        self._tail_postings += len(names)
        for term, tf in zip(names, counts.tolist(), strict=True):
            posting = self._tail.get(term)
            if posting is None:
                posting = self._tail[term] = _Postings(array("i"), array("f"), array("f"))
            posting.slots.append(slot)
            posting.tf.append(tf)
            posting.length.append(len(terms))
        if len(self._tail_docs) > max(_MIN_TAIL_DOCUMENTS, self._document_count // 4):
            self._merge()

    def extend(self, slots: Sequence[int], documents: Sequence[TermHashes]) -> None:
        """Index many documents at once."""
        if len(slots) < _MIN_TAIL_DOCUMENTS // 8:
            for slot, terms in zip(slots, documents, strict=True):
                self.add(slot, terms)
            return
        by_slot = dict(zip(slots, documents, strict=True))
        slot_keys = np.fromiter(by_slot, dtype=np.uint64, count=len(by_slot))
        lengths = np.fromiter(map(len, by_slot.values()), dtype=np.int64, count=len(by_slot))
        for slot in by_slot:
            self.remove(slot)
        self._register(slot_keys.astype(np.int64), lengths)
        all_terms = np.concatenate(list(by_slot.values())).astype(np.uint64)
        keys = np.sort((all_terms << np.uint64(32)) | np.repeat(slot_keys, lengths))
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else lengths[:0]
        self._merge(keys[first], np.diff(first, append=len(keys)).astype(np.float32))

    def remove(self, slot: int) -> None:
        """Remove the document at this slot, if there is one."""
        if slot >= self._slot_count or not self._present[slot]:
            return
        self._term_cache, self._cached_postings = {}, 0
        self._present[slot] = False
        self._document_count -= 1
        self._total_length -= int(self._length[slot])
        names = self._tail_docs.pop(slot, None)
        if names is None:
            self._stale[slot] = True
            self._stale_count += 1
            return
        self._tail_postings -= len(names)
        for term in names:
            posting = self._tail[term]
            at = posting.slots.index(slot)
            for column in (posting.slots, posting.tf, posting.length):
                del column[at]
            if not posting.slots:
                del self._tail[term]

    def scores(self, query: TermHashes, slots: Slots | None = None) -> tuple[Slots, Scores]:
        """The slots that share a term with the query, ascending, and their scores; or those of `slots`."""
        result = self.score_all(query)
        chosen = np.unique(result.matching_slots()) if slots is None else slots
        return chosen, result.dense[chosen]

    def document_coverage(self, query: TermHashes) -> Scores:
        """For every slot, the share of the document's words that occur in the query."""
        matched = np.zeros(max(self._slot_count, 1), dtype=np.float64)
        for info in self._term_infos(set(query.tolist())):
            matched[info.slots] += info.tf
        length = np.maximum(self._length[: self._slot_count], 1.0)
        return matched[: self._slot_count] / length

    def slots_of(self, term: int) -> Slots:
        """The slots of the documents that contain a term, given by its hash."""
        (info,) = self._term_infos([term])
        return info.slots

    def lengths(self, slots: Slots) -> Floats:
        """The number of words of each document."""
        return self._length[slots]

    def score_all(self, query: TermHashes, optional_terms: TermHashes | None = None) -> LexicalScores:
        """The scores of all slots. Optional terms that no document contains do not lower the score."""
        infos, information = self._counted_terms(QueryTerms(query, optional_terms))
        if not infos:
            return LexicalScores(dense=np.zeros(self._slot_count), slots_by_term=())
        infos.sort(key=attrgetter("df"))
        slots = tuple(info.slots for info in infos)
        gains = np.concatenate([info.gains for info in infos])
        dense = np.bincount(np.concatenate(slots), gains, self._slot_count) / information
        return LexicalScores(dense=dense, slots_by_term=slots)

    def best_scores(self, variants: Sequence[QueryTerms]) -> Scores:
        """The score of every slot for the phrasing of a query that fits it best; see `score_all`."""
        counted: list[_TermInfo] = []
        offsets: list[int] = []
        factors: list[float] = []
        for variant in variants:
            infos, information = self._counted_terms(variant)
            if infos:
                counted += infos
                offsets += [len(factors) * self._slot_count] * len(infos)
                factors.append(variant.weight / information)
        if not counted:
            return np.zeros(self._slot_count)
        rows = np.array(offsets).repeat([info.df for info in counted])
        slots = rows + np.concatenate([info.slots for info in counted])
        gains = np.concatenate([info.gains for info in counted])
        gained = np.bincount(slots, gains, len(factors) * self._slot_count)
        by_variant = gained.reshape(len(factors), self._slot_count) * np.array(factors)[:, None]
        best: Scores = by_variant.max(axis=0)
        return best

    def _counted_terms(self, query: QueryTerms) -> tuple[list[_TermInfo], float]:
        """The terms of a query that some document contains, and the information of all that count.

        Optional terms that no document contains do not count.
        """
        found: list[_TermInfo] = []
        information = 0.0
        for name, info in zip(query.names, self._term_infos(query.names), strict=True):
            if info.df:
                found.append(info)
            elif name not in query.required:
                continue
            information += info.idf
        return found, information

    def _term_infos(self, names: Collection[int]) -> list[_TermInfo]:
        """Information about these terms, cached because successive searches use the same ones."""
        missing = [name for name in names if name not in self._term_cache]
        if missing:
            if self._cached_postings > _MAX_CACHED_POSTINGS:
                self._term_cache, self._cached_postings, missing = {}, 0, list(names)
            wanted = np.array(missing, dtype=np.uint32)
            starts = self._segment.offsets[self._segment.terms.searchsorted(wanted)].tolist()
            stops = self._segment.offsets[self._segment.terms.searchsorted(wanted, side="right")].tolist()
            infos = self._compute_term_infos(list(zip(missing, starts, stops, strict=True)))
            self._term_cache.update(zip(missing, infos, strict=True))
            self._cached_postings += len(infos) + sum(info.df for info in infos)
        return [self._term_cache[name] for name in names]

    def _compute_term_infos(self, terms: Sequence[tuple[int, int, int]]) -> list[_TermInfo]:
        """Information about terms, each given with the place of its postings in the segment: start, stop."""
        postings = _Postings(array("i"), array("f"), array("f"))
        ends: list[int] = []
        for name, start, stop in terms:
            if start < stop:
                self._add_live_postings(postings, start, stop)
            if (tail := self._tail.get(name)) is not None:
                postings.slots += tail.slots
                postings.tf += tail.tf
                postings.length += tail.length
            ends.append(len(postings.slots))
        starts = [0, *ends[:-1]]
        frequencies = [end - start for start, end in zip(starts, ends, strict=True)]
        idfs = [math.log1p((self._document_count - df + 0.5) / (df + 0.5)) for df in frequencies]
        slots = np.frombuffer(postings.slots, dtype=np.int32)
        tf, length = (np.frombuffer(each, dtype=np.float32) for each in (postings.tf, postings.length))
        norm = length * np.float32(K1 * B * self._document_count / max(self._total_length, 1))
        norm += K1 * (1 - B)
        norm += tf
        gains = (tf / norm).astype(np.float64) * np.array(idfs).repeat(frequencies)
        return [
            _TermInfo(end - start, idf, slots[start:end], tf[start:end], gains[start:end])
            for idf, start, end in zip(idfs, starts, ends, strict=True)
        ]

    def _add_live_postings(self, postings: _Postings, start: int, stop: int) -> None:
        """Add the postings of the segment at start:stop, without outdated ones."""
        slots = self._segment.slots[start:stop]
        tf, length = self._segment.tf[start:stop], self._segment.length[start:stop]
        if self._stale_count:
            live = ~self._stale[slots]
            slots, tf, length = slots[live], tf[live], length[live]
        postings.slots.frombytes(slots.tobytes())
        postings.tf.frombytes(tf.tobytes())
        postings.length.frombytes(length.tobytes())

    def _register(self, slots: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> None:
        """Make space for documents at slots that are free, and count them."""
        self._term_cache, self._cached_postings = {}, 0
        size = int(slots.max()) + 1
        self._length = ensure_capacity(self._length, size)
        self._present = ensure_capacity(self._present, size)
        self._stale = ensure_capacity(self._stale, size)
        self._slot_count = max(self._slot_count, size)
        self._present[slots] = True
        self._length[slots] = lengths
        self._document_count += len(slots)
        self._total_length += int(lengths.sum())

    def _merge(self, keys: npt.NDArray[np.uint64] | None = None, tfs: Floats | None = None) -> None:
        """Build a new segment from the old one, the tail, and new (term, slot) `keys`."""
        old = self._segment
        live = ~self._stale[old.slots]
        all_keys = [_posting_keys(np.repeat(old.terms, np.diff(old.offsets))[live], old.slots[live])]
        all_tfs = [old.tf[live]]
        for term, posting in self._tail.items():
            all_keys.append(_posting_keys(np.uint32(term), np.array(posting.slots)))
            all_tfs.append(np.array(posting.tf))
        if keys is not None and tfs is not None:
            all_keys.append(keys)
            all_tfs.append(tfs)
        joined = np.concatenate(all_keys)
        order = np.argsort(joined, kind="stable")
        joined = joined[order]
        self._segment = _build_segment(joined, np.concatenate(all_tfs)[order], self._length)
        self._tail, self._tail_docs, self._tail_postings = {}, {}, 0
        self._stale[:] = False
        self._stale_count = 0


def _posting_keys(terms: TermHashes | np.uint32, slots: Slots) -> npt.NDArray[np.uint64]:
    return (np.asarray(terms, dtype=np.uint64) << np.uint64(32)) | slots.astype(np.uint64)


def _build_segment(keys: npt.NDArray[np.uint64], tf: Floats, length: Floats) -> _Segment:
    terms, first = np.unique((keys >> np.uint64(32)).astype(np.uint32), return_index=True)
    slots = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    offsets = np.append(first, len(keys)).astype(np.int64)
    return _Segment(terms=terms, offsets=offsets, slots=slots, tf=tf, length=length[slots])
