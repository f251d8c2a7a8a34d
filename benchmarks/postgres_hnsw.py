"""HNSW of pgvector inside PostgreSQL against the search in memory, for one large space.

    python -m benchmarks.postgres_hnsw --rows 50000 --dim 256

Prints recall@10 against an exact scan, milliseconds per query, and what an index costs (seconds, bytes), for
two ways to index: one partial index for the large space, and one index for all spaces with a filter and
iterative scans. The table has a fifth more rows, of small spaces with 200 rows each. The vectors are the
synthetic ones of `lsh_recall`.
"""

from __future__ import annotations

import time

import numpy as np
import psycopg
from benchmarks.lsh_recall import NO_TERMS, NO_VARIANTS, QUERIES, K, Matrix, synthetic
from benchmarks.postgres_data import arguments
from tests.postgres_server import PostgresServer

from thinkback.index.space_index import IndexQuery, SpaceIndex
from thinkback.storage.postgres.hnsw import BUILD_MEMORY
from thinkback.types import IndexDelta, IndexEntry, VersionStamp

EF_SEARCH = (40, 100, 256)  # the last is what recall uses for its shortlist
SPACE = 7
SMALL_SPACE_ROWS = 200
INDEXES = {"partial index": f" WHERE space = {SPACE}", "one index for all spaces": ""}


def literal(vector: Matrix) -> str:
    return "[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]"


def report(name: str, truth: list[set[int]], found: list[set[int]], seconds: list[float]) -> None:
    recall = sum(len(true & hits) for true, hits in zip(truth, found, strict=True)) / (K * len(truth))
    print(f"{name:45} recall@{K} {recall:.3f}, p50 {1000 * float(np.median(seconds)):.2f} ms", flush=True)


def nearest(vectors: Matrix, queries: Matrix) -> list[set[int]]:
    return [set(np.argsort(-(vectors @ query))[:K].tolist()) for query in queries]


def search_in_memory(vectors: Matrix, queries: Matrix) -> None:
    index = SpaceIndex()
    started = time.perf_counter()
    entries = tuple(IndexEntry("thought", i, row, NO_TERMS, 0) for i, row in enumerate(vectors))
    index.apply(IndexDelta(VersionStamp(0, 0), entries))
    print(f"in memory: built in {time.perf_counter() - started:.1f} s, {index.nbytes >> 20} MB")
    seconds, found = [], []
    for query in queries:
        started = time.perf_counter()
        hits = index.search("thought", IndexQuery(vector=query, variants=NO_VARIANTS, limit=K))
        seconds.append(time.perf_counter() - started)
        found.append(set(hits.ids.tolist()))
    report("in memory, sketches", nearest(vectors, queries), found, seconds)


def fill(connection: psycopg.Connection, vectors: Matrix) -> None:
    connection.execute("CREATE EXTENSION vector")
    connection.execute(f"CREATE TABLE vectors (space bigint, id bigint, v vector({vectors.shape[1]}))")
    with connection.cursor().copy("COPY vectors FROM STDIN") as copy:
        for number, row in enumerate(vectors):
            copy.write_row((SPACE, number, literal(row)))
        for number, row in enumerate(vectors[: len(vectors) // 5]):
            copy.write_row((1000 + number // SMALL_SPACE_ROWS, number, literal(row)))
    connection.execute("ANALYZE vectors")


def build(connection: psycopg.Connection, name: str, predicate: str) -> None:
    connection.execute("DROP INDEX IF EXISTS nearest")
    connection.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
    connection.execute("SET max_parallel_maintenance_workers = 0")  # they need as much of /dev/shm
    started = time.perf_counter()
    connection.execute(f"CREATE INDEX nearest ON vectors USING hnsw (v vector_ip_ops){predicate}")
    built = time.perf_counter() - started
    row = connection.execute("SELECT pg_relation_size('nearest'), pg_relation_size('vectors')").fetchone()
    assert row is not None
    print(f"{name}: built in {built:.0f} s, index {row[0] >> 20} MB, table {row[1] >> 20} MB", flush=True)


def search(
    connection: psycopg.Connection, name: str, space: int, queries: Matrix, truth: list[set[int]]
) -> None:
    seconds, found = [], []
    for query in queries:
        started = time.perf_counter()
        rows = connection.execute(
            f"SELECT id FROM vectors WHERE space = {space} ORDER BY v <#> %s::vector LIMIT {K}",
            (literal(query),),
        ).fetchall()
        seconds.append(time.perf_counter() - started)
        found.append({int(id_) for (id_,) in rows})
    report(name, truth, found, seconds)


def search_in_database(url: str, vectors: Matrix, queries: Matrix) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        fill(connection, vectors)
        connection.execute("SET enable_sort = off")
        connection.execute("SET hnsw.iterative_scan = strict_order")
        for name, predicate in INDEXES.items():
            build(connection, name, predicate)
            for ef in EF_SEARCH:
                connection.execute(f"SET hnsw.ef_search = {ef}")
                search(connection, f"{name}, ef_search {ef}", SPACE, queries, nearest(vectors, queries))
        small = vectors[:SMALL_SPACE_ROWS]
        search(connection, "one index, a small space", 1000, queries[:10], nearest(small, queries[:10]))
        started = time.perf_counter()
        extra = [(SPACE, len(vectors) + number, literal(row)) for number, row in enumerate(queries)]
        for values in extra:
            connection.execute("INSERT INTO vectors VALUES (%s, %s, %s)", values)
        print(f"{1000 * (time.perf_counter() - started) / len(extra):.1f} ms to insert a vector")


def main() -> None:
    options = arguments(__doc__, rows=50_000, dim=256)
    vectors, queries = synthetic(options.rows, options.dim)
    queries = queries[:QUERIES]
    search_in_memory(vectors, queries)
    server = PostgresServer(durable=True)
    try:
        search_in_database(server.admin_url, vectors, queries)
    finally:
        server.delete()


if __name__ == "__main__":
    main()
