"""Plan the operations of one turn: compare its drafts with the stored thoughts and decide what to insert, merge, supersede or forget (TiM, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from thinkback.language.names import normalise_name
from thinkback.language.phrasing import compose_sentence, sentence_language
from thinkback.language.relation_table import Relation
from thinkback.language.relations import canonical_relation, get_relation
from thinkback.protocols import Store
from thinkback.think.aliases import Aliases, is_role, with_aliases
from thinkback.think.contradictions import contradicted_keys
from thinkback.think.entities import resolve_entities
from thinkback.think.slots import object_key, thought_key, value_slot
from thinkback.think.state import (
    EPISODIC_KINDS,
    Amendment,
    HeldThought,
    StateChange,
    apply_amendment,
    is_negated_value,
    merge_drafts,
    object_keys,
    rebuild_sentence,
    shares_object,
    to_draft,
    turn_label,
    without_objects,
)
from thinkback.types import SAME_AS, ActionKind, Operation, Thought, ThoughtDraft, Turn

PAST_STATE_GAP = timedelta(days=60)  # less, and the newer word counts: "I moved last week"
PAST_RELATIONS = {"lives in": "lived in", "works at": "worked at"}


def plan_operation(
    relation: Relation,
    drafts: Sequence[ThoughtDraft],
    existing: Sequence[Thought],
    at: datetime | None = None,
) -> Operation | None:
    """One turn's drafts for one (subject, relation), in order, against what is held: a Change or none."""
    before = tuple(HeldThought(to_draft(thought), thought.id) for thought in existing if thought.current)
    held = before
    verdicts: list[StateChange] = []
    for draft in drafts:
        verdict = _consider_draft(relation, draft, held, at)
        held = verdict.held
        verdicts.append(verdict)
    add = tuple(item.draft for item in held if item.id is None)
    kept = {item.id for item in held}
    retire = tuple(item.id for item in before if item.id is not None and item.id not in kept)
    if not add and not retire:
        return None
    told = [verdict for verdict in verdicts if verdict.action]
    return Operation(
        action=_overall_action(told, retired=bool(retire)),
        reason="; ".join(dict.fromkeys(v.reason for v in told)),
        add=add,
        retire=retire,
    )


def plan_consolidation(relation: Relation, thoughts: Sequence[Thought]) -> Operation | None:
    """All current thoughts of one (subject, relation) against each other, as if told again in order.

    So two names that turn out to be one's, or a duplicate of an undone merge, are put in order later.
    """
    told = sorted((t for t in thoughts if t.current), key=lambda t: (t.last_turn, t.id))
    held: tuple[HeldThought, ...] = ()
    verdicts: list[StateChange] = []
    own: dict[ThoughtDraft, Thought] = {}
    for thought in told:
        draft = to_draft(thought)
        if thought.kind not in EPISODIC_KINDS and thought.valid_to is None:
            draft = replace(draft, valid_from=None)  # open-ended: it may join what began at another time
        own.setdefault(draft, thought)
        verdict = _consider_draft(relation, draft, held, thought.valid_from)
        held = verdict.held
        verdicts.append(verdict)
    kept = {own[item.draft].id for item in held if item.draft in own}
    retired = [thought for thought in told if thought.id not in kept]
    if not retired:
        return None
    since = max((t.valid_from for t in told if t.valid_from is not None), default=None)
    changed = [verdict for verdict in verdicts if verdict.action not in (None, "insert")]
    add = (item.draft for item in held if item.draft not in own)
    return Operation(
        action=_overall_action(changed, retired=True),
        reason="; ".join(dict.fromkeys(v.reason for v in changed)) or "said twice",
        add=tuple(replace(draft, valid_from=draft.valid_from or since) for draft in add),
        retire=tuple(thought.id for thought in retired),
        ended_at=since,
        premises=tuple(sorted(kept)),
    )


def _overall_action(verdicts: Sequence[StateChange], *, retired: bool) -> ActionKind:
    """The action that names the whole change; what retired nothing in the store is an insert."""
    actions = {verdict.action for verdict in verdicts}
    if not retired:
        return "insert"
    return "forget" if "forget" in actions else "supersede" if "supersede" in actions else "merge"


