"""English: lexicon, rules, clause splitting and readers."""
