"""What is recalled, in which order, and why other candidates are dropped."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.memory import Memory
from thinkback.types import Recollection


def reasons(found: Recollection) -> dict[str, str]:
    return {str(item.ref): item.reason for item in found.dropped}


def test_best_memory_comes_first(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.remember("My sister lives in Rome.")
    memory.post_think()
    memory.remember("We all live in a yellow submarine, live, live.")
    found = memory.recall("Who does live where, and where do I live?")
    assert {item.ref.kind for item in found} == {"thought", "turn"}
    scores = [item.score.total for item in found]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= found.threshold
    assert memory.recall("Who does live in a submarine?", k=1)[0].ref.kind == "turn"
    assert memory.recall("Where does my sister live?", k=1)[0].ref.kind == "thought"


@pytest.mark.parametrize("k", [1, 2, 3])
def test_at_most_k_memories_are_recalled(memory: Memory, k: int) -> None:
    for colour in ("red", "green", "blue", "grey"):
        memory.remember(f"My parrot is {colour}.")
    found = memory.recall("parrot", k=k, explain=True)
    assert len(found) == k
    assert len(found.dropped) == 4 - k
    assert all(reason.startswith(f"beyond the {k} asked for: ") for reason in reasons(found).values())


def test_every_item_has_a_reason(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    (item,) = memory.recall("Where do I live?", explain=True)
    score = item.score
    assert score.breakdown is not None
    assert score.breakdown.linear == pytest.approx(0.5 * score.cosine + 0.5 * score.lexical)
    (step,) = score.breakdown.adjustments
    assert step.why == "stands for turn:1"
    assert step.after == pytest.approx(score.total)
    assert item.reason.startswith(f"matters: {score.total:.2f} >= 0.15 (meaning {score.cosine:.2f}, words ")
    assert f"group {item.group}" in item.reason
    assert "said by user in turn:1" in item.reason
    assert memory.why(item).ref == item.ref


def test_irrelevant_candidate_is_dropped_with_a_reason(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.remember("My parrot is green.")
    memory.post_think()
    memory.remember("The weather was awful.")
    found = memory.recall("What colour is the parrot?", explain=True)
    (item,) = found
    assert "My parrot is green." in item.text
    assert reasons(found)["thought:1"].startswith("too far: ")
    assert reasons(found)["turn:3"].startswith("too far: ")
    assert memory.recall("What colour is the parrot?").dropped == ()


def test_question_does_not_recall_itself(memory: Memory) -> None:
    memory.remember("Where is my parrot?", "I cannot tell.")
    memory.remember("Did my parrot eat?")
    memory.remember("My parrot sleeps on the roof. Is that normal?")
    found = memory.recall("where is my parrot", explain=True)
    assert [item.ref.id for item in found] == [3]
    assert reasons(found)["turn:1"].startswith("repeats the query: ")
    assert reasons(found)["turn:2"].startswith("only asks: ")


def test_repeated_questions_do_not_hide_the_answer(memory: Memory) -> None:
    memory.remember("By the way, the parrot we saw at the zoo was green with envy and quite loud.")
    for _ in range(40):
        memory.remember("What was the parrot at the zoo like?")
    assert [item.ref.id for item in memory.recall("What was the parrot at the zoo like?", k=1)] == [1]


def test_turn_is_not_repeated_with_its_thought(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    found = memory.recall("Do I live in Lyon?", explain=True)
    assert [item.ref.kind for item in found] == ["thought"]
    assert reasons(found) == {"turn:1": reasons(found)["turn:1"]}
    assert reasons(found)["turn:1"].startswith("told by thought:1: ")


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("My brother is Felix. He sells bread under a striped awning.", "What does Felix sell?", "bread"),
        ("I have a cat named Tom. The vet says that Tom needs drops twice a day.", "drops for Tom?", "drops"),
        ("我有一只猫叫汤姆。医生说它每天要滴两次药水。", "汤姆的药水怎么滴？", "两次"),
    ],
)
def test_turn_with_more_information_is_recalled_too(
    memory: Memory, told: str, asked: str, answer: str
) -> None:
    memory.remember(told)
    memory.post_think()
    found = memory.recall(asked)
    assert {item.ref.kind for item in found} == {"thought", "turn"}
    assert answer in next(item.text for item in found if item.turn)


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("我住在厦门。", "我现在住在哪个城市？"),
        ("我住在厦门。", "Where's home for me these days?"),
        ("I live in Denver.", "我住哪里？"),
        ("I work at Bosch.", "Who is my employer?"),
        ("我平时喜欢打羽毛球。", "我有什么爱好？"),
    ],
)
def test_thought_is_found_by_different_questions(memory: Memory, told: str, asked: str) -> None:
    memory.remember(told)
    memory.remember("The weather was awful.")
    memory.remember("Let us talk about trains.")
    memory.post_think()
    assert [str(item.ref) for item in memory.recall(asked)][:1] == ["thought:1"]


def test_forget_request_is_neither_thought_nor_recalled(memory: Memory) -> None:
    memory.remember("My address is 14 Elm Street.")
    memory.remember("Please forget my address.")
    memory.post_think()
    assert memory.thoughts() == []
    assert all("Elm" not in item.text for item in memory.recall("What is my address?"))


def test_retired_fact_does_not_return_as_raw_turn(memory: Memory, clock: FakeClock) -> None:
    for city in ("Lyon", "Oslo", "Rome", "Bonn", "Kyiv", "Riga", "Turku"):
        memory.remember(f"I live in {city}.")
        clock.advance(60)
    memory.post_think()
    found = memory.recall("Where do I live?", k=1, explain=True)
    assert [item.text for item in found] == ["The user lives in Turku. (said 2024-05-01)"]
    found = memory.recall("Where do I live?", explain=True)
    assert [item.text for item in found] == ["The user lives in Turku. (said 2024-05-01)"]
    assert reasons(found)["turn:1"].startswith("no longer held true, see thought:1: ")


def test_forgotten_thought_hides_its_turn(memory: Memory) -> None:
    memory.remember("我住在北京。", "北京很好！")
    memory.remember("I live in Lyon. My boss is a walrus.", "Oh!")
    memory.post_think()
    (home,) = (thought for thought in memory.thoughts() if thought.relation == "lives in")
    memory.forget(home, "not true")
    homes = [item.text for item in memory.recall("我住在哪里？")]
    assert not [text for text in homes if "Lyon" in text or "北京" in text]
    (rest,) = memory.recall("Who is a walrus?")
    assert "My boss is a walrus." in rest.text
    assert "Lyon" not in rest.text


def test_merged_thought_keeps_its_turns(memory: Memory) -> None:
    memory.remember("I like tea.")
    memory.post_think()
    memory.remember("I like tea.")
    memory.post_think()
    assert [thought.current for thought in memory.thoughts(current=False)] == [False, True]
    found = memory.recall("Do I like tea?", explain=True)
    assert {item.ref.kind for item in found} == {"thought", "turn"}
    assert all("tea" in item.text for item in found)
    assert not [reason for reason in reasons(found).values() if "no longer" in reason]


def test_empty_space_is_searched(memory: Memory) -> None:
    found = memory.recall("anything", explain=True)
    assert (found.items, found.dropped, found.exact, found.probes) == ((), (), True, 0)


def test_forgotten_content_is_not_found_in_raw_turns(memory: Memory) -> None:
    memory.remember("Between us: the Novartis interview went badly, they hated my shoes.")
    memory.remember("The Roche interview went well.")
    memory.remember("Delete what you know about my Novartis interview please.")
    memory.post_think()
    found = memory.recall("How did the Novartis and Roche interviews go?", explain=True)
    assert [str(item.ref) for item in found] == ["turn:2"]
    assert "turn:1" not in reasons(found)
    memory.undo(memory.journal(turn=3)[0])
    found = memory.recall("How did the Novartis and Roche interviews go?")
    assert "turn:1" in [str(item.ref) for item in found]


def test_fact_stated_after_a_forget_request_is_recalled(memory: Memory) -> None:
    memory.remember("Please forget everything about my Novartis interview.")
    memory.remember("On reflection, do keep this: the Novartis interview went badly.")
    memory.post_think()
    assert [str(item.ref) for item in memory.recall("How did the Novartis interview go?")] == ["turn:2"]


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("昨天把眼镜腿坐断了，真倒霉。", "我的眼镜是怎么弄坏的？"),
        ("房东又涨价，房租一个月三千六。", "每个月租金要交多少？"),
        ("Tonight I ran into 我初中班主任 at the livehouse.", "Where did I meet my old teacher?"),
        ("我家的貓叫奶蓋。", "我的猫叫什么名字？"),
        ("周六上午有个 interview，好紧张。", "我的面试是哪天？"),
    ],
)
def test_turn_is_found_by_synonyms(memory: Memory, told: str, asked: str) -> None:
    memory.remember(told)
    memory.remember("蝉叫得人心烦。")
    memory.remember("Let us talk about trains.")
    assert [item.ref.id for item in memory.recall(asked)][:1] == [1]


@pytest.mark.parametrize(("turns", "found"), [(2, ["near"]), (60, [])])
def test_nearest_chinese_turn_of_few_is_recalled(memory: Memory, turns: int, found: list[str]) -> None:
    memory.remember("楼梯都下不去了。")  # shares no word with the question, and is near by chance
    for number in range(turns - 1):
        memory.remember(f"My train number {number} was late.")
    recalled = [item for item in memory.recall("雨具丢哪儿了？") if item.ref.id == 1]
    assert [item.reason.partition(":")[0] for item in recalled] == found


@pytest.mark.parametrize(("turns", "found"), [(1, 1), (5, 0)])
def test_equally_near_chinese_turns_are_not_recalled(memory: Memory, turns: int, found: int) -> None:
    for _ in range(turns):
        memory.remember("楼梯都下不去了。")
    memory.remember("My train was late.")
    assert len(memory.recall("雨具丢哪儿了？")) == found


@pytest.mark.parametrize(
    ("first", "then", "asked", "told"),
    [
        ("我导师林教授下学期休假。", "他要去格陵兰看冰川。", "林教授休假去干嘛？", True),
        ("My mentor Lindqvist goes on leave.", "He will see glaciers.", "Where is Lindqvist?", True),
        ("My mentor Lindqvist goes on leave.", "Let us talk about trains.", "Where is Lindqvist?", False),
    ],
)
def test_following_turn_with_pronoun_is_recalled(
    memory: Memory, clock: FakeClock, first: str, then: str, asked: str, told: bool
) -> None:
    memory.remember(first)
    clock.advance(60)
    memory.remember(then)
    assert (2 in [item.ref.id for item in memory.recall(asked)]) is told


def test_following_turn_of_another_day_is_not_recalled(memory: Memory, clock: FakeClock) -> None:
    memory.remember("My mentor Lindqvist goes on leave.")
    clock.advance(86_400)
    memory.remember("He will see glaciers.")
    assert [item.ref.id for item in memory.recall("Where is Lindqvist?")] == [1]


def test_neighbour_turn_is_redacted(memory: Memory) -> None:
    memory.remember("我买了台扫地机器人。")
    memory.remember("它的密码是Xiaoyu@8827，老是卡在沙发底下。")
    memory.post_think()
    found = memory.recall("扫地机器人有啥毛病？")
    assert any("沙发" in item.text for item in found)
    assert all(
        "8827" not in item.text and "8827" not in (item.turn.text if item.turn else "") for item in found
    )


SMALL_TALK = (
    "The weather was awful today.",
    "Let us talk about trains.",
    "I watered the plants this morning.",
    "The printer is out of paper again.",
    "Traffic was slow on the bridge.",
    "My parrot is green.",
    "I bought new running shoes.",
    "The soup needed more salt.",
    "We watched a film about whales.",
    "I like jazz.",
)
BUSES = tuple(f"Bus number {n} was late again." for n in range(11, 41))  # a space that is a measure
ZH_SMALL_TALK = (
    "今天天气不错。",
    "我买了新鞋。",
    "打印机没纸了。",
    "昨天看了场电影。",
    "汤有点淡。",
    "图书馆六点关门。",
    "桥上堵车了。",
    "我喜欢爵士乐。",
    "花该浇水了。",
)


@pytest.fixture
def talked(memory: Memory, clock: FakeClock) -> Memory:
    """A memory of more rows than are measured plainly, a day apart; some are thoughts, some raw turns."""
    return _told(memory, clock, SMALL_TALK)


def _told(memory: Memory, clock: FakeClock, sayings: Iterable[str], *, days: float = 1) -> Memory:
    for saying in sayings:
        memory.remember(saying)
        clock.advance(days * 86_400)
    memory.post_think()
    return memory


def _texts(found: Recollection) -> list[str]:
    return [item.text for item in found]


def _score(found: Recollection, words: str) -> float:
    return max((item.score.total for item in found if words in item.text), default=0.0)


def test_answering_memory_ranks_before_unrelated_one(talked: Memory, clock: FakeClock) -> None:
    _told(talked, clock, ["Between us: the Novartis interview went badly, they hated my shoes."])
    found = talked.recall("How did the Novartis interview go, did they like my shoes?")
    assert "Novartis" in found[0].text
    (other,) = [item for item in found if "running shoes" in item.text]  # shares words, too
    assert found[0].score.total > other.score.total


def test_turn_with_a_kept_sentence_is_still_recalled_beside_its_neighbour(memory: Memory) -> None:
    """A thought below the threshold must not hide its turn, which may explain the recalled one."""
    memory.remember("My neighbour Priya sits on the parish council.", session="s")
    memory.remember("I work at the port in Rotterdam, and she is leaving for a bank in Utrecht.", session="s")
    memory.post_think()
    assert len(list(memory.thoughts())) >= 2
    found = memory.recall("What about Priya?")
    assert any("Utrecht" in item.text for item in found)


def test_complete_thought_replaces_its_turn(talked: Memory, clock: FakeClock) -> None:
    _told(talked, clock, [*BUSES, "I live in Lyon."])
    question = "So do I live in Lyon or do I not?"
    found = talked.recall(question, explain=True)
    assert found[0].text.startswith("The user lives in Lyon. (said ")
    assert not [item for item in found if item.turn and item.turn.query == "I live in Lyon."]
    (turn,) = (item for item in found.dropped if item.text == "I live in Lyon.")
    assert turn.reason.startswith(f"told by {found[0].ref}: ")
    assert found[0].score.total >= turn.score.total  # it scores as high as what it stands for


def test_partial_thought_does_not_replace_its_turn(talked: Memory, clock: FakeClock) -> None:
    _told(talked, clock, ["I live in Lyon, above the bakery whose oven wakes me at four."])
    found = talked.recall("At what hour does the bakery oven wake me?")
    assert "wakes me at four" in found[0].text


@pytest.mark.parametrize(
    ("talk", "homes", "before", "now", "past"),
    [
        (
            SMALL_TALK,
            ("I live in Lyon.", "I live in Oslo."),
            "Where did I live before?",
            "Where do I live?",
            "The user lives in Lyon. (past, until 2024-06-20; now: The user lives in Oslo)",
        ),
        (
            ZH_SMALL_TALK,
            ("我住在北京。", "我住在上海。"),
            "我以前住在哪里？",
            "我住在哪里？",
            "用户住在北京。（已成过去，至2024-06-19；现在：用户住在上海）",
        ),
    ],
)
def test_retired_thought_is_recalled_only_by_a_query_about_the_past(
    memory: Memory,
    clock: FakeClock,
    talk: tuple[str, ...],
    homes: tuple[str, str],
    before: str,
    now: str,
    past: str,
) -> None:
    _told(memory, clock, talk)
    _told(memory, clock, homes, days=40)
    assert past in _texts(memory.recall(before))[:2]
    old, new = (home.rstrip("。.")[-2:] for home in homes)
    found = _texts(memory.recall(now))
    assert new in found[0]
    assert not [text for text in found if old in text or "past" in text or "已成过去" in text]


def test_described_person_is_found_by_name(open_memory: OpenMemory, clock: FakeClock) -> None:
    scores = []
    for chain in (["My sister is Anna.", "Anna's husband is Erik."], ["Anna is tall.", "Erik is old."]):
        memory = _told(open_memory(":memory:"), clock, [*SMALL_TALK, *chain, "Erik works at Equinor."])
        found = memory.recall("Where does my sister's husband work?")
        scores.append(max((item.score.lexical for item in found if "Equinor" in item.text), default=0.0))
    known, unknown = scores
    assert known > unknown + 0.1


@pytest.mark.parametrize(("asked", "answer"), [("14 May 2024", "Tom"), ("13 June 2024", "Mia")])
def test_date_in_the_question_raises_turns_of_that_day(
    talked: Memory, clock: FakeClock, asked: str, answer: str
) -> None:
    clock.advance(3 * 86_400)  # it is the 14th of May
    _told(talked, clock, ["I had lunch with Tom at the harbour."], days=30)
    _told(talked, clock, ["I had lunch with Mia at the harbour."], days=3)
    found = talked.recall(f"Who did I have lunch with on {asked}?")
    assert answer in found[0].text
    assert found[0].score.total > found[1].score.total + 0.1
    undated = talked.recall("Who did I have lunch with?")
    other = "Mia" if answer == "Tom" else "Tom"
    lead, undated_lead = (_score(items, answer) - _score(items, other) for items in (found, undated))
    assert lead > undated_lead + 0.1
    assert abs(undated_lead) < 0.15  # the names differ, the days do not count


@pytest.mark.parametrize("small", [True, False])
def test_question_about_a_day_recalls_everything_of_that_day(
    memory: Memory, clock: FakeClock, small: bool
) -> None:
    _told(memory, clock, ("Yesterday I told you of a parrot.", *(() if small else SMALL_TALK)))
    _told(memory, clock, ["Ada sold the blue piano."])
    found = memory.recall("What did I tell you yesterday?", explain=True)
    assert "piano" in found[0].text
    assert not any("parrot" in text for text in _texts(found))
    lines = "\n".join(memory.why(found).lines)
    assert "in the time asked for" in lines
    assert {item.verdict for item in memory.recall("What did I tell you last year?")} <= {"near"}


def test_question_asked_sixty_times_does_not_hide_the_answer(talked: Memory, clock: FakeClock) -> None:
    _told(talked, clock, ["By the way, the parrot we saw at the zoo was grey with envy and quite loud."])
    question = "What was the parrot at the zoo like?"
    fresh = talked.recall(question, k=1)
    assert "envy" in fresh[0].text
    _told(talked, clock, [question] * 60)
    found = talked.recall(question, k=1)
    assert _texts(found) == _texts(fresh)
    assert found[0].score.total > 0.4  # and stands out as before


def test_whole_dialogue_finds_the_similar_event(talked: Memory, clock: FakeClock) -> None:
    event = "On Saturday we went to the aquarium and Lily was scared of the big octopus in the dark tank."
    _told(talked, clock, [event])
    dialogue = (
        "Mum: How was school today? Lily: It was okay. We had maths and then we painted. Mum: What did you "
        "paint? Lily: A sea with fish. The teacher wanted an octopus too, but I did not want to draw one. "
        "Mum: Why not? They are quite clever animals, you know. Lily: They are scary, and they live where it "
        "is dark. Mum: Then paint a starfish instead, and tomorrow we buy new brushes and some paper."
    )
    found = talked.recall(dialogue)
    assert found[0].text == f"user, 2024-05-11: {event.replace('Saturday', 'Saturday (2024-05-04)')}"
    assert found[0].score.total > found[1].score.total + 0.1


def test_thoughts_of_one_turn_are_joined(talked: Memory, clock: FakeClock) -> None:
    _told(talked, clock, ["My dentist is Dr. Weber. My dentist lives in Basel."])
    joined = [item for item in talked.recall("Where does my dentist live?") if item.joined]
    for item in joined:
        assert len(item.thoughts) == 2
        assert all(thought.sentence in item.text for thought in item.thoughts)
        assert f"joined with {item.joined[0].ref}" in item.reason
    assert joined


@pytest.mark.parametrize(
    ("first", "update", "query", "answer"),
    [
        ("My name is Ann and I live in Paris.", "I moved to Lyon.", "Where do I live?", "Lyon"),
        ("My name is Omar and I work at Nokia.", "I work at Ericsson now.", "Where do I work?", "Ericsson"),
        ("I am a nurse and I live in Oslo.", "I moved to Bergen.", "Where do I live?", "Bergen"),
    ],
)
def test_a_fact_does_not_inherit_the_score_of_an_outdated_turn(
    open_memory: OpenMemory, first: str, update: str, query: str, answer: str
) -> None:
    """What is still true of a turn stands for it only if it is not recalled because of a retired fact."""
    memory = open_memory(embedder="auto")
    for text in (
        first,
        "I am allergic to peanuts.",
        "My sister Clara is a doctor.",
        "我养了一只猫，名字叫小白。",
    ):
        memory.remember(text)
    memory.post_think()
    memory.remember(update)
    memory.post_think()
    assert any(action.action == "supersede" for action in memory.journal())
    for explain in (False, True):
        assert answer in memory.recall(query, k=1, explain=explain)[0].text


@pytest.mark.parametrize("asked", ["quarterly tax forms", "zzz", "Is 17 a prime number?", "明天会下雨吗？"])
def test_sentence_of_a_hidden_turn_may_be_far_from_the_query(memory: Memory, asked: str) -> None:
    memory.remember("My neighbour drinks. We planted two apple trees in the garden last autumn.")
    memory.post_think()
    memory.remember("forget what I said about my neighbour")
    memory.post_think()
    [kept] = memory.thoughts()
    assert "apple trees" in kept.sentence
    assert memory.turns() == []
    assert [item.ref for item in memory.recall(asked, explain=True).dropped] == [kept.ref]
