"""Reads a turn for the summary without a model: each sentence of the user goes to the field it belongs to.

Sentences are kept in the user's words. Rejections, requirements, decisions and open points are recognised by
patterns (`rejections`, `classifiers`), data by numbers, facts by the thoughts drafted from them; the rest
goes to the discussed points. Sentences with injected instructions or secrets are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from thinkback.language.safety.quarantine import REDACTION_MARK, redact
from thinkback.language.sentences import Sentence, is_question, split_sentences
from thinkback.language.tokens import extract_terms
from thinkback.prompts import own_answer
from thinkback.session import conversation_type
from thinkback.session.conversation_type import classify_conversation
from thinkback.session.rejected_options import find_rejections
from thinkback.session.summary_items import Mentions, normalise_item, truncate_to_line
from thinkback.session.summary_updates import SummaryProposal, SummaryRevision
from thinkback.types import Action, ExcludedOption, Source, Summary, Turn

ANSWER_SEPARATOR = " => "
"""Separates the user's words and the beginning of the answer in a discussed point."""
_MAX_SIDE_CHARACTERS = 8000  # longer texts are cut
ANSWER_PREVIEW_TOKENS = 24  # the beginning of the answer in a discussed point
_MAX_STATEMENT_TOKENS = 96  # the user's words in a discussed point
_MIN_TERMS = 2  # shorter texts mean nothing on their own
_MAX_ASSISTANT_QUESTIONS = 3  # kept from one answer


@dataclass(slots=True)
class _TurnContent:
    """The sentences of one turn by summary field; `remainder` fits no field."""

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
    """Propose what a turn adds to the summary.

    Args:
        turn: The turn to read.
        summary: The summary before the turn.
        actions: The journal actions of the turn, if it has been processed by post-thinking.
        earlier: Earlier turns of the session that the actions refer to, by id.
    """
    content = _TurnContent()
    fact_positions = {source.start for source in _query_sources(turn, actions)}
    sentences = list(_safe_sentences(turn.query))
    for index, sentence in enumerate(sentences):
        following = sentences[index + 1].text if index + 1 < len(sentences) else ""
        is_fact = any(sentence.start <= start < sentence.end for start in fact_positions)
        _classify_sentence(content, sentence.text, following, summary, is_fact=is_fact)
    assistant_questions = [
        sentence.text for sentence in _safe_sentences(own_answer(turn.response)) if is_question(sentence.text)
    ]
    answered = (
        turn.response or turn.recalled
    )  # without a model, an answer from memory is not stored as a response
    unanswered_questions = (
        [sentence.text for sentence in sentences if is_question(sentence.text)] if not answered else []
    )
    return SummaryProposal(
        talk=classify_conversation(turn.query, summary.talk),
        topic=_find_topic(content, sentences, summary),
        conclusion=content.get_last("conclusion"),
        needs=content.get("needs"),
        constraints=content.get("constraints"),
        excluded=tuple(content.excluded),
        facts=content.get("facts"),
        to_clarify=(
            *content.get("to_clarify"),
            *unanswered_questions,
            *assistant_questions[:_MAX_ASSISTANT_QUESTIONS],
        ),
        discussed=_discussed_line(turn, content),
        reopened=tuple(content.reopened),
        settled=tuple(_settled_questions(turn, summary)),
        revisions=tuple(_find_revisions(turn, actions, earlier or {}, summary)),
    )


def _safe_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences without injected instructions and secrets."""
    for sentence in split_sentences(text[:_MAX_SIDE_CHARACTERS]):
        if normalise_item(sentence.text) and not REDACTION_MARK.search(redact(sentence.text)):
            yield sentence


def _classify_sentence(
    content: _TurnContent, text: str, following: str, summary: Summary, *, is_fact: bool
) -> None:
    """Add one sentence of the user to the field it belongs to."""
    if is_question(text):
        content.reopened += _reopened_options(text, summary)
        content.remainder.append(text)
        return
    rejections = find_rejections(text, following)
    content.excluded += rejections
    if not rejections:
        content.reopened += _reopened_options(text, summary)
    if conversation_type.is_undecided(text):
        content.add("to_clarify", text)
    elif conversation_type.is_conclusion(text) and not rejections:
        content.add("conclusion", text)
    elif rejections:
        if any(not option.reason for option in rejections) or conversation_type.has_number(text):
            content.remainder.append(text)
    elif conversation_type.is_constraint(text):
        content.add("constraints", text)
    elif conversation_type.is_need(text):
        content.add("needs", text)
    elif conversation_type.has_number(text) or is_fact:
        content.add("facts", text)
    else:
        content.remainder.append(text)


def _reopened_options(text: str, summary: Summary) -> list[str]:
    """Return the excluded options that a sentence proposes again."""
    if not conversation_type.reopens_option(text):
        return []
    mentions = Mentions(text)
    return [excluded.option for excluded in summary.excluded if excluded.option in mentions]


def _find_topic(content: _TurnContent, sentences: Sequence[Sentence], summary: Summary) -> str:
    """Return the new topic: a new need, else the first meaningful sentence of the conversation."""
    if content.get("needs"):
        return content.get("needs")[0]
    if summary.topic:
        return ""
    return next(
        (sentence.text for sentence in sentences if len(extract_terms(sentence.text)) >= _MIN_TERMS), ""
    )


def _discussed_line(turn: Turn, content: _TurnContent) -> tuple[str, ...]:
    """Return the discussed point of the turn: its remaining sentences and the beginning of the answer."""
    statement = truncate_to_line(" ".join(content.remainder), _MAX_STATEMENT_TOKENS)
    answer = next(
        (
            sentence.text
            for sentence in _safe_sentences(own_answer(turn.response))
            if not is_question(sentence.text)
        ),
        "",
    )
    if len(extract_terms(statement)) < _MIN_TERMS:
        return ()
    return (
        f"{statement}{ANSWER_SEPARATOR}{truncate_to_line(answer, ANSWER_PREVIEW_TOKENS)}"
        if answer
        else statement,
    )


def _settled_questions(turn: Turn, summary: Summary) -> Iterator[str]:
    """Yield the open questions that the turn answers: it shares words, or there is only one question."""
    statements = [sentence.text for sentence in _safe_sentences(turn.query) if not is_question(sentence.text)]
    stated_terms = set(extract_terms(" ".join(statements)))
    query_terms = set(extract_terms(turn.query)) if turn.response else set()
    for item in summary.to_clarify:
        terms = set(extract_terms(item))
        only_question = len(summary.to_clarify) == 1 and bool(statements) and is_question(item)
        if (terms and (terms & stated_terms or terms <= query_terms)) or only_question:
            yield item


def _query_sources(turn: Turn, actions: Sequence[Action]) -> Iterator[Source]:
    """Yield the positions in the user's words from which thoughts of this turn were drafted."""
    for action in actions:
        for thought in action.changed:
            for source in thought.sources:
                if source.turn == turn.id and source.side == "query":
                    yield source


def _find_revisions(
    turn: Turn, actions: Sequence[Action], earlier: Mapping[int, Turn], summary: Summary
) -> Iterator[SummaryRevision]:
    """Yield revisions of summary facts whose thoughts were superseded by this turn."""
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
    """Return the sentence that a source points to, as it is stored in the summary."""
    matching = (
        sentence.text
        for sentence in _safe_sentences(turn.query)
        if sentence.start <= source.start < sentence.end
    )
    return truncate_to_line(next(matching, ""))
