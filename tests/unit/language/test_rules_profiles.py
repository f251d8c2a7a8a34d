"""Profile lines (owner, noun, value), and sentences that only look like one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)
PROFILE_LINES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Marta Lopez's citizenship is Spanish.", ("Marta Lopez | nationality | Spanish",)),
    ("Marta Lopez's occupation: welder.", ("Marta Lopez | works as | welder",)),
    ("Karl's educational background is a diploma in glass making.",
        ("Karl | education | a diploma in glass making",)),
    ("Karl's physical features are broad shoulders, a short beard and round glasses.",
        ("Karl | appearance | broad shoulders, a short beard and round glasses",)),
    ("Karl's personality is calm and patient.", ("Karl | personality | calm and patient",)),
    ("The personality of Karl is calm.", ("Karl | personality | calm",)),
    ("Karl's interests include chess and rowing.", ("Karl | likes | chess; rowing",)),
    ("Karl's contact information: karl@example.org", ("Karl | contact | karl@example.org",)),
    ("Karl's age: 41", ("Karl | is aged | 41",)),
    ("Élodie Åberg's hobbies are rowing and chess.", ("Élodie Åberg | likes | rowing; chess",)),
    ("Karl's eye color is green.", ("Karl | eye colour | green",)),
    ("Karl's coffee brand is Moka Nera.", ("Karl | coffee brand | Moka Nera",)),
    ("Karl's lucky charm: a brass button", ("Karl | lucky charm | a brass button",)),
    ("My personality is rather quiet.", ("user | personality | rather quiet",)),
    ("My marital status is divorced.", ("user | marital status | divorced",)),
    ("Name: Eva Holm\nOccupation: welder\nReligion: Buddhism",
        ("Eva Holm | works as | welder", "Eva Holm | religion | Buddhism")),
    ("Eva Holm\n- Nationality: Swiss\n- Hobbies: rowing, chess",
        ("Eva Holm | nationality | Swiss", "Eva Holm | likes | rowing; chess")),
    ("王强的国籍是中国。", ("王强 | nationality | 中国",)),
    ("王天一的职位是车间主任。", ("王天一 | works as | 车间主任",)),
    ("王强的体貌特征是高个子，戴眼镜。", ("王强 | appearance | 高个子，戴眼镜",)),
    ("王强的文化程度：大专", ("王强 | education | 大专",)),
    ("王强的兴趣爱好是下棋和钓鱼。", ("王强 | likes | 下棋; 钓鱼",)),
    ("王强的口头禅是慢慢来。", ("王强 | motto | 慢慢来",)),
    ("欧阳雪的宗教信仰是佛教。", ("欧阳雪 | religion | 佛教",)),
    ("我的性格比较内向。", ("user | personality | 比较内向",)),
    ("王强的幸运颜色是绿色。", ("王强 | 幸运颜色 | 绿色",)),
    ("姓名：王芳\n职业：教师\n民族：汉族", ("王芳 | works as | 教师", "王芳 | ethnicity | 汉族")),
)  # fmt: skip
OTHER_SENTENCES = (
    "The problem is that I have no time.",
    "My point is simple.",
    "My character is level 40.",
    "My phone is dead.",
    "Karl's idea is great.",
    "Karl's problem is money.",
    "Karl's education is impressive.",
    "Karl's appearance is really important to him.",
    "Karl's personality is not calm.",
    "Karl's hobby is getting expensive.",
    "Karl's house is on fire.",
    "Is Karl's nationality Spanish?",
    "If Karl's nationality is Spanish, he needs no visa.",
    'He wrote "Karl\'s occupation: thief".',
    "Occupation: welder",  # whose?
    "The car's appearance is sporty.",
    "问题是我没时间。",
    "重点是要快。",
    "我的问题是没钱。",
    "王强的问题是没钱。",
    "王强的意思是明天再说。",
    "王强的职业是什么？",
    "如果王强的国籍是中国就好办了。",
    "公司的地址是个秘密。",
    "手机的外形是方的。",
    "王强的外表很重要。",
    "王强的样子很好认：高个子。",
    "职业：教师",  # whose?
)


def read(text: str) -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(id=7, query=text, at=AT, recorded_at=AT))


def format_triple(draft: ThoughtDraft) -> str:
    return f"{draft.subject} | {draft.relation} | {'; '.join(draft.objects)}"


@pytest.mark.parametrize(("text", "triples"), PROFILE_LINES, ids=[text for text, _ in PROFILE_LINES])
def test_attribute_is_read(text: str, triples: tuple[str, ...]) -> None:
    drafts = read(text)
    assert tuple(map(format_triple, drafts)) == triples
    assert all(draft.kind == "profile" for draft in drafts)


@pytest.mark.parametrize("text", OTHER_SENTENCES)
def test_other_sentence_is_ignored(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Karl's schooling is an apprenticeship.", "Karl's schooling is an apprenticeship."),
        ("Karl's looks are those of a boxer.", "Karl's looks are those of a boxer."),
        ("Marta's occupation: welder", "Marta works as a welder."),
        ("Karl's lucky charm: a brass button", "Karl's lucky charm is a brass button."),
        ("王强的长相是圆脸，短发。", "王强的长相是圆脸，短发。"),
        ("王强的祖籍是湖南。", "王强来自湖南。"),
    ],
)
def test_sentence_keeps_the_noun_without_own_template(text: str, sentence: str) -> None:
    assert [draft.sentence for draft in read(text)] == [sentence]
