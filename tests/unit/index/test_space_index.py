"""The space index against brute force: results, filters, and independence of the update history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.errors import InvalidInput, NotFound
from thinkback.index import lsh
from thinkback.index.lexical import QueryTerms, hash_terms
from thinkback.index.rows import RowFilter
from thinkback.index.space_index import (
    SHORTLIST_ROWS,
    CandidateColumns,
    ColumnOptions,
    Hits,
    IndexQuery,
    SpaceIndex,
)
from thinkback.types import Hashing, IndexDelta, IndexEntry, ItemKind, ValidityPeriod, VersionStamp

DIM = 24
NONE = hash_terms([])
Matrix = npt.NDArray[np.float32]
Terms = npt.NDArray[np.uint32]


def clusters(n: int, seed: int = 0) -> Matrix:
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, n // 40), DIM))
    rows = centres[random.integers(0, len(centres), n)] + 0.5 * random.standard_normal((n, DIM))
    lengths: npt.NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / lengths).astype(np.float32)


def entries(x: Matrix, hashing: Hashing | None = None, kind: ItemKind = "thought") -> list[IndexEntry]:
    groups = lsh.assign_groups(hashing, x).tolist() if hashing else [0] * len(x)
    random = np.random.default_rng(len(x))
    terms = random.integers(0, 40, (len(x), 5)).astype(np.uint32)
    return [IndexEntry(kind, 10 + i, x[i], terms[i], groups[i]) for i in range(len(x))]


def shelf_of(rows: list[IndexEntry], periods: tuple[ValidityPeriod, ...] = ()) -> SpaceIndex:
    shelf = SpaceIndex()
    shelf.apply(IndexDelta(VersionStamp(0, 0), tuple(rows), periods))
    return shelf


def day(number: int) -> datetime:
    return datetime(2024, 1, number, tzinfo=UTC)


def period(id: int, kind: ItemKind = "thought", **days: int) -> ValidityPeriod:
    times = {name: day(number) for name, number in days.items()}
    return ValidityPeriod(
        id=id,
        turn=id,
        valid_from=times.get("start"),
        valid_to=times.get("end"),
        recorded_at=day(1),
        retired_at=times.get("retired"),
        kind=kind,
    )


def search(
    shelf: SpaceIndex,
    kind: ItemKind,
    vector: Matrix,
    terms: Terms,
    *,
    as_of: float | None = None,
    current_only: bool = True,
    allowed_ids: Sequence[int] | None = None,
    **options: Any,
) -> Hits:
    query = IndexQuery(vector=vector, variants=(QueryTerms(terms),), **options)
    return shelf.search(kind, query, RowFilter(as_of, current_only, allowed_ids))


def test_exact_search_equals_brute_force() -> None:
    x = clusters(300)
    rows = entries(x)
    shelf = shelf_of(rows)
    words = rows[7].terms
    everything = search(shelf, "thought", x[7], words, limit=300)
    assert everything.exact
    assert sorted(everything.ids.tolist()) == list(range(10, 310))
    cosine = x @ x[7]
    assert everything.cosine == pytest.approx(cosine[everything.ids - 10], abs=1e-5)
    assert everything.score == pytest.approx(0.5 * everything.cosine + 0.5 * everything.lexical, abs=1e-6)
    assert (np.diff(everything.score) <= 0).all()
    assert everything.ids[0] == 17
    few = search(shelf, "thought", x[7], words, limit=9)
    assert few.ids.tolist() == everything.ids[:9].tolist()
    by_cosine = search(shelf, "thought", x[7], words, limit=9, weights=(1, 0))
    assert by_cosine.ids.tolist() == (10 + np.argsort(-cosine)[:9]).tolist()


def test_cosine_of_a_query_with_parts_is_the_mean_of_the_whole_and_the_best_part() -> None:
    x = clusters(300)
    shelf = shelf_of(entries(x))
    parts = x[[40, 80, 120]]
    found = search(
        shelf, "thought", x[7], np.zeros(0, np.uint32), limit=300, weights=(1, 0), part_vectors=parts
    )
    mean = (x @ x[7] + (x @ parts.T).max(axis=1)) / 2
    assert found.cosine == pytest.approx(mean[found.ids - 10], abs=1e-5)
    assert found.ids.tolist()[0] == 10 + int(mean.argmax())


def test_probing_finds_nearly_all_neighbours() -> None:
    x = clusters(5000, seed=3)
    hashing = lsh.learned_hashing(x, lsh.choose_group_count(len(x)), seed=0)
    queries = x[::50]
    hashing = lsh.calibrate_probes(hashing, queries, x, lsh.assign_groups(hashing, x))
    shelf = shelf_of(entries(x, hashing))
    found = 0
    for query in queries:
        hits = search(shelf, "thought", query, NONE, limit=10, hashing=hashing, scan_below=0)
        assert not hits.exact
        assert hits.probes == hashing.probes
        assert hits.candidates < len(x) / 4
        assert hits.group == lsh.assign_groups(hashing, query[None, :])[0]
        found += len(np.intersect1d(hits.ids, 10 + np.argsort(-(x @ query))[:10]))
    assert found >= 0.95 * 10 * len(queries)


def test_sketches_shortlist_the_right_rows() -> None:
    x = clusters(5000, seed=3)
    shelf = shelf_of([IndexEntry("thought", number, vector, NONE) for number, vector in enumerate(x)])
    found = 0
    for query in x[::50]:
        hits = search(shelf, "thought", query, NONE, limit=10)
        assert not hits.exact
        assert hits.candidates < len(x) / 4
        found += len(set(hits.ids.tolist()) & set(np.argsort(-(x @ query))[:10].tolist()))
    assert found / (10 * len(x[::50])) >= 0.95


def test_lexical_match_wins_if_the_cosine_is_useless() -> None:
    x = clusters(3000, seed=4)
    hashing = lsh.random_hashing(DIM, 64, 0)
    rows = entries(x, hashing)
    rows[77] = replace(rows[77], terms=hash_terms(["xylophone", "lesson"]))
    shelf = shelf_of(rows)
    for chosen in (hashing, None):
        hits = search(
            shelf,
            "thought",
            -rows[77].vector,
            hash_terms(["xylophone"]),
            limit=1,
            hashing=chosen,
            weights=(0.1, 0.9),
        )
        assert hits.ids.tolist() == [rows[77].id]
        assert hits.cosine[0] == pytest.approx(-1, abs=1e-5)
    zero = np.zeros(DIM, np.float32)
    assert (
        search(shelf, "thought", zero, hash_terms(["lesson"]), limit=1, hashing=hashing).ids[0] == rows[77].id
    )


def test_common_words_do_not_displace_a_rare_one() -> None:
    x = clusters(4000, seed=5)
    hashing = lsh.random_hashing(DIM, 64, 0)
    rows = [replace(row, terms=hash_terms(["the", "cat"])) for row in entries(x, hashing)]
    rows[9] = replace(rows[9], terms=hash_terms(["the", "zebra"]))
    hits = search(
        shelf_of(rows),
        "thought",
        -x[9],
        hash_terms(["the", "cat", "zebra"]),
        limit=3,
        hashing=hashing,
        weights=(0, 1),
    )
    assert hits.ids[0] == rows[9].id


@pytest.mark.parametrize("probing", [True, False])
def test_row_filter_excludes_retired_unlisted_and_invalid_rows(probing: bool) -> None:
    x = np.repeat(clusters(1), 5, axis=0)
    hashing = lsh.random_hashing(DIM, 8, 0)
    rows = [replace(row, terms=hash_terms(["cat"])) for row in entries(x, hashing)]
    shelf = shelf_of(
        rows, (period(10, retired=5), period(11, start=3), period(12, end=3), period(13, start=2, end=4))
    )

    def ids(as_of: int | None = None, current: bool = True, only: tuple[int, ...] | None = None) -> list[int]:
        hits = search(
            shelf,
            "thought",
            x[0],
            hash_terms(["cat"]),
            limit=9,
            hashing=hashing,
            scan_below=0 if probing else 100,
            as_of=None if as_of is None else day(as_of).timestamp(),
            current_only=current,
            allowed_ids=only,
        )
        found = [int(id) for id in hits.ids]
        when = None if as_of is None else day(as_of).timestamp()
        assert shelf.valid_ids("thought", range(20), RowFilter(when, current, only)) == set(found)
        return found

    assert ids() == [11, 12, 13, 14]
    assert ids(current=False) == [10, 11, 12, 13, 14]
    assert ids(only=(12, 10, 99)) == [12]
    assert ids(as_of=1) == [12, 14]
    assert ids(as_of=2) == [12, 13, 14]
    assert ids(as_of=3) == [11, 13, 14]
    assert ids(as_of=4, current=False) == [10, 11, 14]
    shelf.apply(
        IndexDelta(VersionStamp(0, 1), (), (period(14, retired=9), period(10)))
    )  # undone: 10 is current again
    assert ids() == [10, 11, 12, 13]


def test_turn_is_not_found_before_it_was_said() -> None:
    x = clusters(2)
    shelf = shelf_of(entries(x, kind="turn"), (period(10, "turn", start=1), period(11, "turn", start=5)))
    assert search(shelf, "turn", x[0], NONE, limit=5, as_of=day(4).timestamp()).ids.tolist() == [10]
    assert sorted(search(shelf, "turn", x[0], NONE, limit=5).turns.tolist()) == [10, 11]
    assert len(search(shelf, "thought", x[0], NONE, limit=5)) == 0


def test_retired_rows_of_a_turn_are_found() -> None:
    dated = [replace(period(id_), turn=3) for id_ in (10, 11)]
    dated += [replace(period(id_, retired=2), turn=turn) for id_, turn in ((12, 3), (13, 4), (14, 3))]
    shelf = shelf_of(entries(clusters(6)), tuple(dated))
    assert [shelf.retired_from_turn("thought", turn) for turn in (3, 4, 5)] == [[12, 14], [13], []]


def test_period_may_arrive_before_its_row() -> None:
    x = clusters(2)
    shelf = shelf_of([], (period(11, retired=2),))
    assert len(search(shelf, "thought", x[0], hash_terms(["cat"]), limit=5)) == 0
    shelf.apply(IndexDelta(VersionStamp(0, 1), tuple(entries(x))))
    assert search(shelf, "thought", x[0], NONE, limit=5).ids.tolist() == [10]


def test_same_id_replaces_the_row() -> None:
    x = clusters(60)
    rows = entries(x)
    shelf = shelf_of(rows)
    changed = replace(rows[4], vector=-x[4], terms=hash_terms(["zebra"]), group=3)
    shelf.apply(IndexDelta(VersionStamp(0, 1), (changed,)))
    assert len(shelf.ids("thought")) == 60
    assert shelf.vector_of("thought", rows[4].id) == pytest.approx(-x[4])
    assert shelf.group_sizes("thought").tolist() == [59, 0, 0, 1]
    hits = search(shelf, "thought", -x[4], hash_terms(["zebra"]), limit=1)
    assert (hits.ids[0], hits.groups[0]) == (rows[4].id, 3)
    assert hits.cosine[0] == pytest.approx(1, abs=1e-5)
    with pytest.raises(NotFound):
        shelf.vector_of("thought", 999)


def search_entry(shelf: SpaceIndex, query: IndexEntry, hashing: Hashing, scan_below: int) -> Hits:
    return search(
        shelf, "thought", query.vector, query.terms, limit=7, hashing=hashing, scan_below=scan_below
    )


@settings(deadline=None)
@given(
    st.integers(1, 150),
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.integers(0, 5),
    st.integers(0, 2**16),
)
def test_incremental_updates_equal_one_update(n: int, sizes: list[int], again: int, seed: int) -> None:
    hashing = replace(lsh.random_hashing(DIM, 12, 1), probes=4)
    rows = entries(clusters(n, seed), hashing)
    moved = entries(clusters(min(n, again), seed + 1), hashing)  # the first few come again, elsewhere
    final = moved + rows[len(moved) :]
    periods = tuple(period(row.id, retired=2) for row in rows[::5])
    pieces, at = SpaceIndex(), 0
    while at < n:
        size = sizes[at % len(sizes)]
        pieces.apply(IndexDelta(VersionStamp(0, at), tuple(rows[at : at + size])))
        at += size
    for row in moved:
        pieces.apply(IndexDelta(VersionStamp(0, n), (row,)))
    pieces.apply(IndexDelta(VersionStamp(0, n + 1), (), periods))
    whole = shelf_of(final, periods)
    assert pieces.ids("thought").tolist() == whole.ids("thought").tolist()
    assert pieces.group_sizes("thought").tolist() == whole.group_sizes("thought").tolist()
    for row in final:
        assert (pieces.vector_of("thought", row.id) == row.vector).all()
    for query in final[:5]:
        for scan_below in (0, 1000):
            one, other = (search_entry(shelf, query, hashing, scan_below) for shelf in (pieces, whole))
            assert one.candidates == other.candidates
            assert one.score == pytest.approx(other.score, abs=1e-5)
            assert one.lexical == pytest.approx(other.lexical, abs=1e-5)
            assert one.ids.tolist() == other.ids.tolist()


def test_invalid_query_or_entry_is_rejected() -> None:
    shelf = shelf_of(entries(clusters(3)))
    query = clusters(1)[0]
    with pytest.raises(InvalidInput, match="limit"):
        search(shelf, "thought", query, NONE, limit=0)
    with pytest.raises(InvalidInput, match="dimensions"):
        search(shelf, "thought", query[:5], NONE, limit=1)
    with pytest.raises(InvalidInput, match="dimensions"):
        shelf.apply(IndexDelta(VersionStamp(0, 1), (IndexEntry("thought", 1, query[:5], NONE),)))
    with pytest.raises(InvalidInput, match="group"):
        shelf.apply(IndexDelta(VersionStamp(0, 1), (IndexEntry("thought", 1, query, NONE, group=-1),)))
    assert shelf.ids("thought").tolist() == [10, 11, 12]


def test_probing_empty_groups_finds_nothing() -> None:
    x = clusters(50, seed=4)
    hashing = lsh.random_hashing(x.shape[1], 64, seed=1)
    shelf = shelf_of(
        [IndexEntry("thought", number, vector, NONE, group=63) for number, vector in enumerate(x)]
    )
    asked = next(query for query in x if lsh.assign_groups(hashing, query[None, :])[0] != 63)
    assert len(search(shelf, "thought", asked, NONE, limit=5, hashing=hashing, scan_below=0)) == 0


def ranked(
    shelf: SpaceIndex,
    query: Matrix,
    words: list[str],
    rank: Callable[[CandidateColumns], npt.NDArray[np.float64]],
    *,
    limit: int = 5,
    period: tuple[float, float] | None = None,
    stated_terms: Terms | None = None,
    allowed_ids: Sequence[int] | None = None,
) -> tuple[Hits, CandidateColumns]:
    """The hits ranked by a function of the scoring columns, and the columns of all candidates."""
    index_query = IndexQuery(
        vector=query,
        variants=(QueryTerms(hash_terms(words)),),
        limit=limit,
        columns=ColumnOptions(period=period, stated_terms=stated_terms),
    )
    candidates = shelf.candidates("turn", index_query, RowFilter(allowed_ids=allowed_ids))
    assert candidates.columns is not None
    return candidates.top(limit, rank(candidates.columns)), candidates.columns


def by_cosine(parts: CandidateColumns) -> npt.NDArray[np.float64]:
    return parts.cosine.astype(np.float64)


def turns(texts: list[str], minutes: list[int] | None = None, seed: int = 0) -> SpaceIndex:
    """Turns 1, 2, ... of these words, said so many minutes after the first day began."""
    x = clusters(len(texts), seed)
    rows = [
        IndexEntry("turn", number, x[number - 1], hash_terms(text.split()))
        for number, text in enumerate(texts, start=1)
    ]
    said = [day(1) + timedelta(minutes=each) for each in minutes or []]
    dated = [replace(period(number, "turn"), valid_from=start) for number, start in enumerate(said, start=1)]
    return shelf_of(rows, tuple(dated))


def test_given_score_ranks_the_candidates() -> None:
    shelf = turns(["cat"] * 50)
    query = shelf.vector_of("turn", 7)
    hits, given = ranked(shelf, query, ["cat"], lambda parts: 1.0 / parts.ids)
    assert hits.ids.tolist() == [1, 2, 3, 4, 5]
    assert hits.score.tolist() == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    assert sorted(given.ids.tolist()) == list(range(1, 51))
    assert given.ids[hits.positions].tolist() == hits.ids.tolist()
    assert given.cosine[hits.positions].tolist() == hits.cosine.tolist()
    plain = IndexQuery(vector=query, variants=(QueryTerms(hash_terms(["cat"])),), limit=5)
    assert shelf.candidates("turn", plain).columns is None


def test_distributions_describe_the_whole_space() -> None:
    texts = ["zebra" if number % 10 == 0 else "dog" for number in range(4000)]
    shelf = turns(texts)
    query = shelf.vector_of("turn", 9)
    _, parts = ranked(shelf, query, ["zebra"], by_cosine)
    cosines = np.array([shelf.vector_of("turn", number) @ query for number in range(1, 4001)])
    assert len(parts.ids) < 1000
    assert parts.cosine_distribution.mean == pytest.approx(cosines.mean(), abs=0.03)  # a sample of it
    assert parts.cosine_distribution.deviation == pytest.approx(cosines.std(), abs=0.03)
    assert parts.lexical_distribution.size == 4000
    assert parts.lexical_distribution.mean == pytest.approx(parts.lexical.max() / 10, rel=0.01)


@pytest.mark.parametrize("said", [True, False])
def test_neighbours_of_lexical_matches_are_candidates(said: bool) -> None:
    texts = ["dog"] * 5000
    texts[2500] = "zebra" if said else "dog"
    shelf = turns(texts, seed=3)
    _, parts = ranked(shelf, -shelf.vector_of("turn", 2501), ["zebra"], by_cosine)
    assert len(parts.ids) < 1000
    assert set(parts.ids.tolist()).issuperset({2500, 2501, 2502}) is said
    assert len(set(parts.ids.tolist())) == len(parts.ids)


def test_rows_in_the_period_are_candidates() -> None:
    shelf = turns(["dog"] * 5000, list(range(5000)), seed=3)
    query = -shelf.vector_of("turn", 2003)
    start, end = (day(1) + timedelta(minutes=each) for each in (2000, 2005))
    span = start.timestamp(), end.timestamp()
    asked_for = {2001, 2002, 2003, 2004, 2005}  # turn 1 was said in minute 0; the end is not within
    _, without = ranked(shelf, query, ["zebra"], by_cosine)
    _, parts = ranked(shelf, query, ["zebra"], by_cosine, period=span)
    assert not asked_for <= set(without.ids.tolist())
    assert set(parts.ids.tolist()) - set(without.ids.tolist()) == asked_for - set(without.ids.tolist())
    listed, _ = ranked(shelf, query, ["zebra"], by_cosine, period=span, allowed_ids=[2002, 9], limit=50)
    assert sorted(listed.ids.tolist()) == [9, 2002]  # a time does not bring in what may not be found


def test_long_period_does_not_displace_neighbours_or_lexical_matches() -> None:
    texts = ["dog"] * 5000
    texts[4000] = "zebra"
    texts[3000] = "zebra dog dog dog dog dog dog dog"
    shelf = turns(texts, list(range(5000)), seed=3)
    span = day(1).timestamp(), day(5).timestamp()
    _, parts = ranked(shelf, -shelf.vector_of("turn", 4001), ["zebra"], by_cosine, period=span)
    assert {3000, 3001, 3002, 4000, 4001, 4002} <= set(parts.ids.tolist())
    assert len(parts.ids) < 5 * SHORTLIST_ROWS


def test_long_period_prefers_lexical_matches() -> None:
    shelf = turns(["dog"] * 4000 + ["zebra"] * 1000, list(range(5000)), seed=3)
    query = -shelf.vector_of("turn", 4500)
    span = day(1).timestamp(), day(5).timestamp()
    found = {}
    for within in (None, span):
        _, parts = ranked(shelf, query, ["zebra"], by_cosine, period=within)
        found[within] = int((parts.ids > 4000).sum())
    assert found[span] >= found[None] + SHORTLIST_ROWS


def test_previous_row_counts_within_two_hours() -> None:
    shelf = turns(["zebra lesson", "dog", "cat", "zebra", "cow"], [0, 120, 241, 300, 600])
    _, parts = ranked(shelf, shelf.vector_of("turn", 1), ["zebra"], by_cosine)
    place = {id_: at for at, id_ in enumerate(parts.ids.tolist())}
    before = {id_: parts.lexical_before[at] for id_, at in place.items()}
    assert before[2] == pytest.approx(parts.lexical[place[1]])
    assert before[2] > 0
    assert before[1] == 0  # nothing was said before
    assert before[3] == 0  # two hours and a minute later
    assert before[4] == 0  # "cat" shares nothing
    assert before[5] == 0  # five hours later
    assert parts.cosine_before[place[2]] == pytest.approx(1, abs=1e-5)
    assert np.isnan(parts.cosine_before[place[3]])


def test_row_without_date_has_no_previous_row() -> None:
    shelf = turns(["zebra", "dog"])
    _, parts = ranked(shelf, shelf.vector_of("turn", 1), ["zebra"], by_cosine)
    assert parts.lexical_before.tolist() == [0, 0]


def test_query_coverage_is_the_share_of_stated_words() -> None:
    shelf = turns(["my cat sat there", "my my cat slept", "dogs bark", ""])
    query = shelf.vector_of("turn", 1)

    def told(*words: str) -> dict[int, float]:
        _, parts = ranked(shelf, query, ["cat"], by_cosine, stated_terms=hash_terms(words))
        return dict(zip(parts.ids.tolist(), parts.query_coverage.tolist(), strict=True))

    assert told("my", "cat", "my") == pytest.approx({1: 0.5, 2: 0.75, 3: 0, 4: 0})
    assert told("zebra") == {1: 0, 2: 0, 3: 0, 4: 0}
    again = IndexEntry("turn", 3, clusters(1)[0], hash_terms(["cat", "food"]))
    shelf.apply(IndexDelta(VersionStamp(0, 1), (again,)))
    assert told("dogs", "cat")[3] == pytest.approx(0.5)


def test_query_coverage_includes_segment_and_tail() -> None:
    shelf = turns(["my cat sat there"] * 400)
    later = IndexEntry("turn", 999, clusters(1)[0], hash_terms(["cat"]))
    shelf.apply(IndexDelta(VersionStamp(0, 1), (later, replace(later, id=5, terms=hash_terms(["dogs"])))))
    _, parts = ranked(shelf, shelf.vector_of("turn", 1), ["cat"], by_cosine, stated_terms=hash_terms(["cat"]))
    told = dict(zip(parts.ids.tolist(), parts.query_coverage.tolist(), strict=True))
    assert (told[1], told[5], told[999]) == (0.25, 0, 1)


@pytest.mark.parametrize("times", [1, 30])
def test_repetitions_of_the_query_do_not_distort_distributions(times: int) -> None:
    shelf = turns(["cat food", *["dog"] * 20])
    query = clusters(1, seed=9)[0]
    once = ranked(shelf, query, ["cat", "food"], by_cosine)[1]
    again = [IndexEntry("turn", 100 + at, query, hash_terms(["cat", "food"])) for at in range(times)]
    shelf.apply(IndexDelta(VersionStamp(0, 1), tuple(again)))
    _, parts = ranked(shelf, query, ["cat", "food"], by_cosine, limit=60)
    assert len(parts.ids) == 21 + times  # they are found all the same
    assert parts.cosine_distribution == pytest.approx(once.cosine_distribution)
    assert parts.lexical_distribution.mean < 0.05
