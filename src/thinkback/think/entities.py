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

from thinkback.language.kinship import INDEFINITE_ROLES, UNIQUE_ROLES
from thinkback.language.names import (
    SURNAMES,
    USER,
    find_user_roles,
    is_han_name,
    may_be_pinyin,
    normalise_name,
    phonetic_similarity,
)
from thinkback.language.phrasing import sentence_language, subject_phrase
from thinkback.think.aliases import Aliases, is_role
from thinkback.think.state import Amendment
from thinkback.types import SAME_AS, Source, ThoughtDraft, Turn

ListNames = Callable[[], Sequence[str]]
"""Every subject the space knows: read only when a new name turns up."""

_NAMING_RELATIONS = ("goes by", "is named", "english name")
_MIN_SIMILARITY = 0.8  # of the sound of two spellings of one name in one script, in one role
_MIN_CROSS_SCRIPT_SIMILARITY = 0.5  # the same across scripts, where transliteration blurs
_VOWELS = re.compile("[aeiouy]")
_DOUBLED_LETTER = re.compile(r"(.)\1+")
_PERMANENT_ROLES = frozenset(("mother", "father", "wife", "husband"))  # nobody else takes the role so easily
_PERSON_NAME = re.compile(r"[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*){0,3}")
_PERSON_NAME_ZH = re.compile("[\u4e00-\u9fff]{2,4}")


def resolve_entities(
    turn: Turn, drafts: Sequence[ThoughtDraft], aliases: Aliases, list_names: ListNames
) -> tuple[list[ThoughtDraft], Aliases]:
    """(what the turn decides about who is who, then its drafts about whom they speak of; the circle then)"""
    turn_of = _EntityResolver(turn, drafts, aliases)
    for draft in drafts:
        if isinstance(draft, Amendment) or draft.negated:
            continue
        if is_role(draft):
            for name in draft.objects:
                turn_of.introduce_person(draft, name)
        elif (
            draft.relation in _NAMING_RELATIONS and normalise_name(draft.subject) != USER
        ):  # another may be called the same
            for name in draft.objects:
                turn_of.join_names(draft.subject, name, draft.sources)
    for draft in drafts:
        if not isinstance(draft, Amendment):
            turn_of.recognise_name(draft, list_names)
    return [*turn_of.decisions, *(turn_of.resolve_draft(draft) for draft in drafts)], turn_of.aliases


