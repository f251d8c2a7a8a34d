"""`train kinds`: training and test questions, and a tiny model end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thinkback import KindModel
from thinkback_lab.cases import EPISODIC_KINDS, SEMANTIC_KINDS
from thinkback_lab.cli import app
from thinkback_lab.training.kind_classifier import LANGUAGES, handwritten_questions, world_questions
from thinkback_lab.worlds.grammar import generate
from thinkback_lab.worlds.world import Lang

KINDS = {*SEMANTIC_KINDS, *EPISODIC_KINDS}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_fifth_of_each_handwritten_kind_is_held_out(lang: Lang) -> None:
    learn, tested = handwritten_questions(lang, 0)
    assert {each.kind for each in learn} == {each.kind for each in tested} == KINDS
    assert not {each.text for each in learn} & {each.text for each in tested}
    assert len(learn) + len(tested) == len({each.text for each in (*learn, *tested)}) >= 400
    assert len(tested) / (len(learn) + len(tested)) == pytest.approx(0.2, abs=0.01)
    assert handwritten_questions(lang, 0) == (learn, tested) != handwritten_questions(lang, 1)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_handwritten_questions_differ_from_grammar(lang: Lang) -> None:
    written = {each.text for part in handwritten_questions(lang, 0) for each in part}
    assert not written & {each.text for each in world_questions(4, lang, 3, 10_000, nameless=1.0)}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_names_can_be_masked(lang: Lang) -> None:
    (who,) = generate(1, lang, 5).characters
    kept = [each.text for each in world_questions(1, lang, 5, 10_000)]
    bare = [each.text for each in world_questions(1, lang, 5, 10_000, nameless=1.0)]
    now = {
        text for qa in who.questions if qa.topic in ("changed", "past") for text in (qa.question, *qa.again)
    }
    assert any(who.name in text for text in kept)
    assert all(who.name not in text for text in bare if text not in now)
    assert now <= set(bare)
    own = "I " if lang == "en" else "我"
    assert any(own in text for text in bare)


def test_world_questions_are_limited_and_reproducible() -> None:
    few = world_questions(1, "en", 2, 20)
    assert len(few) == 20
    assert few == world_questions(1, "en", 2, 20) != world_questions(1, "en", 3, 20)


def test_tiny_model_end_to_end(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn belongs to the extra lab")
    out = tmp_path / "kinds.npz"
    words = ["train", "kinds", "--characters", "1", "--embedder", "hashing", "--out", str(out), "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    for name in ("worlds en", "worlds zh", "by hand en", "by hand zh"):
        assert told[name]["f1"] > 0.7, name
    assert set(told["by hand zh"]["kinds"]) == KINDS
    model = KindModel.load(out)
    assert model.embedder == told["settings"]["embedder"]
    assert (
        max(model.classify("What did you recommend to me?", None, None).items(), key=lambda p: p[1])[0]
        == "dialogue"
    )


def test_errors_are_one_line(tmp_path: Path) -> None:
    for out in ("kinds.bin", str(tmp_path / "nowhere" / "kinds.npz")):
        result = CliRunner().invoke(
            app, ["train", "kinds", "--characters", "1", "--embedder", "hashing", "--out", out]
        )
        assert result.exit_code == 1
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
