"""Whom the drafts of a turn speak of (TiM 001, entity resolution): names are joined, or told apart.

Evidence, strongest first: a role that one person holds ("my sister Anna": whoever is "my sister" is Anna);
the same name in another script (安娜 and Anna, where role or exact sound agrees); a longer form of the one
name known (Anna, Anna Schmidt); another spelling of the name that holds that same role. "My cousin Tom" is
another than "my friend Tom": one taken for two costs a double entry, two taken for one cost true thoughts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from thinkback.text.people.kin import INDEFINITE, ONE_EACH
from thinkback.text.people.names import SURNAMES, USER, normalise, roles_in
from thinkback.text.people.sounds import is_han, likeness, may_be_pinyin
from thinkback.think.amendment import Amendment
from thinkback.think.circle import Circle, is_role
from thinkback.think.sentence import language_of, subject_in
from thinkback.types import SAME, Draft, Source, Turn

Names = Callable[[], Sequence[str]]
"""Every subject the space knows: read only when a new name turns up."""

_NAMING = ("goes by", "is named", "english name")
_ALIKE = 0.8  # of the sound of two spellings of one name in one script, in one role
_ALIKE_ACROSS = 0.5  # the same across scripts, where transliteration blurs
_VOWELS = re.compile("[aeiouy]")
_DOUBLED = re.compile(r"(.)\1+")
_FOR_GOOD = frozenset(("mother", "father", "wife", "husband"))  # nobody else takes the role so easily
_PERSON = re.compile(r"[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*){0,3}")
_PERSON_ZH = re.compile("[\u4e00-\u9fff]{2,4}")


def identify(turn: Turn, drafts: Sequence[Draft], circle: Circle, names: Names) -> tuple[list[Draft], Circle]:
    """(what the turn decides about who is who, then its drafts about whom they speak of; the circle then)"""
    turn_of = _Reading(turn, drafts, circle)
    for draft in drafts:
        if isinstance(draft, Amendment) or draft.negated:
            continue
        if is_role(draft):
            for name in draft.objects:
                turn_of.introduce(draft, name)
        elif draft.relation in _NAMING and normalise(draft.subject) != USER:  # another may be called the same
            for name in draft.objects:
                turn_of.join(draft.subject, name, draft.sources)
    for draft in drafts:
        if not isinstance(draft, Amendment):
            turn_of.recognise(draft, names)
    return [*turn_of.decided, *(turn_of.about(draft) for draft in drafts)], turn_of.circle


class _Reading:
    """One turn on its way: what it has decided so far counts for the rest of it."""

    def __init__(self, turn: Turn, drafts: Sequence[Draft], circle: Circle) -> None:
        self.decided: list[Draft] = []
        self._turn = turn
        self.circle = circle
        self._drafts = drafts
        self._renamed: dict[str, str] = {}  # a name as this turn uses it -> whom it means here
        self._as_known: dict[str, str] = {}  # a spelling -> the name its role is held under

    def introduce(self, draft: Draft, name: str) -> None:
        """ "my sister Anna": tell whether she is known, under this name or another, or is somebody new."""
        if normalise(name) == USER:
            return  # a friend called "Me": under that name nobody but the user can be spoken of
        circle = self.circle
        role = self._role(draft)
        kin = draft.relation.removeprefix("has ")
        separate = f"{name} ({role})"
        if circle.knows(separate):
            self._renamed[normalise(name)] = separate
            return
        held = circle.roles.get((normalise(draft.subject), draft.relation), ())
        if circle.same(role, name) or any(normalise(each) == normalise(name) for each in held):
            return
        if known := next((each for each in held if _one_person(each, name, kin)), None):
            self._as_known[normalise(name)] = known
            self.join(known, name, draft.sources)
        elif self._taken(draft, name):
            self._renamed[normalise(name)] = separate
            self._decide(separate, name, draft.sources, negated=True)
        elif kin not in INDEFINITE:
            self._hold(role, name, kin, held, draft.sources)

    def recognise(self, draft: Draft, names: Names) -> None:
        """A name that is new to the space may be a form of one that it knows."""
        name = draft.subject
        key = normalise(name)
        person = _PERSON.fullmatch(name) or _PERSON_ZH.fullmatch(name)
        if not person or key in self._renamed or self.circle.knows(name) or self.circle.roles_of(name):
            return
        known = [each for each in names() if normalise(each) != USER]
        if any(normalise(each) == key for each in known):
            return
        forms = list(dict.fromkeys(self.circle.name(each) for each in known if _form_of(each, name)))
        if len(forms) == 1 and not any(_rival(each, name) for each in self.circle.names(forms[0])):
            self.join(forms[0], name, draft.sources)

    def join(self, known: str, name: str, sources: tuple[Source, ...]) -> None:
        """From now on the two are one."""
        if normalise(name) != normalise(known) and not self.circle.same(known, name):
            self._decide(self.circle.name(known), name, sources)

    def about(self, draft: Draft) -> Draft:
        """The draft, said of the one it speaks of."""
        subject = self._renamed.get(normalise(draft.subject)) or self.circle.name(draft.subject)
        objects = draft.objects
        if is_role(draft):
            objects = tuple(self._as_known.get(normalise(name), name) for name in objects)
        if normalise(subject) == normalise(draft.subject) and objects == draft.objects:
            return draft
        return replace(
            draft, subject=subject, objects=objects, sentence=_said_of(draft, subject, draft.subject)
        )

    def _role(self, draft: Draft) -> str:
        """What the person is called by what he is: "user's older sister", if that is how it was said."""
        kin = draft.relation.removeprefix("has ")
        plain = f"{draft.subject}'s {kin}"
        if normalise(draft.subject).startswith(USER):  # who has one key in all languages
            plain = normalise(f"{normalise(draft.subject)}'s {kin}")
        for source in draft.sources:
            words = self._turn.said(source.side)[source.start : source.end]
            for role in roles_in(words):
                if normalise(draft.subject) == USER and role.endswith(kin):
                    return role
        return plain

    def _taken(self, draft: Draft, name: str) -> bool:
        """Whether the name is another's: the same one has it in another role, which this turn does not name.

        To Anna and to Tom one Erik may well be both a husband and a brother.
        """
        here = {
            (normalise(each.subject), each.relation)
            for each in self._drafts
            if is_role(each) and any(normalise(o) == normalise(name) for o in each.objects)
        }
        owner = normalise(self.circle.name(draft.subject))
        return any(
            role not in here and normalise(self.circle.name(role[0])) == owner
            for role in self.circle.roles_of(name)
        )

    def _hold(self, role: str, name: str, kin: str, held: Sequence[str], sources: tuple[Source, ...]) -> None:
        """Whoever is named by the role alone is this one, unless several hold it."""
        holder = self.circle.name(role)
        if normalise(holder) != normalise(role):
            self._release(holder, role, sources)
            if kin not in ONE_EACH:
                return  # two sisters: "my sister" alone tells neither
        elif any(not self._has_role(each, kin) for each in held):
            return
        self.join(name, role, sources)

    def _has_role(self, name: str, kin: str) -> bool:
        return any(each.endswith(f" {kin}") for each in map(normalise, self.circle.names(name)))

    def _release(self, holder: str, role: str, sources: tuple[Source, ...]) -> None:
        self.decided.append(
            Amendment(
                subject=holder,
                relation=SAME,
                objects=(role,),
                sentence=f"{role} is somebody else too",
                kind="relationship",
                sources=sources,
                forget=True,
            )
        )
        left = tuple(name for name in self.circle.names(holder) if normalise(name) != normalise(role))
        clusters = {key: names for key, names in self.circle.clusters.items() if key != normalise(role)}
        clusters |= {normalise(name): left for name in left}
        self.circle = replace(self.circle, clusters=clusters)

    def _decide(self, one: str, other: str, sources: tuple[Source, ...], *, negated: bool = False) -> None:
        draft = Draft(
            subject=one,
            relation=SAME,
            objects=(other,),
            sentence=_same(one, other, language_of(self._turn.query), negated=negated),
            kind="relationship",
            sources=sources,
            negated=negated,
        )
        self.decided.append(draft)
        if not negated:
            told = [replace(draft, subject=names[0], objects=names[1:]) for names in self._clusters()]
            self.circle = replace(self.circle, clusters=Circle.of([*told, draft]).clusters)

    def _clusters(self) -> list[tuple[str, ...]]:
        return list(dict.fromkeys(self.circle.clusters.values()))


def _one_person(known: str, name: str, kin: str) -> bool:
    """Whether two names in one role are one person's."""
    if is_han(known) != is_han(name):
        return kin in _FOR_GOOD or likeness(known, name) >= _ALIKE_ACROSS
    if is_han(name):
        return known == name[1:] or name == known[1:]
    return _longer(known, name) or _longer(name, known) or _one_spelt_twice(known, name)


