"""The one strict parser: a model's reply -> drafts, or BadReply; nothing else comes out, whatever goes in.

A thought is kept only if the turn supports it: its quote (or else its words) is found on one side, which also
decides who said it; every object shares words with that turn; and a fact of the user comes from the user.
"""

from __future__ import annotations

import re

from pydantic import ValidationError

from thinkback.errors import BadReply
from thinkback.prompts.generate import GenerateReply, ThoughtReply
from thinkback.text.clean import clean
from thinkback.text.dates import When, resolve
from thinkback.text.names import USER, normalise
from thinkback.text.sentences import sentences
from thinkback.text.tokens import terms
from thinkback.think.relations import polar, relation_of
from thinkback.think.rules.gate import asks
from thinkback.think.when import validity
from thinkback.types import Draft, Side, Source, Turn

LONGEST_REPLY = 100_000
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_PLANNED = ("plans to", "has appointment")

Span = tuple[Side, int, int]


def parse(text: str, turn: Turn) -> list[Draft]:
    """The supported thoughts of a reply, each with its source; BadReply if it is not what was asked."""
    if len(text) > LONGEST_REPLY:
        raise BadReply(f"turn {turn.id}: the reply has {len(text)} characters, more than {LONGEST_REPLY}")
    body = clean(text)
    if fenced := _FENCE.match(body):
        body = fenced[1]
    try:
        reply = GenerateReply.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the reply"
        raise BadReply(f"turn {turn.id}: cannot use the thoughts, {where}: {first['msg']}") from error
    supports = {"query": set(terms(turn.query)), "response": set(terms(turn.response))}
    drafts = [draft for thought in reply.thoughts if (draft := _draft(thought, turn, supports))]
    return list(dict.fromkeys(drafts))


def _draft(thought: ThoughtReply, turn: Turn, supports: dict[str, set[str]]) -> Draft | None:
    """The draft of one thought, or None where the turn does not support it."""
    subject = USER if normalise(clean(thought.subject)) == USER else clean(thought.subject).strip()
    span = _locate(thought, turn)
    if span is None or not subject:
        return None
    side, start, end = span
    about_user = normalise(subject).split("'")[0] == USER
    if about_user and (side == "response" or _only_asked(turn.query, start, end)):
        return None
    said = supports["query"] if about_user else supports["query"] | supports["response"]
    objects = tuple(
        o for o in dict.fromkeys(clean(o).strip() for o in thought.objects) if _supported(o, said)
    )
    if not objects or not (about_user or _supported(subject, said)):
        return None
    relation, denied = polar(clean(thought.relation))
    kind = relation_of(relation).kind if relation_of(relation).known else thought.kind
    when, words = _when(thought, turn, past=relation not in _PLANNED)
    valid_from, valid_to = validity(kind, when, words)
    speaker = turn.asker if side == "query" else turn.answerer
    return Draft(
        subject=subject,
        relation=relation,
        objects=objects,
        sentence=" ".join(clean(thought.sentence).split()) or f"{subject} {relation} {', '.join(objects)}",
        kind=kind,
        sources=(Source(turn.id, speaker, side, start, end),),
        negated=denied or thought.negated,
        valid_from=valid_from,
        valid_to=valid_to,
    )


def _locate(thought: ThoughtReply, turn: Turn) -> Span | None:
    """Where it was said: the quote to the letter, then in any case, then the sentence that shares words."""
    sides: tuple[Side, Side] = ("query", "response") if thought.speaker == "user" else ("response", "query")
    quote = clean(thought.quote).strip()
    for side in sides if quote else ():
        said = turn.said(side)
        for whole, part in ((said, quote), (said.lower(), quote.lower())):
            at = whole.find(part)
            if at >= 0 and len(whole) == len(said):  # lower-casing may change the length (İ)
                return side, at, at + len(part)
    wanted = set(terms(quote)) or set(terms(" ".join(thought.objects)))
    for side in sides:
        best: tuple[int, Span] | None = None
        for sentence in sentences(turn.said(side)):
            shared = len(wanted.intersection(terms(sentence.text)))
            if 2 * shared >= len(wanted) and shared and (best is None or shared > best[0]):
                best = shared, (side, sentence.start, sentence.end)
        if best:
            return best[1]
    return None


def _only_asked(query: str, start: int, end: int) -> bool:
    """Whether the span lies in a sentence that only asks."""
    return any(s.start <= start and end <= s.end and asks(s.text) for s in sentences(query))


def _supported(words: str, said: set[str]) -> bool:
    """Whether at least half of the words were said."""
    wanted = set(terms(words))
    return bool(wanted) and 2 * len(wanted & said) >= len(wanted)


def _when(thought: ThoughtReply, turn: Turn, *, past: bool) -> tuple[When | None, str]:
    words = clean(thought.when)
    found = resolve(words, turn.at, past=past)
    return (found[0], words[slice(*found[0].span)]) if found else (None, "")
