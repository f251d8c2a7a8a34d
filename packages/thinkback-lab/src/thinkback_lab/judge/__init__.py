"""Blind rating of the answers of finished runs by language models."""
