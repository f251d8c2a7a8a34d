"""The check of answer sentences against thoughts, without a model."""

from __future__ import annotations

import pytest
from tests.factories import NOW

from thinkback.recall.consistency import ConsistencyChecker, complete_answer, is_taken_back
from thinkback.types import SAID, NewTurn, Thought


def thought(sentence: str, id_: int = 1) -> Thought:
    return Thought(
        id=id_,
        subject="user",
        relation=SAID,
        objects=(sentence,),
        sentence=sentence,
        kind="profile",
        sources=(),
        recorded_at=NOW,
    )


def methods(held: str | list[str], answer: str, query: str = "Tell me.") -> list[str]:
    sentences = [held] if isinstance(held, str) else held
    thoughts = [thought(sentence, number) for number, sentence in enumerate(sentences, start=1)]
    checker = ConsistencyChecker(thoughts, NewTurn(query=query, at=NOW))
    return [conflict.method for conflict in checker.conflicts("", answer)]


@pytest.mark.parametrize(
    ("held", "answer"),
    [
        ("The user lives in Lyon.", "Since you live in Paris, the Louvre is close."),
        ("i live in Leeds", "You live in York."),
        ("The user lives in Lyon.", "You do not live in Lyon."),
        ("用户住在北京。", "你住在上海，去外滩很方便。"),
        ("The user's birthday is on 6 May.", "Your birthday is on June 6."),
        ("The user has two cats.", "Your three cats will be glad."),
        ("The user's rent is 900 euros.", "Your rent is 700 euros."),
        ("The user's landlord is called Sven.", "Ask your landlord Peter about it."),
        ("The user does not speak Italian.", "You speak Italian, so just ask."),
        ("The user hates opera.", "You love opera, so book a box."),
        ("用户讨厌下棋。", "你喜欢下棋，去棋社吧。"),
        ("The user is divorced.", "Your wife will be delighted."),
        ("The user's iron level is low.", "Your iron level is high."),
    ],
)
def test_contradictions_are_found_by_words(held: str, answer: str) -> None:
    assert methods(held, answer) == ["words"]


@pytest.mark.parametrize(
    ("held", "answer"),
    [
        ("The user lives in Lyon.", "You live in France."),
        ("The user lives in Lyon.", "You do not live in Paris."),
        ("The user lives in Lyon.", "Do you live in Paris?"),
        ("The user lives in Lyon.", "If you lived in Paris, you would pay more."),
        ("The user lives in Lyon.", "You moved to Paris in 2015, and to Lyon last year."),
        ("The user likes coffee.", "You like tea."),
        ("The user has a cat named Luna.", "You don't have a dog."),
        ("The user's rent is 900 euros.", "Most people pay up to 1,000 euros."),
        ("用户住在北京。", "你姐姐住在上海。"),
        ("The user's iron level is low.", "It should get back to a normal iron level."),
        (["The user lives in Lyon.", "Anna lives in Rome."], "Anna lives in Rome, and you in Lyon."),
    ],
)
def test_compatible_sentences_pass(held: str | list[str], answer: str) -> None:
    assert methods(held, answer) == []


@pytest.mark.parametrize(
    ("held", "answer"),
    [
        ("The user is allergic to peanuts.", "Peanuts are safe for you."),
        ("i cant have peanuts", "Try the satay."),
        ("The user doesn't eat shellfish.", "How about prawns tonight?"),
        ("The user is allergic to penicillin.", "You can take amoxicillin."),
        ("The user is allergic to kiwi.", "A kiwi smoothie would be lovely."),
        ("我对芒果过敏", "来一份芒果布丁吧。"),
        ("用户怀孕了。", "来一份刺身怎么样？"),
        ("The user is vegetarian.", "A steak would be a treat for you."),
    ],
)
def test_forbidden_recommendations_are_found(held: str, answer: str) -> None:
    assert "safety" in methods(held, answer)


@pytest.mark.parametrize(
    ("held", "answer"),
    [
        ("The user is allergic to peanuts.", "Avoid the satay."),
        ("The user is allergic to peanuts.", "Peanuts grow underground."),
        ("The user is lactose intolerant.", "Try it with oat milk."),
        ("The user does not drink.", "A ginger beer would be nice."),
        (["The user is vegan.", "The user's partner Ben eats meat."], "Ben could have a steak."),
        ("我对芒果过敏", "点西米露，别加芒果。"),
    ],
)
def test_allowed_sentences_pass(held: str | list[str], answer: str) -> None:
    assert methods(held, answer) == []


def test_contraindication_concerns_only_those_who_take_the_medicine() -> None:
    rule = "Warfarin must not be taken with aspirin."
    assert methods([rule, "The user takes warfarin."], "Take an aspirin.") == ["safety"]
    assert methods([rule, "The user likes tea."], "Take an aspirin.") == []


def test_bare_reply_is_read_with_its_question() -> None:
    assert methods("The user lives in Lyon.", "Paris.", "Where do I live?") == ["words"]
    assert methods("The user lives in Lyon.", "Lyon.", "Where do I live?") == []
    assert complete_answer("上海。", "我住在哪里？") == "你住在上海。"


@pytest.mark.parametrize(
    ("message", "taken_back"),
    [
        ("I moved to Oslo!", True),
        ("Sorry, it's Oslo, not Lyon.", True),
        ("Where do I live?", False),
        ("I like tea.", False),
    ],
)
def test_what_the_user_says_now_takes_precedence(message: str, taken_back: bool) -> None:
    assert is_taken_back(thought("The user lives in Lyon."), message) == taken_back
