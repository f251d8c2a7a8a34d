"""An inverted index of one space: which documents hold the query's words, scored exactly by BM25.

The score is the share of the query's information that a document holds, in [0, 1): the sum over matched terms
of idf * tf / (tf + k1 * (1 - b + b * length / average)), divided by the sum of idf over all query terms. So
it can be weighed against a cosine, and idf knows this space only. The papers retrieve by vectors alone; on
dialogue, BM25 over stems beats a small embedder, so we deviate and use both.

It is built like a log-structured merge tree: one big sorted segment of arrays and a small tail of new
documents in a dictionary, merged when the tail has grown.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.index.arrays import ensure_capacity

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.types import TermHashes

    Slots = npt.NDArray[np.int32]
    Floats = npt.NDArray[np.float32]
    Scores = npt.NDArray[np.float64]

K1 = 1.2
B = 0.75
_MIN_TAIL_DOCUMENTS = (
    2048  # documents; a longer tail costs memory, not query time, so it may grow with the segment
)
_TERM_BYTES, _POSTING_BYTES = 560, 24  # what one takes in the tail, measured: objects, not numbers
_MAX_CACHED_POSTINGS = 1 << 20  # postings of terms that are kept as they were asked for


def hash_terms(terms: Iterable[str]) -> TermHashes:
    """Terms as 32-bit numbers, repeats kept. CRC-32 is the same on every machine and in every process."""
    return np.array([zlib.crc32(term.encode("utf-8", "surrogatepass")) for term in terms], dtype=np.uint32)


class QueryTerms(NamedTuple):
    """One way to ask: `terms` count in any case, those `if_known` only where some document holds them."""

    terms: TermHashes
    optional_terms: TermHashes | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Postings sorted by (term, slot): those of `terms[i]` are `offsets[i]:offsets[i + 1]`.

    A document's length stands with each of its postings: a query then reads slices, and gathers nothing.
    """

    terms: TermHashes
    offsets: npt.NDArray[np.int64]
    slots: Slots
    tf: Floats
    length: Floats


@dataclass(slots=True, eq=False)
class _TailPosting:
    """The tail's documents that hold one term."""

    slots: array[int]
    tf: array[float]
    length: array[float]


class _TermPostings(NamedTuple):
    """Documents that hold a term: how often, and what that is worth in a document of such a length."""

    slots: Slots
    tf: Floats
    weights: Floats


