"""Public data sets: one loader each; the data stays where its owners keep it."""
