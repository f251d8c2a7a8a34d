"""Models that mark the answers of finished runs, without knowing whose they are."""
