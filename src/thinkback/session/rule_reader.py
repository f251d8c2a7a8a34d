"""Reading a turn for its summary without a model: the user's own sentences, each put where it belongs.

Sentences are kept in the user's words. What is rejected, required, decided or left open is known by its words
(`rejections.py`, `cues.py`), data by its numbers, a fact by the thoughts that came of it; the rest is what
was discussed. Orders to the assistant and secrets stay out, as they do of recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from thinkback.language.safety.quarantine import REDACTION_MARK, redact
from thinkback.language.sentences import Sentence, is_question, split_sentences
from thinkback.language.tokens import extract_terms
from thinkback.session import classifiers
from thinkback.session.conversation_type import classify_conversation
from thinkback.session.items import Mentions, normalise_item, truncate_to_line
from thinkback.session.rejections import find_rejections
from thinkback.session.updates import SummaryProposal, SummaryRevision
from thinkback.types import Action, ExcludedOption, Source, Summary, Turn

ANSWER_SEPARATOR = " => "
"""Between what the user said and the beginning of the answer, in a line of what was discussed."""
_MAX_SIDE_CHARACTERS = 8000  # characters of one side that are read
ANSWER_PREVIEW_TOKENS = 24  # tokens of an answer's beginning
_MAX_STATEMENT_TOKENS = 96  # tokens of what the user said
_MIN_TERMS = 2  # words: less says nothing by itself
_MAX_ASSISTANT_QUESTIONS = 3  # questions of the assistant that are kept of one answer


@dataclass(slots=True)
class _TurnContent:
    """What one turn was found to say."""

    items_by_field: dict[str, list[str]] = field(default_factory=dict)
    excluded: list[ExcludedOption] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    remainder: list[str] = field(default_factory=list)

    def add(self, name: str, item: str) -> None:
        self.items_by_field.setdefault(name, []).append(item)

    def get(self, name: str) -> tuple[str, ...]:
        return tuple(self.items_by_field.get(name, ()))

    def get_last(self, name: str) -> str:
        return self.items_by_field[name][-1] if name in self.items_by_field else ""


def read_turn(
    turn: Turn, summary: Summary, actions: Sequence[Action] = (), earlier: Mapping[int, Turn] | None = None
) -> SummaryProposal:
    """What the turn adds; `actions` are what thinking it over brought, `earlier` the turns they name."""
    reading = _TurnContent()
    told = {source.start: source for source in _query_sources(turn, actions)}
    lines = list(_safe_sentences(turn.query))
    for at, line in enumerate(lines):
        following = lines[at + 1].text if at + 1 < len(lines) else ""
        is_fact = any(line.start <= start < line.end for start in told)
        _classify_sentence(reading, line.text, following, summary, is_fact=is_fact)
    asked = [line.text for line in _safe_sentences(turn.response) if is_question(line.text)]
    answered = turn.response or turn.recalled  # without a model memory answers, and keeps no response
    own = [line.text for line in lines if is_question(line.text)] if not answered else []
    return SummaryProposal(
        talk=classify_conversation(turn.query, summary.talk),
        topic=_find_topic(reading, lines, summary),
        conclusion=reading.get_last("conclusion"),
        needs=reading.get("needs"),
        constraints=reading.get("constraints"),
        excluded=tuple(reading.excluded),
        facts=reading.get("facts"),
        to_clarify=(*reading.get("to_clarify"), *own, *asked[:_MAX_ASSISTANT_QUESTIONS]),
        discussed=_discussed_line(turn, reading),
        reopened=tuple(reading.reopened),
        settled=tuple(_settled_questions(turn, summary)),
        revisions=tuple(_find_revisions(turn, actions, earlier or {}, summary)),
    )


def _safe_sentences(text: str) -> Iterator[Sentence]:
    """The sentences that may be kept: none that holds an order or a secret."""
    for line in split_sentences(text[:_MAX_SIDE_CHARACTERS]):
        if normalise_item(line.text) and not REDACTION_MARK.search(redact(line.text)):
            yield line


def _classify_sentence(
    content: _TurnContent, text: str, following: str, summary: Summary, *, is_fact: bool
) -> None:
    """One sentence of the user put where it belongs; a rejection can be a requirement as well."""
    if is_question(text):
        content.reopened += _reopened_options(text, summary)
        content.remainder.append(text)
        return
    out = find_rejections(text, following)
    content.excluded += out
    if not out:
        content.reopened += _reopened_options(text, summary)
    if classifiers.is_undecided(text):
        content.add("to_clarify", text)
    elif classifiers.is_conclusion(text) and not out:
        content.add("conclusion", text)
    elif out:
        if any(not each.reason for each in out) or classifiers.has_number(text):
            content.remainder.append(text)
    elif classifiers.is_constraint(text):
        content.add("constraints", text)
    elif classifiers.is_need(text):
        content.add("needs", text)
    elif classifiers.has_number(text) or is_fact:
        content.add("facts", text)
    else:
        content.remainder.append(text)


def _reopened_options(text: str, summary: Summary) -> list[str]:
    """The excluded options that a sentence brings back."""
    if not classifiers.reopens_option(text):
        return []
    named = Mentions(text)
    return [each.option for each in summary.excluded if each.option in named]


def _find_topic(content: _TurnContent, lines: Sequence[Sentence], summary: Summary) -> str:
    """What the user last set out to do; before that, what the talk began with."""
    if content.get("needs"):
        return content.get("needs")[0]
    if summary.topic:
        return ""
    return next((line.text for line in lines if len(extract_terms(line.text)) >= _MIN_TERMS), "")


def _discussed_line(turn: Turn, content: _TurnContent) -> tuple[str, ...]:
    """One line: what of the turn stands nowhere else, and how the answer began."""
    said = truncate_to_line(" ".join(content.remainder), _MAX_STATEMENT_TOKENS)
    answer = next((line.text for line in _safe_sentences(turn.response) if not is_question(line.text)), "")
    if len(extract_terms(said)) < _MIN_TERMS:
        return ()
    return (f"{said}{ANSWER_SEPARATOR}{truncate_to_line(answer, ANSWER_PREVIEW_TOKENS)}" if answer else said,)


def _settled_questions(turn: Turn, summary: Summary) -> Iterator[str]:
    """Pending questions that the turn answers: it shares their words, or simply comes next and tells."""
    stated = [line.text for line in _safe_sentences(turn.query) if not is_question(line.text)]
    told = set(extract_terms(" ".join(stated)))
    answered = set(extract_terms(turn.query)) if turn.response else set()
    for item in summary.to_clarify:
        words = set(extract_terms(item))
        alone = len(summary.to_clarify) == 1 and bool(stated) and is_question(item)
        if (words and (words & told or words <= answered)) or alone:
            yield item


def _query_sources(turn: Turn, actions: Sequence[Action]) -> Iterator[Source]:
    """Where in the user's words the turn's thoughts were said."""
    for action in actions:
        for thought in action.changed:
            for source in thought.sources:
                if source.turn == turn.id and source.side == "query":
                    yield source


def _find_revisions(
    turn: Turn, actions: Sequence[Action], earlier: Mapping[int, Turn], summary: Summary
) -> Iterator[SummaryRevision]:
    """Facts of this session that a newer one has taken the place of, by the journal of thoughts."""
    for action in actions:
        if action.action != "supersede":
            continue
        new = [_source_sentence(turn, source) for source in _query_sources(turn, [action])]
        old = [
            _source_sentence(earlier[source.turn], source)
            for thought in action.before
            for source in thought.sources
            if source.turn in earlier and source.side == "query"
        ]
        for item in dict.fromkeys(old):
            if new and new[0] and item in summary.facts and item != new[0]:
                yield SummaryRevision(field="facts", old=item, new=new[0], reason="the user told it anew")


def _source_sentence(turn: Turn, source: Source) -> str:
    """The sentence a thought was drawn from, as the summary keeps it."""
    found = (line.text for line in _safe_sentences(turn.query) if line.start <= source.start < line.end)
    return truncate_to_line(next(found, ""))
