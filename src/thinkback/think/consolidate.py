"""Consolidation of whole groups: merge duplicates and forget contradicted thoughts (TiM (ACL), Eq. 5).

A turn's own thoughts are planned when they are drafted (`plan`). Consolidation finds what that cannot see:
names that turned out to mean one person, and relations that only a model understands. It runs when a group
has grown. Only one group is read and shown to the model, so the cost does not grow with the space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from thinkback.errors import BadReply, Conflict, NotFound
from thinkback.indexing import Indexer
from thinkback.language.names import normalise_name
from thinkback.language.relations import canonical_relation, get_relation
from thinkback.language.writing_systems import clean_text
from thinkback.prompts import format_numbered, load_prompt
from thinkback.protocols import LLM, Clock, Store
from thinkback.think.aliases import Aliases, with_aliases
from thinkback.think.guard import ProposedForget, ProposedMerge, accept_proposals
from thinkback.think.plan import plan_consolidation
from thinkback.types import SAME_AS, Action, Message, Operation, Plan, Thought

if TYPE_CHECKING:
    from pydantic import BaseModel

    ReplyT = TypeVar("ReplyT", bound=BaseModel)

_PACKAGE = "thinkback.think"
MAX_REPLY_TOKENS = 512
MAX_REPLY_CHARACTERS = 100_000
MAX_SHOWN_THOUGHTS = 50  # of one group, the newest
RULES_ACTOR = "rules"


@dataclass(frozen=True, slots=True)
class LLMConsolidator:
    """Asks a model which thoughts of a group to merge or forget (TiM (ACL), Figures 8 and 9).

    It only proposes; `guard` decides. The model sees the thoughts numbered 1, 2, 3, because small models make
    mistakes when they copy long ids. An empty list is a normal result; an unreadable reply raises BadReply.
    """

    llm: LLM

    @property
    def name(self) -> str:
        merge, forget = load_prompt(_PACKAGE, "merge"), load_prompt(_PACKAGE, "forget")
        return f"{self.llm.name} merge@{merge.version}+forget@{forget.version}"

    def propose_merges(self, thoughts: Sequence[Thought]) -> list[ProposedMerge]:
        """Return proposals to merge thoughts that state the same relation of the same subject."""
        # Imported here: it needs pydantic, which would slow down `import thinkback`.
        from thinkback.think.prompts import MergeReply

        reply = self._ask("merge", thoughts, MergeReply)
        ids = _ids_by_number(thoughts)
        return [
            ProposedMerge(tuple(ids[number] for number in proposal.ids), clean_text(proposal.sentence))
            for proposal in reply.merges
            if set(proposal.ids) <= set(ids)
        ]

    def propose_forgets(self, thoughts: Sequence[Thought]) -> list[ProposedForget]:
        """Return proposals to forget thoughts that another thought contradicts."""
        from thinkback.think.prompts import ForgetReply

        reply = self._ask("forget", thoughts, ForgetReply)
        ids = _ids_by_number(thoughts)
        return [
            ProposedForget(ids[proposal.id], ids.get(proposal.against or 0), clean_text(proposal.reason))
            for proposal in reply.forget
            if proposal.id in ids
        ]

    def _ask(self, prompt: str, thoughts: Sequence[Thought], reply_type: type[ReplyT]) -> ReplyT:
        from pydantic import ValidationError

        listed = format_numbered(
            (number, thought.sentence) for number, thought in enumerate(thoughts, start=1)
        )
        messages = [Message("user", load_prompt(_PACKAGE, prompt).render(thoughts=listed))]
        reply = self.llm.complete(
            messages, schema=reply_type.model_json_schema(), max_tokens=MAX_REPLY_TOKENS
        )
        if len(reply.text) > MAX_REPLY_CHARACTERS:
            raise BadReply(f"{prompt}: the reply has {len(reply.text)} characters")
        try:
            return reply_type.model_validate_json(clean_text(reply.text))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise BadReply(f"{prompt}: cannot use the reply: {first['msg']}") from error


def _ids_by_number(thoughts: Sequence[Thought]) -> dict[int, int]:
    """Map the numbers shown to the model to thought ids."""
    return {number: thought.id for number, thought in enumerate(thoughts, start=1)}


def is_consolidation_due(size: int) -> bool:
    """Return whether a group of this size is due: at 8, 16, 32, ..., so the total cost stays linear."""
    return size >= 8 and size & (size - 1) == 0


def consolidate_by_rules(
    thoughts: Iterable[Thought], aliases: Aliases, alias_thoughts: Sequence[Thought]
) -> list[Operation]:
    """Merge duplicates and many-valued thoughts, and keep the newest value of single-valued relations.

    `alias_thoughts` are the thoughts that `aliases` was built from; an operation that concerns several names
    records them as its premises.
    """
    by_key: dict[tuple[str, str], list[Thought]] = {}
    for thought in thoughts:
        if thought.relation != SAME_AS:
            by_key.setdefault(
                (aliases.primary_name(thought.subject), canonical_relation(thought.relation)), []
            ).append(thought)
    operations: list[Operation] = []
    for (_, relation), same_key in by_key.items():
        operation = plan_consolidation(get_relation(relation), same_key) if same_key[1:] else None
        if operation is not None:
            add = tuple(with_aliases(draft, aliases) for draft in operation.add)
            operations.append(_with_evidence(replace(operation, add=add), same_key, aliases, alias_thoughts))
    return operations


def _with_evidence(
    operation: Operation, thoughts: Iterable[Thought], aliases: Aliases, alias_thoughts: Sequence[Thought]
) -> Operation:
    """Add the thoughts that joined the names as premises, if the operation concerns several names."""
    concerned = {*operation.retire, *operation.premises}
    names = {
        normalise_name(thought.subject): thought.subject for thought in thoughts if thought.id in concerned
    }
    evidence = aliases.evidence_ids(names.values(), alias_thoughts) if len(names) > 1 else ()
    return replace(operation, premises=(*operation.premises, *evidence))


class Consolidator:
    """Consolidates groups and applies the resulting operations to the store."""

    def __init__(self, store: Store, indexer: Indexer, model: LLMConsolidator | None, clock: Clock) -> None:
        self._store = store
        self._indexer = indexer
        self._model = model
        self._clock = clock

    def consolidate_group(self, space: str, group: int) -> list[Action]:
        """Consolidate one group, first by rules, then by the model if there is one.

        Raises:
            ModelError: the model failed; what the rules did stays applied.
        """
        alias_thoughts = self._store.thoughts(space, kind="relationship")
        aliases = Aliases.from_thoughts(alias_thoughts)
        thoughts = self._store.thoughts(space, group=group)
        actions = self._apply(space, RULES_ACTOR, consolidate_by_rules(thoughts, aliases, alias_thoughts))
        if self._model is not None:
            actions += self._consolidate_by_model(
                space, lambda: self._store.thoughts(space, group=group), alias_thoughts
            )
        return actions

    def consolidate_all(self, space: str, progress: Callable[[int, int], None] | None = None) -> list[Action]:
        """Consolidate all groups of a space that have more than one thought."""
        self._indexer.index_pending(space)
        groups = [group for group, size in self._indexer.group_sizes(space).items() if size > 1]
        actions: list[Action] = []
        for count, group in enumerate(groups, start=1):
            actions += self.consolidate_group(space, group)
            if progress:
                progress(count, len(groups))
        return actions

    def consolidate_names(self, space: str, names: Iterable[str]) -> list[Action]:
        """Consolidate all thoughts about each of these people, under all their names."""
        alias_thoughts = self._store.thoughts(space, kind="relationship")
        aliases = Aliases.from_thoughts(alias_thoughts)
        operations: list[Operation] = []
        for name in dict.fromkeys(aliases.primary_name(alias) for alias in names):
            thoughts = [
                thought
                for alias in aliases.names_of(name)
                for thought in self._store.thoughts(space, subject=alias)
            ]
            operations += consolidate_by_rules(thoughts, aliases, alias_thoughts)
        return self._apply(space, RULES_ACTOR, operations)

    def consolidate_unknown_relations(
        self, space: str, thoughts: Sequence[Thought], group: int
    ) -> list[Action]:
        """After a turn, ask the model about new thoughts whose relation the rules do not know."""
        new = [
            thought
            for thought in thoughts
            if thought.relation != SAME_AS and not get_relation(thought.relation).is_known
        ]
        if self._model is None or not new:
            return []
        alias_thoughts = self._store.thoughts(space, kind="relationship")
        aliases = Aliases.from_thoughts(alias_thoughts)
        subjects = {aliases.primary_name(thought.subject) for thought in new}

        def same_subject() -> list[Thought]:
            return [
                thought
                for thought in self._store.thoughts(space, group=group)
                if aliases.primary_name(thought.subject) in subjects
            ]

        return self._consolidate_by_model(space, same_subject, alias_thoughts)

    def _consolidate_by_model(
        self, space: str, read: Callable[[], list[Thought]], alias_thoughts: Sequence[Thought]
    ) -> list[Action]:
        """Merge, then forget; `read` returns the current thoughts and is called before each step."""
        model = self._model
        if model is None:
            return []
        aliases = Aliases.from_thoughts(alias_thoughts)
        actions: list[Action] = []
        for propose in (model.propose_merges, model.propose_forgets):
            shown = [thought for thought in read() if thought.search_text][-MAX_SHOWN_THOUGHTS:]
            if len(shown) > 1:
                operations = accept_proposals(propose(shown), shown, aliases)
                actions += self._apply(
                    space,
                    model.name,
                    [_with_evidence(operation, shown, aliases, alias_thoughts) for operation in operations],
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
