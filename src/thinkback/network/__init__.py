"""The small network of the package `thinkback-reranker`, and how networks are run."""
