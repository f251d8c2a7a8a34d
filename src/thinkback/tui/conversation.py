"""The message list and the input field of the terminal app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from thinkback.tui.render import printable_lines
from thinkback.types import Turn

YOU, MEMORY, NOTE, ERROR = "you", "memory", "note", "error"
SPEAKER_LABELS = {YOU: "› you", MEMORY: "‹ memory", NOTE: "· note", ERROR: "! error"}
MAX_MESSAGES = 100  # messages that stay on the screen; all others stay in memory
MAX_OPENED_TURNS = 40  # turns of a conversation that is opened again


class MessageWidget(Static):
    """One message, under the mark and the name of who says it."""

    def __init__(self, speaker: str, text: str = "") -> None:
        super().__init__(classes=speaker)
        self.speaker = speaker
        self.message_text = text

    def on_mount(self) -> None:
        self.append_text("")

    def append_text(self, piece: str) -> None:
        self.message_text += piece
        body = printable_lines(self.message_text) or "…"
        self.update(Content.assemble((SPEAKER_LABELS[self.speaker], "bold"), "\n", body))


class ConversationView(VerticalScroll):
    """Scrolls with what comes, unless somebody reads further up."""

    BORDER_TITLE = "Conversation"

    def on_mount(self) -> None:
        self.anchor()

    def on_resize(self) -> None:
        """Textual moves an anchored pane without drawing its scrollbar anew."""
        self.call_after_refresh(self.vertical_scrollbar.refresh)

    def add_message(self, speaker: str, text: str = "") -> MessageWidget:
        said = MessageWidget(speaker, text)
        self.mount(said)
        for old in self.children[:-MAX_MESSAGES]:
            old.remove()
        return said

    def show_turns(self, turns: Sequence[Turn], more: bool) -> None:
        """A conversation as it is remembered; what memory itself answered is not, for it is no news."""
        self.remove_children()
        if more:
            self.add_message(NOTE, f"Only the last {len(turns)} turns are shown. All are remembered.")
        for turn in turns:
            if turn.query:
                self.add_message(YOU, turn.query)
            if turn.response:
                self.add_message(MEMORY, turn.response)
        self.anchor()


NEW_LINE_KEYS = ("shift+enter", "alt+enter", "ctrl+j", "shift+\r")
"""Old terminals send the same for Enter, Shift+Enter and Alt+Enter; Ctrl+J is told apart everywhere. The last
is how Shift+Enter arrives from terminals that tell it in xterm's way."""


class MessageInput(TextArea):
    """The next message, in as many lines as are typed or pasted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(NEW_LINE_KEYS), "new_line", "New line", key_display="⇧⏎ ^J")
    ]

    class Sent(Message):
        """This is to be answered; who cannot do so now gives it back."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="entry", placeholder="Say something; Enter sends it", highlight_cursor_line=False)

    async def _on_key(self, event: events.Key) -> None:
        """Both kinds of Enter in the order of the keys around them; a binding's action may come later."""
        if event.key != "enter" and event.key not in NEW_LINE_KEYS:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if event.key != "enter":
            self.action_new_line()
        elif self.text.strip():
            self.post_message(self.Sent(self.text))
            self.clear()  # at once: the next key belongs to the next message

    def restore_text(self, text: str) -> None:
        """What could not be sent, before what was typed since."""
        self.insert(text if not self.text else f"{text}\n", (0, 0))

    def action_new_line(self) -> None:
        self.insert("\n")
        self.scroll_cursor_visible()
