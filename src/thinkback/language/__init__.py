"""Language processing without a model, for English and Chinese.

Tokens, sentences, dates, names, questions and safety; `en` and `zh` hold what concerns one language only.
"""
