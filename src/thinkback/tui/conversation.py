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
MAX_MESSAGES = 100  # messages that stay on the screen; older ones are only in the database
MAX_OPENED_TURNS = 40  # turns shown when an existing session is opened


class MessageWidget(Static):
    """One message below the label of its speaker (`YOU`, `MEMORY`, `NOTE` or `ERROR`)."""

    def __init__(self, speaker: str, text: str = "") -> None:
        super().__init__(classes=speaker)
        self.speaker = speaker
        self.message_text = text

    def on_mount(self) -> None:
        self.append_text("")

    def append_text(self, chunk: str) -> None:
        self.message_text += chunk
        body = printable_lines(self.message_text) or "…"
        self.update(Content.assemble((SPEAKER_LABELS[self.speaker], "bold"), "\n", body))


class ConversationView(VerticalScroll):
    """The list of messages. It follows new text unless the user has scrolled up."""

    BORDER_TITLE = "Conversation"

    def on_mount(self) -> None:
        self.anchor()

    def on_resize(self) -> None:
        """Redraw the scrollbar, which Textual forgets when it moves an anchored view."""
        self.call_after_refresh(self.vertical_scrollbar.refresh)

    def add_message(self, speaker: str, text: str = "") -> MessageWidget:
        message = MessageWidget(speaker, text)
        self.mount(message)
        for old in self.children[:-MAX_MESSAGES]:
            old.remove()
        return message

    def show_turns(self, turns: Sequence[Turn], more: bool) -> None:
        """Replace the messages by stored turns; `more` tells that older turns are left out.

        Answers given without a language model are not stored, so they are not shown again.
        """
        self.remove_children()
        if more:
            self.add_message(NOTE, f"Only the last {len(turns)} turns are shown. All of them are stored.")
        for turn in turns:
            if turn.query:
                self.add_message(YOU, turn.query)
            if turn.response:
                self.add_message(MEMORY, turn.response)
        self.anchor()


NEW_LINE_KEYS = ("shift+enter", "alt+enter", "ctrl+j", "shift+\r")
"""Keys that insert a new line. Many terminals cannot distinguish Shift+Enter or Alt+Enter from Enter, but all
can send Ctrl+J. The last entry is Shift+Enter as encoded by xterm."""


class MessageInput(TextArea):
    """Multi-line input field; Enter sends the message."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(NEW_LINE_KEYS), "new_line", "New line", key_display="⇧⏎ ^J")
    ]

    class Sent(Message):
        """The user sent a message. A receiver that cannot take it now calls `restore_text`."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(
            id="entry", placeholder="Type a message; Enter sends it", highlight_cursor_line=False
        )

    async def _on_key(self, event: events.Key) -> None:
        """Handle Enter here, not in a binding, because a binding's action may run after the next key."""
        if event.key != "enter" and event.key not in NEW_LINE_KEYS:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if event.key != "enter":
            self.action_new_line()
        elif self.text.strip():
            self.post_message(self.Sent(self.text))
            self.clear()  # immediately: the next key belongs to the next message

    def restore_text(self, text: str) -> None:
        """Put back a message that could not be sent, before anything typed since."""
        self.insert(text if not self.text else f"{text}\n", (0, 0))

    def action_new_line(self) -> None:
        self.insert("\n")
        self.scroll_cursor_visible()
