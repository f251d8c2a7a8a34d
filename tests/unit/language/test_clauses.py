"""Messages are cut into pieces of reasonable size, without losing a character."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.clauses import MAX_JOINED_EN, TARGET_EN, TARGET_ZH, split_clauses


def texts(message: str) -> list[str]:
    return [piece.text for piece in split_clauses(message)]


def test_sentences_stay_whole() -> None:
    message = "We moved to Kent, at last. She didn't want to come."
    assert texts(message) == ["We moved to Kent, at last.", "She didn't want to come."]
    assert texts("我终于搬家了，真好。她没有跟我一起走。") == ["我终于搬家了，真好。", "她没有跟我一起走。"]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "The platelets came back. 43.5. I see her again in May.",
            ["The platelets came back. 43.5.", "I see her again in May."],
        ),
        ("I hurt my knee. The left one. Badly.", ["I hurt my knee. The left one. Badly."]),
        ("核磁今天出：韧带断了。下周三手术。", ["核磁今天出：韧带断了。下周三手术。"]),
        ("Hello there. I live in Lyon. Bye.", ["Hello there.", "I live in Lyon. Bye."]),
        ("What did she say? Nothing much.", ["What did she say?", "Nothing much."]),
        ("SECOND. Out of nineteen choirs, imagine that.", ["SECOND. Out of nineteen choirs, imagine that."]),
        (
            "My brother? He is my man. Thirty years in June, God help us.",
            ["My brother?", "He is my man. Thirty years in June, God help us."],
        ),
        ("We sold the house. Why not?", ["We sold the house.", "Why not?"]),
        ("- milk\n- two eggs", ["- milk", "- two eggs"]),
    ],
)
def test_fragments_stay_with_the_sentence_before(message: str, expected: list[str]) -> None:
    assert texts(message) == expected


def test_fragments_do_not_pile_up() -> None:
    pieces = split_clauses("Yes. No. Maybe so. " * 60)
    assert len(pieces) > 5
    assert max(len(piece.text) for piece in pieces) <= MAX_JOINED_EN


@pytest.mark.parametrize(
    "message",
    [
        "so my sister Nora rang she's moved to Leeds with the twins and I told her I'd come up in March"
        " because the trains are cheap then and I've still got her old bike in my shed",
        "上个月开始在镇上的中学教书了 离家很近走路十分钟 我妈很高兴天天给我做饭 "
        "就是工资不高一个月四千二 但是不用租房了 周末还能回去帮家里收菜 日子算是安稳下来了",
        "我现在在一家物流公司上班，做仓库主管，手下有十二个人，工资比以前多了两千，就是夜班多，老婆有点意见，孩子也见得少了",
    ],
)
def test_run_on_sentences_are_cut(message: str) -> None:
    pieces = split_clauses(message)
    assert len(pieces) >= 2
    target = TARGET_EN if message.isascii() else TARGET_ZH
    assert max(len(piece.text) for piece in pieces) <= 2 * target


def test_a_quotation_is_not_cut_open() -> None:
    message = "他临走的时候跟我说的最后一句话就是“你要好好念书，听你妈的话，别惦记我，钱够用”，我到现在还记得"
    assert any("“你要好好念书，听你妈的话，别惦记我，钱够用”" in text for text in texts(message))


@given(st.text(max_size=400))
def test_no_character_is_lost_and_positions_are_exact(message: str) -> None:
    pieces = split_clauses(message)
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(message.split())
    for piece in pieces:
        assert message[piece.start : piece.end] == piece.text
    assert all(first.end <= second.start for first, second in itertools.pairwise(pieces))


@pytest.mark.parametrize(
    ("message", "pieces"),
    [
        (
            "my niece ada cannot have nuts, what can i bake for her?",
            ["my niece ada cannot have nuts,", "what can i bake for her?"],
        ),
        (
            "is it far to walk from the station, i have a bad hip",
            ["is it far to walk from the station,", "i have a bad hip"],
        ),
        ("can i still go diving im asthmatic and 60", ["can i still go diving", "im asthmatic and 60"]),
        ("我孙子在长沙念书 那边冬天要不要带羽绒服", ["我孙子在长沙念书", "那边冬天要不要带羽绒服"]),
        ("能喝咖啡吗我刚做完胃镜手术", ["能喝咖啡吗", "我刚做完胃镜手术"]),
        ("我可以吃芒果吗，我对坚果过敏", ["我可以吃芒果吗，", "我对坚果过敏"]),
        (
            "what should i cook for ana, she is a vegan, and i am allergic to nuts",
            ["what should i cook for ana, she is a vegan,", "and i am allergic to nuts"],
        ),
        ("i am a vegan, which milk should i buy", ["i am a vegan,", "which milk should i buy"]),
        ("my niece cant have nuts, any ideas?", ["my niece cant have nuts,", "any ideas?"]),
        (
            "we went vegan in may, suggestions for dinner?",
            ["we went vegan in may,", "suggestions for dinner?"],
        ),
        ("im pregnant so can i eat sushi", ["im pregnant", "so can i eat sushi"]),
        ("im diabetic, is that ok?", ["im diabetic,", "is that ok?"]),
    ],
)
def test_what_a_sentence_tells_is_cut_from_what_it_asks(message: str, pieces: list[str]) -> None:
    assert texts(message) == pieces


def test_a_clause_that_points_back_into_the_question_stays_with_it() -> None:
    message = "what do i give my barber, he's called Luis and he is into fishing"
    assert texts(message) == [message]


@pytest.mark.parametrize(
    "message",
    [
        "I live in Leeds, which is near York",
        "my dad has diabetes, which is why i cook for him",
        "my sister is a nurse and so is my mum",
        "i hate coriander and so does my wife",
        "what are the things i have to pack for iceland",
        "is there anything i have to do before surgery",
        "how much is the rent we are paying compared to others",
        "i live in leeds, right?",
        "any advice my boss gives is useless",
        "my doctor never gave me any advice about the baby",
        "i don't have any ideas for dinner",
        "my sister has some ideas for the wedding and she is a planner",
    ],
)
def test_a_sentence_that_only_tells_or_only_asks_stays_whole(message: str) -> None:
    assert texts(message) == [message]
