"""The pure decision on one (subject, relation): Algorithm 1 of TiM 001, with the guard of design decision 7.

Algorithm 1 lets the newer thought replace any older one with the same subject and relation. We deviate:
only a single-valued relation is superseded; many-valued ones accumulate (merge keeps every object and every
source); a denial retires exactly the objects it denies and stays as a thought of its own, so that hearing it
twice changes nothing; what happened (events, dialogue) is never merged; the assistant's word retires nothing
that the user said. The decision is one Change: undoing it restores the key as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from thinkback.think.amendment import Amendment, amended
from thinkback.think.held import (
    EPISODIC,
    Held,
    Verdict,
    as_draft,
    keys,
    merged,
    resaid,
    says_no,
    shares,
    turn_of,
    without,
)
from thinkback.think.refute import contradicted
from thinkback.think.relations import relation_of
from thinkback.think.resolve import object_key, respect
from thinkback.think.sentence import compose, language_of
from thinkback.think.vocabulary import Relation
from thinkback.types import SAME, ActionKind, Change, Draft, Thought

LONG = timedelta(days=60)  # less, and the newer word counts: "I moved last week"
PAST = {"lives in": "lived in", "works at": "worked at"}


def validate(
    relation: Relation, drafts: Sequence[Draft], existing: Sequence[Thought], at: datetime | None = None
) -> Change | None:
    """One turn's drafts for one (subject, relation), in order, against what is held: a Change or none."""
    before = tuple(Held(as_draft(thought), thought.id) for thought in existing if thought.current)
    held = before
    verdicts: list[Verdict] = []
    for draft in drafts:
        verdict = _consider(relation, draft, held, at)
        held = verdict.held
        verdicts.append(verdict)
    add = tuple(item.draft for item in held if item.id is None)
    kept = {item.id for item in held}
    retire = tuple(item.id for item in before if item.id is not None and item.id not in kept)
    if not add and not retire:
        return None
    told = [verdict for verdict in verdicts if verdict.action]
    return Change(
        action=_weightiest(told, retired=bool(retire)),
        reason="; ".join(dict.fromkeys(v.reason for v in told)),
        add=add,
        retire=retire,
    )


def reconsider(relation: Relation, thoughts: Sequence[Thought]) -> Change | None:
    """All current thoughts of one (subject, relation) against each other, as if told again in order.

    So two names that turn out to be one's, or a duplicate of an undone merge, are put in order later.
    """
    told = sorted((t for t in thoughts if t.current), key=lambda t: (t.last_turn, t.id))
    held: tuple[Held, ...] = ()
    verdicts: list[Verdict] = []
    own: dict[Draft, Thought] = {}
    for thought in told:
        draft = as_draft(thought)
        if thought.kind not in EPISODIC and thought.valid_to is None:
            draft = replace(draft, valid_from=None)  # open-ended: it may join what began at another time
        own.setdefault(draft, thought)
        verdict = _consider(relation, draft, held, thought.valid_from)
        held = verdict.held
        verdicts.append(verdict)
    kept = {own[item.draft].id for item in held if item.draft in own}
    retired = [thought for thought in told if thought.id not in kept]
    if not retired:
        return None
    since = max((t.valid_from for t in told if t.valid_from is not None), default=None)
    changed = [verdict for verdict in verdicts if verdict.action not in (None, "insert")]
    add = (item.draft for item in held if item.draft not in own)
    return Change(
        action=_weightiest(changed, retired=True),
        reason="; ".join(dict.fromkeys(v.reason for v in changed)) or "said twice",
        add=tuple(replace(draft, valid_from=draft.valid_from or since) for draft in add),
        retire=tuple(thought.id for thought in retired),
        ended=since,
        given=tuple(sorted(kept)),
    )


def _weightiest(verdicts: Sequence[Verdict], *, retired: bool) -> ActionKind:
    """The action that names the whole change; what retired nothing in the store is an insert."""
    actions = {verdict.action for verdict in verdicts}
    if not retired:
        return "insert"
    return "forget" if "forget" in actions else "supersede" if "supersede" in actions else "merge"


