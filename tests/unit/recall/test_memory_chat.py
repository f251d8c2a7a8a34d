"""The chat without a model: right, cited, in the asker's language, and never invented."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.language.safety.quarantine import redact_explanation
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.network.cross_encoder import find_cross_encoder
from thinkback.recall.answerable import AnswerJudge, asks, asks_about_somebody
from thinkback.recall.chat_phrases import load_words, say
from thinkback.types import Action, Explanation

NOT_TOLD = ("You have not told me that.", "你还没告诉过我。")
UNSURE = ("I find no clear answer.", "没有找到确切的答案。")


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("My brother Paul works as a baker in Ghent.", "what does paul do?", "baker"),
        ("we pay 700 rent each month", "how much rent do we pay", "700"),
        ("my dog is called Momo, she is 4", "whats my dogs name", "Momo"),
        ("I started pottery classes on wednesdays", "when are my pottery classes?", "wednesdays"),
        ("my flatmate Ines is from Porto", "where is ines from", "Porto"),
        ("我妹妹在南京读大学", "我妹妹在哪里读大学？", "南京"),
        ("我每天早上喝豆浆", "我早上喝什么", "豆浆"),
        ("我爸是司机，开了二十年车", "我爸做什么工作", "司机"),
    ],
)
def test_a_told_fact_is_answered_with_a_citation(
    memory: Memory, told: str, question: str, answer: str
) -> None:
    memory.chat(told)
    text = memory.chat(question).text
    assert answer in text
    assert text.endswith("]")
    assert "[thought:" in text or "[turn:" in text


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("My brother Paul works as a baker in Ghent.", "what is paul's wife called?"),
        ("My brother Paul works as a baker in Ghent.", "when was paul born"),
        ("we booked a cabin for 3 may", "how much did the cabin cost?"),
        ("my dog is called Momo", "whats my cats name"),
        ("I like tea.", "which school did i go to"),
        ("我妹妹在南京读大学", "我弟弟在哪里读大学？"),
        ("我爸是司机，开了二十年车", "我爸是哪里人"),
        ("五月三号我们去爬山", "爬山花了多少钱"),
    ],
)
def test_what_was_never_told_is_not_claimed(memory: Memory, told: str, question: str) -> None:
    memory.chat(told)
    reply = memory.chat(question).text
    assert reply in NOT_TOLD or reply.startswith(UNSURE)


@pytest.mark.parametrize(
    ("told", "question", "word"),
    [
        ("so we moved in with priya, its on the ninth floor", "which level do we live on", "ninth floor"),
        ("我们刚搬到余杭，房子大一点", "我现在家在哪个区", "余杭"),
    ],
)
def test_without_a_sure_answer_the_nearest_statement_is_quoted(
    memory: Memory, told: str, question: str, word: str
) -> None:
    memory.chat(told)
    reply = memory.chat(question).text
    assert reply.startswith(UNSURE)
    assert word in reply


def test_the_newest_statement_on_the_matter_is_quoted_beside_the_nearest(memory: Memory) -> None:
    memory.chat("老公老陈是开出租的，腰不好")
    memory.chat("今天下雨，生意不好")
    memory.chat("老陈不跑出租了，去小区当保安了")
    assert "保安" in memory.chat("老陈现在干啥子工作").text


def test_a_question_inside_a_remark_is_answered_if_nothing_of_it_is_kept(memory: Memory) -> None:
    memory.chat("My sister Morag is getting married in Oban in June.")
    reply = memory.chat("wait, remind me where morag is getting married again").text
    assert "Oban" in reply


def test_the_newest_word_answers(memory: Memory, clock: FakeClock) -> None:
    memory.chat("my friend Lena is moving to Graz in june")
    clock.now += timedelta(days=3)
    memory.chat("lena isnt moving to graz after all, its linz now")
    assert "linz" in memory.chat("where is lena moving to now?").text


def test_a_marked_past_is_not_told_as_present(memory: Memory, clock: FakeClock) -> None:
    memory.chat("I live in Paris.")
    clock.now += timedelta(days=3)
    memory.chat("I moved to Lyon.")
    assert "Paris" not in memory.chat("Where do I live?").text


def test_a_parting_told_later_answers_who_somebody_is(memory: Memory, clock: FakeClock) -> None:
    memory.chat("I moved to Bergen with my boyfriend Ivar.")
    clock.advance(3600)
    memory.chat("ivar n me split up")
    assert "split up" in memory.chat("who is Ivar to me?").text


def test_a_statement_that_the_classifier_takes_for_a_question_is_kept() -> None:
    message = "我妈血压高 在吃氨氯地平"
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        assert "氨氯地平" in memory.chat(message).text
        assert "氨氯地平" in memory.chat("我妈吃什么药").text


def test_a_sure_question_is_no_fact_although_its_sentence_was_kept() -> None:
    """Messages from `scenarios/chats/blind_l`, whose writer saw no code."""
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        memory.chat("Dr. Filipa Nogueira is the obstetrician, in case I need the name later.")
        reply = memory.chat("Name of the doctor who follows Helena, the obstetrician").text
        assert "Nogueira" in reply


@pytest.mark.parametrize(
    ("told", "question", "values"),
    [
        (["i am allergic to peanuts and shellfish"], "what am i allergic to?", ["peanuts", "shellfish"]),
        (["我对花生和虾过敏"], "我对什么过敏", ["花生", "虾"]),
        (
            ["i am allergic to peanuts", "btw shellfish too, im allergic to shellfish"],
            "what am i allergic to?",
            ["peanuts", "shellfish"],
        ),
        (
            ["i am allergic to peanuts", "im allergic to shellfish", "i am not allergic to peanuts"],
            "what am i allergic to?",
            ["not allergic to peanuts", "allergic to shellfish"],
        ),
    ],
)
def test_all_values_of_a_fact_are_told(
    memory: Memory, clock: FakeClock, told: list[str], question: str, values: list[str]
) -> None:
    for text in told:
        memory.chat(text)
        clock.advance(60)
    reply = memory.chat(question).text
    assert all(value in reply for value in values)


def test_a_value_that_ended_is_not_among_the_others() -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        for text in ("i play guitar", "i play tennis", "i gave up guitar"):
            memory.chat(text)
        reply = memory.chat("what do i play?").text
        assert "You play tennis" in reply
        assert "You play guitar" not in reply


def test_one_of_two_facts_of_a_message_is_no_answer_for_the_other() -> None:
    """From a stranger's trial: it was answered with where the user lives."""
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        memory.chat("im dana, 34, i live in porto and work as a nurse at santo antonio hospital")
        assert "santo antonio" in memory.chat("where do i work?").text


