"""The consistency score (TiM 001, Figures 3 and 4): the same history recalled again and again."""
