"""Where one types: Enter sends, and a new line has keys of its own."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

NEW_LINE = ("shift+enter", "alt+enter", "ctrl+j", "shift+\r")
"""Old terminals send the same for Enter, Shift+Enter and Alt+Enter; Ctrl+J is told apart everywhere. The last
is how Shift+Enter arrives from terminals that tell it in xterm's way."""


class Entry(TextArea):
    """The next message, in as many lines as are typed or pasted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(NEW_LINE), "new_line", "New line", key_display="⇧⏎ ^J")
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
        if event.key != "enter" and event.key not in NEW_LINE:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if event.key != "enter":
            self.action_new_line()
        elif self.text.strip():
            self.post_message(self.Sent(self.text))
            self.clear()  # at once: the next key belongs to the next message

    def give_back(self, text: str) -> None:
        """What could not be sent, before what was typed since."""
        self.insert(text if not self.text else f"{text}\n", (0, 0))

    def action_new_line(self) -> None:
        self.insert("\n")
        self.scroll_cursor_visible()