def test_the_assistant_is_never_quoted(memory: Memory) -> None:
    memory.remember("What could I cook tonight?", "Your sister Clara likes risotto with saffron.")
    memory.post_think()
    assert memory.chat("What does my sister Clara like?").text in NOT_TOLD


def test_a_memory_in_another_language_is_quoted(memory: Memory) -> None:
    memory.chat("my landlord Bruno keeps bees on the roof")
    assert "你告诉过我：“my landlord Bruno keeps bees" in memory.chat("Bruno 在 roof 养什么 bees").text


def test_a_triple_is_stated_in_the_language_of_the_question(memory: Memory) -> None:
    memory.chat("我的狗叫豆豆，很乖")
    assert memory.chat("what is my dog called?").text == "You have a dog named 豆豆. [thought:1]"


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("write me a poem", "For that I need a larger language model."),
        ("What is the capital of Mongolia?", "For that I need"),
        ("do you think that is wise?", "For that I need"),
        ("帮我写一首诗", "这个需要更大的语言模型"),
        ("为什么天是蓝的", "这个需要"),
        ("how are you", "I am here."),
        ("在吗", "我在。"),
    ],
)
def test_other_messages_name_the_command_for_a_model(memory: Memory, message: str, reply: str) -> None:
    text = memory.chat(message).text
    assert text.startswith(reply)
    assert ("thinkback pull qwen-coder-1.5b" in text) == ("here" not in text and "我在" not in text)


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("whats my rent", True),
        ("我姐做什么的", True),
        ("我的狗叫啥", True),
        ("课是星期几", True),
        ("武汉一趟给多钱", True),
        ("房租一个月多钱", True),
        ("没多钱，我付了", False),
        ("我姐借了我很多钱", False),
        ("whatever, I am going home", False),
        ("没什么，我很好", False),
        ("I know who did it", False),
    ],
)
def test_questions_are_recognised_without_marks(text: str, is_asked: bool) -> None:
    assert asks(text) is is_asked


