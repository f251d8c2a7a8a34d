"""The terminal app, driven by keys and mouse, with a real memory in a file."""

from __future__ import annotations

import asyncio
import fcntl
import struct
import sys
import termios
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.acceptance.cli_runner import run
from tests.acceptance.test_cli_chat import Terminal
from tests.fake_openai import FakeOpenAI
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, TabbedContent

from thinkback.errors import ModelUnavailable, StoreUnavailable
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.tui import conversation
from thinkback.tui.app import TerminalApp
from thinkback.tui.conversation import MessageInput, MessageWidget
from thinkback.tui.screens import CorrectionScreen, DetailScreen, EditScreen, HelpScreen, SessionsScreen
from thinkback.tui.screenshots import SCREENSHOTS, write_screenshots
from thinkback.tui.sidebar import TAB_IDS, JournalPane, RecalledPane, ThoughtsPane
from thinkback.types import Message, Reply

Script = Callable[[TerminalApp, Pilot[None]], Awaitable[None]]
Open = Callable[..., Memory]
PATIENCE_S = 60


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens memories on one file, one after the other, with post-thinking in the background."""
    kept: list[Memory] = []

    def open_one(**options: Any) -> Memory:
        for memory in kept:
            memory.close()
        kept[:] = [Memory.open(tmp_path / "memory.db", embedder="hashing", think="extractive", **options)]
        return kept[0]

    yield open_one
    for memory in kept:
        memory.close()


def drive(
    memory: Memory, script: Script, *, session: str = "talk", size: tuple[int, int] = (100, 30)
) -> TerminalApp:
    """Run the app with a script and leave it at the end; returns the app."""
    app = TerminalApp(memory, session)

    async def go() -> None:
        async with app.run_test(size=size) as pilot:
            await script(app, pilot)

    asyncio.run(go())
    return app


async def until(pilot: Pilot[None], true: Callable[[], object], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                await pilot.pause(0.01)
    except TimeoutError:
        raise AssertionError(f"{what} did not come; the screen shows\n{screen(pilot.app)}") from None


async def shows(pilot: Pilot[None], text: str) -> None:
    await until(pilot, lambda: text in screen(pilot.app), repr(text))


async def calm(app: TerminalApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: not app.answering and not app.thinking, "calm")
    await shows(pilot, "ready")


async def answered(app: TerminalApp, pilot: Pilot[None], message: str) -> None:
    await until(pilot, lambda: ("you", message) in said(app), "the message")
    await calm(app, pilot)


async def say(app: TerminalApp, pilot: Pilot[None], *messages: str) -> None:
    for message in messages:
        app.message_input.focus().insert(message)
        await pilot.press("enter")
        await answered(app, pilot, message)


def screen(app: Any) -> str:
    """The text on the screen, line by line."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def said(app: TerminalApp) -> list[tuple[str, str]]:
    return [(each.speaker, each.message_text) for each in app.query(MessageWidget) if each.speaker != "note"]


class Held(ScriptedLLM):
    """A model that streams one word, then waits for `go`."""

    def __init__(self, text: str) -> None:
        super().__init__({"": text})
        self.go = Event()
        self.begun = Event()

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        pieces = super().stream(messages, max_tokens=max_tokens, forbid=forbid)
        yield next(pieces)
        self.begun.set()
        assert self.go.wait(PATIENCE_S)
        return (yield from pieces)


def test_conversation_and_reopening(opened: Open) -> None:
    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"I need a laptop", "enter")
        await answered(app, pilot, "I need a laptop")
        await say(app, pilot, "It must weigh at most 1.2 kg.", "Not a Macbook because I need Linux.")
        for line in ("Needs", "! It must weigh at most 1.2 kg.", "x Macbook (I need Linux)", "context "):
            await shows(pilot, line)
        await say(app, pilot, "I live in Paris.", "I moved to Lyon.", "Where do I live?")
        await pilot.press("f4")
        await shows(pilot, ". The user lives in Lyon.")
        assert "matters: " in screen(app), "a recalled memory tells its reason"
        await pilot.press("f4")
        await shows(pilot, "· The user lives in Lyon.")
        assert "group " in screen(app)
        await pilot.press("f4")
        await shows(pilot, "- The user lives in Paris.")
        await pilot.resize_terminal(80, 24)
        await shows(pilot, "- The user lives in Paris.")
        await pilot.press("ctrl+c")

    first = drive(opened(), talk)
    assert first.return_code == 0
    told = [turn.query for turn in opened().turns(session="talk")]
    assert told == [
        "I need a laptop",
        "It must weigh at most 1.2 kg.",
        "Not a Macbook because I need Linux.",
        "I live in Paris.",
        "I moved to Lyon.",
        "Where do I live?",
    ]

    async def again(app: TerminalApp, pilot: Pilot[None]) -> None:
        await shows(pilot, "Where do I live?")
        await shows(pilot, "x Macbook (I need Linux)")
        await until(pilot, lambda: said(app) == [("you", query) for query in told], "the conversation")
        await shows(pilot, "context ")

    drive(opened(), again)


