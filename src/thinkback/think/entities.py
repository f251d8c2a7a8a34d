"""Entity resolution: decides which people the drafts of a turn are about (TiM (ACL), section 3.4).

Evidence, strongest first:

- a role: after "my sister Anna", "my sister" means Anna
- the same name in another script (安娜 and Anna), if the role or the exact sound agrees
- a longer form of a known name (Anna, Anna Schmidt)
- another spelling of the name that holds the same role

"My cousin Tom" and "my friend Tom" are kept apart. Taking one person for two only duplicates an entry; taking
two people for one would retire true thoughts.
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
from thinkback.language.sentence_builder import sentence_language, subject_phrase
from thinkback.think.aliases import Aliases, is_role
from thinkback.think.state import Amendment
from thinkback.types import SAME_AS, Source, ThoughtDraft, Turn

ListNames = Callable[[], Sequence[str]]
"""Returns all subjects of the space; called only when a new name is found."""

_NAMING_RELATIONS = ("goes by", "is named", "english name")
_MIN_SIMILARITY = 0.8  # phonetic, for two spellings in one script and one role
_MIN_CROSS_SCRIPT_SIMILARITY = 0.5  # lower, because transliteration is inexact
_VOWELS = re.compile("[aeiouy]")
_DOUBLED_LETTER = re.compile(r"(.)\1+")
_PERMANENT_ROLES = frozenset(("mother", "father", "wife", "husband"))  # rarely change their holder
_PERSON_NAME = re.compile(r"[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*){0,3}")
_PERSON_NAME_ZH = re.compile("[\u4e00-\u9fff]{2,4}")


def resolve_entities(
    turn: Turn, drafts: Sequence[ThoughtDraft], aliases: Aliases, list_names: ListNames
) -> tuple[list[ThoughtDraft], Aliases]:
    """Resolve the subjects of a turn's drafts.

    Returns:
        The alias decisions of the turn followed by its drafts with resolved subjects, and the new aliases.
    """
    resolver = _EntityResolver(turn, drafts, aliases)
    for draft in drafts:
        if isinstance(draft, Amendment) or draft.negated:
            continue
        if is_role(draft):
            for name in draft.objects:
                resolver.introduce_person(draft, name)
        # The user is left out: somebody else may have the same name.
        elif draft.relation in _NAMING_RELATIONS and normalise_name(draft.subject) != USER:
            for name in draft.objects:
                resolver.join_names(draft.subject, name, draft.sources)
    for draft in drafts:
        if not isinstance(draft, Amendment):
            resolver.recognise_name(draft, list_names)
    return [*resolver.decisions, *(resolver.resolve_draft(draft) for draft in drafts)], resolver.aliases


class _EntityResolver:
    """Resolves the drafts of one turn in order; each decision counts for the following drafts."""

    def __init__(self, turn: Turn, drafts: Sequence[ThoughtDraft], aliases: Aliases) -> None:
        self.decisions: list[ThoughtDraft] = []
        self._turn = turn
        self.aliases = aliases
        self._drafts = drafts
        self._local_names: dict[str, str] = {}  # name in this turn -> the subject it means here
        self._known_spellings: dict[str, str] = {}  # spelling in this turn -> known name with the same role

    def introduce_person(self, draft: ThoughtDraft, name: str) -> None:
        """Handle "my sister Anna": find out whether she is known under this or another name, or is new."""
        if normalise_name(name) == USER:
            return  # a friend called "Me": this name always means the user
        aliases = self.aliases
        role = self._role_name(draft)
        kin = draft.relation.removeprefix("has ")
        distinct_name = f"{name} ({role})"
        if aliases.is_known(distinct_name):
            self._local_names[normalise_name(name)] = distinct_name
            return
        holders = aliases.roles.get((normalise_name(draft.subject), draft.relation), ())
        if aliases.are_same(role, name) or any(
            normalise_name(holder) == normalise_name(name) for holder in holders
        ):
            return
        if known := next((holder for holder in holders if _is_same_person(holder, name, kin)), None):
            self._known_spellings[normalise_name(name)] = known
            self.join_names(known, name, draft.sources)
        elif self._is_taken(draft, name):
            self._local_names[normalise_name(name)] = distinct_name
            self._record_decision(distinct_name, name, draft.sources, negated=True)
        elif kin not in INDEFINITE_ROLES:
            self._assign_role(role, name, kin, holders, draft.sources)

    def recognise_name(self, draft: ThoughtDraft, list_names: ListNames) -> None:
        """Join a new name with the known name that it is a form of, if there is exactly one."""
        name = draft.subject
        key = normalise_name(name)
        is_person = _PERSON_NAME.fullmatch(name) or _PERSON_NAME_ZH.fullmatch(name)
        if (
            not is_person
            or key in self._local_names
            or self.aliases.is_known(name)
            or self.aliases.roles_of(name)
        ):
            return
        known = [other for other in list_names() if normalise_name(other) != USER]
        if any(normalise_name(other) == key for other in known):
            return
        forms = list(
            dict.fromkeys(self.aliases.primary_name(other) for other in known if _is_form_of(other, name))
        )
        if len(forms) == 1 and not any(
            _is_other_full_name(other, name) for other in self.aliases.names_of(forms[0])
        ):
            self.join_names(forms[0], name, draft.sources)

    def join_names(self, known: str, name: str, sources: tuple[Source, ...]) -> None:
        """Decide that two names mean the same person, unless that is known."""
        if normalise_name(name) != normalise_name(known) and not self.aliases.are_same(known, name):
            self._record_decision(self.aliases.primary_name(known), name, sources)

    def resolve_draft(self, draft: ThoughtDraft) -> ThoughtDraft:
        """Return the draft with the resolved subject and, in role drafts, the known spellings."""
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
        """Return the person's name by role, as it was said: "user's sister" or "user's older sister"."""
        kin = draft.relation.removeprefix("has ")
        default = f"{draft.subject}'s {kin}"
        if normalise_name(draft.subject).startswith(USER):  # the same key in all languages
            default = normalise_name(f"{normalise_name(draft.subject)}'s {kin}")
        for source in draft.sources:
            text = self._turn.text_of(source.side)[source.start : source.end]
            for role in find_user_roles(text):
                if normalise_name(draft.subject) == USER and role.endswith(kin):
                    return role
        return default

    def _is_taken(self, draft: ThoughtDraft, name: str) -> bool:
        """Return whether the name belongs to another person.

        That is the case if the same owner knows the name in a role that this turn does not mention. Roles of
        different owners do not count: one Erik may be Anna's husband and Tom's brother.
        """
        roles_in_turn = {
            (normalise_name(other.subject), other.relation)
            for other in self._drafts
            if is_role(other) and any(normalise_name(item) == normalise_name(name) for item in other.objects)
        }
        owner = normalise_name(self.aliases.primary_name(draft.subject))
        return any(
            role not in roles_in_turn and normalise_name(self.aliases.primary_name(role[0])) == owner
            for role in self.aliases.roles_of(name)
        )

    def _assign_role(
        self, role: str, name: str, kin: str, current_names: Sequence[str], sources: tuple[Source, ...]
    ) -> None:
        """Decide that the role alone ("my sister") means this person, unless several people hold it."""
        holder = self.aliases.primary_name(role)
        if normalise_name(holder) != normalise_name(role):
            self._release_role(holder, role, sources)
            if kin not in UNIQUE_ROLES:
                return  # with two sisters, "my sister" alone is ambiguous
        elif any(not self._has_role(other, kin) for other in current_names):
            return
        self.join_names(name, role, sources)

    def _has_role(self, name: str, kin: str) -> bool:
        return any(alias.endswith(f" {kin}") for alias in map(normalise_name, self.aliases.names_of(name)))

    def _release_role(self, holder: str, role: str, sources: tuple[Source, ...]) -> None:
        """Forget that the role alone means its former holder."""
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
        remaining = tuple(
            name for name in self.aliases.names_of(holder) if normalise_name(name) != normalise_name(role)
        )
        clusters = {key: names for key, names in self.aliases.clusters.items() if key != normalise_name(role)}
        clusters |= {normalise_name(name): remaining for name in remaining}
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
            known = [replace(draft, subject=names[0], objects=names[1:]) for names in self._clusters()]
            self.aliases = replace(self.aliases, clusters=Aliases.from_thoughts([*known, draft]).clusters)

    def _clusters(self) -> list[tuple[str, ...]]:
        return list(dict.fromkeys(self.aliases.clusters.values()))


