"""The panes beside the conversation: its summary, what was recalled, thoughts by group, and the journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Button, OptionList, Static
from textual.widgets.option_list import Option

from thinkback.apps.tui import words
from thinkback.apps.tui.bridge import MOST_THOUGHTS
from thinkback.types import Action, Recollection, Ref, Summary, Thought


class SummaryPane(Vertical):
    """What the session has come to; its last update can be taken back."""

    class Undo(Message):
        """The last update of the summary is to be taken back."""

    def __init__(self) -> None:
        super().__init__()
        self._text = Static(markup=False)
        self._undo = Button("Undo last update", id="undo-summary", compact=True)

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield self._text
        yield self._undo

    def show(self, summary: Summary) -> None:
        self._text.update(words.summary(summary))
        self._undo.disabled = summary.version == 0

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Undo())


class Items(OptionList):
    """A list whose items can be asked about: Enter, or a click."""

    nothing = "Nothing yet."

    class Chosen(Message):
        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    def on_mount(self) -> None:
        self.fill([], [])

    def fill(self, options: Sequence[Option], refs: Sequence[Ref | None]) -> None:
        """Show these; whoever stands on an item stays on it."""
        stood = self._standing()
        self._refs = list(refs)
        self.set_options(options or [Option(Text(self.nothing, "dim"), disabled=True)])
        if stood in self._refs:
            self.highlighted = self._refs.index(stood)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if ref := self._refs[event.option_index]:
            self.post_message(self.Chosen(ref))

    def _standing(self) -> Ref | None:
        at = self.highlighted
        return None if at is None or at >= len(self._refs) else self._refs[at]


class RecalledPane(Items):
    nothing = "Nothing was recalled for the last answer."

    def show(self, found: Recollection | None) -> None:
        items = found.items if found else ()
        options = [Option(words.recalled(item, number)) for number, item in enumerate(items, 1)]
        self.fill(options, [item.ref for item in items])


class ThoughtsPane(Items):
    nothing = "No thought yet: they come after the answer."

    def show(self, groups: Sequence[tuple[int, Sequence[Thought]]]) -> None:
        options: list[Option] = []
        refs: list[Ref | None] = []
        for group, held in groups:
            count = "1 thought" if len(held) == 1 else f"{len(held)} thoughts"
            options.append(Option(Text(f"group {group}: {count}", "bold"), disabled=True))
            refs.append(None)
            for thought in held:
                options.append(Option(words.thought(thought)))
                refs.append(thought.ref)
        if sum(len(held) for _, held in groups) >= MOST_THOUGHTS:
            more = f"Only {MOST_THOUGHTS} are shown; `thinkback thoughts` lists all."
            options.append(Option(Text(more, "dim"), disabled=True))
            refs.append(None)
        self.fill(options, refs)


class JournalPane(Items):
    """Every action, the newest first; `u` takes the one back that is highlighted."""

    nothing = "No action yet: memory acts when it thinks."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("u", "undo", "Undo")]

    class Undo(Message):
        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    def show(self, actions: Sequence[Action]) -> None:
        latest = actions[::-1]
        self.fill([Option(words.action(each)) for each in latest], [each.ref for each in latest])

    def action_undo(self) -> None:
        if ref := self._standing():
            self.post_message(self.Undo(ref))