class _TermInfo(NamedTuple):
    """All that a query needs of a term: how many documents hold it, its idf, and those documents."""

    df: int
    idf: float
    postings: tuple[_TermPostings, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LexicalScores:
    """A query's score of every slot, and which slots have one."""

    dense: Scores
    slots_by_term: tuple[Slots, ...]  # the slots that hold one term, rarest terms first

    def matching_slots(self, enough: int | None = None) -> Slots:
        """The slots with a score, once for every term they hold; from the rarest terms until `enough`."""
        used = total = 0
        for part in self.slots_by_term:
            if enough is not None and total >= enough:
                break
            used, total = used + 1, total + len(part)
        return np.concatenate(self.slots_by_term[:used]) if used else np.zeros(0, dtype=np.int32)


class LexicalIndex:
    """The documents of one space by slot (a dense row number). One writer at a time."""

    def __init__(self) -> None:
        none = np.zeros(0, dtype=np.int64)
        self._segment = _build_segment(
            none.astype(np.uint64), none.astype(np.float32), none.astype(np.float32)
        )
        self._tail: dict[int, _TailPosting] = {}
        self._tail_docs: dict[int, list[int]] = {}
        self._length = np.zeros(0, dtype=np.float32)
        self._present = np.zeros(0, dtype=np.bool_)
        self._stale = np.zeros(0, dtype=np.bool_)  # slots whose postings in the segment no longer count
        self._stale_count = 0
        self._slot_count = 0
        self._document_count = 0
        self._total_length = 0
        self._term_cache: dict[
            int, _TermInfo
        ] = {}  # terms as they were asked for, until a document comes or goes
        self._cached_postings = 0

    def __len__(self) -> int:
        return self._document_count

    @property
    def nbytes(self) -> int:
        """About how much memory the postings take."""
        segment = self._segment
        columns = (segment.terms, segment.offsets, segment.slots, segment.tf, segment.length, self._length)
        tail = len(self._tail) * _TERM_BYTES + sum(map(len, self._tail_docs.values())) * _POSTING_BYTES
        return sum(column.nbytes for column in columns) + tail

    def add(self, slot: int, terms: TermHashes) -> None:
        """Index a document; one already at this slot is replaced."""
        self._register(slot, len(terms))
        distinct, counts = np.unique(terms, return_counts=True)
        names = distinct.tolist()
        self._tail_docs[slot] = names
        for term, tf in zip(names, counts.tolist(), strict=True):
            posting = self._tail.get(term)
            if posting is None:
                posting = self._tail[term] = _TailPosting(array("i"), array("f"), array("f"))
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
        last = dict(zip(slots, documents, strict=True))
        for slot, terms in last.items():
            self._register(slot, len(terms))
        where = np.fromiter(last, dtype=np.uint64, count=len(last))
        lengths = np.fromiter(map(len, last.values()), dtype=np.int64, count=len(last))
        flat = np.concatenate(list(last.values())).astype(np.uint64)
        keys = np.sort((flat << np.uint64(32)) | np.repeat(where, lengths))
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else lengths[:0]
        self._merge(keys[first], np.diff(first, append=len(keys)).astype(np.float32))

    def remove(self, slot: int) -> None:
        """Forget the document at this slot, if there is one."""
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
        for term in names:
            posting = self._tail[term]
            at = posting.slots.index(slot)
            for column in (posting.slots, posting.tf, posting.length):
                del column[at]
            if not posting.slots:
                del self._tail[term]

    def scores(self, query: TermHashes, slots: Slots | None = None) -> tuple[Slots, Scores]:
        """The slots that share a term with the query, ascending, with their scores; or those of `slots`."""
        weighed = self.score_all(query)
        found = np.unique(weighed.matching_slots()) if slots is None else slots
        return found, weighed.dense[found]

    def document_coverage(self, query: TermHashes) -> Scores:
        """Of every slot, the share of the document's words that the query says."""
        words = np.zeros(max(self._slot_count, 1), dtype=np.float64)
        for known in self._term_infos(set(query.tolist())):
            for held in known.postings:
                words[held.slots] += held.tf
        length = np.maximum(self._length[: self._slot_count], 1.0)
        return words[: self._slot_count] / length

    def lengths(self, slots: Slots) -> Floats:
        """How many words each of these documents has."""
        return self._length[slots]

    def score_all(self, query: TermHashes, optional_terms: TermHashes | None = None) -> LexicalScores:
        """The scores of the whole space for one query; of `if_known`, what nobody wrote takes no share."""
        always = set(query.tolist())
        names = sorted(always if optional_terms is None else always.union(optional_terms.tolist()))
        parts: list[tuple[int, float, _TermPostings]] = []
        information = 0.0
        for name, known in zip(names, self._term_infos(names), strict=True):
            if not known.df and name not in always:
                continue
            information += known.idf
            parts += [(known.df, known.idf, held) for held in known.postings]
        if not parts or not self._total_length:  # all that held a word may have been removed
            return LexicalScores(dense=np.zeros(self._slot_count), slots_by_term=())
        parts.sort(key=itemgetter(0))
        slots = tuple(held.slots for _, _, held in parts)
        share = np.array([idf for _, idf, _ in parts], dtype=np.float32) / np.float32(information)
        worth = np.concatenate([held.weights for _, _, held in parts])
        worth *= share.repeat([len(part) for part in slots])
        dense: Scores = np.bincount(np.concatenate(slots), worth, self._slot_count).astype(
            np.float64, copy=False
        )
        return LexicalScores(dense=dense, slots_by_term=slots)

    def _term_infos(self, names: Collection[int]) -> list[_TermInfo]:
        """What there is of these terms; kept, for searches ask for the same ones again and again."""
        missing = [name for name in names if name not in self._term_cache]
        if missing:
            if self._cached_postings > _MAX_CACHED_POSTINGS:
                self._term_cache, self._cached_postings, missing = {}, 0, list(names)
            wanted = np.array(missing, dtype=np.uint32)
            starts = self._segment.offsets[self._segment.terms.searchsorted(wanted)].tolist()
            stops = self._segment.offsets[self._segment.terms.searchsorted(wanted, side="right")].tolist()
            for name, start, stop in zip(missing, starts, stops, strict=True):
                self._term_cache[name] = known = self._compute_term_info(name, start, stop)
                self._cached_postings += 1 + known.df
        return [self._term_cache[name] for name in names]

    def _compute_term_info(self, name: int, start: int, stop: int) -> _TermInfo:
        """A term whose postings in the segment are at start:stop."""
        held = []
        for slots, tf, length in self._postings(name, start, stop):
            norm = length * np.float32(K1 * B * self._document_count / max(self._total_length, 1))
            norm += K1 * (1 - B)
            norm += tf
            held.append(_TermPostings(slots, tf, tf / norm))
        df = sum(len(each.slots) for each in held)
        return _TermInfo(df, math.log1p((self._document_count - df + 0.5) / (df + 0.5)), tuple(held))

    def _postings(self, name: int, start: int, stop: int) -> list[tuple[Slots, Floats, Floats]]:
        """A term's live postings: in the segment, at start:stop, and in the tail."""
        found = []
        if start < stop:
            slots = self._segment.slots[start:stop]
            tf, length = self._segment.tf[start:stop], self._segment.length[start:stop]
            if self._stale_count:
                live = ~self._stale[slots]
                slots, tf, length = slots[live], tf[live], length[live]
            found.append((slots, tf, length))
        tail = self._tail.get(name)
        if tail is not None:
            found.append((np.array(tail.slots), np.array(tail.tf), np.array(tail.length)))
        return found

    def _register(self, slot: int, length: int) -> None:
        self.remove(slot)
        self._term_cache, self._cached_postings = {}, 0
        self._length = ensure_capacity(self._length, slot + 1)
        self._present = ensure_capacity(self._present, slot + 1)
        self._stale = ensure_capacity(self._stale, slot + 1)
        self._slot_count = max(self._slot_count, slot + 1)
        self._present[slot] = True
        self._length[slot] = length
        self._document_count += 1
        self._total_length += length

    def _merge(self, keys: npt.NDArray[np.uint64] | None = None, tfs: Floats | None = None) -> None:
        """One new segment of the old one's live postings, the tail, and new (term, slot) `keys`."""
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
        self._tail, self._tail_docs = {}, {}
        self._stale[:] = False
        self._stale_count = 0


def _posting_keys(terms: TermHashes | np.uint32, slots: Slots) -> npt.NDArray[np.uint64]:
    return (np.asarray(terms, dtype=np.uint64) << np.uint64(32)) | slots.astype(np.uint64)


def _build_segment(keys: npt.NDArray[np.uint64], tf: Floats, length: Floats) -> _Segment:
    terms, first = np.unique((keys >> np.uint64(32)).astype(np.uint32), return_index=True)
    slots = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    offsets = np.append(first, len(keys)).astype(np.int64)
    return _Segment(terms=terms, offsets=offsets, slots=slots, tf=tf, length=length[slots])
