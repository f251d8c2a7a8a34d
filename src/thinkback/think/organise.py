"""Merging and forgetting thoughts of a group with a model, as in TiM (ACL), Figures 8 and 9.

Used by presets with `organise_groups`, such as `tim`. The model only proposes: a thought may be retired by
one with the same subject and relation, or by an explicit denial; a merge must keep every object. Proposals
may only name thoughts that were shown, and the assistant's statements never retire the user's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from thinkback.errors import BadReply
from thinkback.language.relations import canonical_relation, get_relation
from thinkback.language.safety.quarantine import find_quarantined
from thinkback.language.sentence_builder import compose_sentence, sentence_language
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import clean_text
from thinkback.prompts import escape_structure, format_numbered, load_prompt
from thinkback.protocols import LLM
from thinkback.think.aliases import Aliases
from thinkback.think.comparison_keys import object_key
from thinkback.think.plan import to_draft
from thinkback.types import EPISODIC_KINDS, Message, Operation, Source, Thought, ThoughtDraft

if TYPE_CHECKING:
    from pydantic import BaseModel

    ReplyT = TypeVar("ReplyT", bound=BaseModel)

_PACKAGE = "thinkback.think"
MAX_REPLY_TOKENS = 512
MAX_REPLY_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class ProposedMerge:
    """A proposal to merge these thoughts into one with this sentence."""

    ids: tuple[int, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class ProposedForget:
    """A proposal to forget a thought because the thought `against` contradicts it."""

    id: int
    against: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class LLMConsolidator:
    """Asks a model which thoughts of a group to merge or forget (TiM (ACL), Figures 8 and 9).

    It only proposes; `accept_proposals` decides. The model sees the thoughts numbered 1, 2, 3, because small
    models make mistakes when they copy long ids. An unreadable reply raises BadReply.
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
            (number, escape_structure(thought.sentence)) for number, thought in enumerate(thoughts, start=1)
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


_MAX_REASON_CHARACTERS = 600
_MAX_EXTRA_TERMS = 4  # terms that a model's sentence may have beyond the composed sentence
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|without)\b|n't\b|[不没無无非]")


def accept_proposals(
    proposals: Sequence[ProposedMerge | ProposedForget], thoughts: Sequence[Thought], aliases: Aliases
) -> list[Operation]:
    """Return the operations for the justified proposals; no thought is retired twice.

    Args:
        proposals: What the model proposes, in order.
        thoughts: The thoughts the model was shown.
        aliases: The known aliases of the space.
    """
    thoughts_by_id = {thought.id: thought for thought in thoughts if thought.current}
    operations: list[Operation] = []
    for proposal in proposals:
        if isinstance(proposal, ProposedMerge):
            operation = _accept_merge(proposal, thoughts_by_id, aliases)
        else:
            operation = _accept_forget(proposal, thoughts_by_id, aliases)
        if operation is not None:
            operations.append(operation)
            for retired in operation.retire:
                del thoughts_by_id[retired]
    return operations


def _accept_merge(
    proposal: ProposedMerge, thoughts_by_id: dict[int, Thought], aliases: Aliases
) -> Operation | None:
    ids = tuple(dict.fromkeys(proposal.ids))
    if len(ids) < 2 or not set(ids) <= set(thoughts_by_id):
        return None
    members = sorted((thoughts_by_id[id_] for id_ in ids), key=lambda thought: thought.id)
    first = members[0]
    mergeable = all(
        _same_key(first, other, aliases)
        and (first.negated, first.valid_to) == (other.negated, other.valid_to)
        and other.kind not in EPISODIC_KINDS
        for other in members
    )
    has_several_objects = len({object_key(item) for member in members for item in member.objects}) > 1
    if not mergeable or (
        get_relation(first.relation).single_valued and has_several_objects and not first.negated
    ):
        return None
    merged = _merge_drafts([to_draft(member) for member in members])
    if _is_faithful(proposal.sentence, merged):
        merged = replace(merged, sentence=" ".join(proposal.sentence.split()))
    since = max((member.valid_from for member in members if member.valid_from is not None), default=None)
    return Operation(
        action="merge",
        reason=f"the same relation of the same one: {merged.object}",
        add=(replace(merged, valid_from=since),),
        retire=ids,
        ended_at=since,
    )


def _accept_forget(
    proposal: ProposedForget, thoughts_by_id: dict[int, Thought], aliases: Aliases
) -> Operation | None:
    old, new = thoughts_by_id.get(proposal.id), thoughts_by_id.get(proposal.against or 0)
    if old is None or new is None or old is new or not _same_key(old, new, aliases):
        return None
    if old.kind in EPISODIC_KINDS or new.last_turn <= old.last_turn or _authority(old) > _authority(new):
        return None
    shared = {object_key(item) for item in old.objects} & {object_key(item) for item in new.objects}
    if old.negated == new.negated:
        relation = get_relation(old.relation)
        justified = not shared and not old.negated and (relation.single_valued or not relation.is_known)
    else:
        justified = len(shared) == len(old.objects)
    if not justified:
        return None
    explanation = " ".join(proposal.reason.split())[:_MAX_REASON_CHARACTERS]
    reason = f"{new.ref} speaks against it" + (
        f": {explanation}" if explanation and not find_quarantined(explanation) else ""
    )
    return Operation(
        action="forget", reason=reason, retire=(old.id,), ended_at=new.valid_from, premises=(new.id,)
    )


def _same_key(one: ThoughtDraft, other: ThoughtDraft, aliases: Aliases) -> bool:
    return aliases.are_same(one.subject, other.subject) and canonical_relation(
        one.relation
    ) == canonical_relation(other.relation)


def _is_faithful(sentence: str, draft: ThoughtDraft) -> bool:
    """Return whether a model's sentence names all objects, adds little and keeps the polarity."""
    folded = sentence.casefold()
    names_all = all(item.casefold() in folded for item in (draft.subject, *draft.objects))
    is_short = len(extract_terms(sentence)) <= len(extract_terms(draft.sentence)) + _MAX_EXTRA_TERMS
    same_polarity = bool(_NEGATION.search(folded)) == draft.negated
    return names_all and is_short and same_polarity and not find_quarantined(sentence)


def _authority(thought: Thought) -> int:
    """Return 1 if the user said it, 0 if only the assistant did."""
    return int(any(source.side == "query" for source in thought.sources))


def _merge_drafts(drafts: Sequence[ThoughtDraft]) -> ThoughtDraft:
    """Merge drafts of the same key: all values and all sources; other fields come from the last draft."""
    objects: dict[str, str] = {}
    sources: dict[Source, None] = {}
    for draft in drafts:
        for value in draft.objects:
            objects.setdefault(object_key(value), value)
        sources.update(dict.fromkeys(draft.sources))
    return _rebuild_sentence(replace(drafts[-1], objects=tuple(objects.values()), sources=tuple(sources)))


def _rebuild_sentence(draft: ThoughtDraft) -> ThoughtDraft:
    """Rewrite the sentence of a draft from its triple, in the language of the old sentence."""
    lang = sentence_language(draft.sentence)
    sentence = compose_sentence(
        draft.subject, draft.relation, draft.objects, negated=draft.negated, lang=lang
    )
    return replace(draft, sentence=sentence)
