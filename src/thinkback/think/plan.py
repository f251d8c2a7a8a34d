"""Plans the operations of a turn: which thoughts to insert, merge, supersede or forget.

This is TiM's Algorithm 1 with some deviations. Algorithm 1 lets a newer thought replace every older one with
the same subject and relation. Here:

- only single-valued relations are superseded; many-valued ones accumulate, and a merge keeps every object and
  every source;
- a denial retires exactly the objects it denies and is stored as a thought of its own, so hearing it twice
  changes nothing;
- events and dialogue are never merged;
- what the assistant says never retires what the user said.

All changes of one (subject, relation) form one Operation; undoing it restores the previous state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from thinkback.language.names import normalise_name
from thinkback.language.relation_templates import Relation
from thinkback.language.relations import canonical_relation, get_relation
from thinkback.language.sentence_builder import compose_sentence, sentence_language
from thinkback.protocols import Store
from thinkback.think.aliases import Aliases, is_role, with_aliases
from thinkback.think.comparison_keys import object_key, thought_key, value_slot
from thinkback.think.contradictions import contradicted_keys
from thinkback.think.entities import resolve_entities
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

PAST_STATE_GAP = timedelta(days=60)
"""A state that began this much before the current one is stored as past; otherwise it supersedes."""
PAST_RELATIONS = {"lives in": "lived in", "works at": "worked at"}
EVER_RELATIONS = {"has condition": "had condition"}
"""Relations about the present, and the relation that says whether it was ever so."""
FindExisting = Callable[[str, str], Sequence[Thought]]
"""(subject, relation) -> the current thoughts about the subject, under any of its names."""


def plan_operation(
    relation: Relation,
    drafts: Sequence[ThoughtDraft],
    existing: Sequence[Thought],
    at: datetime | None = None,
) -> Operation | None:
    """Plan the operation of one turn for one (subject, relation), or None if nothing changes.

    Args:
        relation: The relation of all drafts.
        drafts: The turn's drafts, in the order they were said.
        existing: The stored thoughts with the same subject and relation.
        at: The time of the turn; a superseding draft without a start is valid from then.
    """
    before = tuple(HeldThought(to_draft(thought), thought.id) for thought in existing if thought.current)
    held = before
    changes: list[StateChange] = []
    for draft in drafts:
        change = _consider_draft(relation, draft, held, at)
        held = change.held
        changes.append(change)
    add = tuple(item.draft for item in held if item.id is None)
    kept = {item.id for item in held}
    retire = tuple(item.id for item in before if item.id is not None and item.id not in kept)
    if not add and not retire:
        return None
    effective = [change for change in changes if change.action]
    return Operation(
        action=_overall_action(effective, retired=bool(retire)),
        reason="; ".join(dict.fromkeys(change.reason for change in effective)),
        add=add,
        retire=retire,
    )


def plan_consolidation(relation: Relation, thoughts: Sequence[Thought]) -> Operation | None:
    """Plan the consolidation of all current thoughts of one (subject, relation), or None.

    The thoughts are considered again in the order in which they were said. This resolves conflicts that were
    not visible before, for example between two names that turned out to mean one person.
    """
    ordered = sorted(
        (thought for thought in thoughts if thought.current),
        key=lambda thought: (thought.last_turn, thought.id),
    )
    held: tuple[HeldThought, ...] = ()
    changes: list[StateChange] = []
    thought_by_draft: dict[ThoughtDraft, Thought] = {}
    for thought in ordered:
        draft = to_draft(thought)
        if thought.kind not in EPISODIC_KINDS and thought.valid_to is None:
            draft = replace(draft, valid_from=None)  # open-ended facts may merge although they began apart
        thought_by_draft.setdefault(draft, thought)
        change = _consider_draft(relation, draft, held, thought.valid_from)
        held = change.held
        changes.append(change)
    kept = {thought_by_draft[item.draft].id for item in held if item.draft in thought_by_draft}
    retired = [thought for thought in ordered if thought.id not in kept]
    if not retired:
        return None
    since = max((thought.valid_from for thought in ordered if thought.valid_from is not None), default=None)
    effective = [change for change in changes if change.action not in (None, "insert")]
    add = (item.draft for item in held if item.draft not in thought_by_draft)
    return Operation(
        action=_overall_action(effective, retired=True),
        reason="; ".join(dict.fromkeys(change.reason for change in effective)) or "said twice",
        add=tuple(replace(draft, valid_from=draft.valid_from or since) for draft in add),
        retire=tuple(thought.id for thought in retired),
        ended_at=since,
        premises=tuple(sorted(kept)),
    )


def _overall_action(changes: Sequence[StateChange], *, retired: bool) -> ActionKind:
    """Return the action that describes the whole operation; without retired thoughts it is an insert."""
    actions = {change.action for change in changes}
    if not retired:
        return "insert"
    return "forget" if "forget" in actions else "supersede" if "supersede" in actions else "merge"


def _consider_draft(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...], at: datetime | None
) -> StateChange:
    """Apply one draft to the thoughts held true for its (subject, relation)."""
    if isinstance(draft, Amendment):
        return apply_amendment(draft, held, at)
    if not draft.negated and draft.kind in EPISODIC_KINDS:
        return _consider_episode(draft, held)
    changeable, protected = _split_by_authority(draft, held)
    if _is_overruled(relation, draft, protected):
        return StateChange(held)
    known = object_keys(item.draft.objects for item in protected if item.draft.negated == draft.negated)
    if shares_object(draft, known):
        draft = rebuild_sentence(without_objects(draft, known))
    if not draft.objects:
        return StateChange(held)
    changeable, contradicted = _remove_contradicted(draft, changeable)
    single = relation.single_valued and not draft.negated
    change = (
        _update_single_valued(relation, draft, changeable, at)
        if single
        else _update_many_valued(relation, draft, changeable)
    )
    if contradicted:
        verb = "denies" if draft.negated else "affirms, against"
        change = StateChange(
            change.held, "forget", f"{turn_label(draft)} {verb} {' and '.join(contradicted)}"
        )
    return StateChange((*protected, *change.held), change.action, change.reason)


def _is_overruled(relation: Relation, draft: ThoughtDraft, protected: tuple[HeldThought, ...]) -> bool:
    """Return whether the protected thoughts already say otherwise."""
    if any(
        item.draft.negated != draft.negated and shares_object(draft, object_keys([item.draft.objects]))
        for item in protected
    ):
        return True
    return relation.single_valued and not draft.negated and any(not item.draft.negated for item in protected)


def _consider_episode(draft: ThoughtDraft, held: tuple[HeldThought, ...]) -> StateChange:
    """Add an event unless the same event is known; it retires denials such as "never"."""
    held, contradicted = _remove_contradicted(draft, held)
    if contradicted:
        reason = f"{turn_label(draft)} affirms, against {' and '.join(contradicted)}"
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
    """Split the held thoughts into those the draft may change and those it may not.

    A draft from the assistant's side may not change what the user said.
    """
    if any(source.side == "query" for source in draft.sources):
        return held, ()
    protected = tuple(item for item in held if any(source.side == "query" for source in item.draft.sources))
    return tuple(item for item in held if item not in protected), protected


def _remove_contradicted(
    draft: ThoughtDraft, held: tuple[HeldThought, ...]
) -> tuple[tuple[HeldThought, ...], list[str]]:
    """Remove the objects that the draft contradicts; also return the sentences that were contradicted."""
    remaining: list[HeldThought] = []
    contradicted: list[str] = []
    for item in held:
        opposite = item.draft.negated != draft.negated and item.draft.kind not in EPISODIC_KINDS
        removed = contradicted_keys(draft, item.draft) if opposite else set()
        if not removed:
            remaining.append(item)
            continue
        contradicted.append(f'"{item.draft.sentence}"')
        remainder = without_objects(item.draft, removed)
        if remainder.objects:
            remaining.append(HeldThought(rebuild_sentence(replace(remainder, valid_from=None))))
    return tuple(remaining), contradicted


def _update_single_valued(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...], at: datetime | None
) -> StateChange:
    """Update a single-valued relation: the same value is a duplicate, another value supersedes."""
    rivals = [item for item in held if not item.draft.negated and _validity_overlaps(draft, item.draft)]
    if any(object_keys([item.draft.objects]) == object_keys([draft.objects]) for item in rivals):
        return StateChange(held)
    if any(item.draft.last_turn > draft.last_turn for item in rivals):
        return StateChange(held)  # this turn is processed late: newer statements stay
    if any(_is_long_before(draft, item.draft) for item in rivals):
        return _keep_as_past(draft, held)
    if not rivals:
        return StateChange((*held, HeldThought(draft)), "insert", f"new: {turn_label(draft)}")
    others = tuple(item for item in held if item not in rivals)
    dated = draft if draft.valid_from else replace(draft, valid_from=at)
    reason = f"{relation.name} holds one value; newer: {turn_label(draft)}"
    return StateChange((*others, HeldThought(dated)), "supersede", reason)


def _is_long_before(draft: ThoughtDraft, held: ThoughtDraft) -> bool:
    """Return whether the draft is about a clearly earlier time ("in 2010") than the held thought."""
    if draft.latest_start is None or held.valid_from is None:
        return False
    return draft.latest_start + PAST_STATE_GAP <= held.valid_from


def _keep_as_past(draft: ThoughtDraft, held: tuple[HeldThought, ...]) -> StateChange:
    """Store a former state under the past relation if there is one ("lived in"), else ignore the draft."""
    past_relation = get_relation(PAST_RELATIONS.get(draft.relation, draft.relation))
    if past_relation.name == draft.relation:
        return StateChange(held)
    sentence = compose_sentence(
        draft.subject, past_relation.name, draft.objects, lang=sentence_language(draft.sentence)
    )
    past = replace(draft, relation=past_relation.name, kind=past_relation.kind, sentence=sentence)
    return StateChange((*held, HeldThought(past)), "insert", f"of an earlier time: {turn_label(draft)}")


def _update_many_valued(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...]
) -> StateChange:
    """Update a many-valued relation: new objects join those of the same polarity and validity."""
    held, replaced = _remove_outdated(relation, draft, held)
    peers = [item for item in held if item.draft.negated == draft.negated]
    new = without_objects(draft, object_keys(item.draft.objects for item in peers))
    if not new.objects:
        return StateChange(held)
    mergeable = [item for item in peers if _can_merge(draft, item.draft)]
    if not mergeable:
        addition = HeldThought(new if new == draft else rebuild_sentence(new))
        reason = (
            f"{turn_label(draft)} brings {', '.join(replaced)} up to date"
            if replaced
            else f"new: {turn_label(draft)}"
        )
        return StateChange((*held, addition), "supersede" if replaced else "insert", reason)
    joined = merge_drafts([*(item.draft for item in mergeable), new])
    others = tuple(item for item in held if item not in mergeable)
    reason = f"{relation.name} holds many values; {turn_label(draft)} adds {new.object}"
    if replaced:
        reason = f"{turn_label(draft)} brings {', '.join(replaced)} up to date"
    return StateChange((*others, HeldThought(joined)), "supersede" if replaced else "merge", reason)


def _remove_outdated(
    relation: Relation, draft: ThoughtDraft, held: tuple[HeldThought, ...]
) -> tuple[tuple[HeldThought, ...], list[str]]:
    """Remove objects for which the draft gives a newer count, dose or choice; also return these objects."""
    slots = {value_slot(relation.name, value) for value in draft.objects} - {""}
    if draft.negated or not slots:
        return held, []
    draft_keys = object_keys([draft.objects])
    remaining: list[HeldThought] = []
    replaced: list[str] = []
    for item in held:
        old = item.draft
        replaceable = not old.negated and old.last_turn <= draft.last_turn
        removed = {
            object_key(value)
            for value in old.objects
            if replaceable
            and value_slot(relation.name, value) in slots
            and object_key(value) not in draft_keys
        }
        reduced = without_objects(old, removed) if removed else old
        replaced += [value for value in old.objects if object_key(value) in removed]
        if reduced is old:
            remaining.append(item)
        elif reduced.objects:
            remaining.append(HeldThought(rebuild_sentence(reduced)))
    return tuple(remaining), replaced


def _can_merge(draft: ThoughtDraft, held: ThoughtDraft) -> bool:
    """Return whether a draft can be merged into a held thought.

    A fact without a time joins any open-ended one; a fact with a time only joins one with the same time.
    """
    if draft.relation == SAME_AS:
        return False  # aliases are decided, and undone, name by name
    if len({is_negated_value(item) for item in (*draft.objects, *held.objects)}) > 1:
        return False  # "no pets" and "a car" do not fit in one sentence
    same_start = draft.valid_from is None or held.valid_from == draft.valid_from
    return same_start and held.valid_to == draft.valid_to and held.kind not in EPISODIC_KINDS


def _validity_overlaps(one: ThoughtDraft, other: ThoughtDraft) -> bool:
    """Return whether two thoughts can be true at the same time; a missing bound is unlimited."""
    ends_first = one.valid_to and other.valid_from and one.valid_to <= other.valid_from
    starts_last = one.valid_from and other.valid_to and other.valid_to <= one.valid_from
    return not (ends_first or starts_last)


def plan_operations(
    drafts: Sequence[ThoughtDraft], find_existing: FindExisting, *, at: datetime | None = None
) -> tuple[Operation, ...]:
    """Plan the operations of all drafts of a turn, at most one per (subject, relation), in order of mention.

    Thoughts that `find_existing` returns for another relation are ignored. `at` is the time of the turn.
    """
    by_key: dict[tuple[str, str], list[ThoughtDraft]] = {}
    for draft in drafts:
        if draft.objects:
            canonical = replace(draft, relation=canonical_relation(draft.relation))
            by_key.setdefault(thought_key(draft.subject, draft.relation), []).append(canonical)
    operations: list[Operation] = []
    for key, key_drafts in by_key.items():
        existing = [
            thought
            for thought in find_existing(key_drafts[0].subject, key[1])
            if canonical_relation(thought.relation) == key[1]
        ]
        operation = plan_operation(get_relation(key[1]), key_drafts, existing, at)
        if operation is not None:
            operations.append(replace(operation, actor=_operation_actor(operation, key_drafts)))
    operations += [
        operation
        for key_drafts in by_key.values()
        for operation in _retire_refuted_denials(key_drafts, find_existing, by_key)
    ]
    return tuple(operations)


def _retire_refuted_denials(
    drafts: Sequence[ThoughtDraft],
    find_existing: FindExisting,
    planned_keys: Mapping[tuple[str, str], object],
) -> Iterator[Operation]:
    """Forget "never had" thoughts that the drafts refute: who has a condition has had it."""
    ever_relation = EVER_RELATIONS.get(drafts[0].relation, "")
    if not ever_relation or thought_key(drafts[0].subject, ever_relation) in planned_keys:
        return
    for old in find_existing(drafts[0].subject, ever_relation):
        refuting = [
            draft for draft in drafts if not draft.negated and contradicted_keys(draft, to_draft(old))
        ]
        if old.negated and refuting:
            reason = f'{turn_label(refuting[-1])} affirms, against "{old.sentence}"'
            yield Operation(action="forget", reason=reason, retire=(old.id,), actor=_makers_of(refuting))


def _operation_actor(operation: Operation, drafts: Sequence[ThoughtDraft]) -> str:
    """Return who made the drafts of an operation; if it only retires, who made any of the drafts."""
    sources = {source for draft in operation.add for source in draft.sources}
    return _makers_of([draft for draft in drafts if not sources.isdisjoint(draft.sources)] or drafts)


def _makers_of(drafts: Sequence[ThoughtDraft]) -> str:
    return " + ".join(dict.fromkeys(draft.made_by for draft in drafts if draft.made_by))


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """The operations of one turn."""

    operations: tuple[Operation, ...] = ()

    @property
    def joined_subjects(self) -> list[str]:
        """Subjects that got another name in this turn; older thoughts under both names may conflict."""
        new = (draft for operation in self.operations for draft in operation.add)
        return [draft.subject for draft in new if draft.relation == SAME_AS and not draft.negated]


@dataclass(frozen=True, slots=True)
class TurnPlanner:
    """Plans the operations of a turn against the thoughts in the store (TiM (ACL), Eq. 5)."""

    store: Store

    def plan_turn(self, space: str, turn: Turn, drafts: Sequence[ThoughtDraft]) -> PlannedTurn:
        """Resolve the people the drafts are about, then plan operations against all their thoughts.

        Existing thoughts are found by subject and relation in the whole space, not in one group, because an
        update often hashes into another group than the thought it replaces.
        """
        if not drafts:
            return PlannedTurn()
        relationships = self.store.thoughts(space, kind="relationship")
        resolved, aliases = resolve_entities(
            turn, drafts, Aliases.from_thoughts(relationships), partial(self.store.subject_names, space)
        )

        def find_existing(subject: str, relation: str) -> list[Thought]:
            find = partial(self.store.thoughts, space, relation=relation)
            thoughts = [thought for name in aliases.names_of(subject) for thought in find(subject=name)]
            return sorted(thoughts, key=lambda thought: thought.id)

        operations = plan_operations(resolved, find_existing, at=turn.at)
        return PlannedTurn(
            _add_evidence(
                tuple(_add_aliases(operation, aliases) for operation in operations), aliases, relationships
            )
        )


def _add_aliases(operation: Operation, aliases: Aliases) -> Operation:
    """Add the aliases of the subject to new sentences, so that each can be found and understood alone."""
    return replace(operation, add=tuple(with_aliases(draft, aliases) for draft in operation.add))


def _add_evidence(
    operations: tuple[Operation, ...], aliases: Aliases, relationships: Sequence[Thought]
) -> tuple[Operation, ...]:
    """Add the thoughts that identify the subject (aliases and roles) to each operation as premises."""
    retired = {thought_id for operation in operations for thought_id in operation.retire}
    current = [thought for thought in relationships if thought.id not in retired]

    def premises_of(operation: Operation) -> tuple[int, ...]:
        names = [draft.subject for draft in operation.add]
        joined = {normalise_name(draft.subject) for draft in operation.add if draft.relation == SAME_AS}
        roles = filter(is_role, current) if joined else ()
        role_ids = (
            thought.id for thought in roles if not joined.isdisjoint(map(normalise_name, thought.objects))
        )
        return tuple(sorted({*aliases.evidence_ids(names, current), *role_ids}))

    return tuple(replace(operation, premises=premises_of(operation)) for operation in operations)
