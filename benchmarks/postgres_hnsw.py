"""HNSW of pgvector inside PostgreSQL against the search in memory, for one large space.

    python -m benchmarks.postgres_hnsw --rows 100000 --dim 256

Prints recall@10 against an exact scan, milliseconds per query, and what the index costs (seconds, bytes). The
vectors are the synthetic ones of `lsh_recall`.
"""

from __future__ import annotations

import time

import numpy as np
import psycopg
from benchmarks.lsh_recall import NO_TERMS, NO_VARIANTS, QUERIES, K, Matrix, synthetic
from benchmarks.postgres_data import arguments
from tests.postgres_server import PostgresServer

from thinkback.index.space_index import IndexQuery, SpaceIndex
from thinkback.types import IndexDelta, IndexEntry, VersionStamp

EF_SEARCH = (40, 100, 200)
SPACE = 7


def literal(vector: Matrix) -> str:
    return "[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]"


def report(name: str, truth: list[set[int]], found: list[set[int]], seconds: list[float]) -> None:
    recall = sum(len(true & hits) for true, hits in zip(truth, found, strict=True)) / (K * len(truth))
    print(f"{name:28} recall@{K} {recall:.3f}, p50 {1000 * float(np.median(seconds)):.2f} ms", flush=True)


def search_in_memory(vectors: Matrix, queries: Matrix, truth: list[set[int]]) -> None:
    index = SpaceIndex()
    started = time.perf_counter()
    entries = tuple(IndexEntry("thought", i, row, NO_TERMS, 0) for i, row in enumerate(vectors))
    index.apply(IndexDelta(VersionStamp(0, 0), entries))
    print(f"in memory: built in {time.perf_counter() - started:.1f} s, {index.nbytes >> 20} MB")
    seconds, found = [], []
    for query in queries:
        started = time.perf_counter()
        hits = index.search("thought", IndexQuery(vector=query, variants=NO_VARIANTS, limit=K, scan_below=0))
        seconds.append(time.perf_counter() - started)
        found.append(set(hits.ids.tolist()))
    report("in memory, sketches", truth, found, seconds)


def search_in_database(url: str, vectors: Matrix, queries: Matrix, truth: list[set[int]]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("SET maintenance_work_mem = '1GB'")
        connection.execute("SET max_parallel_maintenance_workers = 0")  # they need as much of /dev/shm
        connection.execute(
            f"CREATE TABLE vectors (space bigint, id bigint, v vector({vectors.shape[1]}))"  # a number
        )
        with connection.cursor().copy("COPY vectors FROM STDIN") as copy:
            for number, row in enumerate(vectors):
                copy.write_row((SPACE, number, literal(row)))
        started = time.perf_counter()
        connection.execute(
            f"CREATE INDEX one_space ON vectors USING hnsw (v vector_ip_ops) WHERE space = {SPACE}"
        )
        built = time.perf_counter() - started
        row = connection.execute(
            "SELECT pg_relation_size('one_space'), pg_relation_size('vectors')"
        ).fetchone()
        assert row is not None
        print(f"HNSW: built in {built:.0f} s, index {row[0] >> 20} MB, table {row[1] >> 20} MB")
        for ef in EF_SEARCH:
            connection.execute(f"SET hnsw.ef_search = {ef}")
            seconds, found = [], []
            for query in queries:
                text = literal(query)
                started = time.perf_counter()
                rows = connection.execute(
                    f"SELECT id FROM vectors WHERE space = {SPACE} ORDER BY v <#> %s::vector LIMIT {K}",
                    (text,),
                ).fetchall()
                seconds.append(time.perf_counter() - started)
                found.append({int(id_) for (id_,) in rows})
            report(f"HNSW, ef_search {ef}", truth, found, seconds)
        started = time.perf_counter()
        extra = [(SPACE, len(vectors) + number, literal(row)) for number, row in enumerate(queries)]
        for values in extra:
            connection.execute("INSERT INTO vectors VALUES (%s, %s, %s)", values)
        print(f"HNSW: {1000 * (time.perf_counter() - started) / len(extra):.1f} ms to insert a vector")


def main() -> None:
    options = arguments(__doc__, rows=100_000, dim=256)
    vectors, queries = synthetic(options.rows, options.dim)
    queries = queries[:QUERIES]
    truth = [set(np.argsort(-(vectors @ query))[:K].tolist()) for query in queries]
    search_in_memory(vectors, queries, truth)
    server = PostgresServer(durable=True)
    try:
        search_in_database(server.admin_url, vectors, queries, truth)
    finally:
        server.delete()


if __name__ == "__main__":
    main()
