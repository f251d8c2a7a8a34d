"""Pairs of statements: what is compatible must stay, what is updated must go."""
