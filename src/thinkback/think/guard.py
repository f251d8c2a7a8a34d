"""The guard (design decision 7): of what a model proposes, only what can be justified is carried out.

Only a thought with the same subject and relation, or an explicit denial, may retire another; a merge must
keep every object; numbers must be those that were shown; the assistant's word retires nothing that the user
said. What is turned away changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from thinkback.text.safety.trust import quarantined
from thinkback.text.tokens import terms
from thinkback.think.circle import Circle
from thinkback.think.held import EPISODIC, as_draft, merged
from thinkback.think.proposals import Forget, Merge
from thinkback.think.relations import canonical, relation_of
from thinkback.think.resolve import object_key
from thinkback.types import Change, Draft, Thought

_LONGEST = 600
_MORE_WORDS = 4  # that a model may use beyond the plain sentence
_NEGATES = re.compile(r"\b(?:not|no|never|neither|nor|without)\b|n't\b|[不没無无非]")


def guarded(proposals: Sequence[Merge | Forget], shown: Sequence[Thought], circle: Circle) -> list[Change]:
    """The changes that stand; no thought is touched twice."""
    known = {thought.id: thought for thought in shown if thought.current}
    changes: list[Change] = []
    for proposal in proposals:
        if isinstance(proposal, Merge):
            change = _merge(proposal, known, circle)
        else:
            change = _forget(proposal, known, circle)
        if change is not None:
            changes.append(change)
            for id_ in change.retire:
                del known[id_]
    return changes


def _merge(proposal: Merge, known: dict[int, Thought], circle: Circle) -> Change | None:
    ids = tuple(dict.fromkeys(proposal.ids))
    if len(ids) < 2 or not set(ids) <= set(known):
        return None
    parts = sorted((known[id_] for id_ in ids), key=lambda thought: thought.id)
    first = parts[0]
    alike = all(
        _same_key(first, other, circle)
        and (first.negated, first.valid_to) == (other.negated, other.valid_to)
        and other.kind not in EPISODIC
        for other in parts
    )
    several = len({object_key(o) for part in parts for o in part.objects}) > 1
    if not alike or (relation_of(first.relation).single and several and not first.negated):
        return None
    whole = merged([as_draft(part) for part in parts])
    if _keeps_all(proposal.sentence, whole):
        whole = replace(whole, sentence=" ".join(proposal.sentence.split()))
    since = max((part.valid_from for part in parts if part.valid_from is not None), default=None)
    return Change(
        action="merge",
        reason=f"the same relation of the same one: {whole.object}",
        add=(replace(whole, valid_from=since),),
        retire=ids,
        ended=since,
    )


def _forget(proposal: Forget, known: dict[int, Thought], circle: Circle) -> Change | None:
    old, new = known.get(proposal.id), known.get(proposal.against or 0)
    if old is None or new is None or old is new or not _same_key(old, new, circle):
        return None
    if old.kind in EPISODIC or new.last_turn <= old.last_turn or _spoken(old) > _spoken(new):
        return None
    shared = {object_key(o) for o in old.objects} & {object_key(o) for o in new.objects}
    if old.negated == new.negated:
        relation = relation_of(old.relation)
        justified = not shared and not old.negated and (relation.single or not relation.known)
    else:
        justified = len(shared) == len(old.objects)
    if not justified:
        return None
    why = " ".join(proposal.reason.split())[:_LONGEST]
    reason = f"{new.ref} speaks against it" + (f": {why}" if why and not quarantined(why) else "")
    return Change(action="forget", reason=reason, retire=(old.id,), ended=new.valid_from, given=(new.id,))


def _same_key(one: Draft, other: Draft, circle: Circle) -> bool:
    return circle.same(one.subject, other.subject) and canonical(one.relation) == canonical(other.relation)


def _keeps_all(sentence: str, draft: Draft) -> bool:
    """Whether a model's sentence says of the subject every object, no more, and nothing against it."""
    said = sentence.casefold()
    kept = all(item.casefold() in said for item in (draft.subject, *draft.objects))
    plain = len(terms(sentence)) <= len(terms(draft.sentence)) + _MORE_WORDS
    same_sign = bool(_NEGATES.search(said)) == draft.negated
    return kept and plain and same_sign and not quarantined(sentence)


def _spoken(thought: Thought) -> int:
    """Whose word it is: the user's (1) or the assistant's alone (0)."""
    return int(any(source.side == "query" for source in thought.sources))
