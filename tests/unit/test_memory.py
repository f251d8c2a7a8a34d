"""`Memory` as an application uses it: remember, recall, forget, undo, erase."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.errors import Conflict, EmbedderMismatch, InvalidInput, NotFound, StoreError, ThinkbackError
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.types import Ref, Turn


def texts(memory: Memory, query: str, **options: Any) -> list[str]:
    """What is recalled, without the dates and speakers that are added for a model."""
    found = [item.thought or item.turn for item in memory.recall(query, **options)]
    return [each.text if isinstance(each, Turn) else each.sentence for each in found if each]


@pytest.mark.parametrize(
    ("told", "asked", "fact"),
    [
        ("I live in Lyon.", "Where do I live?", "Lyon"),
        ("我住在北京。", "我住在哪里？", "北京"),
        ("My dog is called Rex.", "What is my dog called?", "Rex"),
        ("我的猫叫咪咪。", "我的猫叫什么？", "咪咪"),
    ],
)
def test_a_turn_is_recalled_at_once_and_still_after_thinking(
    memory: Memory, told: str, asked: str, fact: str
) -> None:
    turn = memory.remember(told)
    assert [item.ref for item in memory.recall(asked)] == [turn.ref]
    assert memory.post_think().turns == 1
    assert [thought.sources[0].turn for thought in memory.thoughts()] == [turn.id]
    assert [fact in item.text for item in memory.recall(asked)] == [True]


def test_two_memories_on_one_file_see_each_other(open_memory: OpenMemory) -> None:
    one, other = open_memory(), open_memory()
    one.remember("I live in Lyon.")
    assert texts(other, "Where do I live?") == ["I live in Lyon."]
    other.post_think()
    assert texts(one, "Where do I live?") == ["The user lives in Lyon."]
    one.forget(1, "moved away")
    assert texts(other, "Where do I live?") == []


def test_memories_are_persistent(open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        memory.remember("My sister Anna plays the cello.")
    assert texts(open_memory(), "Who plays the cello?") == ["My sister Anna plays the cello."]


def test_with_the_default_embedder_other_words_of_the_same_meaning_are_found(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="minilm")
    memory.remember("I adore my puppy.")
    memory.remember("The train to Zurich leaves at nine.")
    assert texts(memory, "Do I own a dog?", k=1) == ["I adore my puppy."]


def test_a_database_keeps_the_embedder_that_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with Memory(path, embedder="hashing", background=False) as memory:
        memory.remember("I live in Porto.")
    with Memory(path, background=False) as memory:
        assert memory.embedder.name == "hashing-256"
        assert texts(memory, "Where do I live?") == ["I live in Porto."]
    with Memory(tmp_path / "new.db", background=False) as memory:
        assert memory.embedder.name == "minilm-l6-int8+use-multilingual-v3"


def test_users_do_not_see_each_other(memory: Memory) -> None:
    other = memory.for_user("bob")
    memory.remember("I live in Lyon.")
    other.remember("I live in Oslo.")
    assert texts(memory, "Where do I live?") == ["I live in Lyon."]
    assert texts(other, "Where do I live?") == ["I live in Oslo."]
    assert (other.stats().turns, other.stats().user) == (1, "bob")


def test_reading_an_unknown_user_creates_nothing(memory: Memory) -> None:
    stranger = memory.for_user("stranger")
    assert len(stranger.recall("Where do I live?")) == 0
    assert stranger.post_think().turns == 0
    assert (stranger.thoughts(), stranger.turns(), stranger.journal(), stranger.failures()) == (
        [],
        [],
        [],
        [],
    )
    assert (stranger.entities(), stranger.stats().turns) == ([], 0)
    assert memory.store.users() == []
    for change in (
        lambda: stranger.forget(1, "no reason"),
        lambda: stranger.undo(1),
        lambda: stranger.erase(user="stranger"),
        stranger.retry_failures,
    ):
        with pytest.raises(NotFound):
            change()


def test_a_key_makes_remembering_idempotent(memory: Memory) -> None:
    first = memory.remember("I live in Lyon.", key="m1")
    assert memory.remember("I live in Lyon.", key="m1") == first
    with pytest.raises(Conflict, match="m1"):
        memory.remember("I live in Oslo.", key="m1")
    assert memory.turns() == [first]


def test_messages_become_turns(memory: Memory, clock: FakeClock) -> None:
    turns = memory.remember_messages(
        [
            {"role": "system", "content": "You are kind."},
            {"role": "user", "content": "Hello."},
            {"role": "user", "content": [{"type": "text", "text": "I live in Lyon."}, {"type": "image_url"}]},
            {"role": "assistant", "content": "Lovely."},
            {"role": "tool", "content": "42"},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "And I have a dog."},
        ],
        session="s",
        key="k",
    )
    assert [(turn.query, turn.response) for turn in turns] == [
        ("Hello.\nI live in Lyon.", "Lovely."),
        ("And I have a dog.", ""),
    ]
    assert {(turn.session, turn.at) for turn in turns} == {("s", clock.now)}
    assert [turn.key for turn in turns] == ["k#0", "k#1"]
    again = memory.remember_messages([{"role": "user", "content": "Hello.\nI live in Lyon."},
                                      {"role": "assistant", "content": "Lovely."}], key="k")  # fmt: skip
    assert again == turns[:1]


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "no user or assistant message"),
        ([{"role": "system", "content": "x"}], "no user or assistant message"),
        ([{"role": "user", "content": "  "}], "no user or assistant message"),
        (None, "messages must be a list"),
        ("hello", "messages must be a list"),
        (["hello"], "object with role and content"),
        ([{"content": "x"}], "object with role and content"),
        ([{"role": "human", "content": "x"}], "unknown role 'human'"),
        ([{"role": "user", "content": 5}], "content of a message must be text"),
    ],
)
def test_invalid_messages_are_rejected(memory: Memory, messages: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        memory.remember_messages(messages)
    assert memory.turns() == []


def test_messages_are_stored_all_or_none(memory: Memory) -> None:
    memory.remember("taken", key="k#1")
    with pytest.raises(Conflict):
        memory.remember_messages(
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": "b"},
                {"role": "user", "content": "c"},
            ],
            key="k",
        )
    assert [turn.query for turn in memory.turns()] == ["taken"]


LATE = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"query": ""}, "both are empty"),
        ({"query": " \n\t"}, "both are empty"),
        ({"query": None}, "query must be text, not NoneType"),
        ({"query": b"bytes"}, "query must be text, not bytes"),
        ({"query": "x", "response": 5}, "response must be text, not int"),
        ({"query": "x", "at": datetime(2024, 5, 1)}, "no time zone"),
        ({"query": "x", "at": "2024-05-01"}, "at must be a datetime"),
        ({"query": "x", "session": ""}, "session=''"),
        ({"query": "x", "session": "s" * 257}, "256 printable"),
        ({"query": "x", "session": "a\nb"}, "printable"),
        ({"query": "x", "key": " "}, "key=' '"),
        ({"query": "x", "key": 7}, "key must be text"),
        ({"query": "x" * ((8 << 20) + 1)}, "limit of 8,388,608"),
    ],
)
def test_invalid_turns_are_rejected_with_a_reason(
    memory: Memory, arguments: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        memory.remember(**arguments)
    assert memory.store.users() == []


@pytest.mark.parametrize(
    ("told", "asked", "kept"),
    [
        ("The parrot is called \x00Polly.", "Who is the parrot?", "The parrot is called \ufffdPolly."),
        ("The parrot is called \ud800Polly.", "Who is the parrot?", "The parrot is called \ufffdPolly."),
        ("שם התוכי הוא פולי", "מה שם התוכי", "שם התוכי הוא פולי"),
        ("اسم الببغاء بولي", "اسم الببغاء", "اسم الببغاء بولي"),
        ("The 🦜 is called Polly 👩‍👩‍👧", "Who is the 🦜 called?", "The 🦜 is called Polly 👩‍👩‍👧"),
        ("parrot Polly " * 80_000, "Who is the parrot?", "parrot Polly " * 80_000),
    ],
    ids=["NUL", "surrogate", "Hebrew", "Arabic", "emoji", "1 MB"],
)
def test_unusual_text_is_stored_and_found(memory: Memory, told: str, asked: str, kept: str) -> None:
    memory.remember(told)
    assert [turn.query for turn in memory.turns()] == [kept]
    assert texts(memory, asked) == [kept]
    assert memory.post_think().failed == 0


def test_future_time_is_accepted(memory: Memory) -> None:
    memory.remember("The parrot flies.", at=LATE)
    assert memory.turns()[0].at == LATE
    assert texts(memory, "Does the parrot fly?") == ["The parrot flies."]
    assert texts(memory, "Does the parrot fly?", as_of=LATE - timedelta(days=1)) == []


def test_time_is_converted_to_utc(memory: Memory) -> None:
    from datetime import timezone

    turn = memory.remember("x", at=datetime(2024, 5, 1, 2, tzinfo=timezone(timedelta(hours=8))))
    assert turn.at == datetime(2024, 4, 30, 18, tzinfo=UTC)


@pytest.mark.parametrize("k", [0, -1, 1.5, "5", None])
def test_k_must_be_a_positive_integer(memory: Memory, k: Any) -> None:
    with pytest.raises(InvalidInput, match="k must be a positive integer"):
        memory.recall("x", k=k)


def test_huge_k_returns_all_matches(memory: Memory) -> None:
    memory.remember("My parrot is green.")
    assert len(memory.recall("parrot", k=10**12)) == 1


@pytest.mark.parametrize("query", ["", "  ", None, 5])
def test_empty_query_is_rejected(memory: Memory, query: Any) -> None:
    with pytest.raises(InvalidInput, match="query"):
        memory.recall(query)


def test_as_of_needs_a_time_zone(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="as_of"):
        memory.recall("x", as_of=datetime(2024, 5, 1))


@pytest.mark.parametrize("limit", [-1, 1.5, "3"])
def test_limit_must_be_an_integer(memory: Memory, limit: Any) -> None:
    for ask in (memory.turns, memory.thoughts, memory.journal, memory.post_think):
        with pytest.raises(InvalidInput, match="limit"):
            ask(limit=limit)


@pytest.mark.parametrize("user", ["", " ", "a" * 257, "a\x07", 5])
def test_user_name_is_validated(open_memory: OpenMemory, memory: Memory, tmp_path: Path, user: Any) -> None:
    with pytest.raises(InvalidInput, match="user"):
        memory.for_user(user)
    with pytest.raises(InvalidInput, match="user"):
        open_memory(tmp_path / "new.db", user=user)
    assert open_memory(tmp_path / "new.db").store.users() == []


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"preset": "fancy"}, "choose from bm25, careful, dense, fading, fuzzy, hybrid, perltqa, tim"),
        ({"embedder": "nobody"}, "nobody"),
        ({"llm": "nobody"}, "nobody"),
        ({"think": "hard"}, "auto, extractive or llm"),
        ({"think": "llm"}, "needs a language model"),
    ],
)
def test_invalid_options_are_named(open_memory: OpenMemory, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        open_memory(**options)


def test_closed_memory_can_only_be_closed_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.close()
    with pytest.raises(StoreError):
        memory.remember("too late")
    memory.close()


def test_recall_as_of_a_past_time(memory: Memory, clock: FakeClock) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    then = clock.now + timedelta(hours=1)
    clock.advance(86400)
    memory.remember("I live in Oslo.")
    memory.post_think()
    assert texts(memory, "Where do I live?") == ["The user lives in Oslo."]
    assert texts(memory, "Where do I live?", as_of=then) == ["The user lives in Lyon."]
    assert texts(memory, "Where do I live?", as_of=clock.now) == ["The user lives in Oslo."]
    assert texts(memory, "Where do I live?", as_of=then - timedelta(days=9)) == []


def test_usage_contains_the_stages(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    receipt = memory.recall("Where do I live?").usage
    assert set(receipt.ms) == {"index", "understand", "embed", "search"}
    assert all(ms >= 0 for ms in receipt.ms.values())
    assert receipt.llm_calls == 0


def test_forgotten_thought_is_not_recalled_until_undone(memory: Memory) -> None:
    memory.remember("I live in Lyon.", "Nice!")
    memory.post_think()
    (thought,) = memory.thoughts()
    action = memory.forget(thought, "it was a joke")
    assert texts(memory, "Where do I live?") == []
    assert memory.thoughts() == []
    assert [old.id for old in memory.thoughts(current=False)] == [thought.id]
    undone = memory.undo(action)
    assert memory.thoughts() == [thought]
    assert texts(memory, "Where do I live?") == [thought.sentence]
    memory.undo(undone)
    assert memory.thoughts() == []
    kinds = [entry.action for entry in memory.journal(thought=thought.id)]
    assert kinds == ["insert", "forget", "undo", "undo"]
    assert memory.journal()[1].reason == "it was a joke"


def test_correct_replaces_a_thought(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    (lyon,) = memory.thoughts()
    turn = memory.correct(lyon, "I live in Paris.", "a slip of the tongue")
    memory.post_think()
    assert [thought.sentence for thought in memory.thoughts()] == ["The user lives in Paris."]
    retired = memory.journal(thought=lyon.id)[-1]
    assert (retired.actor, retired.reason) == ("user", f"corrected in {turn.ref}: a slip of the tongue")
    assert not any("Lyon" in text for text in texts(memory, "Where do I live?"))


def test_failed_correction_stores_nothing(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    (lyon,) = memory.thoughts()
    with pytest.raises(NotFound):
        memory.correct(99, "I live in Paris.", "a slip")
    with pytest.raises(InvalidInput, match="reason"):
        memory.correct(lyon, "I live in Paris.", " ")
    with pytest.raises(InvalidInput, match="empty"):
        memory.correct(lyon, " ", "a slip")
    memory.forget(lyon, "gone")
    with pytest.raises(Conflict):
        memory.correct(lyon, "I live in Paris.", "a slip")
    assert len(memory.turns()) == 1


@pytest.mark.parametrize("name", ["thought:1", "1", 1, Ref("thought", 1)])
def test_thought_can_be_named_by_ref_text_or_number(memory: Memory, name: Any) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    assert [thought.id for thought in memory.forget(name, "gone").after] == [1]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda m: m.forget(1, " "), "needs a reason"),
        (lambda m: m.forget(1, None), "reason must be text"),
        (lambda m: m.forget("action:1", "x"), "is not a"),
        (lambda m: m.forget("one", "x"), "is not a reference"),
        (lambda m: m.forget(None, "x"), "is not a reference"),
        (lambda m: m.undo("thought:1"), "thought:1 is not an action"),
        (lambda m: m.erase(), "exactly one"),
        (lambda m: m.erase(session="s", turn=1), "exactly one"),
        (lambda m: m.erase(session=""), "session"),
        (lambda m: m.erase(user=" "), "user"),
        (lambda m: m.erase(turn="thought:1"), "is not a turn"),
        (lambda m: m.why("action:1"), "is an action"),
        (lambda m: m.why(None), "is not a reference"),
    ],
)
def test_invalid_changes_are_rejected(memory: Memory, call: Any, complaint: str) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    with pytest.raises(InvalidInput, match=complaint):
        call(memory)
    assert (len(memory.turns()), len(memory.thoughts())) == (1, 1)


def test_undo_out_of_order_is_rejected(memory: Memory, clock: FakeClock) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    memory.forget(1, "gone")
    with pytest.raises(Conflict, match="undo action:2 first"):
        memory.undo(1)
    with pytest.raises(Conflict, match="already retired"):
        memory.forget(1, "again")


def test_erasing_a_turn_erases_its_thoughts(memory: Memory) -> None:
    turn = memory.remember("I live in Lyon.")
    kept = memory.remember("My dog is called Rex.")
    memory.post_think()
    answer = memory.chat("Where do I live?")
    erased = memory.erase(turn=turn)
    assert (erased.turns, erased.thoughts, erased.quoted_in) == (1, 1, (answer.turn.id,))
    assert [left.id for left in memory.turns()] == [kept.id, answer.turn.id]
    assert not any("Lyon" in text for text in texts(memory, "Where do I live?"))
    assert not any("Lyon" in thought.sentence for thought in memory.thoughts(current=False))
    assert "(erased since)" in "\n".join(memory.why(answer).lines)
    with pytest.raises(NotFound, match="turn:1"):
        memory.erase(turn=turn)


def test_erasing_a_superseding_turn_restores_the_older_thought(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.remember("I live in Oslo.")
    memory.post_think()
    memory.erase(turn="turn:2")
    assert texts(memory, "Where do I live?") == ["The user lives in Lyon."]


def test_erasing_a_session_requeues_turns_that_shared_a_thought(open_memory: OpenMemory) -> None:
    memory = open_memory(background=True)
    memory.remember("I like tea.", session="a")
    memory.remember("I like tea.", session="b")
    memory.remember("I like coffee.", session="b")
    assert memory.wait(20)
    shared, _ = sorted(memory.thoughts(), key=lambda thought: thought.last_turn)
    assert [source.turn for source in shared.sources] == [1, 2]
    erased = memory.erase(session="b")
    assert (erased.turns, erased.requeued) == (2, 1)
    assert memory.wait(20)
    (tea,) = memory.thoughts()
    assert (tea.objects, [source.turn for source in tea.sources]) == (("tea",), [1])
    assert [turn.session for turn in memory.turns()] == ["a"]


def test_erasing_a_user_leaves_the_others(memory: Memory) -> None:
    other = memory.for_user("bob")
    memory.remember("I live in Lyon.")
    other.remember("I live in Oslo.")
    memory.recall("x")
    assert other.erase(user="default").turns == 1
    assert memory.store.users() == ["bob"]
    assert texts(memory, "Where do I live?") == []
    memory.remember("I live in Rome.")
    assert texts(memory, "Where do I live?") == ["I live in Rome."]


def test_other_embedder_is_rejected_until_converted(open_memory: OpenMemory, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_memory() as memory:
        memory.remember("I live in Lyon.")
        memory.for_user("bob").remember("I live in Oslo.")
        memory.post_think()
        memory.for_user("bob").recall("x")
    with pytest.raises(EmbedderMismatch, match="hashing-256"):
        open_memory(embedder="wordllama")
    done: list[tuple[int, int]] = []
    assert Memory.reembed(path, "wordllama", progress=lambda *step: done.append(step)) == 3
    assert done == [(3, 3)]
    with pytest.raises(EmbedderMismatch):
        open_memory()
    memory = open_memory(embedder="wordllama")
    assert texts(memory, "Where do I live?") == ["The user lives in Lyon."]
    assert texts(memory.for_user("bob"), "Where do I live?") == ["I live in Oslo."]
    assert Memory.reembed(path, memory.embedder) == 0


def test_open_memory_detects_a_conversion(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.remember("I live in Lyon.")
    memory.recall("x")
    memory.remember("I like tea.")
    Memory.reembed(tmp_path / "memory.db", "wordllama")
    with pytest.raises(EmbedderMismatch):
        memory.recall("Where do I live?")
    with pytest.raises(EmbedderMismatch):
        memory.post_think()
    assert open_memory(embedder="wordllama").stats().pending == 2


def test_threads_share_one_memory(open_memory: OpenMemory) -> None:
    memory = open_memory(background=True)
    problems: list[Exception] = []

    def talk(name: str) -> None:
        mine = memory.for_user(name)
        try:
            for number in range(15):
                mine.remember(f"My item {number} is called {name}{number}.")
                assert mine.recall(f"{name}{number}", k=1)[0].text
                mine.post_think(limit=1)
        except Exception as error:  # reported by the main thread
            problems.append(error)

    names = ["ann", "ann", "bob"]
    threads = [threading.Thread(target=talk, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert memory.wait(30)
    ann, bob = (memory.for_user(name) for name in ("ann", "bob"))
    ann.post_think()
    assert (ann.stats().turns, bob.stats().turns) == (30, 15)
    assert (ann.stats().pending, ann.stats().failed) == (0, 0)
    assert memory.store.check() == []
    made = [thought.id for action in ann.journal() for thought in action.after if action.action == "insert"]
    assert len(made) == len(set(made))


def test_all_errors_are_thinkback_errors(memory: Memory) -> None:
    with pytest.raises(ThinkbackError):
        memory.why("thought:999")


def test_only_models_created_by_the_memory_are_closed(tmp_path: Path) -> None:
    class Model(ScriptedLLM):
        closed = False

        def close(self) -> None:
            self.closed = True

    mine, ours = Model([]), Model([])
    with Memory.open(tmp_path / "m.db", embedder="hashing", llm=mine, background=False) as memory:
        memory.own(ours)
    assert ours.closed
    assert not mine.closed


def test_thoughts_by_subject_and_group(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    sizes = [len(memory.thoughts(subject="user", group=group)) for group in range(64)]
    assert sum(sizes) == 1
    assert sizes == [len(memory.thoughts(group=group)) for group in range(64)]


def test_summaries_are_updated_after_the_time_of_a_visit(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("I live in Lyon.", "Nice!")
    assert memory.post_think(max_seconds=0.0).turns == 1  # the first batch is always thought over
    assert memory.store.summaries_behind(memory.user) == []
