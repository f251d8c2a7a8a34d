"""Language processing without a model: tokens, sentences, dates, names, questions and safety, for English and Chinese."""

from __future__ import annotations