def test_layout_at_80x24_and_after_resize(opened: Open) -> None:
    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await say(app, pilot, "I need a laptop for travel.")
        for size in ((80, 24), (120, 40), (60, 24), (80, 24)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.size == size, "the size")  # type: ignore[misc]
            await shows(pilot, "laptop for travel.")
            for word in ("Conversation", "Summary", "Journal", "Topic", "ready", "thought", "Leave", "F1"):
                await shows(pilot, word)
            await until(
                pilot,
                lambda size=size: max(map(len, screen(app).splitlines())) <= size[0],  # type: ignore[misc]
                "no line wider than the terminal",
            )
        # After a resize the widgets are laid out one after the other, so each line is waited for.
        await until(pilot, lambda: "Next tab" in screen(app).splitlines()[-1], "all keys at 80 columns")
        await until(pilot, lambda: " Journal" in screen(app).splitlines()[1], "all tabs at 80 columns")

    drive(opened(), talk)


def test_multiline_and_chinese_messages(opened: Open) -> None:
    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        entry = app.message_input
        await pilot.press("a", "shift+enter", "b", "ctrl+j", "c", "alt+enter", "d")
        assert entry.text == "a\nb\nc\nd"
        entry.clear()
        await pilot.press("enter")
        assert not app.answering, "nothing is sent where nothing is typed"
        await pilot.press(*"预算不超过八千元", "enter")
        await answered(app, pilot, "预算不超过八千元")
        await shows(pilot, "‹ memory")
        await shows(pilot, "! 预算不超过八千元")
        app.post_message(Paste("我养了一只猫，\n名字叫小白。"))
        await until(pilot, lambda: "小白" in entry.text, "the paste")
        await pilot.press("enter")
        await answered(app, pilot, "我养了一只猫，\n名字叫小白。")

    memory = opened()
    drive(memory, talk, size=(80, 24))
    assert [turn.query for turn in memory.turns()] == ["预算不超过八千元", "我养了一只猫，\n名字叫小白。"]


def test_tab_order_help_and_theme_keys(opened: Open) -> None:
    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await calm(app, pilot)
        assert isinstance(app.focused, MessageInput)
        stations = []
        for _ in range(6):
            await pilot.press("tab")
            stations.append(type(app.focused).__name__)
        assert {"ConversationView", "ContentTabs", "MessageInput"} <= set(stations)
        dark = app.current_theme.dark
        await pilot.press("f3")
        assert app.current_theme.dark is not dark
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen), "help")
        for word in ("Shift+Enter", "Ctrl+J", "Marks:"):
            await shows(pilot, word)
        await pilot.press("escape")
        app.message_input.focus()
        await pilot.press("q", "question_mark")
        assert app.message_input.text == "q?", "in the message these are letters"
        app.query_one("#conversation").focus()
        await pilot.press("q")
        await until(pilot, lambda: app._exit, "the end")

    drive(opened(), talk)


def test_forget_and_correct_a_recalled_memory(opened: Open) -> None:
    memory = opened()
    memory.remember("My vet is Doctor Lang.", session="before")

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await say(app, pilot, "Who is my vet?")
        app.sidebar.show_tab(TAB_IDS[1])
        app.query_one(RecalledPane).focus()
        await shows(pilot, "Lang")
        await pilot.press("home", "c")
        await until(pilot, lambda: isinstance(app.screen, CorrectionScreen), "the input")
        await pilot.press(*"Doctor Meyer is my vet", "enter")
        await until(pilot, lambda: memory.journal() and memory.turns()[-1].query.startswith("Doctor"), "it")
        await pilot.press("ctrl+q")

    drive(memory, talk)
    assert any("corrected in turn:3" in action.reason for action in memory.journal())


