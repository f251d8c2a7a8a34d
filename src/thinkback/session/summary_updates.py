"""Updates of a session summary: proposals are checked, merged into the summary and recorded as edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.session import conversation_type
from thinkback.session.rejected_options import find_rejections
from thinkback.session.summary_items import (
    Mentions,
    extract_option_name,
    max_term_overlap,
    normalise_item,
    truncate_to_line,
)
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
"""Fields that are lists of sentences."""

CONFIRMED_FIELDS: tuple[SummaryField, ...] = ("needs", "constraints", "facts")
"""List fields whose items are only added or explicitly revised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRevision:
    """A proposal to replace an item of a field by another, with the reason."""

    field: SummaryField
    old: str
    new: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryProposal:
    """What one reading of a turn would add to a summary; `merge_proposal` decides what is accepted.

    `reopened` are excluded options that the user raises again, `settled` are answered questions.
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
    """Apply edits to a summary; an edit of an item that does not exist changes nothing."""
    for edit in edits:
        summary = _apply_edit(summary, edit)
    return summary


def replay_updates(session: str, updates: Iterable[SummaryUpdate]) -> Summary:
    """Rebuild a summary from its recorded updates."""
    summary = Summary(session=session)
    for update in updates:
        summary = replace(apply_edits(summary, update.edits), version=update.version, turn=update.turn)
    return summary


def diff_summaries(before: Summary, after: Summary, reason: str) -> tuple[SummaryEdit, ...]:
    """Return the edits that turn one summary into the other, including the order of items."""
    edits = [
        SummaryEdit(field=name, old=getattr(before, name), new=getattr(after, name), reason=reason)
        for name in ("talk", "topic", "conclusion")
        if getattr(before, name) != getattr(after, name)
    ]
    for name in LIST_FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        common = _common_prefix_length(old, new)
        edits += [SummaryEdit(field=name, old=item, reason=reason) for item in old[common:]]
        edits += [SummaryEdit(field=name, new=item, reason=reason) for item in new[common:]]
    common = _common_prefix_length(before.excluded, after.excluded)
    edits += [
        SummaryEdit(field="excluded", old=option.option, reason=reason) for option in before.excluded[common:]
    ]
    edits += [
        SummaryEdit(field="excluded", new=option.option, reason=option.reason)
        for option in after.excluded[common:]
    ]
    return tuple(edits)


def _common_prefix_length(old: tuple[Any, ...], new: tuple[Any, ...]) -> int:
    """Return the length of the common prefix."""
    return next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )


def _apply_edit(summary: Summary, edit: SummaryEdit) -> Summary:
    changed: Any
    if edit.field == "excluded":
        changed = _replace_item(
            summary.excluded,
            next((option for option in summary.excluded if option.option == edit.old), None),
            ExcludedOption(edit.new, edit.reason) if edit.new else None,
        )
    elif edit.field in LIST_FIELDS:
        items: tuple[str, ...] = getattr(summary, edit.field)
        changed = _replace_item(items, edit.old if edit.old in items else None, edit.new or None)
    else:
        changed = edit.new
    return replace(summary, **{edit.field: changed})


def _replace_item(items: tuple[Any, ...], old: Any, new: Any) -> tuple[Any, ...]:
    """Replace an item in place; None as `old` appends, None as `new` removes."""
    if old is None:
        return items if new is None else (*items, new)
    index = items.index(old)
    return (*items[:index], *(() if new is None else (new,)), *items[index + 1 :])


MAX_FIELD_ITEMS: dict[SummaryField, int] = {
    "needs": 32,
    "constraints": 48,
    "excluded": 64,
    "facts": 64,
    "to_clarify": 8,
    "discussed": 64,
}
MAX_FIELD_TOKENS = 1600
MIN_GROUNDED_SHARE = 0.5  # of an item's terms that must occur in the turns; below it counts as invented
DUPLICATE_SHARE = 0.6  # of an item's terms in one known item; from here it counts as a repetition
MAX_ITEMS_PER_UPDATE = 32  # per field


@dataclass(slots=True)
class SummaryBuilder:
    """A summary under construction, with the edits made so far and the proposals that were refused."""

    summary: Summary
    turn: int
    edits: list[SummaryEdit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def apply_edit(self, name: SummaryField, *, old: str = "", new: str = "", reason: str = "") -> None:
        """Apply an edit and record it, unless it changes nothing."""
        edit = SummaryEdit(field=name, old=old, new=new, reason=reason)
        after = apply_edits(self.summary, [edit])
        if after != self.summary:
            self.summary = after
            self.edits.append(edit)


def merge_proposal(summary: Summary, proposal: SummaryProposal, turn: int) -> SummaryBuilder:
    """Merge the proposal of a turn into a summary."""
    builder = SummaryBuilder(summary, turn)
    for revision in proposal.revisions[:MAX_ITEMS_PER_UPDATE]:
        _apply_revision(builder, revision)
    _update_excluded(builder, proposal)
    for name in ("constraints", "needs", "facts"):
        for item in getattr(proposal, name)[:MAX_ITEMS_PER_UPDATE]:
            _add_item(builder, name, item)
    _update_questions(builder, proposal)
    _set_field(builder, "topic", proposal.topic, "the talk has turned to it")
    _set_conclusion(builder, proposal.conclusion)
    if proposal.talk is not None and proposal.talk != summary.talk:
        builder.apply_edit(
            "talk", old=summary.talk, new=proposal.talk, reason="what was said is of this kind"
        )
    for item in proposal.discussed[:MAX_ITEMS_PER_UPDATE]:
        _add_discussed(builder, item)
    for name in (*CONFIRMED_FIELDS, "excluded", "to_clarify", "discussed"):
        _trim_field(builder, name)
    return builder


def filter_proposal(
    proposal: SummaryProposal, summary: Summary, turns: Sequence[Turn]
) -> tuple[SummaryProposal, list[str]]:
    """Remove invented and repeated items from a model's proposal.

    Needs, constraints and exclusions must come from the user; facts and conclusions from either side.

    Returns:
        The remaining proposal, and a message for each refused item.
    """
    user_text = "\n".join(turn.query for turn in turns)
    all_text = "\n".join(turn.text for turn in turns)
    known = (*summary.needs, *summary.constraints, *summary.facts)
    refused: list[str] = []

    def is_grounded(item: str, text: str) -> bool:
        item_terms = set(extract_terms(item))
        if item_terms and len(item_terms & set(extract_terms(text))) / len(item_terms) >= MIN_GROUNDED_SHARE:
            return True
        refused.append(f"nobody said {truncate_to_line(item, 24)!r}")
        return False

    def new_items(items: Sequence[str], text: str) -> tuple[str, ...]:
        return tuple(
            item
            for item in items
            if max_term_overlap(item, known) < DUPLICATE_SHARE and is_grounded(item, text)
        )

    filtered = replace(
        proposal,
        topic=proposal.topic if proposal.topic and is_grounded(proposal.topic, all_text) else "",
        conclusion=proposal.conclusion
        if proposal.conclusion and is_grounded(proposal.conclusion, all_text)
        else "",
        needs=new_items(proposal.needs, user_text),
        constraints=new_items(proposal.constraints, user_text),
        facts=new_items(proposal.facts, all_text),
        to_clarify=tuple(
            item
            for item in proposal.to_clarify
            if max_term_overlap(item, summary.to_clarify) < DUPLICATE_SHARE
        ),
        excluded=tuple(item for item in proposal.excluded if is_grounded(item.option, user_text)),
        reopened=tuple(item for item in proposal.reopened if _is_reopened(user_text, item)),
        revisions=tuple(item for item in proposal.revisions if is_grounded(item.new, user_text)),
    )
    refused += [
        f"the user did not raise {item!r} again"
        for item in proposal.reopened
        if item not in filtered.reopened
    ]
    return filtered, refused


def _is_reopened(user_text: str, name: str) -> bool:
    """Return whether the user mentions an option in a sentence that is not about its exclusion."""
    for sentence in split_sentences(user_text):
        if name in Mentions(sentence.text) and not (
            find_rejections(sentence.text) or conversation_type.is_about_exclusion(sentence.text)
        ):
            return True
    return False


def _add_item(builder: SummaryBuilder, name: SummaryField, item: str) -> None:
    line = truncate_to_line(item)
    existing = (item for other in CONFIRMED_FIELDS for item in getattr(builder.summary, other))
    if normalise_item(line) and normalise_item(line) not in map(normalise_item, existing):
        builder.apply_edit(name, new=line)


def _apply_revision(builder: SummaryBuilder, revision: SummaryRevision) -> None:
    items: tuple[str, ...] = (
        getattr(builder.summary, revision.field) if revision.field in CONFIRMED_FIELDS else ()
    )
    old = next((item for item in items if normalise_item(item) == normalise_item(revision.old)), None)
    new = truncate_to_line(revision.new)
    if old is None or not normalise_item(new) or not revision.reason.strip():
        builder.problems.append(
            f"no such revision: {truncate_to_line(revision.old, 24)!r} of {revision.field}"
        )
        return
    builder.apply_edit(revision.field, old=old, new=new, reason=truncate_to_line(revision.reason))


def _update_excluded(builder: SummaryBuilder, proposal: SummaryProposal) -> None:
    newly_excluded = {normalise_item(extract_option_name(option.option)) for option in proposal.excluded}
    for name in proposal.reopened[:MAX_ITEMS_PER_UPDATE]:
        for excluded in builder.summary.excluded:
            if (
                normalise_item(excluded.option) == normalise_item(extract_option_name(name))
                and normalise_item(excluded.option) not in newly_excluded
            ):
                reason = f"the user raised it again in turn:{builder.turn}"
                builder.apply_edit("excluded", old=excluded.option, reason=reason)
    for option in proposal.excluded[:MAX_ITEMS_PER_UPDATE]:
        name, reason = (
            truncate_to_line(extract_option_name(option.option), 24),
            truncate_to_line(option.reason),
        )
        by_name = {normalise_item(excluded.option): excluded for excluded in builder.summary.excluded}
        known = by_name.get(normalise_item(name))
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
    """Replace the conclusion; the previous one moves to the discussed points."""
    before = builder.summary.conclusion
    if _set_field(builder, "conclusion", conclusion, "a newer conclusion") and before:
        _add_discussed(builder, before)


def _add_discussed(builder: SummaryBuilder, item: str) -> None:
    """Add a discussed point; one that comes up again moves to the end, because old ones are dropped first."""
    line = truncate_to_line(item)
    if not normalise_item(line):
        return
    for point in builder.summary.discussed:
        if normalise_item(point) == normalise_item(line):
            builder.apply_edit("discussed", old=point, reason="it came up again")
    builder.apply_edit("discussed", new=line)


def _trim_field(builder: SummaryBuilder, name: SummaryField) -> None:
    """Move the oldest items of a full field to the discussed points, and drop the oldest of those.

    Dropped items are not lost: their turns are in the memory bank, where recall finds them.
    """
    while (items := getattr(builder.summary, name)) and _is_over_limit(name, items):
        oldest = items[0]
        text = f"not {oldest.option}: {oldest.reason}" if isinstance(oldest, ExcludedOption) else oldest
        where = "the bank" if name == "discussed" else "what was discussed"
        builder.apply_edit(
            name,
            old=oldest.option if isinstance(oldest, ExcludedOption) else oldest,
            reason=f"no more room: it is in {where}",
        )
        if name != "discussed":
            _add_discussed(builder, text)


def _is_over_limit(name: SummaryField, items: Sequence[str | ExcludedOption]) -> bool:
    texts = [f"{item.option} {item.reason}" if isinstance(item, ExcludedOption) else item for item in items]
    return len(texts) > MAX_FIELD_ITEMS[name] or sum(map(count_tokens, texts)) > MAX_FIELD_TOKENS
