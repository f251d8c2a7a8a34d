"""Modal screens: help, the list of sessions, the details of one item, and the text of a change."""

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
    ("Enter", "send the message; in a list: explain the item"),
    ("Shift+Enter", "insert a new line"),
    ("Ctrl+J", "the same, for terminals that send Enter for both"),
    ("Esc", "stop the answer; the part received so far is kept"),
    ("Tab, Shift+Tab", "move between conversation, tabs, list and input"),
    ("F2", "sessions: open one, or search all of them"),
    ("Ctrl+N", "start a new session"),
    ("F3", "light or dark theme"),
    ("F4", "next tab: summary, recalled, thoughts, journal"),
    ("u", "in the journal: undo (an undo can be undone)"),
    ("f, c, e", "in a list of memories: forget, correct or edit the item"),
    ("Ctrl+C, Ctrl+Q", "leave (or q in a list); everything is saved"),
    ("F1, ?", "this help"),
    ("Shift+drag", "select text with the mouse, in most terminals"),
)
MARKS_HELP = (
    "Marks: › you, ‹ memory, ! error. In the summary: + need, ! constraint, x excluded, ? to clarify."
)
MAX_EDITED_CHARS = 10_000
NEW_SESSION_LABEL = "+ new session"


class ClosableScreen(ModalScreen[str]):
    """A modal screen that Esc closes with an empty result."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]

    def action_close(self) -> None:
        self.dismiss("")


class HelpScreen(ClosableScreen):
    """The list of keys and marks."""

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="sheet") as sheet:
            sheet.border_title = "Help"
            sheet.border_subtitle = "Esc closes"
            yield Static(render.render_marked_lines((key, Text(help_text)) for key, help_text in KEY_HELP))
            yield Static(MARKS_HELP, markup=False, classes="below")


class DetailScreen(ClosableScreen):
    """The details of one item. Its result is `undo` if the user chose that, else empty."""

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


class CorrectionScreen(ClosableScreen):
    """Asks what is true instead of a memory. Its result is the text, empty if the user cancelled."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet") as sheet:
            sheet.border_title = self._title
            sheet.border_subtitle = "Enter corrects, Esc cancels"
            yield Input(placeholder="What is true instead, in your words")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())


class EditScreen(ClosableScreen):
    """Edits the sentence of a thought. Its result is the new sentence, empty if the user cancelled."""

    def __init__(self, title: str, sentence: str) -> None:
        super().__init__()
        self._title = title
        self._sentence = sentence

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet") as sheet:
            sheet.border_title = self._title
            sheet.border_subtitle = "Enter saves, Esc cancels"
            yield Input(one_line(self._sentence, MAX_EDITED_CHARS), select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())


class SessionsScreen(ModalScreen[SessionMatch | None]):
    """The user's sessions. Its result is the one to open (an empty name starts a new one) or None."""

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
            sheet.border_title = "Sessions"
            sheet.border_subtitle = "Esc closes"
            yield Input(placeholder="Filter by name; Enter searches all messages")
            yield Static(id="found", markup=False)
            yield OptionList(id="sessions")

    def on_mount(self) -> None:
        self._load_sessions()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        needle = event.value.strip().casefold()
        matches = [
            match
            for match in self._all_sessions
            if needle in match.session.casefold() or needle in match.excerpt.casefold()
        ]
        self._show_matches(matches, f"sessions found by name or last message: {len(matches)}")

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
            self.call_later(self._show_matches, self._all_sessions, f"sessions: {len(self._all_sessions)}")

    @work(thread=True, exclusive=True, group="search")
    def _search_sessions(self, query: str) -> None:
        try:
            matches = backend.search_sessions(self._memory, query)
        except ThinkbackError as error:
            self.call_later(self._show_matches, [], f"! error: {error}")
        else:
            status = f"matching memories: {len(matches)}; choose one to open its session"
            self.call_later(self._show_matches, matches, status)

    def _show_matches(self, matches: list[SessionMatch], status: str) -> None:
        self._listed_matches = [SessionMatch("", NEW_SESSION_LABEL), *matches]
        self.query_one("#found", Static).update(one_line(status))
        options = [Option(NEW_SESSION_LABEL), *(Option(self._option_text(match)) for match in matches)]
        self.query_one(OptionList).set_options(options).highlighted = 1 if matches else 0

    def _option_text(self, match: SessionMatch) -> Text:
        suffix = " (open)" if match.session == self._current else ""
        text = Text.assemble((f"{one_line(match.session, 80)}{suffix}", "bold"))
        text.append(f"\n  {one_line(match.excerpt, 120)}")
        if match.note:
            text.append(f"  {match.note}", "dim")
        return text