def _consider_draft(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...], at: datetime | None
) -> StateChange:
    if isinstance(draft, Amendment):
        return apply_amendment(draft, held, at)
    if not draft.negated and draft.kind in EPISODIC_KINDS:
        return _consider_episode(draft, held)
    mine, above = _split_by_authority(draft, held)
    if _is_overruled(relation, draft, above):
        return StateChange(held)
    known = object_keys(h.draft.objects for h in above if h.draft.negated == draft.negated)
    if shares_object(draft, known):
        draft = rebuild_sentence(without_objects(draft, known))
    if not draft.objects:
        return StateChange(held)
    mine, denied = _remove_contradicted(draft, mine)
    single = relation.single_valued and not draft.negated
    verdict = (
        _update_single_valued(relation, draft, mine, at)
        if single
        else _update_many_valued(relation, draft, mine)
    )
    if denied:
        verb = "denies" if draft.negated else "affirms, against"
        verdict = StateChange(verdict.held, "forget", f"{turn_label(draft)} {verb} {' and '.join(denied)}")
    return StateChange((*above, *verdict.held), verdict.action, verdict.reason)


def _is_overruled(relation: Relation, draft: ThoughtDraft, protected: tuple[HeldThought, ...]) -> bool:
    """Whether what stands above the draft already says otherwise."""
    if any(
        h.draft.negated != draft.negated and shares_object(draft, object_keys([h.draft.objects]))
        for h in protected
    ):
        return True
    return relation.single_valued and not draft.negated and any(not h.draft.negated for h in protected)


def _consider_episode(draft: ThoughtDraft, held: tuple[HeldThought, ...]) -> StateChange:
    """What happened stands by itself; only the very same happening is a duplicate, and "never" is refuted."""
    held, denied = _remove_contradicted(draft, held)
    if denied:
        reason = f"{turn_label(draft)} affirms, against {' and '.join(denied)}"
        return StateChange((*held, HeldThought(draft)), "forget", reason)
    for item in held:
        same_time = (item.draft.valid_from, item.draft.valid_to) == (draft.valid_from, draft.valid_to)
        if (
            same_time
            and not item.draft.negated
            and not without_objects(draft, object_keys([item.draft.objects])).objects
        ):
            return StateChange(held)
    return StateChange((*held, HeldThought(draft)), "insert", f"new: {turn_label(draft)}")


def _split_by_authority(
    draft: ThoughtDraft, held: tuple[HeldThought, ...]
) -> tuple[tuple[HeldThought, ...], tuple[HeldThought, ...]]:
    """(what this draft may change, what stands above it): the assistant may not touch the user's word."""
    if any(source.side == "query" for source in draft.sources):
        return held, ()
    above = tuple(h for h in held if any(source.side == "query" for source in h.draft.sources))
    return tuple(h for h in held if h not in above), above


def _remove_contradicted(
    draft: ThoughtDraft, held: tuple[HeldThought, ...]
) -> tuple[tuple[HeldThought, ...], list[str]]:
    """Take the draft's objects out of the thoughts of opposite sign; what is left of them stays."""
    rest: list[HeldThought] = []
    denials: list[str] = []
    for item in held:
        opposite = item.draft.negated != draft.negated and item.draft.kind not in EPISODIC_KINDS
        gone = contradicted_keys(draft, item.draft) if opposite else set()
        if not gone:
            rest.append(item)
            continue
        denials.append(f'"{item.draft.sentence}"')
        remainder = without_objects(item.draft, gone)
        if remainder.objects:
            rest.append(HeldThought(rebuild_sentence(replace(remainder, valid_from=None))))
    return tuple(rest), denials


def _update_single_valued(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...], at: datetime | None
) -> StateChange:
    """A relation of one value: the same value is a duplicate, another one supersedes."""
    rivals = [h for h in held if not h.draft.negated and _validity_overlaps(draft, h.draft)]
    if any(object_keys([h.draft.objects]) == object_keys([draft.objects]) for h in rivals):
        return StateChange(held)
    if any(h.draft.last_turn > draft.last_turn for h in rivals):
        return StateChange(held)  # thought over late: what was said since stands
    if any(_is_long_before(draft, h.draft) for h in rivals):
        return _keep_as_past(draft, held)
    if not rivals:
        return StateChange((*held, HeldThought(draft)), "insert", f"new: {turn_label(draft)}")
    rest = tuple(h for h in held if h not in rivals)
    dated = draft if draft.valid_from else replace(draft, valid_from=at)
    reason = f"{relation.name} holds one value; newer: {turn_label(draft)}"
    return StateChange((*rest, HeldThought(dated)), "supersede", reason)


def _is_long_before(draft: ThoughtDraft, held: ThoughtDraft) -> bool:
    """Whether a draft tells of an earlier time than that at which the held thought was so: "in 2010"."""
    if draft.latest_start is None or held.valid_from is None:
        return False
    return draft.latest_start + PAST_STATE_GAP <= held.valid_from


