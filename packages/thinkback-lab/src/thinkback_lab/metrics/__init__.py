"""Metrics: pure functions from actual and expected results to numbers."""
