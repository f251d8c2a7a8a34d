"""Consolidation of whole groups: merge duplicates and forget contradicted thoughts, by rules and by a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from thinkback.errors import BadReply, Conflict, NotFound
from thinkback.indexing import Indexer
from thinkback.language.names import normalise_name
from thinkback.language.relations import canonical_relation, get_relation
from thinkback.language.scripts import clean_text
from thinkback.prompts import format_numbered, load_prompt
from thinkback.protocols import LLM, Clock, Store
from thinkback.think.aliases import Aliases, with_aliases
from thinkback.think.guard import ProposedForget, ProposedMerge, accept_proposals
from thinkback.think.plan import plan_consolidation
from thinkback.types import SAME_AS, Action, Message, Operation, Plan, Thought

if TYPE_CHECKING:
    from pydantic import BaseModel

    Asked = TypeVar("Asked", bound=BaseModel)

MAX_REPLY_TOKENS = 512
MAX_REPLY_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class LLMConsolidator:
    """Raises BadReply where an answer cannot be read; an empty list is a good answer."""

    llm: LLM

    @property
    def name(self) -> str:
        versions = "+".join(f"{prompt}@{load_prompt(prompt).version}" for prompt in ("merge", "forget"))
        return f"{self.llm.name} {versions}"

    def propose_merges(self, thoughts: Sequence[Thought]) -> list[ProposedMerge]:
        """Which thoughts say the same kind of thing about the same one."""
        from thinkback.think.prompts.replies import MergeReply  # pydantic: not before it is needed

        reply = self._ask("merge", thoughts, MergeReply)
        ids = _ids_by_number(thoughts)
        return [
            ProposedMerge(tuple(ids[number] for number in each.ids), clean_text(each.sentence))
            for each in reply.merges
            if set(each.ids) <= set(ids)
        ]

    def propose_forgets(self, thoughts: Sequence[Thought]) -> list[ProposedForget]:
        """Which thoughts are contradicted, and by which."""
        from thinkback.think.prompts.replies import ForgetReply

        reply = self._ask("forget", thoughts, ForgetReply)
        ids = _ids_by_number(thoughts)
        return [
            ProposedForget(ids[each.id], ids.get(each.against or 0), clean_text(each.reason))
            for each in reply.forget
            if each.id in ids
        ]

    def _ask(self, prompt: str, thoughts: Sequence[Thought], reply_type: type[Asked]) -> Asked:
        from pydantic import ValidationError

        listed = format_numbered((number, each.sentence) for number, each in enumerate(thoughts, start=1))
        messages = [Message("user", load_prompt(prompt).render(thoughts=listed))]
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
    """The number a model was shown -> the thought's own."""
    return {number: thought.id for number, thought in enumerate(thoughts, start=1)}


MAX_SHOWN_THOUGHTS = 50  # thoughts of one group a model is shown: the newest
RULES_ACTOR = "rules"


def is_consolidation_due(size: int) -> bool:
    """Whether a group that grew to this size is due: at 8, 16, 32, ..., so each thought pays about once."""
    return size >= 8 and size & (size - 1) == 0


def consolidate_by_rules(
    thoughts: Iterable[Thought], aliases: Aliases, alias_thoughts: Sequence[Thought]
) -> list[Operation]:
    """By rules: what is said twice becomes one, many values one thought, the newer of one value stays.

    `told` are the thoughts that the circle was read from: what concerns several names rests on them.
    """
    keyed: dict[tuple[str, str], list[Thought]] = {}
    for thought in thoughts:
        if thought.relation != SAME_AS:
            keyed.setdefault(
                (aliases.primary_name(thought.subject), canonical_relation(thought.relation)), []
            ).append(thought)
    changes: list[Operation] = []
    for (_, relation), held in keyed.items():
        change = plan_consolidation(get_relation(relation), held) if held[1:] else None
        if change is not None:
            add = tuple(with_aliases(draft, aliases) for draft in change.add)
            changes.append(_with_evidence(replace(change, add=add), held, aliases, alias_thoughts))
    return changes


