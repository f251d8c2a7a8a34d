"""One run: a data set put to a memory system, question by question, kept in a folder and resumed from it."""