def _is_same_person(known: str, name: str, kin: str) -> bool:
    """Return whether two names in the same role belong to one person."""
    if is_han_name(known) != is_han_name(name):
        return kin in _PERMANENT_ROLES or phonetic_similarity(known, name) >= _MIN_CROSS_SCRIPT_SIMILARITY
    if is_han_name(name):
        return known == name[1:] or name == known[1:]
    return _is_longer_form(known, name) or _is_longer_form(name, known) or _is_spelling_variant(known, name)


def _is_spelling_variant(one: str, other: str) -> bool:
    """Return whether only inner vowels differ: Katherine and Kathrine, but not Maria and Mario."""
    return phonetic_similarity(one, other) >= _MIN_SIMILARITY and _consonant_frame(one) == _consonant_frame(
        other
    )


def _consonant_frame(name: str) -> tuple[str, str, str]:
    """Return the first letter, the consonants and the last letter."""
    key = normalise_name(name)
    return key[:1], _VOWELS.sub("", _DOUBLED_LETTER.sub(r"\1", key)), key[-1:]


def _is_form_of(known: str, name: str) -> bool:
    """Return whether a new name is a form of a known one, judged by the names alone."""
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
    """Return whether one name extends the other: Anna, Anna Schmidt."""
    return normalise_name(long).startswith(normalise_name(short) + " ")


def _is_other_full_name(known: str, name: str) -> bool:
    """Return whether both are full names of different people: Anna Schmidt, Anna Weber."""
    return " " in known and " " in name and "(" not in known and normalise_name(known) != normalise_name(name)


def _replace_subject(draft: ThoughtDraft, subject: str, old_subject: str) -> str:
    lang = sentence_language(draft.sentence)
    old, new = subject_phrase(old_subject, lang), subject_phrase(subject, lang)
    return draft.sentence.replace(old, new, 1) if draft.sentence.startswith(old) else draft.sentence


def _identity_sentence(one: str, other: str, lang: str, *, negated: bool) -> str:
    if lang == "zh":
        return f"{subject_phrase(one, lang)}{'不是' if negated else '就是'}{subject_phrase(other, lang)}。"
    verb = "is not" if negated else "is also"
    sentence = f"{subject_phrase(one, lang)} {verb} {subject_phrase(other, lang).replace('The ', 'the ')}."
    return sentence[:1].upper() + sentence[1:]
