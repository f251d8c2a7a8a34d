"""Whether words that we do not know are a relation: a verb of the line, close before its object.

A small model puts whatever is left of a sentence into the relation ("well who knows", "sense of smell"). Such
a triple reads as nonsense, so what is not plainly a verb phrase is left to the bank.
"""

from __future__ import annotations

import re

from thinkback.text.tokens import terms

_PAST = """ate became began bit blew bought broke brought built burnt came caught chose cost cut did drank
 drew drove dug fell felt flew forgot fought found froze gave got grew had heard held hid hit hung hurt kept
 knew led learnt left lent let lit lost made met paid put quit ran rang read rode rose said sang sat saw sent
 set shook shot shut slept slid sold spent split spoke spread stole stood stuck swam swept swore taught threw
 told took tore understood was went were woke won wore wrote"""
_VERB = re.compile(rf"(?:{'|'.join(_PAST.split())}|is|am|are|has|have|[a-z]{{2,}}(?:ed|[^s\W]s))\b")
_NO_VERB = re.compile(
    r"(?:as|his|its|ours|theirs|this|thus|yes|always|perhaps|besides|need|indeed|hundred)\b"
)
_WIDEST_GAP, _WIDEST_GAP_ZH = 2, 6  # words, characters between the verb and its object


def reads(relation: str, item: str, line: str) -> bool:
    """Whether the line says this relation of this object."""
    verb, noun, said = (" ".join(words.casefold().split()) for words in (relation, item, line))
    if not said.isascii() and verb in said:
        end = said.find(verb) + len(verb)
        return 0 <= said.find(noun, end) - end <= _WIDEST_GAP_ZH
    if not _VERB.match(verb) or _NO_VERB.match(verb):
        return False
    words, verbs, nouns = terms(said), terms(verb), terms(noun)
    if not verbs:  # is, was, has
        return True
    if not nouns or verbs[-1] not in words or nouns[0] not in words:
        return False
    return 0 < words.index(nouns[0]) - words.index(verbs[-1]) <= _WIDEST_GAP
