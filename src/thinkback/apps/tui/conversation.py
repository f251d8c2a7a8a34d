"""The conversation: what was said by whom, the last of it always in sight."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from thinkback.apps.tui.words import whole
from thinkback.types import Turn

YOU, MEMORY, NOTE, ERROR = "you", "memory", "note", "error"
MARKS = {YOU: "› you", MEMORY: "‹ memory", NOTE: "· note", ERROR: "! error"}
SHOWN = 100  # messages that stay on the screen; all others stay in memory
OPENED = 40  # turns of a conversation that is opened again


class Said(Static):
    """One message, under the mark and the name of who says it."""

    def __init__(self, speaker: str, text: str = "") -> None:
        super().__init__(classes=speaker)
        self.speaker = speaker
        self.said = text

    def on_mount(self) -> None:
        self.add("")

    def add(self, piece: str) -> None:
        self.said += piece
        body = whole(self.said) or "…"
        self.update(Content.assemble((MARKS[self.speaker], "bold"), "\n", body))


class Conversation(VerticalScroll):
    """Scrolls with what comes, unless somebody reads further up."""

    BORDER_TITLE = "Conversation"

    def on_mount(self) -> None:
        self.anchor()

    def on_resize(self) -> None:
        """Textual moves an anchored pane without drawing its scrollbar anew."""
        self.call_after_refresh(self.vertical_scrollbar.refresh)

    def say(self, speaker: str, text: str = "") -> Said:
        said = Said(speaker, text)
        self.mount(said)
        for old in self.children[:-SHOWN]:
            old.remove()
        return said

    def show(self, turns: Sequence[Turn], more: bool) -> None:
        """A conversation as it is remembered; what memory itself answered is not, for it is no news."""
        self.remove_children()
        if more:
            self.say(NOTE, f"Only the last {len(turns)} turns are shown. All are remembered.")
        for turn in turns:
            if turn.query:
                self.say(YOU, turn.query)
            if turn.response:
                self.say(MEMORY, turn.response)
        self.anchor()
