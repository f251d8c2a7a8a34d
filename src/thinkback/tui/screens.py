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

from thinkback.cli.output import one_line
from thinkback.errors import ThinkbackError
from thinkback.memory import Memory
from thinkback.tui import backend, render
from thinkback.tui.backend import SessionMatch

KEY_HELP = (
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
MARKS_HELP = (
    "Marks: › you, ‹ memory, ! error. In the summary: + need, ! constraint, x excluded, ? to clarify."
)
NEW_SESSION_LABEL = "+ a new conversation"


class ClosableScreen(ModalScreen[str]):
    """A modal that Esc closes with nothing chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]

    def action_close(self) -> None:
        self.dismiss("")


class HelpScreen(ClosableScreen):
    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="sheet") as sheet:
            sheet.border_title = "Help"
            sheet.border_subtitle = "Esc closes"
            yield Static(render.render_marked_lines((key, Text(told)) for key, told in KEY_HELP))
            yield Static(MARKS_HELP, markup=False, classes="below")


class DetailScreen(ClosableScreen):
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
                yield Static(
                    render.render_marked_lines(("·", Text(one_line(line, 2000))) for line in self._lines)
                )
            with Horizontal(classes="buttons"):
                if self._undo:
                    yield Button("Undo", id="undo", variant="warning")
                yield Button("Close", id="close")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss("undo" if event.button.id == "undo" else "")


class SessionsScreen(ModalScreen[SessionMatch | None]):
    """The conversations of this user; answers the one to open, with an empty name for a new one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close"),
        Binding("down", "down", show=False),
    ]

    def __init__(self, memory: Memory, current: str) -> None:
        super().__init__()
        self._memory = memory
        self._current = current
        self._all_sessions: list[SessionMatch] = []
        self._listed_matches: list[SessionMatch] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet") as sheet:
            sheet.border_title = "Conversations"
            sheet.border_subtitle = "Esc closes"
            yield Input(placeholder="Find by name; Enter searches all that was said")
            yield Static(id="found", markup=False)
            yield OptionList(id="sessions")

    def on_mount(self) -> None:
        self._load_sessions()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        wanted = event.value.strip().casefold()
        held = [
            p for p in self._all_sessions if wanted in p.session.casefold() or wanted in p.excerpt.casefold()
        ]
        self._show_matches(held, f"found by name or last words: {len(held)}")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if query := event.value.strip():
            self._search_sessions(query)
        else:
            self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._listed_matches[event.option_index])

    def action_close(self) -> None:
        self.dismiss(None)

    def action_down(self) -> None:
        self.query_one(OptionList).focus()

    @work(thread=True)
    def _load_sessions(self) -> None:
        try:
            self._all_sessions = backend.list_sessions(self._memory)
        except ThinkbackError as error:
            self.call_later(self._show_matches, [], f"! error: {error}")
        else:
            self.call_later(
                self._show_matches, self._all_sessions, f"conversations: {len(self._all_sessions)}"
            )

    @work(thread=True, exclusive=True, group="search")
    def _search_sessions(self, query: str) -> None:
        try:
            found = backend.search_sessions(self._memory, query)
        except ThinkbackError as error:
            self.call_later(self._show_matches, [], f"! error: {error}")
        else:
            told = f"memories that matter: {len(found)}; choose one to open where it was said"
            self.call_later(self._show_matches, found, told)

    def _show_matches(self, matches: list[SessionMatch], status: str) -> None:
        self._listed_matches = [SessionMatch("", NEW_SESSION_LABEL), *matches]
        self.query_one("#found", Static).update(one_line(status))
        options = [Option(NEW_SESSION_LABEL), *(Option(self._option_text(place)) for place in matches)]
        self.query_one(OptionList).set_options(options).highlighted = 1 if matches else 0

    def _option_text(self, match: SessionMatch) -> Text:
        here = " (open)" if match.session == self._current else ""
        text = Text.assemble((f"{one_line(match.session, 80)}{here}", "bold"))
        text.append(f"\n  {one_line(match.excerpt, 120)}")
        if match.note:
            text.append(f"  {match.note}", "dim")
        return text