def test_new_session_opens_on_what_is_known_and_thoughts_can_be_edited(opened: Open) -> None:
    memory = opened()
    memory.remember("I live in Paris.", session="before")
    assert memory.wait(PATIENCE_S)

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await shows(pilot, "What is known.")
        await shows(pilot, "· The user lives in Paris.")
        await until(pilot, lambda: app.query_one(TabbedContent).active == TAB_IDS[2], "the tab Thoughts")
        await calm(app, pilot)
        app.query_one(ThoughtsPane).focus()
        await pilot.press("home", "down", "e")
        await until(pilot, lambda: isinstance(app.screen, EditScreen), "the input")
        entry = app.screen.query_one(Input)
        assert entry.value == "The user lives in Paris."
        entry.value = "The user lives in Rome."
        await pilot.press("enter")
        await until(pilot, lambda: [t.objects for t in memory.thoughts()] == [("Rome",)], "the edit")
        await shows(pilot, "· The user lives in Rome.")
        await pilot.press("ctrl+q")

    drive(memory, talk)
    memory.undo(memory.journal()[-1])
    assert [thought.objects for thought in memory.thoughts()] == [("Paris",)]


@pytest.mark.parametrize("way", ["key", "mouse"])
def test_undo_from_the_journal(opened: Open, way: str) -> None:
    memory = opened()
    memory.remember("I live in Paris.", session="talk")
    memory.remember("I moved to Lyon.", session="talk")

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await calm(app, pilot)
        if way == "key":
            app.sidebar.show_tab(TAB_IDS[3])
            app.query_one(JournalPane).focus()
            await shows(pilot, "supersede")
            await pilot.press("home", "u")
        else:
            await pilot.click(f"#--content-tab-{TAB_IDS[3]}")
            await shows(pilot, "supersede")
            await pilot.click(JournalPane, offset=(5, 1))
            await until(pilot, lambda: isinstance(app.screen, DetailScreen), "the explanation")
            await shows(pilot, "why: turn 2 replaces")
            await pilot.click("#undo")
        await shows(pilot, "supersede (undone)")
        assert "↶" in screen(app)
        await pilot.press("ctrl+q")

    drive(memory, talk)
    assert [thought.sentence for thought in memory.thoughts()] == ["The user lives in Paris."]


def test_thought_and_recalled_memory_are_explained(opened: Open) -> None:
    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await say(app, pilot, "I live in Paris.", "Where do I live?")
        for tab, pane in ((TAB_IDS[2], ThoughtsPane), (TAB_IDS[1], RecalledPane)):
            app.sidebar.show_tab(tab)
            app.query_one(pane).focus()
            await shows(pilot, "The user lives in Paris.")
            await pilot.press("home", "enter")
            await until(pilot, lambda: isinstance(app.screen, DetailScreen), "the explanation")
            await shows(pilot, "I live in Paris.")
            await pilot.press("escape")

    drive(opened(), talk)


def test_undo_last_summary_update(opened: Open) -> None:
    memory = opened()

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await say(app, pilot, "I need a laptop.", "It must weigh at most 1.2 kg.")
        await shows(pilot, "Constraints")
        await pilot.click("#undo-summary")
        await until(pilot, lambda: "Constraints" not in screen(app), "the summary before")

    drive(memory, talk)
    assert memory.summary("talk").constraints == ()


def test_sessions_are_listed_searched_opened_and_created(opened: Open) -> None:
    memory = opened()
    memory.remember("My cat is called Minka.", session="pets")
    memory.remember("The train leaves at nine.", session="trip")

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await calm(app, pilot)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen), "the list")
        await shows(pilot, "pets")
        await shows(pilot, "sessions: 2")
        await pilot.press(*"nine")
        await until(pilot, lambda: "pets" not in screen(app), "what was typed to filter")
        assert "trip" in screen(app)
        app.screen.query_one(Input).value = "What is my cat called?"
        await pilot.press("enter")
        await shows(pilot, "matching memories")
        await pilot.press("down")
        await until(pilot, lambda: isinstance(app.focused, OptionList), "the list")
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: app.chat_session.session == "pets", "the conversation")
        await until(pilot, lambda: said(app) == [("you", "My cat is called Minka.")], "what was said")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.chat_session.session.startswith("chat "), "a new conversation")
        await until(pilot, lambda: not said(app), "a clean page")

    drive(memory, talk)


