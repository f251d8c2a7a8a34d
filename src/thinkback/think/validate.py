"""The pure decision on one (subject, relation): Algorithm 1 of TiM 001, with the guard of design decision 7.

Algorithm 1 lets the newer thought replace any older one with the same subject and relation. We deviate:
only a single-valued relation is superseded; many-valued ones accumulate (merge keeps every object and every
source); a denial retires exactly the objects it denies and stays as a thought of its own, so that hearing it
twice changes nothing; what happened (events, dialogue) is never merged; the assistant's word retires nothing
that the user said. The decision is one Change: undoing it restores the key as it was.

An `Amendment` speaks of what was said before ("forget my address", "I meant Ann"): it changes what is held,
and where nothing like it is held it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import SequenceMatcher

from thinkback.text.tokens import terms
from thinkback.think.relations import relation_of
from thinkback.think.resolve import object_key, respect
from thinkback.think.sentence import compose, language_of
from thinkback.think.vocabulary import Relation
from thinkback.types import SAME, ActionKind, Change, Draft, Source, Thought

EPISODIC = ("event", "dialogue")
RECENT = 3  # turns back that an elliptic correction may speak of
_ALIKE = 0.5  # how much two spellings share to be one slip of the pen
EVERYTHING = "*"
LONG = timedelta(days=60)  # less, and the newer word counts: "I moved last week"
PAST = {"lives in": "lived in", "works at": "worked at"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment(Draft):
    """`forget` the objects (or EVERYTHING) of the key; else put the object in the place of `instead_of`.

    Without `instead_of` it takes the place of a recent object that it resembles, or with `any_value` of any.
    """

    forget: bool = False
    instead_of: str = ""
    any_value: bool = False
    recent: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """One thought held true while deciding: its draft, and the id it has if the store knows it."""

    draft: Draft
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is held after a draft was considered, and, if that is a change, which one and why."""

    held: tuple[Held, ...]
    action: ActionKind | None = None
    reason: str = ""


def as_draft(thought: Thought) -> Draft:
    """The draft a stored thought would be if it were said again."""
    return Draft(
        subject=thought.subject,
        relation=thought.relation,
        objects=thought.objects,
        sentence=thought.sentence,
        kind=thought.kind,
        sources=thought.sources,
        negated=thought.negated,
        valid_from=thought.valid_from,
        valid_to=thought.valid_to,
    )


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
    told = sorted((t for t in thoughts if t.current), key=lambda t: (_newest(t), t.id))
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
    )


def _weightiest(verdicts: Sequence[Verdict], *, retired: bool) -> ActionKind:
    """The action that names the whole change; what retired nothing in the store is an insert."""
    actions = {verdict.action for verdict in verdicts}
    if not retired:
        return "insert"
    return "forget" if "forget" in actions else "supersede" if "supersede" in actions else "merge"


def _consider(relation: Relation, draft: Draft, held: tuple[Held, ...], at: datetime | None) -> Verdict:
    if isinstance(draft, Amendment):
        return _forgotten(draft, held) if draft.forget else _amended(draft, held, at)
    if not draft.negated and draft.kind in EPISODIC:
        return _episode(draft, held)
    mine, above = _by_trust(draft, held)
    if _outvoted(relation, draft, above):
        return Verdict(held)
    known = _keys(h.draft.objects for h in above if h.draft.negated == draft.negated)
    if _shared_keys(draft, known):
        draft = _resaid(_without(draft, known))
    if not draft.objects:
        return Verdict(held)
    mine, denied = _deny(draft, mine)
    single = relation.single and not draft.negated
    verdict = _one(relation, draft, mine, at) if single else _many(relation, draft, mine)
    if denied:
        verb = "denies" if draft.negated else "affirms, against"
        verdict = Verdict(verdict.held, "forget", f"{_turn(draft)} {verb} {' and '.join(denied)}")
    return Verdict((*above, *verdict.held), verdict.action, verdict.reason)


def _forgotten(draft: Amendment, held: tuple[Held, ...]) -> Verdict:
    """Take out what is to be forgotten; of a thought with other objects, the others stay."""
    rest: list[Held] = []
    for item in held:
        old = item.draft
        if draft.recent and not _is_recent(draft, old):
            rest.append(item)
            continue
        gone = draft.objects == (EVERYTHING,)
        left = tuple(
            o for o in old.objects if not gone and not any(_about(o, word) for word in draft.objects)
        )
        if left == old.objects:
            rest.append(item)
        elif left:
            rest.append(Held(_resaid(replace(old, objects=left))))
    if tuple(rest) == held:
        return Verdict(held)
    return Verdict(tuple(rest), "forget", f"{_turn(draft)} takes it back")


