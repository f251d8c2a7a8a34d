"""What a world holds, in the lines of seed 004's Table 2; Chinese is counted in characters."""

from __future__ import annotations

from collections.abc import Sequence

from thinkback_lab.worlds.wording import length
from thinkback_lab.worlds.world import World


def counts(world: World) -> dict[str, int | float]:
    """The table's lines, in its order, and the questions whose answer the world does not hold."""
    people = world.characters
    known = [each for character in people for each in character.relationships]
    events = [each for character in people for each in character.events]
    dialogues = [each for character in people for each in character.dialogues]
    lines = [said for dialogue in dialogues for _, said in dialogue.lines]
    asked = [each for character in people for each in character.questions]
    anchors = sum(len(qa.anchors) for qa in asked)

    def words(texts: Sequence[str]) -> float:
        return _mean(sum(length(text, world.lang) for text in texts), len(texts))

    return {
        "characters": len(people),
        "jobs": len({character.profile.get("Occupation", "") for character in people} - {""}),
        "relationships": len(known),
        "relationship_categories": len({each.relationship for each in known}),
        "relationships_per_character": _mean(len(known), len(people)),
        "topics": len({event.theme for event in events}),
        "events": len(events),
        "words_per_event": words([event.content for event in events]),
        "dialogues": len(dialogues),
        "utterances": len(lines),
        "words_per_utterance": words(lines),
        "questions": len(asked),
        "unanswerable": sum(qa.topic == "unanswerable" for qa in asked),
        "words_per_question": words([qa.question for qa in asked]),
        "words_per_answer": words([qa.answer for qa in asked]),
        "anchors": anchors,
        "anchors_per_question": _mean(anchors, len(asked)),
    }


def _mean(total: int, of: int) -> float:
    return round(total / of, 1) if of else 0.0
