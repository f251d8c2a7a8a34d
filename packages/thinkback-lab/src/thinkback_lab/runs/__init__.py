"""Runs: a data set evaluated with a memory system, recorded question by question and resumable."""