def _with_evidence(
    change: Operation, thoughts: Iterable[Thought], aliases: Aliases, alias_thoughts: Sequence[Thought]
) -> Operation:
    """The change, resting on what joined the names that it concerns, if they are several."""
    touched = {*change.retire, *change.premises}
    names = {
        normalise_name(thought.subject): thought.subject for thought in thoughts if thought.id in touched
    }
    behind = aliases.evidence_ids(names.values(), alias_thoughts) if len(names) > 1 else ()
    return replace(change, premises=(*change.premises, *behind))


class Consolidator:
    """Applies what putting a group in order changes."""

    def __init__(self, store: Store, indexer: Indexer, model: LLMConsolidator | None, clock: Clock) -> None:
        self._store = store
        self._indexer = indexer
        self._model = model
        self._clock = clock

    def consolidate_group(self, space: str, group: int) -> list[Action]:
        """Put one group in order. A model's failure is a ModelError; what the rules did stays done."""
        told = self._store.thoughts(space, kind="relationship")
        circle = Aliases.from_thoughts(told)
        held = self._store.thoughts(space, group=group)
        done = self._apply(space, RULES_ACTOR, consolidate_by_rules(held, circle, told))
        if self._model is not None:
            done += self._consolidate_by_model(space, lambda: self._store.thoughts(space, group=group), told)
        return done

    def consolidate_all(self, space: str, progress: Callable[[int, int], None] | None = None) -> list[Action]:
        """The same for all groups of a space, one after the other."""
        self._indexer.index_pending(space)
        groups = [number for number, size in self._indexer.group_sizes(space).items() if size > 1]
        done: list[Action] = []
        for count, number in enumerate(groups, start=1):
            done += self.consolidate_group(space, number)
            if progress:
                progress(count, len(groups))
        return done

    def consolidate_names(self, space: str, names: Iterable[str]) -> list[Action]:
        """Put in order what was thought of each of these under all their names."""
        told = self._store.thoughts(space, kind="relationship")
        circle = Aliases.from_thoughts(told)
        changes: list[Operation] = []
        for name in dict.fromkeys(circle.primary_name(each) for each in names):
            held = [t for each in circle.names_of(name) for t in self._store.thoughts(space, subject=each)]
            changes += consolidate_by_rules(held, circle, told)
        return self._apply(space, RULES_ACTOR, changes)

    def consolidate_unknown_relations(
        self, space: str, thoughts: Sequence[Thought], group: int
    ) -> list[Action]:
        """After a turn: ask the model where a new thought has a relation that the rules know nothing of."""
        new = [t for t in thoughts if t.relation != SAME_AS and not get_relation(t.relation).is_known]
        if self._model is None or not new:
            return []
        told = self._store.thoughts(space, kind="relationship")
        circle = Aliases.from_thoughts(told)
        about = {circle.primary_name(thought.subject) for thought in new}

        def same_subject() -> list[Thought]:
            return [
                t for t in self._store.thoughts(space, group=group) if circle.primary_name(t.subject) in about
            ]

        return self._consolidate_by_model(space, same_subject, told)

    def _consolidate_by_model(
        self, space: str, read: Callable[[], list[Thought]], alias_thoughts: Sequence[Thought]
    ) -> list[Action]:
        """Merging first, then forgetting, each on the thoughts as they are by then."""
        model = self._model
        if model is None:
            return []
        circle = Aliases.from_thoughts(alias_thoughts)
        done: list[Action] = []
        for propose in (model.propose_merges, model.propose_forgets):
            shown = [thought for thought in read() if thought.search_text][-MAX_SHOWN_THOUGHTS:]
            if len(shown) > 1:
                changes = accept_proposals(propose(shown), shown, circle)
                done += self._apply(
                    space, model.name, [_with_evidence(c, shown, circle, alias_thoughts) for c in changes]
                )
        return done

    def _apply(self, space: str, actor: str, changes: Sequence[Operation]) -> list[Action]:
        """All in one transaction, or, if a thought was changed or erased meanwhile, what still can be."""
        if not changes:
            return []
        plan = Plan(turn=None, lease="", actor=actor, operations=tuple(changes))
        entries, epoch = self._indexer.entries_for_plan(space, plan)
        try:
            return self._store.apply(space, plan, entries, self._clock(), epoch)
        except (Conflict, NotFound):
            if len(changes) == 1:
                return []  # there will be another time
            return [action for change in changes for action in self._apply(space, actor, [change])]