@pytest.mark.parametrize(
    ("told", "question", "word"),
    [
        (
            "nina is allergic to peanuts and im scared about lunches, any ideas?",
            "is nina allergic",
            "peanuts",
        ),
        ("我儿子豆豆对花生过敏 生日蛋糕做啥好", "豆豆对什么过敏", "花生"),
    ],
)
def test_a_fact_beside_a_request_is_noted_and_found(told: str, question: str, word: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        reply = memory.chat(told).text
        assert word in reply.partition(say("needs_model", told))[0]
        assert word in memory.chat(question).text


def test_a_misspelt_word_is_found() -> None:
    assert AnswerJudge("who teaches me portuguese").match("my portugese teacher is Ana") is not None
    assert AnswerJudge("who teaches me portuguese").match("my swimming teacher is Ana") is None


def test_every_topic_has_its_patterns_and_every_sentence_both_languages() -> None:
    assert all(set(record) == {"asks", "states"} for record in load_words("topics").values())
    for name in ("not_told", "noted", "okay", "here", "told", "forgotten", "not_found", "off_record",
                 "hello", "welcome", "identity", "corrected", "wish", "needs_model"):  # fmt: skip
        assert say(name, "hello", "x") != say(name, "你好", "x")


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("my son luca is allergic to hazelnuts", "can luca eat hazelnut spread?", "hazelnuts"),
        (
            "my husband Marek is lactose intolerant",
            "is it ok to cook a creamy soup with milk for marek?",
            "actose",
        ),
        ("我对虾过敏", "我能吃虾饺吗？", "虾"),
    ],
)
def test_what_somebody_must_not_eat_answers_whether_they_can(
    memory: Memory, told: str, question: str, answer: str
) -> None:
    memory.chat(told)
    text = memory.chat(question).text
    assert answer in text
    assert text.endswith("]")


def test_what_somebody_else_must_not_eat_is_no_answer_about_the_user(memory: Memory) -> None:
    memory.chat("my son luca is allergic to hazelnuts")
    assert memory.chat("can i eat hazelnuts?").text in NOT_TOLD


def test_what_is_over_is_found_by_the_words_of_the_answer(memory: Memory, clock: FakeClock) -> None:
    memory.chat("my girlfriend is called Noor")
    for text in ("the weather is awful", "i bought new shoes", "work was long today"):
        clock.advance(3600)
        memory.chat(text)
    clock.advance(3600)
    memory.chat("noor broke up with me last night")
    assert "broke up" in memory.chat("do i have a girlfriend?").text


def test_a_change_of_something_else_is_no_answer(memory: Memory, clock: FakeClock) -> None:
    memory.chat("the boss put my hourly pay up to 225 from july")
    clock.advance(3600)
    memory.chat("typhoon coming so the ferry in july is changed to the 19th")
    assert "225" in memory.chat("what is my hourly pay?").text


def test_a_correction_is_quoted_with_what_is_true_instead(memory: Memory, clock: FakeClock) -> None:
    memory.chat("my brother cathal is getting married in september!")
    clock.advance(3600)
    memory.chat(
        "i told you wrong about cathal getting married, it was never september. his is the 10th of october"
    )
    assert "october" in memory.chat("when is cathal getting married?").text


