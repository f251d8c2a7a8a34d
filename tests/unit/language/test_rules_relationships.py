"""Relationships between people other than the user, and sentences that state none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)
RELATIONSHIPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Lucy is Tom's sister.", ("Tom | has sister | Lucy",)),
    ("Lucy is the younger sister of Tom.", ("Tom | has sister | Lucy",)),
    ("Lucy is Tom's sister and lives in Oslo.", ("Tom | has sister | Lucy", "Lucy | lives in | Oslo")),
    ("Łukasz Žák is Tom's brother.", ("Tom | has brother | Łukasz Žák",)),
    ("Lars is my boss's nephew.", ("user's boss | has nephew | Lars",)),
    ("Anna's husband is Erik.", ("Anna | has husband | Erik",)),
    ("Anna's son is called Nils.", ("Anna | has son | Nils",)),
    ("Lucy's boss is Frank Weber.", ("Lucy | has boss | Frank Weber",)),
    ("My sister's husband is Erik.", ("user's sister | has husband | Erik",)),
    ("My sister's husband works at Equinor.", ("user's sister's husband | works at | Equinor",)),
    ("Anna's husband works as a cook.", ("Anna's husband | works as | cook",)),
    ("Anna's husband's name is Erik.", ("Anna | has husband | Erik",)),
    ("Erik, Anna's husband, works at Equinor.", ("Erik | works at | Equinor", "Anna | has husband | Erik")),
    ("Anna's husband Erik works at Equinor.", ("Anna | has husband | Erik", "Erik | works at | Equinor")),
    ("Anna's parents are Karl and Marta.", ("Anna | has parents | Karl; Marta",)),
    ("Anna's sisters are Eva, Mia and Lotte.", ("Anna | has sister | Eva; Mia; Lotte",)),
    ("Anna married Erik in 2015.", ("Anna | has partner | Erik",)),
    ("Tom and Lucy are siblings.", ("Tom | has sibling | Lucy",)),
    ("Tom and Lucy are old friends.", ("Tom | has friend | Lucy",)),
    ("Tom and Lucy got married in May.", ("Tom | has partner | Lucy",)),
    ("Priya works for Mrs. Holm.", ("Priya | has boss | Mrs. Holm",)),
    ("Priya reports to Jonas.", ("Priya | has boss | Jonas",)),
    ("李娜是王强的妹妹。", ("王强 | has sister | 李娜",)),
    ("李娜是王强的妹妹，住在成都。", ("王强 | has sister | 李娜", "李娜 | lives in | 成都")),
    ("王强的妻子叫赵敏。", ("王强 | has wife | 赵敏",)),
    ("王强的老板是陈刚。", ("王强 | has boss | 陈刚",)),
    ("李伟是王强的大学同学。", ("王强 | has classmate | 李伟",)),
    ("王强和李伟是同事。", ("王强 | has colleague | 李伟",)),
    ("王强和赵敏是夫妻。", ("王强 | has partner | 赵敏",)),
    ("王强和赵敏结婚了。", ("王强 | has partner | 赵敏",)),
    ("赵敏嫁给了王强。", ("赵敏 | has husband | 王强",)),
    ("我妹妹李娜嫁给了王强。", ("user | has sister | 李娜", "李娜 | has husband | 王强")),
    ("我妹妹的丈夫叫王强。", ("用户的妹妹 | has husband | 王强",)),
    ("我老板的儿子叫豆豆。", ("用户的老板 | has son | 豆豆",)),
    ("陈刚的妻子在医院工作。", ("陈刚的妻子 | works at | 医院",)),
    ("小明的妈妈是老师。", ("小明的妈妈 | works as | 老师",)),
    ("我妹妹的男朋友是厨师。", ("用户的妹妹的男朋友 | works as | 厨师",)),
)
OTHER_SENTENCES = (
    "Is Lucy Tom's sister?",
    "If Anna's husband is Erik, we should invite him.",
    "Lucy is not Tom's sister.",
    "Lucy is Tom's sister's friend.",
    "Tom said Lucy is Anna's sister.",
    "Lucy is Tom's biggest fan.",
    "Tom and Lucy are late.",
    "Germany and France are neighbours of mine.",
    "Anna's friend is great.",
    "李娜是王强的妹妹吗？",
    "如果李娜是王强的妹妹就好了。",
    "公司的老板是个好人。",
    "王强和李伟是对的。",
    "电影的女儿叫什么不重要。",
)


def read(text: str) -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(id=7, query=text, at=AT, recorded_at=AT))


def format_triple(draft: ThoughtDraft) -> str:
    return f"{draft.subject} | {draft.relation} | {'; '.join(draft.objects)}"


@pytest.mark.parametrize(("text", "triples"), RELATIONSHIPS, ids=[text for text, _ in RELATIONSHIPS])
def test_relationship_is_read(text: str, triples: tuple[str, ...]) -> None:
    drafts = read(text)
    assert tuple(map(format_triple, drafts)) == triples
    for draft in drafts:
        (source,) = draft.sources
        assert text[source.start : source.end].strip() != ""


@pytest.mark.parametrize("text", OTHER_SENTENCES)
def test_other_sentence_is_ignored(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Lucy is Tom's younger sister.", "Tom's younger sister is Lucy."),
        ("As Anna's former colleague, Tom knows the house.", "Anna's former colleague is Tom."),
        ("Tom and Lucy are siblings.", "Tom and Lucy are siblings."),
        ("Anna's children are Tom and Mia.", "Anna's children are Tom and Mia."),
        ("王强和赵敏是夫妻。", "王强和赵敏是夫妻。"),
        ("李娜是王强的姐姐。", "王强的姐姐是李娜。"),
    ],
)
def test_sentence_keeps_the_kin_word(text: str, sentence: str) -> None:
    assert [draft.sentence for draft in read(text)] == [sentence]