def _consider(relation: Relation, draft: Draft, held: tuple[Held, ...], at: datetime | None) -> Verdict:
    if isinstance(draft, Amendment):
        return amended(draft, held, at)
    if not draft.negated and draft.kind in EPISODIC:
        return _episode(draft, held)
    mine, above = _by_trust(draft, held)
    if _outvoted(relation, draft, above):
        return Verdict(held)
    known = keys(h.draft.objects for h in above if h.draft.negated == draft.negated)
    if shares(draft, known):
        draft = resaid(without(draft, known))
    if not draft.objects:
        return Verdict(held)
    mine, denied = _deny(draft, mine)
    single = relation.single and not draft.negated
    verdict = _one(relation, draft, mine, at) if single else _many(relation, draft, mine)
    if denied:
        verb = "denies" if draft.negated else "affirms, against"
        verdict = Verdict(verdict.held, "forget", f"{turn_of(draft)} {verb} {' and '.join(denied)}")
    return Verdict((*above, *verdict.held), verdict.action, verdict.reason)


def _outvoted(relation: Relation, draft: Draft, above: tuple[Held, ...]) -> bool:
    """Whether what stands above the draft already says otherwise."""
    if any(h.draft.negated != draft.negated and shares(draft, keys([h.draft.objects])) for h in above):
        return True
    return relation.single and not draft.negated and any(not h.draft.negated for h in above)


def _episode(draft: Draft, held: tuple[Held, ...]) -> Verdict:
    """What happened stands by itself; only the very same happening is a duplicate, and "never" is refuted."""
    held, denied = _deny(draft, held)
    if denied:
        reason = f"{turn_of(draft)} affirms, against {' and '.join(denied)}"
        return Verdict((*held, Held(draft)), "forget", reason)
    for item in held:
        same_time = (item.draft.valid_from, item.draft.valid_to) == (draft.valid_from, draft.valid_to)
        if same_time and not item.draft.negated and not without(draft, keys([item.draft.objects])).objects:
            return Verdict(held)
    return Verdict((*held, Held(draft)), "insert", f"new: {turn_of(draft)}")


def _by_trust(draft: Draft, held: tuple[Held, ...]) -> tuple[tuple[Held, ...], tuple[Held, ...]]:
    """(what this draft may change, what stands above it): the assistant may not touch the user's word."""
    if any(source.side == "query" for source in draft.sources):
        return held, ()
    above = tuple(h for h in held if any(source.side == "query" for source in h.draft.sources))
    return tuple(h for h in held if h not in above), above


def _deny(draft: Draft, held: tuple[Held, ...]) -> tuple[tuple[Held, ...], list[str]]:
    """Take the draft's objects out of the thoughts of opposite sign; what is left of them stays."""
    rest: list[Held] = []
    denials: list[str] = []
    for item in held:
        opposite = item.draft.negated != draft.negated and item.draft.kind not in EPISODIC
        gone = contradicted(draft, item.draft) if opposite else set()
        if not gone:
            rest.append(item)
            continue
        denials.append(f'"{item.draft.sentence}"')
        remainder = without(item.draft, gone)
        if remainder.objects:
            rest.append(Held(resaid(replace(remainder, valid_from=None))))
    return tuple(rest), denials


def _one(relation: Relation, draft: Draft, held: tuple[Held, ...], at: datetime | None) -> Verdict:
    """A relation of one value: the same value is a duplicate, another one supersedes."""
    rivals = [h for h in held if not h.draft.negated and _overlap(draft, h.draft)]
    if any(keys([h.draft.objects]) == keys([draft.objects]) for h in rivals):
        return Verdict(held)
    if any(h.draft.last_turn > draft.last_turn for h in rivals):
        return Verdict(held)  # thought over late: what was said since stands
    if any(_long_before(draft, h.draft) for h in rivals):
        return _once(draft, held)
    if not rivals:
        return Verdict((*held, Held(draft)), "insert", f"new: {turn_of(draft)}")
    rest = tuple(h for h in held if h not in rivals)
    dated = draft if draft.valid_from else replace(draft, valid_from=at)
    reason = f"{relation.name} holds one value; newer: {turn_of(draft)}"
    return Verdict((*rest, Held(dated)), "supersede", reason)


