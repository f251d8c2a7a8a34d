"""Consolidation: merges thoughts that say the same, for example under two names of one person.

A turn's own thoughts are compared with what is known when they are planned (`plan`). Consolidation finds what
that cannot see: names that later turned out to mean one person. Presets that follow the TiM papers also let
the model merge and forget thoughts of a group (`organise`). Only one group is read and shown to the model, so
the cost does not grow with the space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from thinkback.errors import Conflict, NotFound
from thinkback.indexing import Indexer
from thinkback.language.names import normalise_name
from thinkback.language.relations import canonical_relation
from thinkback.protocols import Clock, Store
from thinkback.think.aliases import Aliases
from thinkback.think.comparison_keys import object_key
from thinkback.think.organise import LLMConsolidator, accept_proposals
from thinkback.think.plan import MAX_SOURCES, to_draft
from thinkback.types import EPISODIC_KINDS, SAME_AS, Action, Operation, Plan, Thought

MAX_SHOWN_THOUGHTS = 50  # of one group, the newest
DUPLICATES_ACTOR = "duplicates"


def is_consolidation_due(size: int) -> bool:
    """Return whether a group of this size is due: at 8, 16, 32, ..., so the total cost stays linear."""
    return size >= 8 and size & (size - 1) == 0


def merge_duplicates(thoughts: Iterable[Thought], aliases: Aliases) -> list[Operation]:
    """Merge thoughts with the same subject, relation, value and time into one with all their sources."""
    by_fact: dict[tuple[object, ...], list[Thought]] = {}
    for thought in thoughts:
        if thought.relation != SAME_AS and thought.current:
            by_fact.setdefault(_fact_key(thought, aliases), []).append(thought)
    return [_with_premises(_merge(same), same, aliases) for same in by_fact.values() if len(same) > 1]


def _fact_key(thought: Thought, aliases: Aliases) -> tuple[object, ...]:
    episodic = thought.kind in EPISODIC_KINDS
    return (
        normalise_name(aliases.primary_name(thought.subject)),
        canonical_relation(thought.relation),
        frozenset(map(object_key, thought.objects)),
        thought.negated,
        thought.valid_to,
        thought.valid_from if episodic else None,
    )


def _merge(thoughts: Sequence[Thought]) -> Operation:
    """One thought in place of several equal ones, in the newest wording, valid since the earliest start."""
    ordered = sorted(thoughts, key=lambda thought: (thought.last_turn, thought.id))
    sources = tuple(dict.fromkeys(source for thought in ordered for source in thought.sources))
    starts = [thought.valid_from for thought in ordered]
    return Operation(
        action="merge",
        reason="said twice",
        add=(
            replace(
                to_draft(ordered[-1]),
                sources=sources if len(sources) <= MAX_SOURCES else (sources[0], *sources[1 - MAX_SOURCES :]),
                valid_from=min((start for start in starts if start is not None), default=None),
            ),
        ),
        retire=tuple(thought.id for thought in ordered),
    )


def _with_premises(operation: Operation, thoughts: Iterable[Thought], aliases: Aliases) -> Operation:
    """Add the thoughts that joined the names as premises, if the operation concerns several names."""
    concerned = {*operation.retire, *operation.premises}
    names = {
        normalise_name(thought.subject): thought.subject for thought in thoughts if thought.id in concerned
    }
    linking = aliases.linking_ids(names.values()) if len(names) > 1 else ()
    premises = {*operation.premises, *linking} - {*operation.retire}
    return replace(operation, premises=tuple(sorted(premises)))


class Consolidator:
    """Consolidates groups and applies the resulting operations to the store."""

    def __init__(self, store: Store, indexer: Indexer, model: LLMConsolidator | None, clock: Clock) -> None:
        self._store = store
        self._indexer = indexer
        self._model = model
        self._clock = clock

    def consolidate_group(self, space: str, group: int) -> list[Action]:
        """Merge the duplicates of one group, then organise it with the model if there is one.

        Raises:
            ModelError: the model failed; merged duplicates stay merged.
        """
        aliases = Aliases.from_thoughts(self._store.thoughts(space, kind="relationship"))
        thoughts = self._store.thoughts(space, group=group)
        actions = self._apply(space, DUPLICATES_ACTOR, merge_duplicates(thoughts, aliases))
        if self._model is not None:
            actions += self._organise(space, group, self._model, aliases)
        return actions

    def consolidate_all(self, space: str, progress: Callable[[int, int], None] | None = None) -> list[Action]:
        """Merge the duplicates of the whole space, then organise every group if there is a model."""
        self._indexer.index_pending(space)
        aliases = Aliases.from_thoughts(self._store.thoughts(space, kind="relationship"))
        duplicates = merge_duplicates(self._store.thoughts(space), aliases)
        actions = self._apply(space, DUPLICATES_ACTOR, duplicates)
        if self._model is None:
            return actions
        groups = [group for group, size in self._indexer.group_sizes(space).items() if size > 1]
        for count, group in enumerate(groups, start=1):
            actions += self._organise(space, group, self._model, aliases)
            if progress:
                progress(count, len(groups))
        return actions

    def _organise(self, space: str, group: int, model: LLMConsolidator, aliases: Aliases) -> list[Action]:
        """Let the model merge, then forget; each step reads the group again."""
        actions: list[Action] = []
        for propose in (model.propose_merges, model.propose_forgets):
            thoughts = self._store.thoughts(space, group=group)
            shown = [thought for thought in thoughts if thought.search_text][-MAX_SHOWN_THOUGHTS:]
            if len(shown) > 1:
                operations = accept_proposals(propose(shown), shown, aliases)
                actions += self._apply(
                    space, model.name, [_with_premises(operation, shown, aliases) for operation in operations]
                )
        return actions

    def _apply(self, space: str, actor: str, operations: Sequence[Operation]) -> list[Action]:
        """Apply all operations in one transaction, or one by one if a thought was changed meanwhile."""
        if not operations:
            return []
        plan = Plan(turn=None, lease="", actor=actor, operations=tuple(operations))
        entries, epoch = self._indexer.entries_for_plan(space, plan)
        try:
            return self._store.apply(space, plan, entries, self._clock(), epoch)
        except (Conflict, NotFound):
            if len(operations) == 1:
                return []  # the next consolidation tries again
            return [action for operation in operations for action in self._apply(space, actor, [operation])]
