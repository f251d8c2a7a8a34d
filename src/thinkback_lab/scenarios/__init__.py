"""Scenarios: the unit tests of memory, replayed turn by turn and probed."""