def _one_spelt_twice(one: str, other: str) -> bool:
    """Katherine, Kathrine: only vowels inside the name differ; Maria is not Mario, nor Anna Hanna."""
    return likeness(one, other) >= _ALIKE and _frame(one) == _frame(other)


def _frame(name: str) -> tuple[str, str, str]:
    """First letter, consonants, last letter."""
    bare = normalise(name)
    return bare[:1], _VOWELS.sub("", _DOUBLED.sub(r"\1", bare)), bare[-1:]


def _form_of(known: str, name: str) -> bool:
    """Whether, with nothing else to tell, a new name is a form of a known one."""
    if is_han(known) != is_han(name):
        latin = known if is_han(name) else name
        return may_be_pinyin(latin) and likeness(known, name) == 1.0
    if is_han(name):
        return any(
            long[1:] == short and long[0] in SURNAMES for long, short in ((name, known), (known, name))
        )
    return bool(_PERSON.fullmatch(known)) and (_longer(known, name) or _longer(name, known))


def _longer(short: str, long: str) -> bool:
    """Anna, Anna Schmidt."""
    return normalise(long).startswith(normalise(short) + " ")


def _rival(known: str, name: str) -> bool:
    """Whether one of the known names is as long as the new one and another: Anna Schmidt, Anna Weber."""
    return " " in known and " " in name and "(" not in known and normalise(known) != normalise(name)


def _said_of(draft: Draft, subject: str, before: str) -> str:
    lang = language_of(draft.sentence)
    old, new = subject_in(before, lang), subject_in(subject, lang)
    return draft.sentence.replace(old, new, 1) if draft.sentence.startswith(old) else draft.sentence


def _same(one: str, other: str, lang: str, *, negated: bool) -> str:
    if lang == "zh":
        return f"{subject_in(one, lang)}{'不是' if negated else '就是'}{subject_in(other, lang)}。"
    is_ = "is not" if negated else "is also"
    whole = f"{subject_in(one, lang)} {is_} {subject_in(other, lang).replace('The ', 'the ')}."
    return whole[:1].upper() + whole[1:]