class _EntityResolver:
    """One turn on its way: what it has decided so far counts for the rest of it."""

    def __init__(self, turn: Turn, drafts: Sequence[ThoughtDraft], aliases: Aliases) -> None:
        self.decisions: list[ThoughtDraft] = []
        self._turn = turn
        self.aliases = aliases
        self._drafts = drafts
        self._local_names: dict[str, str] = {}  # a name as this turn uses it -> whom it means here
        self._known_spellings: dict[str, str] = {}  # a spelling -> the name its role is held under

    def introduce_person(self, draft: ThoughtDraft, name: str) -> None:
        """ "my sister Anna": tell whether she is known, under this name or another, or is somebody new."""
        if normalise_name(name) == USER:
            return  # a friend called "Me": under that name nobody but the user can be spoken of
        circle = self.aliases
        role = self._role_name(draft)
        kin = draft.relation.removeprefix("has ")
        separate = f"{name} ({role})"
        if circle.is_known(separate):
            self._local_names[normalise_name(name)] = separate
            return
        held = circle.roles.get((normalise_name(draft.subject), draft.relation), ())
        if circle.are_same(role, name) or any(normalise_name(each) == normalise_name(name) for each in held):
            return
        if known := next((each for each in held if _is_same_person(each, name, kin)), None):
            self._known_spellings[normalise_name(name)] = known
            self.join_names(known, name, draft.sources)
        elif self._is_taken(draft, name):
            self._local_names[normalise_name(name)] = separate
            self._record_decision(separate, name, draft.sources, negated=True)
        elif kin not in INDEFINITE_ROLES:
            self._assign_role(role, name, kin, held, draft.sources)

    def recognise_name(self, draft: ThoughtDraft, list_names: ListNames) -> None:
        """A name that is new to the space may be a form of one that it knows."""
        name = draft.subject
        key = normalise_name(name)
        person = _PERSON_NAME.fullmatch(name) or _PERSON_NAME_ZH.fullmatch(name)
        if (
            not person
            or key in self._local_names
            or self.aliases.is_known(name)
            or self.aliases.roles_of(name)
        ):
            return
        known = [each for each in list_names() if normalise_name(each) != USER]
        if any(normalise_name(each) == key for each in known):
            return
        forms = list(
            dict.fromkeys(self.aliases.primary_name(each) for each in known if _is_form_of(each, name))
        )
        if len(forms) == 1 and not any(
            _is_other_full_name(each, name) for each in self.aliases.names_of(forms[0])
        ):
            self.join_names(forms[0], name, draft.sources)

    def join_names(self, known: str, name: str, sources: tuple[Source, ...]) -> None:
        """From now on the two are one."""
        if normalise_name(name) != normalise_name(known) and not self.aliases.are_same(known, name):
            self._record_decision(self.aliases.primary_name(known), name, sources)

    def resolve_draft(self, draft: ThoughtDraft) -> ThoughtDraft:
        """The draft, said of the one it speaks of."""
        subject = self._local_names.get(normalise_name(draft.subject)) or self.aliases.primary_name(
            draft.subject
        )
        objects = draft.objects
        if is_role(draft):
            objects = tuple(self._known_spellings.get(normalise_name(name), name) for name in objects)
        if normalise_name(subject) == normalise_name(draft.subject) and objects == draft.objects:
            return draft
        return replace(
            draft, subject=subject, objects=objects, sentence=_replace_subject(draft, subject, draft.subject)
        )

    def _role_name(self, draft: ThoughtDraft) -> str:
        """What the person is called by what he is: "user's older sister", if that is how it was said."""
        kin = draft.relation.removeprefix("has ")
        plain = f"{draft.subject}'s {kin}"
        if normalise_name(draft.subject).startswith(USER):  # who has one key in all languages
            plain = normalise_name(f"{normalise_name(draft.subject)}'s {kin}")
        for source in draft.sources:
            words = self._turn.text_of(source.side)[source.start : source.end]
            for role in find_user_roles(words):
                if normalise_name(draft.subject) == USER and role.endswith(kin):
                    return role
        return plain

    def _is_taken(self, draft: ThoughtDraft, name: str) -> bool:
        """Whether the name is another's: the same one has it in another role, which this turn does not name.

        To Anna and to Tom one Erik may well be both a husband and a brother.
        """
        here = {
            (normalise_name(each.subject), each.relation)
            for each in self._drafts
            if is_role(each) and any(normalise_name(o) == normalise_name(name) for o in each.objects)
        }
        owner = normalise_name(self.aliases.primary_name(draft.subject))
        return any(
            role not in here and normalise_name(self.aliases.primary_name(role[0])) == owner
            for role in self.aliases.roles_of(name)
        )

    def _assign_role(
        self, role: str, name: str, kin: str, current_names: Sequence[str], sources: tuple[Source, ...]
    ) -> None:
        """Whoever is named by the role alone is this one, unless several hold it."""
        holder = self.aliases.primary_name(role)
        if normalise_name(holder) != normalise_name(role):
            self._release_role(holder, role, sources)
            if kin not in UNIQUE_ROLES:
                return  # two sisters: "my sister" alone tells neither
        elif any(not self._has_role(each, kin) for each in current_names):
            return
        self.join_names(name, role, sources)

    def _has_role(self, name: str, kin: str) -> bool:
        return any(each.endswith(f" {kin}") for each in map(normalise_name, self.aliases.names_of(name)))

    def _release_role(self, holder: str, role: str, sources: tuple[Source, ...]) -> None:
        self.decisions.append(
            Amendment(
                subject=holder,
                relation=SAME_AS,
                objects=(role,),
                sentence=f"{role} is somebody else too",
                kind="relationship",
                sources=sources,
                forget=True,
            )
        )
        left = tuple(
            name for name in self.aliases.names_of(holder) if normalise_name(name) != normalise_name(role)
        )
        clusters = {key: names for key, names in self.aliases.clusters.items() if key != normalise_name(role)}
        clusters |= {normalise_name(name): left for name in left}
        self.aliases = replace(self.aliases, clusters=clusters)

    def _record_decision(
        self, one: str, other: str, sources: tuple[Source, ...], *, negated: bool = False
    ) -> None:
        draft = ThoughtDraft(
            subject=one,
            relation=SAME_AS,
            objects=(other,),
            sentence=_identity_sentence(one, other, sentence_language(self._turn.query), negated=negated),
            kind="relationship",
            sources=sources,
            negated=negated,
        )
        self.decisions.append(draft)
        if not negated:
            told = [replace(draft, subject=names[0], objects=names[1:]) for names in self._clusters()]
            self.aliases = replace(self.aliases, clusters=Aliases.from_thoughts([*told, draft]).clusters)

    def _clusters(self) -> list[tuple[str, ...]]:
        return list(dict.fromkeys(self.aliases.clusters.values()))