def _keep_as_past(draft: ThoughtDraft, held: tuple[HeldThought, ...]) -> StateChange:
    """What was so before what is so now: it becomes past where that can be said, else stays in the bank."""
    was = get_relation(PAST_RELATIONS.get(draft.relation, draft.relation))
    if was.name == draft.relation:
        return StateChange(held)
    sentence = compose_sentence(
        draft.subject, was.name, draft.objects, lang=sentence_language(draft.sentence)
    )
    past = replace(draft, relation=was.name, kind=was.kind, sentence=sentence)
    return StateChange((*held, HeldThought(past)), "insert", f"of an earlier time: {turn_label(draft)}")


def _update_many_valued(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...]
) -> StateChange:
    """A relation of many values: new objects join those of the same sign and the same validity."""
    held, replaced = _remove_outdated(relation, draft, held)
    peers = [h for h in held if h.draft.negated == draft.negated]
    new = without_objects(draft, object_keys(h.draft.objects for h in peers))
    if not new.objects:
        return StateChange(held)
    alike = [h for h in peers if _can_merge(draft, h.draft)]
    if not alike:
        said = HeldThought(new if new == draft else rebuild_sentence(new))
        reason = (
            f"{turn_label(draft)} brings {', '.join(replaced)} up to date"
            if replaced
            else f"new: {turn_label(draft)}"
        )
        return StateChange((*held, said), "supersede" if replaced else "insert", reason)
    joined = merge_drafts([*(h.draft for h in alike), new])
    rest = tuple(h for h in held if h not in alike)
    reason = f"{relation.name} holds many values; {turn_label(draft)} adds {new.object}"
    if replaced:
        reason = f"{turn_label(draft)} brings {', '.join(replaced)} up to date"
    return StateChange((*rest, HeldThought(joined)), "supersede" if replaced else "merge", reason)


def _remove_outdated(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...]
) -> tuple[tuple[HeldThought, ...], list[str]]:
    """Held thoughts without the objects that the draft brings up to date: another count, dose or choice."""
    respects = {value_slot(relation.name, o) for o in draft.objects} - {""}
    if draft.negated or not respects:
        return held, []
    said = object_keys([draft.objects])
    rest: list[HeldThought] = []
    replaced: list[str] = []
    for item in held:
        old = item.draft
        mine = not old.negated and old.last_turn <= draft.last_turn
        gone = {
            object_key(o)
            for o in old.objects
            if mine and value_slot(relation.name, o) in respects and object_key(o) not in said
        }
        left = without_objects(old, gone) if gone else old
        replaced += [o for o in old.objects if object_key(o) in gone]
        if left is old:
            rest.append(item)
        elif left.objects:
            rest.append(HeldThought(rebuild_sentence(left)))
    return tuple(rest), replaced


def _can_merge(draft: ThoughtDraft, held: ThoughtDraft) -> bool:
    """An open-ended fact joins another from now on; one that names its time joins only its like.

    Who is who is decided name by name, and so undone. "no pets" and "a car" are told in two sentences.
    """
    if (
        draft.relation == SAME_AS
        or len({is_negated_value(item) for item in (*draft.objects, *held.objects)}) > 1
    ):
        return False
    same_start = draft.valid_from is None or held.valid_from == draft.valid_from
    return same_start and held.valid_to == draft.valid_to and held.kind not in EPISODIC_KINDS


def _validity_overlaps(one: ThoughtDraft, other: ThoughtDraft) -> bool:
    """Whether two thoughts can be true at the same time; an open end reaches for ever."""
    ends_first = one.valid_to and other.valid_from and one.valid_to <= other.valid_from
    starts_last = one.valid_from and other.valid_to and other.valid_to <= one.valid_from
    return not (ends_first or starts_last)


FindExisting = Callable[[str, str], Sequence[Thought]]
"""(subject, relation) -> the current thoughts of that subject, by any of its names, with that relation."""
EVER_RELATIONS = {"has condition": "had condition"}
"""What is so now, and the relation that tells whether it ever was."""


