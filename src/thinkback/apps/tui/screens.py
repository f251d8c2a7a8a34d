"""What opens above the conversation: help, the list of sessions, and the explanation of one item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from thinkback.apps.cli.printing import one_line
from thinkback.apps.tui import bridge, words
from thinkback.apps.tui.bridge import Place
from thinkback.errors import ThinkbackError
from thinkback.memory import Memory

HELP = (
    ("Enter", "send; in a list: why this is there (or click it)"),
    ("Shift+Enter", "a new line; a paste keeps its lines"),
    ("Ctrl+J", "the same, where a terminal sends Enter for both"),
    ("Esc", "stop the answer; what came of it is kept"),
    ("Tab, Shift+Tab", "go to the conversation, the tabs, the list, back"),
    ("F2", "conversations: open one, or search them all"),
    ("Ctrl+N", "begin a new conversation"),
    ("F3", "light or dark"),
    ("F4", "next tab: summary, recalled, thoughts, journal"),
    ("u", "in the journal: undo; an undo can be undone"),
    ("Ctrl+C, Ctrl+Q", "leave (or q, in a list); nothing is lost"),
    ("F1, ?", "this help"),
    ("Shift+drag", "select text by mouse, in most terminals"),
)
MARKS = "Marks: › you, ‹ memory, ! error. In the summary: + need, ! constraint, x excluded, ? to clarify."
NEW = "+ a new conversation"


class Closing(ModalScreen[str]):
    """A modal that Esc closes with nothing chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]

    def action_close(self) -> None:
        self.dismiss("")


class Help(Closing):
    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="sheet") as sheet:
            sheet.border_title = "Help"
            sheet.border_subtitle = "Esc closes"
            yield Static(words.marked((key, Text(told)) for key, told in HELP))
            yield Static(MARKS, markup=False, classes="below")


class Explained(Closing):
    """Why an item is there; answers `undo` if that is wished."""

    def __init__(self, title: str, lines: Sequence[str], *, undo: bool = False) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._undo = undo

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet") as sheet:
            sheet.border_title = self._title
            sheet.border_subtitle = "Esc closes"
            with VerticalScroll():
                yield Static(words.marked(("·", Text(one_line(line, 2000))) for line in self._lines))
            with Horizontal(classes="buttons"):
                if self._undo:
                    yield Button("Undo", id="undo", variant="warning")
                yield Button("Close", id="close")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss("undo" if event.button.id == "undo" else "")


class Sessions(ModalScreen[Place | None]):
    """The conversations of this user; answers the one to open, with an empty name for a new one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("down", "down", show=False),
    ]

    def __init__(self, memory: Memory, current: str) -> None:
        super().__init__()
        self._memory = memory
        self._current = current
        self._all: list[Place] = []
        self._shown: list[Place] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet") as sheet:
            sheet.border_title = "Conversations"
            sheet.border_subtitle = "Esc closes"
            yield Input(placeholder="Find by name; Enter searches all that was said")
            yield Static(id="found", markup=False)
            yield OptionList(id="sessions")

    def on_mount(self) -> None:
        self._read()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        wanted = event.value.strip().casefold()
        held = [p for p in self._all if wanted in p.session.casefold() or wanted in p.words.casefold()]
        self._list(held, f"found by name or last words: {len(held)}")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if query := event.value.strip():
            self._search(query)
        else:
            self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._shown[event.option_index])

    def action_close(self) -> None:
        self.dismiss(None)

    def action_down(self) -> None:
        self.query_one(OptionList).focus()

    @work(thread=True)
    def _read(self) -> None:
        try:
            self._all = bridge.sessions(self._memory)
        except ThinkbackError as error:
            self.call_later(self._list, [], f"! error: {error}")
        else:
            self.call_later(self._list, self._all, f"conversations: {len(self._all)}")

    @work(thread=True, exclusive=True, group="search")
    def _search(self, query: str) -> None:
        try:
            found = bridge.search(self._memory, query)
        except ThinkbackError as error:
            self.call_later(self._list, [], f"! error: {error}")
        else:
            told = f"memories that matter: {len(found)}; choose one to open where it was said"
            self.call_later(self._list, found, told)

    def _list(self, places: list[Place], told: str) -> None:
        self._shown = [Place("", NEW), *places]
        self.query_one("#found", Static).update(one_line(told))
        options = [Option(NEW), *(Option(self._line(place)) for place in places)]
        self.query_one(OptionList).set_options(options).highlighted = 1 if places else 0

    def _line(self, place: Place) -> Text:
        here = " (open)" if place.session == self._current else ""
        text = Text.assemble((f"{one_line(place.session, 80)}{here}", "bold"))
        text.append(f"\n  {one_line(place.words, 120)}")
        if place.note:
            text.append(f"  {place.note}", "dim")
        return text
