"""Whom earlier Chinese turns have named, so that 她 of this turn is understood."""

from __future__ import annotations

from dataclasses import dataclass

from thinkback.text.people.kin import KIN_ZH

_SHE = """mother sister wife girlfriend daughter aunt niece grandmother granddaughter mother-in-law
 sister-in-law daughter-in-law"""
_HE = """father brother husband boyfriend son uncle nephew grandfather grandson father-in-law brother-in-law
 son-in-law"""
_PRONOUN = dict.fromkeys(_SHE.split(), "她") | dict.fromkeys(_HE.split(), "他")


@dataclass(frozen=True, slots=True)
class Cast:
    """The people of one earlier turn; `kin` tells what a named one is to the user."""

    people: tuple[str, ...]
    kin: dict[str, str]
    before: Cast | None = None

    def whom(self, pronoun: str) -> str:
        """The one person it can mean; nobody if there are several."""
        fits = {each for each in self.people if self._pronoun(each) in ("", pronoun)}
        if len(fits) == 1:
            return fits.pop()
        return self.before.whom(pronoun) if not fits and self.before else ""

    def _pronoun(self, person: str) -> str:
        word = self.kin.get(person, person.removeprefix("用户的"))
        return _PRONOUN.get(KIN_ZH.get(word, word), "")
