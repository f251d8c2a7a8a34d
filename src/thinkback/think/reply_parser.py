"""Parses and checks the reply of an LLM that generates thoughts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from thinkback.errors import BadReply
from thinkback.language.dates import TimeExpression, find_time_expressions
from thinkback.language.names import USER, normalise_name
from thinkback.language.relations import canonical_relation, get_relation, parse_relation
from thinkback.language.sentence_builder import (
    append_date,
    compose_sentence,
    sentence_language,
    validity_period,
)
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import clean_text
from thinkback.language.yes_no_answers import YesNoAnswer
from thinkback.think.comparison_keys import object_key
from thinkback.think.prompt_lines import PromptLine
from thinkback.think.prompts import GenerateReply, ThoughtReply
from thinkback.types import Kind, Source, ThoughtDraft, Turn

_PAST_FORMS = """
    ate became began bit blew bought broke brought built burnt came caught chose cost cut did drank drew drove
    dug fell felt flew forgot fought found froze gave got grew had heard held hid hit hung hurt kept knew led
    learnt left lent let lit lost made met paid put quit ran rang read rode rose said sang sat saw sent set
    shook shot shut slept slid sold spent split spoke spread stole stood stuck swam swept swore taught threw
    told took tore understood was went were woke won wore wrote
"""
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
_MAX_GAP_WORDS = 2  # between the verb and its object
_MAX_VERB_CHARS_ZH = 4
_VERB_SUFFIXES_ZH = "了过到着上完出成"
_GAP_ZH = re.compile("[\u4e00-\u9fff]{0,3}\\Z")


def add_preposition(relation: str, value: str, line: str) -> str:
    """Add the preposition that the line has before the value: "went" and "Rome" give "went to"."""
    verb, noun = re.escape(relation.strip()), re.escape(value.strip())
    match = (
        re.search(rf"\b{verb} ({_PREPOSITION}) (?:(?:the|an?|my|our) )?{noun}", line, re.I) if verb else None
    )
    return f"{relation.strip()} {match[1].lower()}" if match else relation


def has_other_subject(relation: str, line: str) -> bool:
    """Whether the subject is not the speaker: "our boiler is making", "my son is allergic to"."""
    verb, text = (" ".join(words.casefold().split()) for words in (relation, line))
    start = text.find(verb)
    return start > 0 and bool(_OTHER_SUBJECT.search(text[max(0, start - 60) : start]))


def states_relation(relation: str, value: str, line: str) -> bool:
    """Whether the line states this relation of this value."""
    verb, noun, text = (" ".join(words.casefold().split()) for words in (relation, value, line))
    if not verb.isascii():
        return _states_relation_zh(verb, noun, text)
    if not _VERB_FORM.match(verb) or _NOT_A_VERB.match(verb) or _PRONOUN.search(verb):
        return False
    words, verbs, nouns = extract_terms(text), extract_terms(verb), extract_terms(noun)
    if not verbs:  # only stop words: is, was, has
        return True
    if not nouns or verbs[-1] not in words or nouns[0] not in words:
        return False
    return 0 < words.index(nouns[0]) - words.index(verbs[-1]) <= _MAX_GAP_WORDS


def _states_relation_zh(verb: str, noun: str, text: str) -> bool:
    """Whether the verb precedes the value, directly or with a suffix and a few characters: 去了|趟|动物园."""
    start = text.find(verb)
    noun_start = text.find(noun, start + len(verb)) if start >= 0 else -1
    if noun_start < 0 or len(verb) > _MAX_VERB_CHARS_ZH:
        return False
    between = text[start + len(verb) : noun_start]
    return not between or (verb[-1] in _VERB_SUFFIXES_ZH and bool(_GAP_ZH.match(between)))


MAX_REPLY_CHARACTERS = 100_000
_CODE_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_FIRST_PERSON = re.compile(r"\b(?:i|i'\w+|im|ive|me|my|mine|we|we'\w+|us|our|ours)\b|[我咱俺]", re.I)
_THIRD_PERSON = re.compile(r"\b(?:he|he's|him|his|she|she's|her|they|they're|them|their)\b|[他她]", re.I)
_MEASURED_VALUE = re.compile(r"\s*[\d<>≤≥]")
_FUTURE_RELATIONS = ("plans to", "has appointment")
_ASSISTANT_KINDS = ("knowledge", "dialogue")


def parse_reply(
    text: str, turn: Turn, lines: Sequence[PromptLine], answered_question: YesNoAnswer | None = None
) -> list[ThoughtDraft]:
    """Parse a reply about these numbered lines into drafts with sources.

    Args:
        text: The model's reply.
        turn: The turn that was read.
        lines: The numbered lines, number 1 first.
        answered_question: The assistant's question that the turn answers with yes or no, if any. The words of
            a confirmed question count as said in the line that confirms it.

    Raises:
        BadReply: the reply is too long, is not valid JSON of the schema, or has only unsupported thoughts.
    """
    if len(text) > MAX_REPLY_CHARACTERS:
        raise BadReply(
            f"turn {turn.id}: the reply has {len(text)} characters, more than {MAX_REPLY_CHARACTERS}"
        )
    body = clean_text(text)
    if fenced := _CODE_FENCE.match(body):
        body = fenced[1]
    try:
        thoughts = GenerateReply.model_validate_json(body).thoughts
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the reply"
        raise BadReply(f"turn {turn.id}: cannot use the thoughts, {where}: {first['msg']}") from error
    return _without_repeats(_supported_drafts(thoughts, _ReplyChecker(turn, lines, answered_question)))


def _supported_drafts(thoughts: Sequence[ThoughtReply], checker: _ReplyChecker) -> list[ThoughtDraft]:
    """Return the drafts that the turn supports; raise BadReply if it supports none of the thoughts."""
    thoughts_per_line = Counter(thought.line for thought in thoughts)
    drafts: list[ThoughtDraft] = []
    problems: list[str] = []
    for thought in thoughts:
        try:
            draft = checker.make_draft(thought, alone=thoughts_per_line[thought.line] == 1)
        except _UnsupportedThought as problem:
            problems.append(str(problem))
        else:
            drafts += [draft] if draft else []
    if thoughts and len(problems) == len(thoughts):
        raise BadReply(
            f"turn {checker.turn.id}: it supports none of {len(problems)} thoughts, the first: {problems[0]}"
        )
    return drafts


def _without_repeats(drafts: Iterable[ThoughtDraft]) -> list[ThoughtDraft]:
    """Drop drafts that add no object to the earlier drafts with the same subject and line."""
    result: list[ThoughtDraft] = []
    seen: dict[tuple[str, Source], set[str]] = {}
    for draft in drafts:
        known_keys = seen.setdefault((normalise_name(draft.subject), draft.sources[0]), set())
        keys = {object_key(item) for item in draft.objects}
        if not keys <= known_keys:
            result.append(draft)
            known_keys |= keys
    return result


class _UnsupportedThought(Exception):
    """The turn does not support a thought; the message says why."""


class _ReplyChecker:
    """Checks the thoughts of a reply against one turn and its numbered lines."""

    def __init__(
        self, turn: Turn, lines: Sequence[PromptLine], answered_question: YesNoAnswer | None = None
    ) -> None:
        self.turn = turn
        self._lines = lines
        self._answered_question = answered_question

    def make_draft(self, thought: ThoughtReply, *, alone: bool) -> ThoughtDraft | None:
        """Create the draft of one thought; None if its objects were said, but not with this relation.

        `alone` says that no other thought of the reply refers to the same line.
        """
        line = self._find_line(thought)
        phrase = add_preposition(
            clean_text(thought.relation), _strip_punctuation(thought.objects[0]), line.text
        )
        relation, negated = _canonical_relation(phrase)
        known = get_relation(relation)
        kind = known.kind if known.is_known else thought.kind
        if relation == "is" and _MEASURED_VALUE.match(clean_text(thought.subject)):
            kind = "knowledge"  # "3623.20/μl is high" is not about a person
        subject = self._check_subject(clean_text(thought.subject).strip(), line, kind)
        objects = _supported_names(map(_strip_punctuation, thought.objects), self._words_of(line))
        if not objects:
            raise _UnsupportedThought(f"line {thought.line} does not say {', '.join(thought.objects)!r}")
        # A state can be phrased in many ways; an event or an unknown relation must use its verb.
        if not known.is_known or known.kind == "event":
            objects = tuple(item for item in objects if states_relation(phrase, item, line.text))
            if not objects:
                return None
        if subject == USER and has_other_subject(phrase, line.text):
            raise _UnsupportedThought(f"in line {thought.line} it is not the user who {phrase!r}")
        time, time_text = self._find_time(
            line, kind == "event" or alone, past=relation not in _FUTURE_RELATIONS
        )
        valid_from, valid_to = validity_period(kind, time, time_text)
        lang = sentence_language(line.text)
        sentence = compose_sentence(subject, relation, objects, negated=negated, lang=lang)
        return ThoughtDraft(
            subject=subject,
            relation=relation,
            objects=objects,
            sentence=append_date(sentence, kind, time, valid_from, negated=negated, lang=lang),
            kind=kind,
            sources=(self._source_of(line),),
            negated=negated,
            valid_from=valid_from,
            valid_to=valid_to,
        )

    def _words_of(self, line: PromptLine) -> str:
        """Return the words of a line; if it says yes to a question, also the words of the question."""
        answer = self._answered_question
        if answer is None or answer.denied or line.side != "query" or line.start != answer.start:
            return line.text
        return f"{line.text} {answer.question}"

    def _find_line(self, thought: ThoughtReply) -> PromptLine:
        if not 1 <= thought.line <= len(self._lines):
            raise _UnsupportedThought(f"there is no line {thought.line}")
        return self._lines[thought.line - 1]

    def _check_subject(self, name: str, line: PromptLine, kind: Kind) -> str:
        """Return the subject if this line can state this kind of fact about it, else raise."""
        key = normalise_name(name)
        about_user = key.split("'")[0] == USER
        if line.side == "response" and (about_user or kind not in _ASSISTANT_KINDS):
            raise _UnsupportedThought(f"the assistant cannot tell a {kind} of {name!r}")
        if key == USER and _THIRD_PERSON.search(line.text) and not _FIRST_PERSON.search(line.text):
            raise _UnsupportedThought("the line does not speak of the user")
        spoken_text = self.turn.query if line.side == "query" else self.turn.text
        if not about_user and not _supported_names([name], spoken_text):
            raise _UnsupportedThought(f"nobody spoke of {name!r}")
        return USER if key == USER else name

    def _source_of(self, line: PromptLine) -> Source:
        speaker = self.turn.asker if line.side == "query" else self.turn.answerer
        return Source(self.turn.id, speaker, line.side, line.start, line.end)

    def _find_time(self, line: PromptLine, applies: bool, *, past: bool) -> tuple[TimeExpression | None, str]:
        """Return the only time expression of the line and its text, or (None, "").

        It is used for events and for the only thought of a line; otherwise it may belong to another thought.
        """
        times = find_time_expressions(line.text, self.turn.at, past=past) if applies else []
        return (times[0], line.text[slice(*times[0].span)]) if len(times) == 1 else (None, "")


def _canonical_relation(phrase: str) -> tuple[str, bool]:
    """Return the relation and whether it is negated; "has favourite colour" is "favourite colour"."""
    relation, negated = parse_relation(phrase)
    bare = relation.removeprefix("has ")
    return (
        canonical_relation(bare)
        if not get_relation(relation).is_known and get_relation(bare).is_known
        else relation
    ), negated


def _strip_punctuation(words: str) -> str:
    return clean_text(words).strip(" \t\n.,;!?。，；！？、")


def _supported_names(names: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the names of which at least three quarters of the words occur in the text."""
    text_terms = set(extract_terms(text))
    terms_by_name = {name: set(extract_terms(name)) for name in names}
    return tuple(
        name
        for name, terms in terms_by_name.items()
        if terms and 4 * len(terms & text_terms) >= 3 * len(terms)
    )
