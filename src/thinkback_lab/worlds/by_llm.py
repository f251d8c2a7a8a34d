"""Persona worlds by a language model, by the same entry as the grammar: `generate(characters, lang, seed)`.

What validation cannot mend by rules is for a person to look at, with the pairs whose marks say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thinkback import LLM
from thinkback_lab.errors import LabError
from thinkback_lab.progress import Report, silent
from thinkback_lab.worlds.biography import Biography, Size, to_look_at
from thinkback_lab.worlds.check_questions import check_questions, people_of
from thinkback_lab.worlds.clerk import Clerk, Receipt
from thinkback_lab.worlds.seeds import cast, most
from thinkback_lab.worlds.validate import mended
from thinkback_lab.worlds.world import Lang, World


@dataclass(slots=True)
class Author:
    """Generates worlds as the grammar does; a run that is killed goes on where it stood."""

    llm: LLM
    folder: Path  # of the replies
    size: Size = field(default_factory=Size)
    report: Report = silent
    review: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    receipt: Receipt = field(default_factory=Receipt)

    def generate(self, characters: int, lang: Lang, seed: int) -> World:
        if characters > most(lang):
            raise LabError(f"{characters} characters: there are names for {most(lang)} in {lang!r}")
        steps = characters * self.size.steps
        clerk = Clerk(self.llm, self.folder, lang, lambda done: self.report(min(done, steps), steps))
        self.receipt = clerk.receipt
        made = []
        for number, name in enumerate(cast(characters, lang, seed), start=1):
            life = Biography(clerk, self.size, lang, number, name, seed)
            made.append(life.written())
            self.review += life.review
            self.dropped += life.dropped
        return self._mended(World(lang, tuple(made)))

    def _mended(self, world: World) -> World:
        """Without the questions that only a person could mend; they are in the review."""
        better = mended(world)
        people = people_of(better)
        characters = []
        for character in better.characters:
            kept = []
            for qa in character.questions:
                found, _ = check_questions(replace(character, questions=(qa,)), world.lang, people)
                if found:
                    why = "; ".join(each.words for each in found)
                    self.review.append(to_look_at(character.name, qa, why=why))
                else:
                    kept.append(qa)
            characters.append(replace(character, questions=tuple(kept)))
        return replace(better, characters=tuple(characters))