def test_typing_continues_while_an_answer_streams(opened: Open) -> None:
    model = Held("Paris is lovely in spring.")
    memory = opened(llm=model)

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"Hello", "enter")
        await until(pilot, lambda: ("memory", "Paris") in said(app), "the first word")
        await shows(pilot, "answering")
        await pilot.press(*"next", "enter")
        await until(pilot, lambda: app.message_input.text == "next", "what cannot be sent yet")
        model.go.set()
        await until(pilot, lambda: ("memory", "Paris is lovely in spring.") in said(app), "the rest")
        await until(pilot, lambda: not app.answering, "the end of it")
        await pilot.press("enter")
        await answered(app, pilot, "next")
        await shows(pilot, "(sent ")

    drive(memory, talk)
    assert [(turn.query, turn.response) for turn in memory.turns()] == [
        ("Hello", "Paris is lovely in spring."),
        ("next", "Paris is lovely in spring."),
    ]


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_stopped_answer_is_stored_partially(opened: Open, key: str) -> None:
    model = Held("Paris is lovely in spring.")
    memory = opened(llm=model)

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"Hello", "enter")
        await until(pilot, model.begun.is_set, "the model")
        await pilot.press(key)
        await shows(pilot, "leaving" if key == "ctrl+c" else "answering")
        model.go.set()
        await until(pilot, lambda: app._exit or "Stopped" in screen(app), "the end of it")

    drive(memory, talk)
    (turn,) = opened().turns()
    assert turn.query == "Hello"
    assert turn.response.startswith("Paris")
    assert not turn.response.endswith("spring.")


def test_chat_and_exit_during_post_thinking(opened: Open, tmp_path: Path) -> None:
    go, thinking = Event(), Event()

    def slowly(messages: Sequence[Message]) -> str:
        thinking.set()
        assert go.wait(PATIENCE_S)
        return "[]"

    thinker = ScriptedLLM({"": slowly})
    path = tmp_path / "thinking.db"
    with Memory.open(path, embedder="hashing", llm=thinker, think="llm") as memory:
        memory.llm = None  # rules answer at once; only the thinking is slow

        async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
            await pilot.press(*"I live in Paris.", "enter")
            await until(pilot, thinking.is_set, "the thinking")
            await shows(pilot, "post-thinking...")
            await pilot.press(*"I like tea.", "enter")
            await until(pilot, lambda: said(app).count(("memory", "Okay.")) == 2, "an answer meanwhile")
            await shows(pilot, "post-thinking...")
            await pilot.press("ctrl+c")
            await until(pilot, lambda: app._exit, "the end")

        drive(memory, talk)
        assert not go.is_set(), "it left while memory was thinking"
        go.set()
    with Memory.open(path, embedder="hashing", think="extractive") as memory:
        assert [turn.query for turn in memory.turns()] == ["I live in Paris.", "I like tea."]
        memory.wait(PATIENCE_S)

        async def again(app: TerminalApp, pilot: Pilot[None]) -> None:
            await until(pilot, lambda: len(said(app)) == 2, "the conversation")
            await shows(pilot, "I like tea.")

        drive(memory, again)