def _amended(draft: Amendment, held: tuple[Held, ...], at: datetime | None) -> Verdict:
    """The newest recent thought that the correction fits gets the new object."""
    for item in sorted(held, key=lambda item: _newest(item.draft), reverse=True):
        old = item.draft
        if old.negated or not _is_recent(draft, old):
            continue
        wrong = [o for o in old.objects if _mistaken(draft, o)]
        if len(wrong) != 1 or object_key(wrong[0]) == object_key(draft.object):
            continue
        objects = tuple(draft.object if o == wrong[0] else o for o in old.objects)
        mended = _resaid(replace(old, objects=objects, sources=draft.sources))
        if old.kind not in EPISODIC:
            mended = replace(mended, valid_from=old.valid_from or at)
        rest = tuple(h for h in held if h is not item)
        return Verdict((*rest, Held(mended)), "supersede", f"{_turn(draft)} corrects {wrong[0]!r}")
    return Verdict(held)


def _is_recent(draft: Draft, old: Draft) -> bool:
    return 0 < _newest(draft) - _newest(old) <= RECENT


def _about(item: str, topic: str) -> bool:
    """Whether an object is what a topic names: the same, or one holds all words of the other."""
    mine, said = set(terms(item)), set(terms(topic))
    return object_key(item) == object_key(topic) or (bool(mine and said) and (mine <= said or said <= mine))


def _mistaken(draft: Amendment, old: str) -> bool:
    """Whether `old` is the value that a correction means."""
    if draft.any_value:
        return True
    if draft.instead_of:
        return _about(old, draft.instead_of)
    new = draft.object
    if _shape(new) != _shape(old):
        return False
    if any(character.isdigit() for character in new):
        return True
    return SequenceMatcher(None, new.casefold(), old.casefold(), autojunk=False).ratio() >= _ALIKE


def _shape(words: str) -> tuple[str, bool]:
    """What two values of one kind share: their words without digits if they are numbers; else the script."""
    if any(character.isdigit() for character in words):
        return "".join(c for c in words.casefold() if not c.isdigit()).strip(), True
    return ("latin" if words.isascii() else "other"), words[:1].isupper()


def _outvoted(relation: Relation, draft: Draft, above: tuple[Held, ...]) -> bool:
    """Whether what stands above the draft already says otherwise."""
    if any(h.draft.negated != draft.negated and _shared_keys(draft, _keys([h.draft.objects])) for h in above):
        return True
    return relation.single and not draft.negated and any(not h.draft.negated for h in above)


def _episode(draft: Draft, held: tuple[Held, ...]) -> Verdict:
    """What happened stands by itself; only the very same happening is a duplicate."""
    for item in held:
        same_time = (item.draft.valid_from, item.draft.valid_to) == (draft.valid_from, draft.valid_to)
        if same_time and not item.draft.negated and not _without(draft, _keys([item.draft.objects])).objects:
            return Verdict(held)
    return Verdict((*held, Held(draft)), "insert", f"new: {_turn(draft)}")


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
        if not opposite or not _shared_keys(draft, _keys([item.draft.objects])):
            rest.append(item)
            continue
        denials.append(f'"{item.draft.sentence}"')
        remainder = _without(item.draft, _keys([draft.objects]))
        if remainder.objects:
            rest.append(Held(_resaid(replace(remainder, valid_from=None))))
    return tuple(rest), denials


def _one(relation: Relation, draft: Draft, held: tuple[Held, ...], at: datetime | None) -> Verdict:
    """A relation of one value: the same value is a duplicate, another one supersedes."""
    rivals = [h for h in held if not h.draft.negated and _overlap(draft, h.draft)]
    if any(_keys([h.draft.objects]) == _keys([draft.objects]) for h in rivals):
        return Verdict(held)
    if any(_newest(h.draft) > _newest(draft) for h in rivals):
        return Verdict(held)  # thought over late: what was said since stands
    if any(_long_before(draft, h.draft) for h in rivals):
        return _once(draft, held)
    if not rivals:
        return Verdict((*held, Held(draft)), "insert", f"new: {_turn(draft)}")
    rest = tuple(h for h in held if h not in rivals)
    dated = draft if draft.valid_from else replace(draft, valid_from=at)
    reason = f"{relation.name} holds one value; newer: {_turn(draft)}"
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
    return Verdict((*held, Held(past)), "insert", f"of an earlier time: {_turn(draft)}")


