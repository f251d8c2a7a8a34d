"""The one strict parser: a model's reply -> drafts, or BadReply; nothing else comes out, whatever goes in.

A thought is kept only if the turn supports it: its line decides who said it and where; its subject, its
objects and a relation that we do not know are in the words of the turn; a person's data are told by the user.
A reply with thoughts of which the turn supports none is a BadReply too; an honest empty list is fine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from thinkback.errors import BadReply
from thinkback.language.dates import TimeExpression, find_time_expressions
from thinkback.language.names import USER, normalise_name
from thinkback.language.phrasing import append_date, compose_sentence, sentence_language, validity_period
from thinkback.language.relations import canonical_relation, get_relation, parse_relation
from thinkback.language.scripts import clean_text
from thinkback.language.tokens import extract_terms
from thinkback.language.yes_no_answers import YesNoAnswer
from thinkback.think.prompt_lines import PromptLine
from thinkback.think.prompts.replies import GenerateReply, ThoughtReply
from thinkback.think.relation_check import add_preposition, has_other_subject, states_relation
from thinkback.think.slots import object_key
from thinkback.types import Kind, Source, ThoughtDraft, Turn

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
    """The supported thoughts of a reply about these lines, each with its source.

    What the user said yes to (`answering`) counts as said in the line that says yes.
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
    """What the turn supports; BadReply if there are thoughts and it supports none of them."""
    crowd = Counter(thought.line for thought in thoughts)
    drafts: list[ThoughtDraft] = []
    faults: list[str] = []
    for thought in thoughts:
        try:
            draft = checker.make_draft(thought, alone=crowd[thought.line] == 1)
        except _UnsupportedThought as fault:
            faults.append(str(fault))
        else:
            drafts += [draft] if draft else []
    if thoughts and len(faults) == len(thoughts):
        raise BadReply(
            f"turn {checker.turn.id}: it supports none of {len(faults)} thoughts, the first: {faults[0]}"
        )
    return drafts


def _without_repeats(drafts: Iterable[ThoughtDraft]) -> list[ThoughtDraft]:
    """Without those that say of the same one, in the same line, nothing but what was said before them."""
    kept: list[ThoughtDraft] = []
    heard: dict[tuple[str, Source], set[str]] = {}
    for draft in drafts:
        objects = heard.setdefault((normalise_name(draft.subject), draft.sources[0]), set())
        new = {object_key(item) for item in draft.objects}
        if not new <= objects:
            kept.append(draft)
            objects |= new
    return kept


class _UnsupportedThought(Exception):
    """Why the turn does not support a thought."""


class _ReplyChecker:
    """One turn and its lines, to check thoughts against."""

    def __init__(
        self, turn: Turn, lines: Sequence[PromptLine], answered_question: YesNoAnswer | None = None
    ) -> None:
        self.turn = turn
        self._lines = lines
        self._answered_question = answered_question

    def make_draft(self, thought: ThoughtReply, *, alone: bool) -> ThoughtDraft | None:
        """The draft of one thought; None if what it says was said, but is badly put."""
        line = self._find_line(thought)
        said = add_preposition(
            clean_text(thought.relation), _strip_punctuation(thought.objects[0]), line.text
        )
        relation, denied = _canonical_relation(said)
        known = get_relation(relation)
        kind = known.kind if known.is_known else thought.kind
        if relation == "is" and _MEASURED_VALUE.match(clean_text(thought.subject)):
            kind = "knowledge"  # "3623.20/μl is high" tells of no person
        subject = self._check_subject(clean_text(thought.subject).strip(), line, kind)
        objects = _supported_names(map(_strip_punctuation, thought.objects), self._words_of(line))
        if not objects:
            raise _UnsupportedThought(f"line {thought.line} does not say {', '.join(thought.objects)!r}")
        if not known.is_known or known.kind == "event":  # a state is told in many ways, an event by its verb
            objects = tuple(item for item in objects if states_relation(said, item, line.text))
            if not objects:
                return None
        if subject == USER and has_other_subject(said, line.text):
            raise _UnsupportedThought(f"in line {thought.line} it is not the user who {said!r}")
        when, words = self._find_time(line, kind == "event" or alone, past=relation not in _FUTURE_RELATIONS)
        valid_from, valid_to = validity_period(kind, when, words)
        lang = sentence_language(line.text)
        sentence = compose_sentence(subject, relation, objects, negated=denied, lang=lang)
        return ThoughtDraft(
            subject=subject,
            relation=relation,
            objects=objects,
            sentence=append_date(sentence, kind, when, valid_from, negated=denied, lang=lang),
            kind=kind,
            sources=(self._source_of(line),),
            negated=denied,
            valid_from=valid_from,
            valid_to=valid_to,
        )

    def _words_of(self, line: PromptLine) -> str:
        """The words of a line; of a yes, also those of the question it answers."""
        answer = self._answered_question
        if answer is None or answer.denied or line.side != "query" or line.start != answer.start:
            return line.text
        return f"{line.text} {answer.question}"

    def _find_line(self, thought: ThoughtReply) -> PromptLine:
        if not 1 <= thought.line <= len(self._lines):
            raise _UnsupportedThought(f"there is no line {thought.line}")
        return self._lines[thought.line - 1]

    def _check_subject(self, name: str, line: PromptLine, kind: Kind) -> str:
        """The name of whom the line can tell this kind of thing."""
        who = normalise_name(name)
        about_user = who.split("'")[0] == USER
        if line.side == "response" and (about_user or kind not in _ASSISTANT_KINDS):
            raise _UnsupportedThought(f"the assistant cannot tell a {kind} of {name!r}")
        if who == USER and _THIRD_PERSON.search(line.text) and not _FIRST_PERSON.search(line.text):
            raise _UnsupportedThought("the line does not speak of the user")
        heard = self.turn.query if line.side == "query" else self.turn.text
        if not about_user and not _supported_names([name], heard):
            raise _UnsupportedThought(f"nobody spoke of {name!r}")
        return USER if who == USER else name

    def _source_of(self, line: PromptLine) -> Source:
        speaker = self.turn.asker if line.side == "query" else self.turn.answerer
        return Source(self.turn.id, speaker, line.side, line.start, line.end)

    def _find_time(self, line: PromptLine, its_own: bool, *, past: bool) -> tuple[TimeExpression | None, str]:
        """The one time the line names: it is an event's, or that of the line's only thought."""
        found = find_time_expressions(line.text, self.turn.at, past=past) if its_own else []
        return (found[0], line.text[slice(*found[0].span)]) if len(found) == 1 else (None, "")


def _canonical_relation(said: str) -> tuple[str, bool]:
    """The name of a relation and whether it is denied; "has favourite colour" is "favourite colour"."""
    relation, denied = parse_relation(said)
    bare = relation.removeprefix("has ")
    return (
        canonical_relation(bare)
        if not get_relation(relation).is_known and get_relation(bare).is_known
        else relation
    ), denied


def _strip_punctuation(words: str) -> str:
    return clean_text(words).strip(" \t\n.,;!?。，；！？、")


def _supported_names(names: Iterable[str], text: str) -> tuple[str, ...]:
    """The names whose words the text says, all but one in four."""
    said = set(extract_terms(text))
    wanted = {name: set(extract_terms(name)) for name in names}
    return tuple(name for name, words in wanted.items() if words and 4 * len(words & said) >= 3 * len(words))
