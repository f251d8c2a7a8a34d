"""In-memory search index on numpy arrays: vectors, BM25, locality-sensitive hashing."""