def test_model_failure_is_shown_and_the_turn_is_stored(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI() as upstream:
        monkeypatch.setenv("OPENAI_BASE_URL", upstream.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        upstream.faults.append("401")
        memory = opened(llm="openai:fake")

        async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
            await say(app, pilot, "I live in Paris.")
            (_, (speaker, error)) = said(app)
            assert speaker == "error"
            assert error.endswith("Your message is stored.")
            assert "sk-secret" not in error
            await shows(pilot, "! error")
            await say(app, pilot, "Hello?")
            assert said(app)[-1] == ("memory", "The sky is blue today.")

        drive(memory, talk)
        assert [turn.query for turn in memory.turns()] == ["I live in Paris.", "Hello?"]


def test_message_that_cannot_be_stored_is_restored_to_the_input(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thinkback.validation.MAX_TEXT_CHARS", 20)

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        text = "This is longer than twenty characters."
        await say(app, pilot, text)
        assert app.message_input.text == text
        await shows(pilot, "not stored")

    memory = opened()
    drive(memory, talk)
    assert memory.turns() == []


def test_shown_text_is_escaped_and_not_markup(opened: Open) -> None:
    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await say(app, pilot, "I need \x1b[31mred\x1b[0m [bold]ink[/bold] [/].")
        await shows(pilot, "\\x1b[31mred")
        await shows(pilot, "[bold]ink[/bold]")

    drive(opened(), talk)


def test_memory_errors_are_notified(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened()

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await say(app, pilot, "I live in Paris.")
        app.sidebar.show_tab(TAB_IDS[3])
        app.query_one(JournalPane).focus()
        await shows(pilot, "insert")
        await pilot.press("home", "u")
        await shows(pilot, "insert (undone)")
        await pilot.press("end", "u")
        await until(pilot, lambda: app._notifications, "the word of it")
        assert any("action:1" in note.message for note in app._notifications if note.severity == "error")
        monkeypatch.setattr(memory, "recall", failing(ModelUnavailable("the embedder is away")))
        await pilot.press("f2")
        await shows(pilot, "sessions: 1")
        await pilot.press(*"Paris", "enter")
        await shows(pilot, "! error: the embedder is away")
        await pilot.press("escape")
        await say(app, pilot, "Hello?")
        assert said(app)[-1] == ("error", "the embedder is away\nYour message is stored.")
        monkeypatch.setattr(memory, "wait", failing(StoreUnavailable("the database is locked")))
        app.message_input.insert("Hello again?")
        await pilot.press("enter")
        await shows(pilot, "! post-thinking failed and will be retried: the database is locked")

    drive(memory, talk)


def test_long_conversation_opens_at_its_end_and_is_pruned(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "MAX_MESSAGES", 2 * conversation.MAX_OPENED_TURNS)
    memory = opened(background=False)
    for number in range(60):
        memory.remember(f"line {number}", f"answer {number}", session="talk")

    async def talk(app: TerminalApp, pilot: Pilot[None]) -> None:
        await shows(pilot, "answer 59")
        assert said(app)[0] == ("you", "line 20")
        await shows(pilot, "turns to be processed later")
        for number in range(60, 63):
            app.message_input.insert(f"line {number}")
            await pilot.press("enter")
            told = ("you", f"line {number}")
            await until(pilot, lambda told=told: told in said(app) and not app.answering, "the answer")  # type: ignore[misc]
        await until(
            pilot, lambda: len(app.query(MessageWidget)) <= conversation.MAX_MESSAGES, "the oldest to go"
        )
        assert said(app)[-2] == ("you", "line 62")

    drive(memory, talk)


def failing(error: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


def test_command_on_a_real_terminal(tmp_path: Path) -> None:
    terminal = Terminal("tui", "--llm", "none", "--session", "s")
    fcntl.ioctl(terminal.near, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    terminal.until("ready")
    terminal.type("I live in Paris.\r")
    terminal.until("Noted: you live in Paris.")
    terminal.type("我养了一只猫，\n名字叫小白。\r")  # a line feed is Ctrl+J
    terminal.until("记下了：")
    assert terminal.leave(lambda: terminal.type("\x03")) == 0
    told = [turn["query"] for turn in run("turns", "--session", "s", "--json").ok().json]
    assert told == ["I live in Paris.", "我养了一只猫，\n名字叫小白。"]


def test_without_terminal_is_an_error() -> None:
    assert "thinkback chat" in run("tui", "--llm", "none").failed().err


def test_without_textual_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual", None)
    assert "pip install 'thinkback[tui]'" in run("tui").failed().err


def test_screenshots_are_written(tmp_path: Path) -> None:
    drawn = list(write_screenshots(tmp_path / "images", "hashing"))
    assert [path.stem for path in drawn] == [picture.name for picture in SCREENSHOTS]
    for path in drawn:
        svg = path.read_text("utf-8")
        assert "预算不超过八千元。" in svg
        assert "@font-face" not in svg
        assert len(svg) < 100_000
