"""Evaluations that are not a plain data set run: one module each."""
