"""What the laboratory raises on purpose: one more branch of thinkback's own tree of errors."""

from __future__ import annotations

from thinkback import ThinkbackError


class LabError(ThinkbackError):
    """An evaluation cannot be run as asked; the message says what to do next."""


class DataAbsent(LabError):
    """The files of a data set are not there; the message says where they are at home."""
