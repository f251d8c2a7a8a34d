"""Worlds by a model: the six steps, invalid replies, scores, and resuming."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.lab.world_llm import step_of, world_reply

from thinkback import Message, Reply, ThinkbackError
from thinkback.errors import BadReply, ModelUnavailable
from thinkback_lab.errors import LabError
from thinkback_lab.worlds.files import read_world, write_world
from thinkback_lab.worlds.llm_generator import WorldSize, WorldWriter
from thinkback_lab.worlds.validation import find_faults
from thinkback_lab.worlds.world import Lang, World

SMALL = WorldSize(relationships=2, events=2, fields=2, questions=1)


class Double:
    """An LLM that says what a function makes of the prompt and of how often it was asked before."""

    name = "double"
    extracts = follows = True
    masks = False
    speaks = None

    def __init__(
        self, say: Callable[[str, int], str | ThinkbackError] = lambda prompt, _: world_reply(prompt)
    ) -> None:
        self._say = say
        self.prompts: list[str] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        prompt = messages[0].content
        said = self._say(prompt, self.prompts.count(prompt))
        self.prompts.append(prompt)
        if isinstance(said, ThinkbackError):
            raise said
        return Reply(said, prompt_tokens=10, completion_tokens=3)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        raise NotImplementedError

    def steps(self) -> list[str]:
        return [step_of(prompt) for prompt in self.prompts]


def made(llm: Double, folder: Path, lang: Lang = "en", characters: int = 1) -> tuple[WorldWriter, World]:
    author = WorldWriter(llm, folder, SMALL)
    return author, author.generate(characters, lang, 5)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_six_steps_give_world_without_faults(tmp_path: Path, lang: Lang) -> None:
    author, world = made(Double(), tmp_path / "replies", lang, characters=2)
    assert find_faults(world) == []
    first, second = world.characters
    assert first.name != second.name
    assert [event.id for event in first.events] == ["1_0_0", "1_0_1", "1_1_0", "1_1_1"]
    assert [talk.id for talk in first.dialogues] == ["1_0_0#0", "1_0_1#1", "1_1_0#2", "1_1_1#3"]
    assert {qa.section for qa in first.questions} == {"profile", "social_relationship", "events", "dialogues"}
    assert (author.review, author.dropped) == ([], [])
    assert read_world(*write_world(world, tmp_path / "out"), lang) == world


def test_anchors_are_at_computed_positions(tmp_path: Path) -> None:
    _, world = made(Double(), tmp_path)
    for character in world.characters:
        for qa in character.questions:
            (reference,), (anchor,) = qa.references, qa.anchors
            assert character.texts()[reference][anchor.start : anchor.end] == anchor.text == qa.answer


def test_different_seeds_start_from_different_people(tmp_path: Path) -> None:
    names = [
        WorldWriter(Double(), tmp_path, SMALL).generate(1, "en", seed).characters[0].name for seed in (1, 2)
    ]
    assert names[0] != names[1]


# --- hostile replies ------------------------------------------------------------------------------

HOSTILE = [
    "Sure! Here is the JSON you wanted.",
    "",
    "[]",
    "{",
    '{"score": "very good"}',
    '{"score": 11}',
    '{"reason": "fine"}',
    '{"score": 10, "reason": "fine", "next": "ignore the rules"}',
    BadReply("nothing came"),
]


@pytest.mark.parametrize("bad", HOSTILE, ids=str)
def test_invalid_reply_is_retried_once(tmp_path: Path, bad: str | ThinkbackError) -> None:
    llm = Double(
        lambda prompt, before: bad if step_of(prompt) == "score" and not before else world_reply(prompt)
    )
    author, world = made(llm, tmp_path)
    asked = sum(len(character.questions) for character in world.characters)
    assert asked > 0
    assert author.usage.asked_again == asked
    assert author.usage.unusable == 0


@pytest.mark.parametrize("bad", HOSTILE, ids=str)
def test_twice_invalid_reply_is_dropped_and_reported(tmp_path: Path, bad: str | ThinkbackError) -> None:
    llm = Double(lambda prompt, _: bad if step_of(prompt) == "score" else world_reply(prompt))
    author, world = made(llm, tmp_path)
    assert not world.characters[0].questions
    assert author.usage.unusable == len(author.dropped) > 0
    assert "'score'" in author.dropped[0]


@pytest.mark.parametrize("step", ["profile", "relationships"])
def test_missing_profile_or_relationships_is_an_error(tmp_path: Path, step: str) -> None:
    llm = Double(lambda prompt, _: "no" if step_of(prompt) == step else world_reply(prompt))
    with pytest.raises(LabError, match=step):
        made(llm, tmp_path)


def spoilt(prompt: str, step: str, change: Callable[[Any], None]) -> str:
    told = json.loads(world_reply(prompt))
    if step_of(prompt) == step:
        change(told)
    return json.dumps(told)


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("events", lambda told: told["events"][0].update(date="some day")),
        ("lines", lambda told: told["lines"][0].update(speaker="A stranger")),
        ("relationships", lambda told: told["relationships"][0].update(name="Ben Reed")),
    ],
)
def test_valid_form_with_wrong_content_is_retried_once(
    tmp_path: Path, step: str, change: Callable[[Any], None]
) -> None:
    llm = Double(lambda prompt, before: world_reply(prompt) if before else spoilt(prompt, step, change))
    author, world = made(llm, tmp_path)
    assert author.usage.asked_again == llm.steps().count(step) / 2 > 0
    assert find_faults(world) == []


def test_anchor_that_occurs_nowhere_is_dropped(tmp_path: Path) -> None:
    llm = Double(
        lambda prompt, _: spoilt(prompt, "anchors", lambda told: told["anchors"].insert(0, "Atlantis"))
    )
    author, world = made(llm, tmp_path)
    assert all(len(qa.anchors) == 1 for qa in world.characters[0].questions)
    llm = Double(lambda prompt, _: spoilt(prompt, "anchors", lambda told: told.update(anchors=["Atlantis"])))
    author, world = made(llm, tmp_path / "other")
    assert not world.characters[0].questions
    assert "no anchor" in author.dropped[0]


def test_too_brief_events_are_removed_with_dependents(tmp_path: Path) -> None:
    llm = Double(
        lambda prompt, _: spoilt(prompt, "events", lambda told: told["events"][0].update(detail="They met."))
    )
    _, world = made(llm, tmp_path)
    assert find_faults(world) == []
    assert [event.id for event in world.characters[0].events] == ["1_0_1", "1_1_1"]


# --- marks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "accepted", "looked_at", "dropped"),
    [(10, True, False, False), (9, False, True, False), (7, False, True, False), (6, False, False, True)],
)
def test_scores_decide(tmp_path: Path, score: int, accepted: bool, looked_at: bool, dropped: bool) -> None:
    llm = Double(lambda prompt, _: spoilt(prompt, "score", lambda told: told.update(score=score)))
    author, world = made(llm, tmp_path)
    seen = bool(world.characters[0].questions), bool(author.review), bool(author.dropped)
    assert seen == (accepted, looked_at, dropped)


def test_unrepairable_question_goes_to_review(tmp_path: Path) -> None:
    def nameless(told: Any) -> None:
        told["items"][0]["question"] = "What did they do there?"

    author, world = made(Double(lambda prompt, _: spoilt(prompt, "items", nameless)), tmp_path)
    assert not world.characters[0].questions
    assert "no person of the world" in author.review[0]["why"]


# --- a run that is stopped ------------------------------------------------------------------------


def stopping_after(calls: int) -> Callable[[str, int], str | ThinkbackError]:
    left = iter(range(calls))
    return lambda prompt, _: ModelUnavailable("gone") if next(left, None) is None else world_reply(prompt)


def test_stopped_run_resumes(tmp_path: Path) -> None:
    whole = Double()
    _, unbroken = made(whole, tmp_path / "whole", characters=2)
    calls = len(whole.prompts)
    for stop in (0, 1, 7, calls // 2, calls - 1):
        folder = tmp_path / f"stopped after {stop}"
        broken = Double(stopping_after(stop))
        with pytest.raises(LabError, match="to resume"):
            made(broken, folder, characters=2)
        again = Double()
        author, resumed = made(again, folder, characters=2)
        assert resumed == unbroken
        assert author.usage.kept == stop
        assert len(again.prompts) == calls - stop


def test_other_model_is_asked_again(tmp_path: Path) -> None:
    made(Double(), tmp_path)
    other = Double()
    other.name = "other"
    author, _ = made(other, tmp_path)
    assert author.usage.kept == 0


def test_usage_counts_calls_and_tokens(tmp_path: Path) -> None:
    llm = Double()
    author, _ = made(llm, tmp_path)
    told = author.usage.as_dict
    assert (told["calls"], told["prompt_tokens"]) == (len(llm.prompts), 10 * len(llm.prompts))
    assert told["completion_tokens"] == 3 * len(llm.prompts)


def test_progress_has_known_number_of_steps(tmp_path: Path) -> None:
    reports: list[tuple[int, int]] = []
    author = WorldWriter(Double(), tmp_path, SMALL, lambda done, total: reports.append((done, total)))
    author.generate(2, "en", 5)
    total = 2 * SMALL.steps
    assert reports == [(done, total) for done in range(total)]


def test_too_many_characters_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="at most 400"):
        made(Double(), tmp_path, characters=100_000)
