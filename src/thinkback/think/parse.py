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
from thinkback.prompts.generate import GenerateReply, ThoughtReply
from thinkback.text.clean import clean
from thinkback.text.people.names import USER, normalise
from thinkback.text.times.dates import When, resolve
from thinkback.text.tokens import terms
from thinkback.think.affirm import Affirmed
from thinkback.think.lines import Line
from thinkback.think.phrase import completed, reads, told_of_another
from thinkback.think.relations import canonical, polar, relation_of
from thinkback.think.resolve import object_key
from thinkback.think.sentence import compose, language_of
from thinkback.think.when import dated, validity
from thinkback.types import Draft, Kind, Source, Turn

LONGEST_REPLY = 100_000
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_SELF = re.compile(r"\b(?:i|i'\w+|im|ive|me|my|mine|we|we'\w+|us|our|ours)\b|[我咱俺]", re.I)
_OTHERS = re.compile(r"\b(?:he|he's|him|his|she|she's|her|they|they're|them|their)\b|[他她]", re.I)
_A_VALUE = re.compile(r"\s*[\d<>≤≥]")
_PLANNED = ("plans to", "has appointment")
_TOLD_BY_ASSISTANT = ("knowledge", "dialogue")


def parse(text: str, turn: Turn, lines: Sequence[Line], answering: Affirmed | None = None) -> list[Draft]:
    """The supported thoughts of a reply about these lines, each with its source.

    What the user said yes to (`answering`) counts as said in the line that says yes.
    """
    if len(text) > LONGEST_REPLY:
        raise BadReply(f"turn {turn.id}: the reply has {len(text)} characters, more than {LONGEST_REPLY}")
    body = clean(text)
    if fenced := _FENCE.match(body):
        body = fenced[1]
    try:
        thoughts = GenerateReply.model_validate_json(body).thoughts
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the reply"
        raise BadReply(f"turn {turn.id}: cannot use the thoughts, {where}: {first['msg']}") from error
    return _first_said(_drafts(thoughts, _Reader(turn, lines, answering)))


def _drafts(thoughts: Sequence[ThoughtReply], reader: _Reader) -> list[Draft]:
    """What the turn supports; BadReply if there are thoughts and it supports none of them."""
    crowd = Counter(thought.line for thought in thoughts)
    drafts: list[Draft] = []
    faults: list[str] = []
    for thought in thoughts:
        try:
            draft = reader.draft(thought, alone=crowd[thought.line] == 1)
        except _Unsupported as fault:
            faults.append(str(fault))
        else:
            drafts += [draft] if draft else []
    if thoughts and len(faults) == len(thoughts):
        raise BadReply(
            f"turn {reader.turn.id}: it supports none of {len(faults)} thoughts, the first: {faults[0]}"
        )
    return drafts


def _first_said(drafts: Iterable[Draft]) -> list[Draft]:
    """Without those that say of the same one, in the same line, nothing but what was said before them."""
    kept: list[Draft] = []
    heard: dict[tuple[str, Source], set[str]] = {}
    for draft in drafts:
        objects = heard.setdefault((normalise(draft.subject), draft.sources[0]), set())
        new = {object_key(item) for item in draft.objects}
        if not new <= objects:
            kept.append(draft)
            objects |= new
    return kept


class _Unsupported(Exception):
    """Why the turn does not support a thought."""


class _Reader:
    """One turn and its lines, to check thoughts against."""

    def __init__(self, turn: Turn, lines: Sequence[Line], answering: Affirmed | None = None) -> None:
        self.turn = turn
        self._lines = lines
        self._answering = answering

    def draft(self, thought: ThoughtReply, *, alone: bool) -> Draft | None:
        """The draft of one thought; None if what it says was said, but is badly put."""
        line = self._line(thought)
        said = completed(clean(thought.relation), _tidy(thought.objects[0]), line.text)
        relation, denied = _named(said)
        known = relation_of(relation)
        kind = known.kind if known.known else thought.kind
        if relation == "is" and _A_VALUE.match(clean(thought.subject)):
            kind = "knowledge"  # "3623.20/μl is high" tells of no person
        subject = self._subject(clean(thought.subject).strip(), line, kind)
        objects = _supported(map(_tidy, thought.objects), self._said(line))
        if not objects:
            raise _Unsupported(f"line {thought.line} does not say {', '.join(thought.objects)!r}")
        if not known.known or known.kind == "event":  # a state is told in many ways, an event by its verb
            objects = tuple(item for item in objects if reads(said, item, line.text))
            if not objects:
                return None
        if subject == USER and told_of_another(said, line.text):
            raise _Unsupported(f"in line {thought.line} it is not the user who {said!r}")
        when, words = self._when(line, kind == "event" or alone, past=relation not in _PLANNED)
        valid_from, valid_to = validity(kind, when, words)
        lang = language_of(line.text)
        sentence = compose(subject, relation, objects, negated=denied, lang=lang)
        return Draft(
            subject=subject,
            relation=relation,
            objects=objects,
            sentence=dated(sentence, kind, when, valid_from, negated=denied, lang=lang),
            kind=kind,
            sources=(self._source(line),),
            negated=denied,
            valid_from=valid_from,
            valid_to=valid_to,
        )

    def _said(self, line: Line) -> str:
        """The words of a line; of a yes, also those of the question it answers."""
        answer = self._answering
        if answer is None or answer.denied or line.side != "query" or line.start != answer.start:
            return line.text
        return f"{line.text} {answer.question}"

    def _line(self, thought: ThoughtReply) -> Line:
        if not 1 <= thought.line <= len(self._lines):
            raise _Unsupported(f"there is no line {thought.line}")
        return self._lines[thought.line - 1]

    def _subject(self, name: str, line: Line, kind: Kind) -> str:
        """The name of whom the line can tell this kind of thing."""
        who = normalise(name)
        about_user = who.split("'")[0] == USER
        if line.side == "response" and (about_user or kind not in _TOLD_BY_ASSISTANT):
            raise _Unsupported(f"the assistant cannot tell a {kind} of {name!r}")
        if who == USER and _OTHERS.search(line.text) and not _SELF.search(line.text):
            raise _Unsupported("the line does not speak of the user")
        heard = self.turn.query if line.side == "query" else self.turn.text
        if not about_user and not _supported([name], heard):
            raise _Unsupported(f"nobody spoke of {name!r}")
        return USER if who == USER else name

    def _source(self, line: Line) -> Source:
        speaker = self.turn.asker if line.side == "query" else self.turn.answerer
        return Source(self.turn.id, speaker, line.side, line.start, line.end)

    def _when(self, line: Line, its_own: bool, *, past: bool) -> tuple[When | None, str]:
        """The one time the line names: it is an event's, or that of the line's only thought."""
        found = resolve(line.text, self.turn.at, past=past) if its_own else []
        return (found[0], line.text[slice(*found[0].span)]) if len(found) == 1 else (None, "")


def _named(said: str) -> tuple[str, bool]:
    """The name of a relation and whether it is denied; "has favourite colour" is "favourite colour"."""
    relation, denied = polar(said)
    bare = relation.removeprefix("has ")
    return (
        canonical(bare) if not relation_of(relation).known and relation_of(bare).known else relation
    ), denied


def _tidy(words: str) -> str:
    return clean(words).strip(" \t\n.,;!?。，；！？、")


def _supported(names: Iterable[str], text: str) -> tuple[str, ...]:
    """The names whose words the text says, all but one in four."""
    said = set(terms(text))
    wanted = {name: set(terms(name)) for name in names}
    return tuple(name for name, words in wanted.items() if words and 4 * len(words & said) >= 3 * len(words))
