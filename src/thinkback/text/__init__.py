"""Language without a model: tokens, sentences, dates, cleaning and language guessing."""