def test_a_question_without_my_is_answered_by_the_nearest(memory: Memory) -> None:
    memory.chat("finally!! standup moved to 9:30, can sleep in a bit")
    assert "9:30" in memory.chat("what time is standup tomorrow?").text


def test_a_cancellation_is_the_answer_although_it_fits_the_question_worse(
    memory: Memory, clock: FakeClock
) -> None:
    memory.chat("my flight to oslo leaves on the 4th of april at 7")
    clock.advance(3600)
    memory.chat("i'm not going to oslo after all")
    assert "not going" in memory.chat("when does my flight to oslo leave?").text


def test_the_words_of_the_assistant_are_not_quoted_with_a_denial(memory: Memory) -> None:
    memory.remember("the boiler can't be fixed by marek.", "Then call the landlord, Jens Hoffmann.")
    assert "Hoffmann" not in memory.chat("what did you say about the boiler?").text


def test_a_follow_up_is_for_the_model_that_answered(open_memory: OpenMemory) -> None:
    small = ScriptedLLM(["Roses are red.", "Red roses.", "330 m.", "1,083 ft."], extracts=False)
    memory = open_memory(llm=small)
    assert memory.chat("write a poem about roses", session="now").text == "Roses are red."
    assert memory.chat("make it shorter", session="now").text == "Red roses."
    assert memory.chat("how tall is the eiffel tower?", session="now").text == "330 m."
    assert memory.chat("how tall is the eiffel tower in feet?", session="now").text == "1,083 ft."


def test_a_price_is_more_than_a_digit_in_a_name(memory: Memory) -> None:
    memory.chat("Ethan helped me pick a used Mazda 2, a white one")
    text = memory.chat("how much did the Mazda cost?").text
    assert text.startswith(("You have not told me", "I find no clear answer"))


def test_a_small_model_is_not_asked_what_was_told(open_memory: OpenMemory) -> None:
    small = ScriptedLLM(["Once upon a time."] * 4, extracts=False)
    memory = open_memory(llm=small)
    memory.remember("my sister anna moved to turku in may")
    assert "turku" in memory.chat("where does my sister anna live?").text
    assert not small.calls
    assert "Once upon a time" in memory.chat("tell me a story").text
    assert "Once upon a time" in memory.chat("why is the sky blue?").text
    # memory alone would reply that a model is needed, but there is one
    assert "Once upon a time" in memory.chat("can i freeze hummus, made too much for the church thing").text


def test_a_pronoun_means_who_was_named_just_before(memory: Memory, clock: FakeClock) -> None:
    memory.chat("my cousin is called Milena")
    clock.advance(60)
    memory.chat("she works as a pharmacist")
    assert "pharmacist" in memory.chat("what does milena do?").text
    uncle = memory.chat("what does my uncle do?").text
    assert uncle in NOT_TOLD or uncle.startswith(UNSURE)


def test_a_triple_is_answered_in_the_language_of_the_question(memory: Memory) -> None:
    memory.chat("I live in Porto.")
    assert memory.chat("我住在哪里？").text.startswith("你住在Porto")


def test_times_of_raw_messages_are_dated(memory: Memory, clock: FakeClock) -> None:
    memory.remember("the plumber comes tomorrow", "")
    text = memory.chat("when does the plumber come?").text
    assert f"{clock.now + timedelta(days=1):%Y-%m-%d}" in text


def test_a_name_beside_somebody_else_is_not_theirs(memory: Memory) -> None:
    memory.chat("I sing with my neighbour Olga and a pianist we met at the market")
    assert memory.chat("what's the pianist's name?").text in NOT_TOLD
    assert "Olga" in memory.chat("what's my neighbour's name?").text


