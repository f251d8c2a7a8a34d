"""Merging a proposed update into a summary: it may add, and revise in the open; it cannot lose an item.

The original (seed 003) lets a model write the whole summary anew after each turn, so one bad reply loses all.
Here a reader proposes, and only these things happen: an item is added once; an item gives way to another that
names it and says why; an option is out with its reason, and in again only when the user raises it; a question
is settled; and where a field is full, its oldest item moves on. Every change is an edit of the journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from thinkback.text.sentences import sentences
from thinkback.text.tokens import count_tokens, terms
from thinkback.types import Edit, Excluded, Summary, SummaryField, Turn
from thinkback.working import cues
from thinkback.working.edits import applied
from thinkback.working.items import Named, covered, one_line, option, plain
from thinkback.working.rejections import rejections
from thinkback.working.types import CONFIRMED, Proposal, Revision

MOST_ITEMS: dict[SummaryField, int] = {
    "needs": 32,
    "constraints": 48,
    "excluded": 64,
    "facts": 64,
    "to_clarify": 8,
    "discussed": 64,
}
FIELD_TOKENS = 1600
GROUNDED = 0.5  # of an item's words must have been said, or a model made it up
REPEATED = 0.6  # of a model's words in one item we have: it says that item again
MANY = 32  # items of one field that one update may bring


@dataclass(slots=True)
class Merging:
    """A summary on its way: what it is by now, the edits that made it so, and what was refused."""

    summary: Summary
    turn: int
    edits: list[Edit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def edit(self, name: SummaryField, *, old: str = "", new: str = "", reason: str = "") -> None:
        change = Edit(field=name, old=old, new=new, reason=reason)
        after = applied(self.summary, [change])
        if after != self.summary:
            self.summary = after
            self.edits.append(change)


def merged(summary: Summary, proposal: Proposal, turn: int) -> Merging:
    """The summary with what is proposed of turn `turn`, and the edits that make it so."""
    merging = Merging(summary, turn)
    for revision in proposal.revisions[:MANY]:
        _revise(merging, revision)
    _exclude(merging, proposal)
    for name in ("constraints", "needs", "facts"):
        for item in getattr(proposal, name)[:MANY]:
            _add(merging, name, item)
    _clarify(merging, proposal)
    _set(merging, "topic", proposal.topic, "the talk has turned to it")
    _conclude(merging, proposal.conclusion)
    if proposal.talk is not None and proposal.talk != summary.talk:
        merging.edit("talk", old=summary.talk, new=proposal.talk, reason="what was said is of this kind")
    for item in proposal.discussed[:MANY]:
        _discuss(merging, item)
    for name in (*CONFIRMED, "excluded", "to_clarify", "discussed"):
        _make_room(merging, name)
    return merging


def guarded(proposal: Proposal, summary: Summary, turns: Sequence[Turn]) -> tuple[Proposal, list[str]]:
    """A model's proposal without what nobody said and what we have already; and what was refused, in words.

    Needs, constraints and exclusions must be the user's; a fact or a conclusion may be either side's.
    """
    user = "\n".join(turn.query for turn in turns)
    both = "\n".join(turn.text for turn in turns)
    known = (*summary.needs, *summary.constraints, *summary.facts)
    refused: list[str] = []

    def grounded(item: str, said: str) -> bool:
        wanted = set(terms(item))
        if wanted and len(wanted & set(terms(said))) / len(wanted) >= GROUNDED:
            return True
        refused.append(f"nobody said {one_line(item, 24)!r}")
        return False

    def new(items: Sequence[str], said: str) -> tuple[str, ...]:
        return tuple(item for item in items if covered(item, known) < REPEATED and grounded(item, said))

    kept = replace(
        proposal,
        topic=proposal.topic if proposal.topic and grounded(proposal.topic, both) else "",
        conclusion=proposal.conclusion if proposal.conclusion and grounded(proposal.conclusion, both) else "",
        needs=new(proposal.needs, user),
        constraints=new(proposal.constraints, user),
        facts=new(proposal.facts, both),
        to_clarify=tuple(
            item for item in proposal.to_clarify if covered(item, summary.to_clarify) < REPEATED
        ),
        excluded=tuple(each for each in proposal.excluded if grounded(each.option, user)),
        reopened=tuple(each for each in proposal.reopened if _raised(user, each)),
        revisions=tuple(each for each in proposal.revisions if grounded(each.new, user)),
    )
    refused += [
        f"the user did not raise {each!r} again" for each in proposal.reopened if each not in kept.reopened
    ]
    return kept, refused


def _raised(said: str, name: str) -> bool:
    """Whether the user speaks of an option in a sentence that is not about its being out."""
    for sentence in sentences(said):
        if name in Named(sentence.text) and not (
            rejections(sentence.text) or cues.about_exclusion(sentence.text)
        ):
            return True
    return False


def _add(merging: Merging, name: SummaryField, item: str) -> None:
    line = one_line(item)
    held = (item for other in CONFIRMED for item in getattr(merging.summary, other))
    if plain(line) and plain(line) not in map(plain, held):
        merging.edit(name, new=line)


def _revise(merging: Merging, revision: Revision) -> None:
    held: tuple[str, ...] = getattr(merging.summary, revision.field) if revision.field in CONFIRMED else ()
    old = next((item for item in held if plain(item) == plain(revision.old)), None)
    new = one_line(revision.new)
    if old is None or not plain(new) or not revision.reason.strip():
        merging.problems.append(f"no such revision: {one_line(revision.old, 24)!r} of {revision.field}")
        return
    merging.edit(revision.field, old=old, new=new, reason=one_line(revision.reason))


def _exclude(merging: Merging, proposal: Proposal) -> None:
    out = {plain(option(each.option)) for each in proposal.excluded}
    for name in proposal.reopened[:MANY]:
        for held in merging.summary.excluded:
            if plain(held.option) == plain(option(name)) and plain(held.option) not in out:
                reason = f"the user raised it again in turn:{merging.turn}"
                merging.edit("excluded", old=held.option, reason=reason)
    for each in proposal.excluded[:MANY]:
        name, reason = one_line(option(each.option), 24), one_line(each.reason)
        held_as = {plain(held.option): held for held in merging.summary.excluded}
        known = held_as.get(plain(name))
        if plain(name) and known is None:
            merging.edit("excluded", new=name, reason=reason)
        elif known is not None and reason and not known.reason:
            merging.edit("excluded", old=known.option, new=known.option, reason=reason)


def _clarify(merging: Merging, proposal: Proposal) -> None:
    settled = {plain(item) for item in proposal.settled}
    for item in merging.summary.to_clarify:
        if plain(item) in settled:
            merging.edit("to_clarify", old=item, reason=f"settled in turn:{merging.turn}")
    for item in proposal.to_clarify[:MANY]:
        line = one_line(item)
        if plain(line) and plain(line) not in map(plain, merging.summary.to_clarify):
            merging.edit("to_clarify", new=line)


def _set(merging: Merging, name: SummaryField, new: str, reason: str) -> bool:
    line, old = one_line(new), getattr(merging.summary, name)
    if not plain(line) or plain(line) == plain(old):
        return False
    merging.edit(name, old=old, new=line, reason=reason if old else "")
    return True


def _conclude(merging: Merging, conclusion: str) -> None:
    """A newer conclusion takes the place of the one before, which stays among what was discussed."""
    before = merging.summary.conclusion
    if _set(merging, "conclusion", conclusion, "a newer conclusion") and before:
        _discuss(merging, before)


def _discuss(merging: Merging, item: str) -> None:
    """A point that comes up again moves to the end: what was talked of last is kept longest."""
    line = one_line(item)
    if not plain(line):
        return
    for held in merging.summary.discussed:
        if plain(held) == plain(line):
            merging.edit("discussed", old=held, reason="it came up again")
    merging.edit("discussed", new=line)


def _make_room(merging: Merging, name: SummaryField) -> None:
    """The oldest items of a field that is full move on to what was discussed, and from there to the bank.

    Nothing is lost by that: the turn an item comes from is in the bank, and recall finds it.
    """
    while (held := getattr(merging.summary, name)) and _too_full(name, held):
        oldest = held[0]
        text = f"not {oldest.option}: {oldest.reason}" if isinstance(oldest, Excluded) else oldest
        where = "the bank" if name == "discussed" else "what was discussed"
        merging.edit(
            name,
            old=oldest.option if isinstance(oldest, Excluded) else oldest,
            reason=f"no more room: it is in {where}",
        )
        if name != "discussed":
            _discuss(merging, text)


def _too_full(name: SummaryField, held: Sequence[str | Excluded]) -> bool:
    texts = [f"{each.option} {each.reason}" if isinstance(each, Excluded) else each for each in held]
    return len(texts) > MOST_ITEMS[name] or sum(map(count_tokens, texts)) > FIELD_TOKENS