def _many(relation: Relation, draft: Draft, held: tuple[Held, ...]) -> Verdict:
    """A relation of many values: new objects join those of the same sign and the same validity."""
    held, replaced = _outdated(relation, draft, held)
    peers = [h for h in held if h.draft.negated == draft.negated]
    new = _without(draft, _keys(h.draft.objects for h in peers))
    if not new.objects:
        return Verdict(held)
    alike = [h for h in peers if _mergeable(draft, h.draft)]
    if not alike:
        said = Held(new if new == draft else _resaid(new))
        reason = (
            f"{_turn(draft)} brings {', '.join(replaced)} up to date" if replaced else f"new: {_turn(draft)}"
        )
        return Verdict((*held, said), "supersede" if replaced else "insert", reason)
    joined = merged([*(h.draft for h in alike), new])
    rest = tuple(h for h in held if h not in alike)
    reason = f"{relation.name} holds many values; {_turn(draft)} adds {new.object}"
    if replaced:
        reason = f"{_turn(draft)} brings {', '.join(replaced)} up to date"
    return Verdict((*rest, Held(joined)), "supersede" if replaced else "merge", reason)


def _outdated(relation: Relation, draft: Draft, held: tuple[Held, ...]) -> tuple[tuple[Held, ...], list[str]]:
    """Held thoughts without the objects that the draft brings up to date: another count, dose or choice."""
    respects = {respect(relation.name, o) for o in draft.objects} - {""}
    if draft.negated or not respects:
        return held, []
    said = _keys([draft.objects])
    rest: list[Held] = []
    replaced: list[str] = []
    for item in held:
        old = item.draft
        mine = not old.negated and _newest(old) <= _newest(draft)
        gone = {
            object_key(o)
            for o in old.objects
            if mine and respect(relation.name, o) in respects and object_key(o) not in said
        }
        left = _without(old, gone) if gone else old
        replaced += [o for o in old.objects if object_key(o) in gone]
        if left is old:
            rest.append(item)
        elif left.objects:
            rest.append(Held(_resaid(left)))
    return tuple(rest), replaced


def _mergeable(draft: Draft, held: Draft) -> bool:
    """An open-ended fact joins another from now on; one that names its time joins only its like.

    Who is who is decided name by name, and so undone.
    """
    if draft.relation == SAME:
        return False
    same_start = draft.valid_from is None or held.valid_from == draft.valid_from
    return same_start and held.valid_to == draft.valid_to and held.kind not in EPISODIC


def merged(drafts: Sequence[Draft]) -> Draft:
    objects: dict[str, str] = {}
    sources: dict[Source, None] = {}
    for draft in drafts:
        for item in draft.objects:
            objects.setdefault(object_key(item), item)
        sources.update(dict.fromkeys(draft.sources))
    return _resaid(replace(drafts[-1], objects=tuple(objects.values()), sources=tuple(sources)))


def _resaid(draft: Draft) -> Draft:
    """The same triple with the sentence that lists all its objects, in the language it was said in."""
    lang = language_of(draft.sentence)
    sentence = compose(draft.subject, draft.relation, draft.objects, negated=draft.negated, lang=lang)
    return replace(draft, sentence=sentence)


def _without(draft: Draft, keys: set[str]) -> Draft:
    left = tuple(item for item in draft.objects if object_key(item) not in keys)
    return draft if left == draft.objects else replace(draft, objects=left)


def _keys(groups: Iterable[Iterable[str]]) -> set[str]:
    return {object_key(item) for group in groups for item in group}


def _shared_keys(draft: Draft, keys: set[str]) -> bool:
    return not _keys([draft.objects]).isdisjoint(keys)


def _overlap(one: Draft, other: Draft) -> bool:
    """Whether two thoughts can be true at the same time; an open end reaches for ever."""
    ends_first = one.valid_to and other.valid_from and one.valid_to <= other.valid_from
    starts_last = one.valid_from and other.valid_to and other.valid_to <= one.valid_from
    return not (ends_first or starts_last)


def _newest(draft: Draft) -> int:
    return max((source.turn for source in draft.sources), default=0)


def _turn(draft: Draft) -> str:
    return f"turn {_newest(draft)}"