def plan_operations(
    drafts: Sequence[ThoughtDraft], find_existing: FindExisting, *, at: datetime | None = None
) -> tuple[Operation, ...]:
    """A Change a (subject, relation) at most, in the order first spoken of; `at` is the turn's time.

    A superseding draft that names no start is valid from `at`. A thought that `existing` returns for
    another relation is left alone: the guard does not trust its caller either.
    """
    keyed: dict[tuple[str, str], list[ThoughtDraft]] = {}
    for draft in drafts:
        if draft.objects:
            named = replace(draft, relation=canonical_relation(draft.relation))
            keyed.setdefault(thought_key(draft.subject, draft.relation), []).append(named)
    changes: list[Operation] = []
    for key, said in keyed.items():
        held = [t for t in find_existing(said[0].subject, key[1]) if canonical_relation(t.relation) == key[1]]
        change = plan_operation(get_relation(key[1]), said, held, at)
        if change is not None:
            changes.append(replace(change, actor=_operation_actor(change, said)))
    changes += [
        change for said in keyed.values() for change in _retire_refuted_denials(said, find_existing, keyed)
    ]
    return tuple(changes)


def _retire_refuted_denials(
    said: Sequence[ThoughtDraft], find_existing: FindExisting, keyed: Mapping[tuple[str, str], object]
) -> Iterator[Operation]:
    """Who has an illness has had it: what denied that it ever was goes, under its own relation."""
    ever = EVER_RELATIONS.get(said[0].relation, "")
    if not ever or thought_key(said[0].subject, ever) in keyed:
        return
    for old in find_existing(said[0].subject, ever):
        told = [draft for draft in said if not draft.negated and contradicted_keys(draft, to_draft(old))]
        if old.negated and told:
            reason = f'{turn_label(told[-1])} affirms, against "{old.sentence}"'
            yield Operation(action="forget", reason=reason, retire=(old.id,), actor=_makers_of(told))


def _operation_actor(change: Operation, said: Sequence[ThoughtDraft]) -> str:
    """The makers of the drafts that went into a change; of a bare retirement, of all that were said."""
    sources = {source for draft in change.add for source in draft.sources}
    return _makers_of([draft for draft in said if not sources.isdisjoint(draft.sources)] or said)


def _makers_of(told: Sequence[ThoughtDraft]) -> str:
    return " + ".join(dict.fromkeys(draft.made_by for draft in told if draft.made_by))


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """The changes of one turn, and whose names it joined."""

    operations: tuple[Operation, ...] = ()

    @property
    def joined_subjects(self) -> list[str]:
        """The subjects that turned out to have another name: older thoughts of both may disagree."""
        new = (draft for change in self.operations for draft in change.add)
        return [draft.subject for draft in new if draft.relation == SAME_AS and not draft.negated]


@dataclass(frozen=True, slots=True)
class TurnPlanner:
    store: Store

    def plan_turn(self, space: str, turn: Turn, drafts: Sequence[ThoughtDraft]) -> PlannedTurn:
        """Whom the drafts speak of, then what they change; candidates come from all names of a subject."""
        if not drafts:
            return PlannedTurn()
        known = self.store.thoughts(space, kind="relationship")
        about, circle = resolve_entities(
            turn, drafts, Aliases.from_thoughts(known), partial(self.store.subject_names, space)
        )

        def held(subject: str, relation: str) -> list[Thought]:
            of = partial(self.store.thoughts, space, relation=relation)
            found = [thought for name in circle.names_of(subject) for thought in of(subject=name)]
            return sorted(found, key=lambda thought: thought.id)

        changes = plan_operations(about, held, at=turn.at)
        return PlannedTurn(
            _add_evidence(tuple(_add_aliases(change, circle) for change in changes), circle, known)
        )


def _add_aliases(change: Operation, aliases: Aliases) -> Operation:
    """New thoughts say who their subject is, so that each can be found and understood by itself."""
    return replace(change, add=tuple(with_aliases(draft, aliases) for draft in change.add))


def _add_evidence(
    changes: tuple[Operation, ...], aliases: Aliases, known: Sequence[Thought]
) -> tuple[Operation, ...]:
    """The changes, each with the earlier thoughts that tell of whom it speaks: a name, or whose it is."""
    retired = {id_ for change in changes for id_ in change.retire}
    standing = [thought for thought in known if thought.id not in retired]

    def given(change: Operation) -> tuple[int, ...]:
        names = [draft.subject for draft in change.add]
        joined = {normalise_name(draft.subject) for draft in change.add if draft.relation == SAME_AS}
        roles = filter(is_role, standing) if joined else ()
        held = (each.id for each in roles if not joined.isdisjoint(map(normalise_name, each.objects)))
        return tuple(sorted({*aliases.evidence_ids(names, standing), *held}))

    return tuple(replace(change, premises=given(change)) for change in changes)
