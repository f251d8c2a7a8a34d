"""Step 6 of seed 004: the faults of its Table 8 found by rules, and repaired where rules suffice."""

from __future__ import annotations

from dataclasses import replace

from thinkback_lab.worlds.check_memories import check_memories
from thinkback_lab.worlds.check_questions import check_questions, people_of
from thinkback_lab.worlds.findings import Finding
from thinkback_lab.worlds.world import World


def findings(world: World) -> list[Finding]:
    """All faults, character by character; a good world has none."""
    people = people_of(world)
    found: list[Finding] = []
    for character in world.characters:
        found += check_memories(character, world.lang)[0]
        found += check_questions(character, world.lang, people)[0]
    return found


def mended(world: World) -> World:
    """The world after every repair that is mechanical; what has to be rewritten is left as it is.

    A repair may show the next fault (a relationship that lost its only event), so it is repeated until
    nothing changes: each round takes something away or sets it right, so that this ends.
    """
    while (better := _once(world)) != world:
        world = better
    return world


def _once(world: World) -> World:
    characters = [check_memories(each, world.lang)[1] for each in world.characters]
    people = people_of(world)
    return replace(
        world,
        characters=tuple(
            replace(each, questions=check_questions(each, world.lang, people)[1]) for each in characters
        ),
    )
