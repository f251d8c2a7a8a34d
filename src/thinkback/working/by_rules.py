"""Reading a turn for its summary without a model: the user's own sentences, each put where it belongs.

Sentences are kept in the user's words. What is rejected, required, decided or left open is known by its words
(`rejections.py`, `cues.py`), data by its numbers, a fact by the thoughts that came of it; the rest is what
was discussed. Orders to the assistant and secrets stay out, as they do of recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from thinkback.text.safety.trust import MARK, redact
from thinkback.text.sentences import Sentence, is_question, sentences
from thinkback.text.tokens import terms
from thinkback.types import Action, Excluded, Source, Summary, Turn
from thinkback.working import cues
from thinkback.working.items import Named, one_line, plain
from thinkback.working.kind_of_talk import kind_of_talk
from thinkback.working.rejections import rejections
from thinkback.working.types import Proposal, Revision

ANSWERED = " => "
"""Between what the user said and the beginning of the answer, in a line of what was discussed."""
_LONGEST = 8000  # characters of one side that are read
GIST = 24  # tokens of an answer's beginning
_POINT = 96  # tokens of what the user said
_SHORT = 2  # words: less says nothing by itself
_ASKED = 3  # questions of the assistant that are kept of one answer


@dataclass(slots=True)
class _Reading:
    """What one turn was found to say."""

    found: dict[str, list[str]] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)

    def put(self, name: str, item: str) -> None:
        self.found.setdefault(name, []).append(item)

    def of(self, name: str) -> tuple[str, ...]:
        return tuple(self.found.get(name, ()))

    def last(self, name: str) -> str:
        return self.found[name][-1] if name in self.found else ""


def read(
    turn: Turn, summary: Summary, actions: Sequence[Action] = (), earlier: Mapping[int, Turn] | None = None
) -> Proposal:
    """What the turn adds; `actions` are what thinking it over brought, `earlier` the turns they name."""
    reading = _Reading()
    told = {source.start: source for source in _sources(turn, actions)}
    lines = list(_lines(turn.query))
    for at, line in enumerate(lines):
        following = lines[at + 1].text if at + 1 < len(lines) else ""
        is_fact = any(line.start <= start < line.end for start in told)
        _sort(reading, line.text, following, summary, is_fact=is_fact)
    asked = [line.text for line in _lines(turn.response) if is_question(line.text)]
    answered = turn.response or turn.recalled  # without a model memory answers, and keeps no response
    own = [line.text for line in lines if is_question(line.text)] if not answered else []
    return Proposal(
        talk=kind_of_talk(turn.query, summary.talk),
        topic=_topic(reading, lines, summary),
        conclusion=reading.last("conclusion"),
        needs=reading.of("needs"),
        constraints=reading.of("constraints"),
        excluded=tuple(reading.excluded),
        facts=reading.of("facts"),
        to_clarify=(*reading.of("to_clarify"), *own, *asked[:_ASKED]),
        discussed=_discussed(turn, reading),
        reopened=tuple(reading.reopened),
        settled=tuple(_settled(turn, summary)),
        revisions=tuple(_revisions(turn, actions, earlier or {}, summary)),
    )


def _lines(text: str) -> Iterator[Sentence]:
    """The sentences that may be kept: none that holds an order or a secret."""
    for line in sentences(text[:_LONGEST]):
        if plain(line.text) and not MARK.search(redact(line.text)):
            yield line


def _sort(reading: _Reading, text: str, following: str, summary: Summary, *, is_fact: bool) -> None:
    """One sentence of the user put where it belongs; a rejection can be a requirement as well."""
    if is_question(text):
        reading.reopened += _raised(text, summary)
        reading.rest.append(text)
        return
    out = rejections(text, following)
    reading.excluded += out
    if not out:
        reading.reopened += _raised(text, summary)
    if cues.undecided(text):
        reading.put("to_clarify", text)
    elif cues.concludes(text) and not out:
        reading.put("conclusion", text)
    elif out:
        if any(not each.reason for each in out) or cues.has_data(text):
            reading.rest.append(text)
    elif cues.constrains(text):
        reading.put("constraints", text)
    elif cues.needs(text):
        reading.put("needs", text)
    elif cues.has_data(text) or is_fact:
        reading.put("facts", text)
    else:
        reading.rest.append(text)


def _raised(text: str, summary: Summary) -> list[str]:
    """The excluded options that a sentence brings back."""
    if not cues.raises_again(text):
        return []
    named = Named(text)
    return [each.option for each in summary.excluded if each.option in named]


def _topic(reading: _Reading, lines: Sequence[Sentence], summary: Summary) -> str:
    """What the user last set out to do; before that, what the talk began with."""
    if reading.of("needs"):
        return reading.of("needs")[0]
    if summary.topic:
        return ""
    return next((line.text for line in lines if len(terms(line.text)) >= _SHORT), "")


def _discussed(turn: Turn, reading: _Reading) -> tuple[str, ...]:
    """One line: what of the turn stands nowhere else, and how the answer began."""
    said = one_line(" ".join(reading.rest), _POINT)
    answer = next((line.text for line in _lines(turn.response) if not is_question(line.text)), "")
    if len(terms(said)) < _SHORT:
        return ()
    return (f"{said}{ANSWERED}{one_line(answer, GIST)}" if answer else said,)


def _settled(turn: Turn, summary: Summary) -> Iterator[str]:
    """Pending questions that the turn answers: it shares their words, or simply comes next and tells."""
    stated = [line.text for line in _lines(turn.query) if not is_question(line.text)]
    told = set(terms(" ".join(stated)))
    answered = set(terms(turn.query)) if turn.response else set()
    for item in summary.to_clarify:
        words = set(terms(item))
        alone = len(summary.to_clarify) == 1 and bool(stated) and is_question(item)
        if (words and (words & told or words <= answered)) or alone:
            yield item


def _sources(turn: Turn, actions: Sequence[Action]) -> Iterator[Source]:
    """Where in the user's words the turn's thoughts were said."""
    for action in actions:
        for thought in action.changed:
            for source in thought.sources:
                if source.turn == turn.id and source.side == "query":
                    yield source


def _revisions(
    turn: Turn, actions: Sequence[Action], earlier: Mapping[int, Turn], summary: Summary
) -> Iterator[Revision]:
    """Facts of this session that a newer one has taken the place of, by the journal of thoughts."""
    for action in actions:
        if action.action != "supersede":
            continue
        new = [_sentence(turn, source) for source in _sources(turn, [action])]
        old = [
            _sentence(earlier[source.turn], source)
            for thought in action.before
            for source in thought.sources
            if source.turn in earlier and source.side == "query"
        ]
        for item in dict.fromkeys(old):
            if new and new[0] and item in summary.facts and item != new[0]:
                yield Revision(field="facts", old=item, new=new[0], reason="the user told it anew")


def _sentence(turn: Turn, source: Source) -> str:
    """The sentence a thought was drawn from, as the summary keeps it."""
    found = (line.text for line in _lines(turn.query) if line.start <= source.start < line.end)
    return one_line(next(found, ""))
