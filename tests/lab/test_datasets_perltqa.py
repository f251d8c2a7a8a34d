"""PerLTQA loader, on fixtures with the oddities of the public files."""

from __future__ import annotations

import gzip
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from thinkback_lab.cases import Case, HistoryItem, Question
from thinkback_lab.datasets.perltqa import load
from thinkback_lab.errors import LabError

FIXTURES = Path(__file__).parent / "fixtures" / "perltqa"


@pytest.fixture(scope="module")
def tara() -> Case:
    (only,) = load(FIXTURES).cases
    return only


def item(case: Case, id: str) -> HistoryItem:
    return next(each for each in case.items if each.id == id)


def asked(case: Case, words: str) -> Question:
    return next(each for each in case.questions if words in each.text)


def test_character_with_questions_is_case(tara: Case) -> None:
    assert (tara.id, tara.lang, len(tara.questions)) == ("Tara Quill", "en", 6)


def test_every_memory_is_item_with_reference_id(tara: Case) -> None:
    kinds = {each.id: each.kind for each in tara.items}
    assert kinds["Gender"] == "profile"
    assert kinds["7_1"] == "relationship"
    assert kinds["7_0_0"] == "event"
    assert kinds["7_0_1#0"] == "dialogue"
    assert len(tara.items) == 13 + 2 + 3 + 2


def test_empty_field_is_neither_memory_nor_gold(tara: Case) -> None:
    assert not [each for each in tara.items if each.id == "Awards and Role Models"]
    question = asked(tara, "awards")
    assert question.gold == ()
    assert question.answerable


def test_sentences_name_the_character(tara: Case) -> None:
    assert item(tara, "Age").text == "Tara Quill's age is 34."
    assert item(tara, "Hobbies").text == "Tara Quill's hobbies are rowing, bookbinding."
    assert item(tara, "7_0").text.startswith("Jonas Quill is Tara Quill's elder brother. Tara Quill's elder")


def test_dialogue_is_one_item(tara: Case) -> None:
    told = item(tara, "7_0_1#0")
    assert told.text.splitlines() == [
        "Tara Quill: I would use ochre for the letters.",
        "Jonas Quill: Then call her Sparrow: small and quick.",
    ]
    assert told.at == datetime(2022, 6, 3, 10, tzinfo=UTC)


def test_items_are_in_order_and_undated_ones_first(tara: Case) -> None:
    moments = [each.at for each in tara.items]
    assert moments == sorted(moments)
    semantic = [each.at for each in tara.items if each.kind in ("profile", "relationship")]
    assert max(semantic) < min(each.at for each in tara.items if each.kind in ("event", "dialogue"))
    assert all(question.at > moments[-1] for question in tara.questions)


@pytest.mark.parametrize(
    ("id", "at"),
    [
        ("7_0_0", datetime(2022, 5, 12, tzinfo=UTC)),
        ("7_1_0", datetime(2021, 10, 1, tzinfo=UTC)),
        ("7_0_1", datetime(2022, 6, 3, 10, tzinfo=UTC)),  # "before the regatta": its dialogue's date
        ("7_1_0#1", datetime(2021, 10, 1, tzinfo=UTC)),  # "some evening": its event's date
    ],
)
def test_unreadable_date_is_taken_from_related_memory(tara: Case, id: str, at: datetime) -> None:
    assert item(tara, id).at == at


@pytest.mark.parametrize(
    ("words", "gold", "category", "kind"),
    [
        ("How old", ("Age",), "profile", "profile"),
        ("elder brother", ("7_0",), "social_relationship", "relationship"),
        ("Which boat", ("7_0_0",), "events", "event"),
        ("Mei Castell and", ("7_1_0",), "events", "event"),  # the file says 4_1_0
        ("Which colour", ("7_0_1#0",), "dialogues", "dialogue"),  # the file says 7_0_1#5
    ],
)
def test_gold_is_the_referenced_memory(
    tara: Case, words: str, gold: tuple[str, ...], category: str, kind: str
) -> None:
    question = asked(tara, words)
    assert (question.gold, question.category, question.kind) == (gold, category, kind)


def test_anchors_are_html_unescaped(tara: Case) -> None:
    assert asked(tara, "Which boat").anchors == ("Tara Quill's boat", "Heron")


def test_chinese_field_names_are_understood() -> None:
    (case,) = load(FIXTURES, "zh").cases
    assert case.id == "林晓帆"
    assert item(case, "Hobbies").text == "林晓帆的爱好是划船、装订书籍。"
    assert item(case, "3_0").text == "林晓舟是林晓帆的哥哥。林晓帆的哥哥，在码头造木船。"
    assert item(case, "3_0_0").at == datetime(2022, 7, 9, tzinfo=UTC)
    assert item(case, "3_0_0#0").text.startswith("林晓帆: 那支桨")
    assert [each.gold for each in case.questions] == [("Hobbies",), ("3_0_0",)]


@pytest.mark.parametrize("place", ["", "perltqa", "perltqa/en", "en_v2", "Dataset/en_v2"])
def test_every_layout_is_found_plain_or_gzipped(tmp_path: Path, place: str) -> None:
    home = tmp_path / place
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(FIXTURES / "perltqa_en_v2.json", home / "perltqa_en_v2.json")
    packed = gzip.compress((FIXTURES / "perltmem_en_v2.json").read_bytes())
    (home / "perltmem_en_v2.json.gz").write_bytes(packed)
    assert load(tmp_path).digest == load(FIXTURES).digest


def test_missing_files_name_their_origin(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="Elvin-Yiming-Du/PerLTQA"):
        load(tmp_path)
    shutil.copy(FIXTURES / "perltmem_en_v2.json", tmp_path)
    with pytest.raises(LabError, match="perltqa_en_v2"):
        load(tmp_path)


def test_unknown_language_is_rejected() -> None:
    with pytest.raises(LabError, match="en, zh"):
        load(FIXTURES, "fr")


@pytest.mark.parametrize(
    "words", ["[", "7", '["a"]', '{"A": 5}', '{"A": {"events": "[1"}}', '{"A": {"events": 3}}']
)
def test_other_format_is_reported_with_file(tmp_path: Path, words: str) -> None:
    (tmp_path / "perltmem_en.json").write_text(words)
    (tmp_path / "perltqa_en.json").write_text("[]")
    with pytest.raises(LabError, match="perltmem_en"):
        load(tmp_path)
