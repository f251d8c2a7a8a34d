"""Updates of a session summary: proposals are checked, merged into the summary and recorded as edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.session import classifiers
from thinkback.session.items import (
    Mentions,
    extract_option_name,
    max_term_overlap,
    normalise_item,
    truncate_to_line,
)
from thinkback.session.rejections import find_rejections
from thinkback.types import (
    ConversationType,
    ExcludedOption,
    Summary,
    SummaryEdit,
    SummaryField,
    SummaryUpdate,
    Turn,
)

LIST_FIELDS: tuple[SummaryField, ...] = ("needs", "constraints", "facts", "to_clarify", "discussed")
"""The fields that hold plain sentences."""

CONFIRMED_FIELDS: tuple[SummaryField, ...] = ("needs", "constraints", "facts")
"""Those of them that only grow or are revised in the open, as excluded options do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRevision:
    """An item that is to take the place of another: it names the old one, and why."""

    field: SummaryField
    old: str
    new: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryProposal:
    """What one reading of a turn would add to a summary; nothing of it is believed before it is merged.

    `reopened` are options the user raises again, `settled` questions that need no answer any more.
    """

    talk: ConversationType | None = None
    topic: str = ""
    conclusion: str = ""
    needs: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    excluded: tuple[ExcludedOption, ...] = ()
    facts: tuple[str, ...] = ()
    to_clarify: tuple[str, ...] = ()
    discussed: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    revisions: tuple[SummaryRevision, ...] = ()


def apply_edits(summary: Summary, edits: Iterable[SummaryEdit]) -> Summary:
    """The summary after these edits; an edit of an item that is not there changes nothing."""
    for edit in edits:
        summary = _apply_edit(summary, edit)
    return summary


def replay_updates(session: str, updates: Iterable[SummaryUpdate]) -> Summary:
    """The summary that a journal tells of."""
    summary = Summary(session=session)
    for update in updates:
        summary = replace(apply_edits(summary, update.edits), version=update.version, turn=update.turn)
    return summary


def diff_summaries(before: Summary, after: Summary, reason: str) -> tuple[SummaryEdit, ...]:
    """The edits that lead from one summary to the other, order of items included."""
    edits = [
        SummaryEdit(field=name, old=getattr(before, name), new=getattr(after, name), reason=reason)
        for name in ("talk", "topic", "conclusion")
        if getattr(before, name) != getattr(after, name)
    ]
    for name in LIST_FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        kept = _common_prefix_length(old, new)
        edits += [SummaryEdit(field=name, old=item, reason=reason) for item in old[kept:]]
        edits += [SummaryEdit(field=name, new=item, reason=reason) for item in new[kept:]]
    kept = _common_prefix_length(before.excluded, after.excluded)
    edits += [
        SummaryEdit(field="excluded", old=each.option, reason=reason) for each in before.excluded[kept:]
    ]
    edits += [
        SummaryEdit(field="excluded", new=each.option, reason=each.reason) for each in after.excluded[kept:]
    ]
    return tuple(edits)


def _common_prefix_length(old: tuple[Any, ...], new: tuple[Any, ...]) -> int:
    """How many items they begin with alike."""
    return next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )


def _apply_edit(summary: Summary, edit: SummaryEdit) -> Summary:
    changed: Any
    if edit.field == "excluded":
        changed = _replace_item(
            summary.excluded,
            next((each for each in summary.excluded if each.option == edit.old), None),
            ExcludedOption(edit.new, edit.reason) if edit.new else None,
        )
    elif edit.field in LIST_FIELDS:
        held: tuple[str, ...] = getattr(summary, edit.field)
        changed = _replace_item(held, edit.old if edit.old in held else None, edit.new or None)
    else:
        changed = edit.new
    return replace(summary, **{edit.field: changed})


def _replace_item(held: tuple[Any, ...], old: Any, new: Any) -> tuple[Any, ...]:
    if old is None:
        return held if new is None else (*held, new)
    at = held.index(old)
    return (*held[:at], *(() if new is None else (new,)), *held[at + 1 :])


MAX_FIELD_ITEMS: dict[SummaryField, int] = {
    "needs": 32,
    "constraints": 48,
    "excluded": 64,
    "facts": 64,
    "to_clarify": 8,
    "discussed": 64,
}
MAX_FIELD_TOKENS = 1600
MIN_GROUNDED_SHARE = 0.5  # of an item's words must have been said, or a model made it up
DUPLICATE_SHARE = 0.6  # of a model's words in one item we have: it says that item again
MAX_ITEMS_PER_UPDATE = 32  # items of one field that one update may bring


