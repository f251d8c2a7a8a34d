"""Questions about one fact of the user, such as "what city am i in" and 我叫什么.

Of such a question every word either asks (`chat_phrases.toml`), or is a cue of one relation
(`relations.toml`). A fact of that relation about the user then answers it, whatever words it is stated in.
"what number do i wear" is no such question: "number" is a cue of a phone number, but "wear" is not.
"""

from __future__ import annotations

import re
from functools import cache

from thinkback.language.questions import classify_question
from thinkback.language.relations import Relation, list_relations
from thinkback.language.tokens import stem
from thinkback.language.writing_systems import has_han
from thinkback.recall.chat_phrases import load_patterns, load_word_list

_FIRST_PERSON = re.compile(r"\b(?:i|i'?m|my|we|our)\b|[我俺咱]", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\byour\b|你的|你叫|你住|你多大|你几岁", re.IGNORECASE)
_OLD = re.compile(r"\bhow old\b", re.IGNORECASE)
_SHORT_FORMS = {"bday": "birthday", "home town": "hometown", "meds": "medication"}
_SHORT_FORM = re.compile(rf"\b(?:{'|'.join(_SHORT_FORMS)})\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_WHAT_DO_I_DO = re.compile(r"\bwhat (?:do|did) (?:i|we) do (?:at|in|on)\b", re.IGNORECASE)
_PLACE_SLOTS = re.compile(r"\{value:(?:place|known_place|organisation|company|school)\}")


def asked_relations(question: str) -> frozenset[str]:
    """The relations of which a fact about the user answers the question; empty for other questions."""
    if not _FIRST_PERSON.search(question) or _SECOND_PERSON.search(question):
        return frozenset()
    question = _SHORT_FORM.sub(lambda match: _SHORT_FORMS[match[0].lower()], _OLD.sub("age", question))
    asks_where = classify_question(question) == "where"
    asks_for_activity = _WHAT_DO_I_DO.search(question) is not None
    return frozenset(
        relation.name
        for relation in list_relations()
        if _asks_for(question, relation)
        and (not asks_where or _is_place(relation))
        and not (asks_for_activity and _is_place(relation))
    )


def _asks_for(question: str, relation: Relation) -> bool:
    if has_han(question):
        return any(
            cue in question and not load_patterns("asking_zh").sub("", question.replace(cue, "", 1))
            for cue in relation.wording("zh").cues
        )
    words = {stem(word) for word in _WORD.findall(question.lower())} - _asking_words()
    return bool(words) and words <= _cue_words(relation)


@cache
def _asking_words() -> frozenset[str]:
    return frozenset(map(stem, load_word_list("asking")))


@cache
def _cue_words(relation: Relation) -> frozenset[str]:
    return frozenset(stem(cue) for cue in relation.wording("en").cues if " " not in cue)


@cache
def _is_place(relation: Relation) -> bool:
    """Whether the values of a relation tell where something is."""
    return any(_PLACE_SLOTS.search(pattern) for pattern in relation.wording("en").statements)