def test_the_assistants_words_are_not_the_nearest(memory: Memory) -> None:
    memory.remember("I need a quiet holiday by the sea.", "You could book the Seaview in Whitby.")
    memory.remember("", "The Whitby guesthouse has eleven rooms.")
    assert "assistant" not in memory.chat("which guesthouse in whitby did you say?").text


def test_a_question_is_not_answered_with_itself(memory: Memory, clock: FakeClock) -> None:
    memory.chat("The window cleaner comes on Mondays, he costs 20 euros.")
    for question in ("window cleaner cost", "and which day"):
        clock.advance(60)
        assert question not in memory.chat(question).text


def test_a_short_question_is_about_what_was_asked_before(memory: Memory, clock: FakeClock) -> None:
    memory.chat("My nephew Ravi plays chess on Thursdays in Leeds.")
    clock.advance(60)
    memory.chat("what does ravi play?")
    clock.advance(60)
    assert "Thursdays" in memory.chat("and which day").text


def test_a_newer_memory_that_may_change_the_answer_is_quoted_first(memory: Memory, clock: FakeClock) -> None:
    memory.chat("the cleaner charges 15 euros an hour")
    clock.advance(3600)
    memory.chat("the cleaner charges 17 euros now, cheeky")
    text = memory.chat("how much does the cleaner charge an hour?").text
    assert "17" in text
    assert text.find("17") < text.find("15") or "15" not in text


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
@pytest.mark.parametrize(
    ("told", "asked"),
    [
        (
            "the plasterer marek says the permit isnt there yet, start moves to the 23rd",
            "mareks phone number",
        ),
        ("水管工老葛说下周三来修厨房", "老葛的电话多少"),
    ],
)
def test_what_reads_like_no_answer_is_not_given_as_one(memory: Memory, told: str, asked: str) -> None:
    memory.chat(told)
    memory.chat("by the way i had soup today")
    reply = memory.chat(asked).text
    assert reply in NOT_TOLD or reply.startswith(UNSURE)


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
@pytest.mark.parametrize(
    ("first", "then", "asked", "now"),
    [
        (
            "we're off to Skye in june",
            "scrap skye, we're doing the Orkneys instead",
            "where are we going in june",
            "Orkneys",
        ),
        (
            "i do nights at the glass factory",
            "so i quit. starting at the town library on monday",
            "where do i work",
            "library",
        ),
    ],
)
def test_a_change_in_passing_is_answered_with_what_holds_now(
    memory: Memory, clock: FakeClock, first: str, then: str, asked: str, now: str
) -> None:
    memory.chat(first)
    clock.advance(86_400)
    memory.chat(then)
    assert now in memory.chat(asked).text


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
@pytest.mark.parametrize(  # messages of a stranger's trial
    ("first", "then", "asked", "now", "before"),
    [
        ("our rent is 950 a month", "rent went up to 1025", "how much rent do i pay", "1025", "950"),
        ("i weigh 82kg", "down to 78kg now", "how much do i weigh", "78", "82"),
        (
            "my favourite colour is green",
            "actually its blue now",
            "what's my favourite colour",
            "blue",
            "green",
        ),
        ("我住广州", "搬到佛山了", "我住哪", "佛山", "广州"),
    ],
)
def test_a_newer_message_replaces_the_fact_of_a_rule_in_the_answer(
    memory: Memory, clock: FakeClock, first: str, then: str, asked: str, now: str, before: str
) -> None:
    memory.chat(first)
    clock.advance(60)
    memory.chat(then)
    reply = memory.chat(asked).text
    assert now in reply
    assert before not in reply
    assert not reply.startswith(UNSURE)


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("could of been worse i suppose", "Okay."),
        ("早上起不来", "好的。"),
        ("what can i cook without gluten", "For that I need"),
        ("my pin is 4471", "I never show passwords"),
        ("我的银行卡密码是 662134", "密码"),
    ],
)
def test_remarks_requests_and_secrets_get_a_fitting_reply(memory: Memory, message: str, reply: str) -> None:
    memory.chat("my sister zoe lives in york")
    assert memory.chat(message).text.startswith(reply)


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_a_question_is_not_kept_as_a_fact() -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        for question in ("我老婆是做什么的", "女婿是做什么工作的", "whens my dentist again"):
            memory.chat(question)
        memory.post_think()
        assert memory.thoughts() == []