def _long_before(draft: Draft, held: Draft) -> bool:
    """Whether a draft tells of an earlier time than that at which the held thought was so: "in 2010"."""
    if draft.began_by is None or held.valid_from is None:
        return False
    return draft.began_by + LONG <= held.valid_from


def _once(draft: Draft, held: tuple[Held, ...]) -> Verdict:
    """What was so before what is so now: it becomes past where that can be said, else stays in the bank."""
    was = relation_of(PAST.get(draft.relation, draft.relation))
    if was.name == draft.relation:
        return Verdict(held)
    sentence = compose(draft.subject, was.name, draft.objects, lang=language_of(draft.sentence))
    past = replace(draft, relation=was.name, kind=was.kind, sentence=sentence)
    return Verdict((*held, Held(past)), "insert", f"of an earlier time: {turn_of(draft)}")


def _many(relation: Relation, draft: Draft, held: tuple[Held, ...]) -> Verdict:
    """A relation of many values: new objects join those of the same sign and the same validity."""
    held, replaced = _outdated(relation, draft, held)
    peers = [h for h in held if h.draft.negated == draft.negated]
    new = without(draft, keys(h.draft.objects for h in peers))
    if not new.objects:
        return Verdict(held)
    alike = [h for h in peers if _mergeable(draft, h.draft)]
    if not alike:
        said = Held(new if new == draft else resaid(new))
        reason = (
            f"{turn_of(draft)} brings {', '.join(replaced)} up to date"
            if replaced
            else f"new: {turn_of(draft)}"
        )
        return Verdict((*held, said), "supersede" if replaced else "insert", reason)
    joined = merged([*(h.draft for h in alike), new])
    rest = tuple(h for h in held if h not in alike)
    reason = f"{relation.name} holds many values; {turn_of(draft)} adds {new.object}"
    if replaced:
        reason = f"{turn_of(draft)} brings {', '.join(replaced)} up to date"
    return Verdict((*rest, Held(joined)), "supersede" if replaced else "merge", reason)


def _outdated(relation: Relation, draft: Draft, held: tuple[Held, ...]) -> tuple[tuple[Held, ...], list[str]]:
    """Held thoughts without the objects that the draft brings up to date: another count, dose or choice."""
    respects = {respect(relation.name, o) for o in draft.objects} - {""}
    if draft.negated or not respects:
        return held, []
    said = keys([draft.objects])
    rest: list[Held] = []
    replaced: list[str] = []
    for item in held:
        old = item.draft
        mine = not old.negated and old.last_turn <= draft.last_turn
        gone = {
            object_key(o)
            for o in old.objects
            if mine and respect(relation.name, o) in respects and object_key(o) not in said
        }
        left = without(old, gone) if gone else old
        replaced += [o for o in old.objects if object_key(o) in gone]
        if left is old:
            rest.append(item)
        elif left.objects:
            rest.append(Held(resaid(left)))
    return tuple(rest), replaced


def _mergeable(draft: Draft, held: Draft) -> bool:
    """An open-ended fact joins another from now on; one that names its time joins only its like.

    Who is who is decided name by name, and so undone. "no pets" and "a car" are told in two sentences.
    """
    if draft.relation == SAME or len({says_no(item) for item in (*draft.objects, *held.objects)}) > 1:
        return False
    same_start = draft.valid_from is None or held.valid_from == draft.valid_from
    return same_start and held.valid_to == draft.valid_to and held.kind not in EPISODIC


def _overlap(one: Draft, other: Draft) -> bool:
    """Whether two thoughts can be true at the same time; an open end reaches for ever."""
    ends_first = one.valid_to and other.valid_from and one.valid_to <= other.valid_from
    starts_last = one.valid_from and other.valid_to and other.valid_to <= one.valid_from
    return not (ends_first or starts_last)
