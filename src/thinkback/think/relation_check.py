"""Whether words that we do not know are a relation: a verb of the line, close before its object.

A small model puts whatever is left of a sentence into the relation ("well who knows", "sense of smell"). Such
a triple reads as nonsense, so what is not plainly a verb phrase is left to the bank.
"""

from __future__ import annotations

import re

from thinkback.language.tokens import extract_terms

_PAST_FORMS = """ate became began bit blew bought broke brought built burnt came caught chose cost cut did drank
 drew drove dug fell felt flew forgot fought found froze gave got grew had heard held hid hit hung hurt kept
 knew led learnt left lent let lit lost made met paid put quit ran rang read rode rose said sang sat saw sent
 set shook shot shut slept slid sold spent split spoke spread stole stood stuck swam swept swore taught threw
 told took tore understood was went were woke won wore wrote"""
_VERB_FORM = re.compile(
    rf"(?:{'|'.join(_PAST_FORMS.split())}|is|am|are|has|have|[a-z]{{2,}}(?:ed|[^s\W]s))\b"
)
_NOT_A_VERB = re.compile(
    r"(?:as|his|its|ours|theirs|this|thus|yes|always|perhaps|besides|need|indeed|hundred)\b"
)
_PRONOUN = re.compile(r"\b(?:it|its|that|this|them|him|his|her|me|my|us|our|you|your|their|there)\b")
_PREPOSITION = "to|in|at|on|for|with|from|of|by|into|about|as"
_OTHER_SUBJECT = re.compile(
    r"(?:\b(?:my|our|the|an?|his|her|their|your|this|that) (?:(?!and\b|but\b|so\b|i\b|we\b)[\w'-]+ ){0,3}"
    r"|\b(?:he|she|it|they|you|who) )\Z"
)
_MAX_GAP_WORDS = 2  # words between the verb and its object
_MAX_VERB_CHARS_ZH = 4
_VERB_SUFFIXES_ZH = "了过到着上完出成"
_GAP_ZH = re.compile("[\u4e00-\u9fff]{0,3}\\Z")


def add_preposition(relation: str, value: str, line: str) -> str:
    """The relation with the preposition that the line has before the object: "went" and Rome is "went to"."""
    verb, noun = re.escape(relation.strip()), re.escape(value.strip())
    found = (
        re.search(rf"\b{verb} ({_PREPOSITION}) (?:(?:the|an?|my|our) )?{noun}", line, re.I) if verb else None
    )
    return f"{relation.strip()} {found[1].lower()}" if found else relation


def has_other_subject(relation: str, line: str) -> bool:
    """Whether something else than the speaker does it: "our boiler is making", "my son is allergic to"."""
    verb, said = (" ".join(words.casefold().split()) for words in (relation, line))
    at = said.find(verb)
    return at > 0 and bool(_OTHER_SUBJECT.search(said[max(0, at - 60) : at]))


def states_relation(relation: str, value: str, line: str) -> bool:
    """Whether the line says this relation of this object."""
    verb, noun, said = (" ".join(words.casefold().split()) for words in (relation, value, line))
    if not verb.isascii():
        return _states_relation_zh(verb, noun, said)
    if not _VERB_FORM.match(verb) or _NOT_A_VERB.match(verb) or _PRONOUN.search(verb):
        return False
    words, verbs, nouns = extract_terms(said), extract_terms(verb), extract_terms(noun)
    if not verbs:  # is, was, has
        return True
    if not nouns or verbs[-1] not in words or nouns[0] not in words:
        return False
    return 0 < words.index(nouns[0]) - words.index(verbs[-1]) <= _MAX_GAP_WORDS


def _states_relation_zh(verb: str, noun: str, said: str) -> bool:
    """跳了|广场舞, 去了|趟|动物园, 讲|闽南话: a verb without its ending stands right before the object."""
    start = said.find(verb)
    at = said.find(noun, start + len(verb)) if start >= 0 else -1
    if at < 0 or len(verb) > _MAX_VERB_CHARS_ZH:
        return False
    between = said[start + len(verb) : at]
    return not between or (verb[-1] in _VERB_SUFFIXES_ZH and bool(_GAP_ZH.match(between)))
