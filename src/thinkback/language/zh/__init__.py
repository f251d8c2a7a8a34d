"""Chinese: lexicon, rules, clause splitting and readers."""