def _is_same_person(known: str, name: str, kin: str) -> bool:
    """Whether two names in one role are one person's."""
    if is_han_name(known) != is_han_name(name):
        return kin in _PERMANENT_ROLES or phonetic_similarity(known, name) >= _MIN_CROSS_SCRIPT_SIMILARITY
    if is_han_name(name):
        return known == name[1:] or name == known[1:]
    return _is_longer_form(known, name) or _is_longer_form(name, known) or _is_spelling_variant(known, name)


def _is_spelling_variant(one: str, other: str) -> bool:
    """Katherine, Kathrine: only vowels inside the name differ; Maria is not Mario, nor Anna Hanna."""
    return phonetic_similarity(one, other) >= _MIN_SIMILARITY and _consonant_frame(one) == _consonant_frame(
        other
    )


def _consonant_frame(name: str) -> tuple[str, str, str]:
    """First letter, consonants, last letter."""
    bare = normalise_name(name)
    return bare[:1], _VOWELS.sub("", _DOUBLED_LETTER.sub(r"\1", bare)), bare[-1:]


def _is_form_of(known: str, name: str) -> bool:
    """Whether, with nothing else to tell, a new name is a form of a known one."""
    if is_han_name(known) != is_han_name(name):
        latin = known if is_han_name(name) else name
        return may_be_pinyin(latin) and phonetic_similarity(known, name) == 1.0
    if is_han_name(name):
        return any(
            long[1:] == short and long[0] in SURNAMES for long, short in ((name, known), (known, name))
        )
    return bool(_PERSON_NAME.fullmatch(known)) and (
        _is_longer_form(known, name) or _is_longer_form(name, known)
    )


def _is_longer_form(short: str, long: str) -> bool:
    """Anna, Anna Schmidt."""
    return normalise_name(long).startswith(normalise_name(short) + " ")


def _is_other_full_name(known: str, name: str) -> bool:
    """Whether one of the known names is as long as the new one and another: Anna Schmidt, Anna Weber."""
    return " " in known and " " in name and "(" not in known and normalise_name(known) != normalise_name(name)


def _replace_subject(draft: ThoughtDraft, subject: str, old_subject: str) -> str:
    lang = sentence_language(draft.sentence)
    old, new = subject_phrase(old_subject, lang), subject_phrase(subject, lang)
    return draft.sentence.replace(old, new, 1) if draft.sentence.startswith(old) else draft.sentence


def _identity_sentence(one: str, other: str, lang: str, *, negated: bool) -> str:
    if lang == "zh":
        return f"{subject_phrase(one, lang)}{'不是' if negated else '就是'}{subject_phrase(other, lang)}。"
    is_ = "is not" if negated else "is also"
    whole = f"{subject_phrase(one, lang)} {is_} {subject_phrase(other, lang).replace('The ', 'the ')}."
    return whole[:1].upper() + whole[1:]
