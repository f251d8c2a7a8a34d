"""The side of the conversation: tabs of what memory holds now, each item explained or undone on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textual import on, work
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TabbedContent, TabPane
from textual.worker import get_current_worker

from thinkback.apps.cli.printing import one_line
from thinkback.apps.tui import bridge, words
from thinkback.apps.tui.bridge import Talk, View
from thinkback.apps.tui.panes import Items, JournalPane, RecalledPane, SummaryPane, ThoughtsPane
from thinkback.apps.tui.screens import Explained
from thinkback.errors import ThinkbackError
from thinkback.types import Action, Recollection, Ref, Stats, Why

TABS = ("tab-summary", "tab-recalled", "tab-thoughts", "tab-journal")


class Side(Vertical):
    """What memory makes of the conversation `talk`."""

    class Looked(Message):
        """The tabs show the memory as it is now."""

        def __init__(self, stats: Stats) -> None:
            super().__init__()
            self.stats = stats

    def __init__(self, talk: Talk) -> None:
        super().__init__(id="side")
        self._talk = talk
        self.summary = SummaryPane()
        self.recalled = RecalledPane()
        self.thoughts = ThoughtsPane()
        self.journal = JournalPane()

    def compose(self) -> ComposeResult:
        with TabbedContent(initial=TABS[0]):
            with TabPane("Summary", id=TABS[0]):
                yield self.summary
            with TabPane("Recalled", id=TABS[1]):
                yield self.recalled
            with TabPane("Thoughts", id=TABS[2]):
                yield self.thoughts
            with TabPane("Journal", id=TABS[3]):
                yield self.journal

    def show_tab(self, name: str) -> None:
        self.query_one(TabbedContent).active = name

    def next_tab(self) -> None:
        now = self.query_one(TabbedContent).active
        self.show_tab(TABS[(TABS.index(now) + 1) % len(TABS)])

    def show_recalled(self, found: Recollection | None) -> None:
        self.recalled.show(found)

    def look(self, talk: Talk) -> None:
        """Show what there is now of this conversation."""
        self._talk = talk
        self._look(talk)

    @work(thread=True, group="look", exclusive=True)
    def _look(self, talk: Talk) -> None:
        worker = get_current_worker()
        with told(self.app):
            view = bridge.look(talk)
            if not worker.is_cancelled:  # else a newer look is on its way
                self.call_later(self._show, talk, view)

    def _show(self, talk: Talk, view: View) -> None:
        if talk == self._talk:
            self.summary.show(view.summary)
            self.thoughts.show(view.groups)
            self.journal.show(view.actions)
            self.post_message(self.Looked(view.stats))

    # --- why is this here? ----------------------------------------------------------------------

    @on(Items.Chosen)
    @work(thread=True, group="explain", exclusive=True)
    def _explain(self, event: Items.Chosen) -> None:
        memory, ref = self._talk.memory, event.ref
        with told(self.app):
            if ref.kind == "action":
                (action,) = memory.store.journal(memory.user, ids=[ref.id])
                self.call_later(self._show_action, action)
            else:
                self.call_later(self._show_why, memory.why(ref))

    def _show_why(self, why: Why) -> None:
        self.app.push_screen(Explained(f"Why {why.ref}?", why.lines))

    def _show_action(self, action: Action) -> None:
        def wished(wish: str | None) -> None:
            if wish == "undo":
                self._undo(action.ref)

        lines = words.action_in_full(action)
        screen = Explained(f"{action.ref}: {action.action}", lines, undo=not action.undone_by)
        self.app.push_screen(screen, wished)

    # --- undo -----------------------------------------------------------------------------------

    @on(JournalPane.Undo)
    def _undo_asked(self, event: JournalPane.Undo) -> None:
        self._undo(event.ref)

    @work(thread=True, group="undo")
    def _undo(self, ref: Ref) -> None:
        with told(self.app):
            done = self._talk.memory.undo(ref)
            self.call_later(self._undone, f"{done.ref} takes {ref} back")

    @on(SummaryPane.Undo)
    @work(thread=True, group="undo")
    def _undo_summary(self) -> None:
        talk = self._talk
        with told(self.app):
            done = talk.memory.undo_summary(talk.session)
            self.call_later(self._undone, f"the summary is now version {done.version}")

    def _undone(self, what: str) -> None:
        self.notify(what, title="Undone")
        self._look(self._talk)


@contextmanager
def told(app: App[None]) -> Iterator[None]:
    """What memory cannot do now is told, and the conversation goes on."""
    try:
        yield
    except ThinkbackError as error:
        app.call_later(app.notify, one_line(str(error), 500), title="! error", severity="error")
