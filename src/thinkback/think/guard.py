"""Checks a model's proposals to merge or forget thoughts; only justified ones become operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from thinkback.language.relations import canonical_relation, get_relation
from thinkback.language.safety.quarantine import find_quarantined
from thinkback.language.tokens import extract_terms
from thinkback.think.aliases import Aliases
from thinkback.think.slots import object_key
from thinkback.think.state import EPISODIC_KINDS, merge_drafts, to_draft
from thinkback.types import Operation, Thought, ThoughtDraft


@dataclass(frozen=True, slots=True)
class ProposedMerge:
    """These thoughts as one, in this sentence."""

    ids: tuple[int, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class ProposedForget:
    """This thought should go; `against` speaks against it."""

    id: int
    against: int | None
    reason: str


_MAX_REASON_CHARACTERS = 600
_MAX_EXTRA_TERMS = 4  # that a model may use beyond the plain sentence
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|without)\b|n't\b|[不没無无非]")


def accept_proposals(
    proposals: Sequence[ProposedMerge | ProposedForget], thoughts: Sequence[Thought], aliases: Aliases
) -> list[Operation]:
    """The changes that stand; no thought is touched twice."""
    known = {thought.id: thought for thought in thoughts if thought.current}
    changes: list[Operation] = []
    for proposal in proposals:
        if isinstance(proposal, ProposedMerge):
            change = _accept_merge(proposal, known, aliases)
        else:
            change = _accept_forget(proposal, known, aliases)
        if change is not None:
            changes.append(change)
            for id_ in change.retire:
                del known[id_]
    return changes


def _accept_merge(proposal: ProposedMerge, known: dict[int, Thought], aliases: Aliases) -> Operation | None:
    ids = tuple(dict.fromkeys(proposal.ids))
    if len(ids) < 2 or not set(ids) <= set(known):
        return None
    parts = sorted((known[id_] for id_ in ids), key=lambda thought: thought.id)
    first = parts[0]
    alike = all(
        _same_key(first, other, aliases)
        and (first.negated, first.valid_to) == (other.negated, other.valid_to)
        and other.kind not in EPISODIC_KINDS
        for other in parts
    )
    several = len({object_key(o) for part in parts for o in part.objects}) > 1
    if not alike or (get_relation(first.relation).single_valued and several and not first.negated):
        return None
    whole = merge_drafts([to_draft(part) for part in parts])
    if _is_faithful(proposal.sentence, whole):
        whole = replace(whole, sentence=" ".join(proposal.sentence.split()))
    since = max((part.valid_from for part in parts if part.valid_from is not None), default=None)
    return Operation(
        action="merge",
        reason=f"the same relation of the same one: {whole.object}",
        add=(replace(whole, valid_from=since),),
        retire=ids,
        ended_at=since,
    )


def _accept_forget(proposal: ProposedForget, known: dict[int, Thought], aliases: Aliases) -> Operation | None:
    old, new = known.get(proposal.id), known.get(proposal.against or 0)
    if old is None or new is None or old is new or not _same_key(old, new, aliases):
        return None
    if old.kind in EPISODIC_KINDS or new.last_turn <= old.last_turn or _authority(old) > _authority(new):
        return None
    shared = {object_key(o) for o in old.objects} & {object_key(o) for o in new.objects}
    if old.negated == new.negated:
        relation = get_relation(old.relation)
        justified = not shared and not old.negated and (relation.single_valued or not relation.is_known)
    else:
        justified = len(shared) == len(old.objects)
    if not justified:
        return None
    why = " ".join(proposal.reason.split())[:_MAX_REASON_CHARACTERS]
    reason = f"{new.ref} speaks against it" + (f": {why}" if why and not find_quarantined(why) else "")
    return Operation(
        action="forget", reason=reason, retire=(old.id,), ended_at=new.valid_from, premises=(new.id,)
    )


def _same_key(one: ThoughtDraft, other: ThoughtDraft, aliases: Aliases) -> bool:
    return aliases.are_same(one.subject, other.subject) and canonical_relation(
        one.relation
    ) == canonical_relation(other.relation)


def _is_faithful(sentence: str, draft: ThoughtDraft) -> bool:
    """Whether a model's sentence says of the subject every object, no more, and nothing against it."""
    said = sentence.casefold()
    kept = all(item.casefold() in said for item in (draft.subject, *draft.objects))
    plain = len(extract_terms(sentence)) <= len(extract_terms(draft.sentence)) + _MAX_EXTRA_TERMS
    same_sign = bool(_NEGATION.search(said)) == draft.negated
    return kept and plain and same_sign and not find_quarantined(sentence)


def _authority(thought: Thought) -> int:
    """Whose word it is: the user's (1) or the assistant's alone (0)."""
    return int(any(source.side == "query" for source in thought.sources))
