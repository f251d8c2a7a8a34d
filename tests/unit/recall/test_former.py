"""Questions about how it was before, and facts that ended, in the chat without a model."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.conftest import FakeClock

from thinkback import Memory
from thinkback.network.cross_encoder import find_cross_encoder
from thinkback.recall.chat_phrases import say

pytestmark = pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")


def answer(told: list[str], question: str, clock: FakeClock) -> str:
    """The answer after these messages, each told a month after the one before."""
    with Memory.open(":memory:", embedder="minilm+use", background=False, clock=clock) as memory:
        for text in told:
            memory.chat(text, session=text)
            memory.post_think()
            clock.now += timedelta(days=30)
        return memory.chat(question, session="asks").text


@pytest.mark.parametrize(
    ("told", "question", "word"),
    [
        (["we lived in nantes until 2024", "mum lives in cork still", "we moved to lyon"],
         "where did we live before", "nantes"),
        (["我住在苏州", "上周搬到杭州了"], "以前住哪个城市", "苏州"),
        (["i work at a bakery", "i started at the post office last monday"],
         "where did i work before", "bakery"),
        (["我在华为上班", "我上个月跳槽去了小米"], "我以前在哪上班", "你在华为上班"),
        (["we lived in ghent for six years", "dad lives in bruges", "we live in antwerp now"],
         "where did we used to live", "ghent"),
        (["my sister lives in leeds", "my brother lives in york", "my sister moved to bath"],
         "where did my sister live before", "Leeds"),
        (["first year 我其实读的 architecture, 一学期就受不了 转到 civil 了", "bf 叫 haoran, hes in leeds"],
         "what did i study before civil", "architecture"),
    ],
)  # fmt: skip
def test_a_former_state_is_answered_with_what_was_before(
    told: list[str], question: str, word: str, clock: FakeClock
) -> None:
    assert word in answer(told, question, clock)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (["we live in porto", "my aunt lives in braga"], "where did we live before"),
        (["我住在长沙", "表哥住在株洲"], "我以前住哪"),
        (["mum lives in cork still", "we moved to lyon"], "where did we live before"),
    ],
)
def test_what_holds_now_is_no_former_state(told: list[str], question: str, clock: FakeClock) -> None:
    assert answer(told, question, clock).startswith(say("not_told", question))


@pytest.mark.parametrize(
    ("told", "question", "newer"),
    [
        (["女朋友叫小鹿", "跟小鹿分手了"], "我有女朋友吗", "分手"),
        (["我开一辆飞度", "公司给了我一个车位", "飞度卖了"], "我还有车吗", "飞度卖了"),
        (["我老婆叫小雪", "上个月离婚了"], "我老婆叫什么", "离婚"),
        (["my girlfriend is called nina", "nina and i broke up"], "do i have a girlfriend", "broke up"),
        (["i go to yoga on tuesdays", "cancelled my yoga class pass"], "when is my yoga", "cancelled"),
        (["i work as a chef at noma", "quit last week"], "where do i work", "quit"),
    ],
)
def test_what_ended_is_not_told_without_its_end(
    told: list[str], question: str, newer: str, clock: FakeClock
) -> None:
    assert newer in answer(told, question, clock).lower()


@pytest.mark.parametrize(
    ("told", "question", "answered"),
    [
        (
            ["my husband is called tom", "my sister got divorced"],
            "what's my husband called",
            "Your husband is",
        ),
        (["i work as a chef at noma", "quit smoking last week"], "where do i work", "You work as a chef"),
        (["我老婆叫小雪", "我同事上个月离婚了"], "我老婆叫什么", "你老婆叫小雪"),
        (["我女儿叫糖糖", "手机丢了"], "我女儿叫什么", "你女儿叫糖糖"),
    ],
)
def test_the_end_of_something_else_ends_nothing(
    told: list[str], question: str, answered: str, clock: FakeClock
) -> None:
    assert answer(told, question, clock).startswith(answered)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (["之前在北京百度干过两年运营"], "我在哪儿上班"),
        (["i used to live in leeds"], "where do i live"),
    ],
)
def test_what_only_was_before_is_no_sure_answer_about_now(
    told: list[str], question: str, clock: FakeClock
) -> None:
    assert answer(told, question, clock).startswith(say("nearest", question, "").split("{")[0][:12])


@pytest.mark.parametrize(
    ("told", "question", "word"),
    [
        (["i used to live in leeds but now i live in york"], "where do i live", "york"),
        (["以前住北京，现在住上海"], "我住哪里", "上海"),
    ],
)
def test_what_holds_now_answers_though_it_was_different_before(
    told: list[str], question: str, word: str, clock: FakeClock
) -> None:
    assert word in answer(told, question, clock)
