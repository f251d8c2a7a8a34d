"""Evaluation laboratory for memory systems; it uses only the public API of `thinkback`."""