def test_the_name_of_the_thinker_is_not_redacted() -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        memory.remember("I live in Lyon.")
        memory.post_think()
        (action,) = memory.journal()
        explanation = memory.why(memory.thoughts()[0].ref)
        assert any(action.actor in line for line in explanation.lines)


def test_secrets_stay_hidden_in_lines_that_name_an_actor() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    action = Action(id=1, action="insert", reason="told", actor="user", at=at)
    lines = ("thought:1: The alarm code of the user is 4471.", "action:1 insert by user: told")
    explanation = redact_explanation(Explanation(ref=None, text="", lines=lines, actions=(action,)))
    assert "4471" not in explanation.lines[0]
    assert explanation.lines[1] == lines[1]


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_something_similar_told_later_does_not_replace_a_fact(memory: Memory, clock: FakeClock) -> None:
    memory.chat("My favourite food is sushi.")
    clock.advance(60)
    memory.chat("We had ramen today and I loved it.")
    assert "sushi" in memory.chat("what is my favourite food?").text


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_a_later_sentence_of_the_same_form_does_not_replace_a_fact(memory: Memory, clock: FakeClock) -> None:
    memory.chat("im petra, 41, moved to gdansk in march with my two boys")
    clock.advance(60)
    memory.chat("my shift at the clinic starts at 6 now, used to be 8")
    assert memory.chat("how old am i").text.startswith("You are 41 years old.")


def test_a_greeting_is_never_quoted(memory: Memory) -> None:
    memory.chat("hey")
    memory.chat("we got a rescue greyhound called Szara")
    assert "hey" not in memory.chat("do i have a cat?").text


def test_a_statement_beside_a_remark_is_said_back_once(memory: Memory) -> None:
    reply = memory.chat("I adopted a cat called Miso. im seeing raj now").text
    assert reply.count("Miso") == 1


def test_a_chinese_question_beside_a_statement_is_answered(memory: Memory) -> None:
    memory.chat("我婆婆对花生过敏，不能吃花生")
    assert "花生" in memory.chat("婆婆有什么不能吃 我现在在超市").text
    memory.chat("我妹妹住在成都")
    assert "成都" in memory.chat("我妹妹住在 哪里").text


def test_a_fact_of_a_rule_does_not_answer_what_another_memory_answers(
    memory: Memory, clock: FakeClock
) -> None:
    for told in (
        "im rosa and i live in bergen",
        "i work at a bakery on mondays",
        "we moved to sandnes last week",
    ):
        memory.chat(told)
        clock.advance(60)
    memory.chat("i quit the bakery")
    assert "bakery" in memory.chat("where do i work").text
    assert "Sandnes" in memory.chat("where do i live").text


@pytest.mark.parametrize(
    ("text", "about_somebody"),
    [
        ("tell me about my brother", True),
        ("anything on my son?", True),
        ("说说我弟", True),
        ("我老公的情况", True),
        ("remind me about my dentist appointment on friday at 3", False),
        ("我遇到过类似的情况", False),
        ("说说我的看法，这房子太贵了", False),
    ],
)
def test_requests_about_a_relative_are_questions(text: str, about_somebody: bool) -> None:
    assert asks_about_somebody(text) == about_somebody
    assert asks(text) == about_somebody


def test_everything_about_a_relative_is_answered(memory: Memory) -> None:
    memory.chat("我弟叫林凯杰 19岁 在武汉读大二")
    memory.chat("我弟最近在学吉他")
    reply = memory.chat("说说我弟").text
    assert "林凯杰" in reply
    assert "吉他" in reply
