"""Amendments: what is said about what was said before ("forget my address", "I meant Ann")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher

from thinkback.text.tokens import terms
from thinkback.think.held import EPISODIC, Held, Verdict, resaid, turn_of
from thinkback.think.resolve import object_key
from thinkback.types import Draft

RECENT = 3  # turns back that an elliptic correction may speak of
EVERYTHING = "*"
_ALIKE = 0.5  # how much two spellings share to be one slip of the pen


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment(Draft):
    """`forget` the objects (or EVERYTHING) of the key; else put the object in the place of `instead_of`.

    Without `instead_of` it takes the place of a recent object that it resembles, or with `any_value` of any.
    """

    forget: bool = False
    instead_of: str = ""
    any_value: bool = False
    recent: bool = False


def amended(draft: Amendment, held: tuple[Held, ...], at: datetime | None) -> Verdict:
    """What an amendment changes of what is held; where nothing like it is held, nothing."""
    return _forgotten(draft, held) if draft.forget else _corrected(draft, held, at)


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
            rest.append(Held(resaid(replace(old, objects=left))))
    if tuple(rest) == held:
        return Verdict(held)
    return Verdict(tuple(rest), "forget", f"{turn_of(draft)} takes it back")


def _corrected(draft: Amendment, held: tuple[Held, ...], at: datetime | None) -> Verdict:
    """The newest recent thought that the correction fits gets the new object."""
    for item in sorted(held, key=lambda item: item.draft.last_turn, reverse=True):
        old = item.draft
        if old.negated or not _is_recent(draft, old):
            continue
        wrong = [o for o in old.objects if _mistaken(draft, o)]
        if len(wrong) != 1 or object_key(wrong[0]) == object_key(draft.object):
            continue
        objects = tuple(draft.object if o == wrong[0] else o for o in old.objects)
        mended = resaid(replace(old, objects=objects, sources=draft.sources))
        if old.kind not in EPISODIC:
            mended = replace(mended, valid_from=old.valid_from or at)
        rest = tuple(h for h in held if h is not item)
        return Verdict((*rest, Held(mended)), "supersede", f"{turn_of(draft)} corrects {wrong[0]!r}")
    return Verdict(held)


def _is_recent(draft: Draft, old: Draft) -> bool:
    return 0 < draft.last_turn - old.last_turn <= RECENT


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