@dataclass(slots=True)
class SummaryBuilder:
    """A summary on its way: what it is by now, the edits that made it so, and what was refused."""

    summary: Summary
    turn: int
    edits: list[SummaryEdit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def apply_edit(self, name: SummaryField, *, old: str = "", new: str = "", reason: str = "") -> None:
        change = SummaryEdit(field=name, old=old, new=new, reason=reason)
        after = apply_edits(self.summary, [change])
        if after != self.summary:
            self.summary = after
            self.edits.append(change)


def merge_proposal(summary: Summary, proposal: SummaryProposal, turn: int) -> SummaryBuilder:
    """The summary with what is proposed of turn `turn`, and the edits that make it so."""
    merging = SummaryBuilder(summary, turn)
    for revision in proposal.revisions[:MAX_ITEMS_PER_UPDATE]:
        _apply_revision(merging, revision)
    _update_excluded(merging, proposal)
    for name in ("constraints", "needs", "facts"):
        for item in getattr(proposal, name)[:MAX_ITEMS_PER_UPDATE]:
            _add_item(merging, name, item)
    _update_questions(merging, proposal)
    _set_field(merging, "topic", proposal.topic, "the talk has turned to it")
    _set_conclusion(merging, proposal.conclusion)
    if proposal.talk is not None and proposal.talk != summary.talk:
        merging.apply_edit(
            "talk", old=summary.talk, new=proposal.talk, reason="what was said is of this kind"
        )
    for item in proposal.discussed[:MAX_ITEMS_PER_UPDATE]:
        _add_discussed(merging, item)
    for name in (*CONFIRMED_FIELDS, "excluded", "to_clarify", "discussed"):
        _trim_field(merging, name)
    return merging


def filter_proposal(
    proposal: SummaryProposal, summary: Summary, turns: Sequence[Turn]
) -> tuple[SummaryProposal, list[str]]:
    """A model's proposal without what nobody said and what we have already; and what was refused, in words.

    Needs, constraints and exclusions must be the user's; a fact or a conclusion may be either side's.
    """
    user = "\n".join(turn.query for turn in turns)
    both = "\n".join(turn.text for turn in turns)
    known = (*summary.needs, *summary.constraints, *summary.facts)
    refused: list[str] = []

    def grounded(item: str, said: str) -> bool:
        wanted = set(extract_terms(item))
        if wanted and len(wanted & set(extract_terms(said))) / len(wanted) >= MIN_GROUNDED_SHARE:
            return True
        refused.append(f"nobody said {truncate_to_line(item, 24)!r}")
        return False

    def new(items: Sequence[str], said: str) -> tuple[str, ...]:
        return tuple(
            item for item in items if max_term_overlap(item, known) < DUPLICATE_SHARE and grounded(item, said)
        )

    kept = replace(
        proposal,
        topic=proposal.topic if proposal.topic and grounded(proposal.topic, both) else "",
        conclusion=proposal.conclusion if proposal.conclusion and grounded(proposal.conclusion, both) else "",
        needs=new(proposal.needs, user),
        constraints=new(proposal.constraints, user),
        facts=new(proposal.facts, both),
        to_clarify=tuple(
            item
            for item in proposal.to_clarify
            if max_term_overlap(item, summary.to_clarify) < DUPLICATE_SHARE
        ),
        excluded=tuple(each for each in proposal.excluded if grounded(each.option, user)),
        reopened=tuple(each for each in proposal.reopened if _is_reopened(user, each)),
        revisions=tuple(each for each in proposal.revisions if grounded(each.new, user)),
    )
    refused += [
        f"the user did not raise {each!r} again" for each in proposal.reopened if each not in kept.reopened
    ]
    return kept, refused


def _is_reopened(said: str, name: str) -> bool:
    """Whether the user speaks of an option in a sentence that is not about its being out."""
    for sentence in split_sentences(said):
        if name in Mentions(sentence.text) and not (
            find_rejections(sentence.text) or classifiers.is_about_exclusion(sentence.text)
        ):
            return True
    return False


def _add_item(builder: SummaryBuilder, name: SummaryField, item: str) -> None:
    line = truncate_to_line(item)
    held = (item for other in CONFIRMED_FIELDS for item in getattr(builder.summary, other))
    if normalise_item(line) and normalise_item(line) not in map(normalise_item, held):
        builder.apply_edit(name, new=line)


def _apply_revision(builder: SummaryBuilder, revision: SummaryRevision) -> None:
    held: tuple[str, ...] = (
        getattr(builder.summary, revision.field) if revision.field in CONFIRMED_FIELDS else ()
    )
    old = next((item for item in held if normalise_item(item) == normalise_item(revision.old)), None)
    new = truncate_to_line(revision.new)
    if old is None or not normalise_item(new) or not revision.reason.strip():
        builder.problems.append(
            f"no such revision: {truncate_to_line(revision.old, 24)!r} of {revision.field}"
        )
        return
    builder.apply_edit(revision.field, old=old, new=new, reason=truncate_to_line(revision.reason))


def _update_excluded(builder: SummaryBuilder, proposal: SummaryProposal) -> None:
    out = {normalise_item(extract_option_name(each.option)) for each in proposal.excluded}
    for name in proposal.reopened[:MAX_ITEMS_PER_UPDATE]:
        for held in builder.summary.excluded:
            if (
                normalise_item(held.option) == normalise_item(extract_option_name(name))
                and normalise_item(held.option) not in out
            ):
                reason = f"the user raised it again in turn:{builder.turn}"
                builder.apply_edit("excluded", old=held.option, reason=reason)
    for each in proposal.excluded[:MAX_ITEMS_PER_UPDATE]:
        name, reason = truncate_to_line(extract_option_name(each.option), 24), truncate_to_line(each.reason)
        held_as = {normalise_item(held.option): held for held in builder.summary.excluded}
        known = held_as.get(normalise_item(name))
        if normalise_item(name) and known is None:
            builder.apply_edit("excluded", new=name, reason=reason)
        elif known is not None and reason and not known.reason:
            builder.apply_edit("excluded", old=known.option, new=known.option, reason=reason)


def _update_questions(builder: SummaryBuilder, proposal: SummaryProposal) -> None:
    settled = {normalise_item(item) for item in proposal.settled}
    for item in builder.summary.to_clarify:
        if normalise_item(item) in settled:
            builder.apply_edit("to_clarify", old=item, reason=f"settled in turn:{builder.turn}")
    for item in proposal.to_clarify[:MAX_ITEMS_PER_UPDATE]:
        line = truncate_to_line(item)
        if normalise_item(line) and normalise_item(line) not in map(
            normalise_item, builder.summary.to_clarify
        ):
            builder.apply_edit("to_clarify", new=line)


def _set_field(builder: SummaryBuilder, name: SummaryField, new: str, reason: str) -> bool:
    line, old = truncate_to_line(new), getattr(builder.summary, name)
    if not normalise_item(line) or normalise_item(line) == normalise_item(old):
        return False
    builder.apply_edit(name, old=old, new=line, reason=reason if old else "")
    return True


def _set_conclusion(builder: SummaryBuilder, conclusion: str) -> None:
    """A newer conclusion takes the place of the one before, which stays among what was discussed."""
    before = builder.summary.conclusion
    if _set_field(builder, "conclusion", conclusion, "a newer conclusion") and before:
        _add_discussed(builder, before)


def _add_discussed(builder: SummaryBuilder, item: str) -> None:
    """A point that comes up again moves to the end: what was talked of last is kept longest."""
    line = truncate_to_line(item)
    if not normalise_item(line):
        return
    for held in builder.summary.discussed:
        if normalise_item(held) == normalise_item(line):
            builder.apply_edit("discussed", old=held, reason="it came up again")
    builder.apply_edit("discussed", new=line)


def _trim_field(builder: SummaryBuilder, name: SummaryField) -> None:
    """The oldest items of a field that is full move on to what was discussed, and from there to the bank.

    Nothing is lost by that: the turn an item comes from is in the bank, and recall finds it.
    """
    while (held := getattr(builder.summary, name)) and _is_over_limit(name, held):
        oldest = held[0]
        text = f"not {oldest.option}: {oldest.reason}" if isinstance(oldest, ExcludedOption) else oldest
        where = "the bank" if name == "discussed" else "what was discussed"
        builder.apply_edit(
            name,
            old=oldest.option if isinstance(oldest, ExcludedOption) else oldest,
            reason=f"no more room: it is in {where}",
        )
        if name != "discussed":
            _add_discussed(builder, text)


def _is_over_limit(name: SummaryField, held: Sequence[str | ExcludedOption]) -> bool:
    texts = [f"{each.option} {each.reason}" if isinstance(each, ExcludedOption) else each for each in held]
    return len(texts) > MAX_FIELD_ITEMS[name] or sum(map(count_tokens, texts)) > MAX_FIELD_TOKENS
