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
_PRONOUN = re.compile(r"\b(?:it|its|that|this|them|him|his|her|me|my|us|our|you|your|their|there)\b")
_PREPOSITION = "to|in|at|on|for|with|from|of|by|into|about|as"
_OTHER_SUBJECT = re.compile(
    r"(?:\b(?:my|our|the|an?|his|her|their|your|this|that) (?:(?!and\b|but\b|so\b|i\b|we\b)[\w'-]+ ){0,3}"
    r"|\b(?:he|she|it|they|you|who) )\Z"
)
_WIDEST_GAP = 2  # words between the verb and its object
_LONGEST_VERB_ZH = 4
_ENDS_ZH = "了过到着上完出成"
_BETWEEN_ZH = re.compile("[\u4e00-\u9fff]{0,3}\\Z")


def completed(relation: str, item: str, line: str) -> str:
    """The relation with the preposition that the line has before the object: "went" and Rome is "went to"."""
    verb, noun = re.escape(relation.strip()), re.escape(item.strip())
    found = (
        re.search(rf"\b{verb} ({_PREPOSITION}) (?:(?:the|an?|my|our) )?{noun}", line, re.I) if verb else None
    )
    return f"{relation.strip()} {found[1].lower()}" if found else relation


def told_of_another(relation: str, line: str) -> bool:
    """Whether something else than the speaker does it: "our boiler is making", "my son is allergic to"."""
    verb, said = (" ".join(words.casefold().split()) for words in (relation, line))
    at = said.find(verb)
    return at > 0 and bool(_OTHER_SUBJECT.search(said[max(0, at - 60) : at]))


def reads(relation: str, item: str, line: str) -> bool:
    """Whether the line says this relation of this object."""
    verb, noun, said = (" ".join(words.casefold().split()) for words in (relation, item, line))
    if not verb.isascii():
        return _reads_chinese(verb, noun, said)
    if not _VERB.match(verb) or _NO_VERB.match(verb) or _PRONOUN.search(verb):
        return False
    words, verbs, nouns = terms(said), terms(verb), terms(noun)
    if not verbs:  # is, was, has
        return True
    if not nouns or verbs[-1] not in words or nouns[0] not in words:
        return False
    return 0 < words.index(nouns[0]) - words.index(verbs[-1]) <= _WIDEST_GAP


def _reads_chinese(verb: str, noun: str, said: str) -> bool:
    """跳了|广场舞, 去了|趟|动物园, 讲|闽南话: a verb without its ending stands right before the object."""
    start = said.find(verb)
    at = said.find(noun, start + len(verb)) if start >= 0 else -1
    if at < 0 or len(verb) > _LONGEST_VERB_ZH:
        return False
    between = said[start + len(verb) : at]
    return not between or (verb[-1] in _ENDS_ZH and bool(_BETWEEN_ZH.match(between)))
