"""The port of the thought generator (TiM 001, Eq. 4): a turn -> drafts, by a model or by rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thinkback.types import ThoughtDraft, Turn


class ThoughtGenerator(Protocol):
    """`name` is written into the journal as the actor, with the prompt's version where there is one."""

    @property
    def name(self) -> str: ...

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """The thoughts of one turn; none is a good answer. Failures of a model are ModelError.

        `recent` are the turns just before it in its session, oldest first: they tell whom "she" means, and
        no thought comes from them.
        """
        ...
