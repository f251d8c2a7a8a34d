"""The tabs beside the conversation: summary, recalled memories, thoughts by group, journal with undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Button, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from thinkback.cli.output import one_line
from thinkback.errors import ThinkbackError
from thinkback.tui import backend, render
from thinkback.tui.backend import MAX_THOUGHTS, ChatSession, SidebarData
from thinkback.tui.screens import DetailScreen
from thinkback.types import Action, Explanation, Recollection, Ref, SpaceStats, Summary, Thought


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
        self._text.update(render.render_summary(summary))
        self._undo.disabled = summary.version == 0

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Undo())


class RefList(OptionList):
    """A list whose items can be asked about: Enter, or a click."""

    empty_text = "Nothing yet."

    class Chosen(Message):
        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    def on_mount(self) -> None:
        self.set_items([], [])

    def set_items(self, options: Sequence[Option], refs: Sequence[Ref | None]) -> None:
        """Show these; whoever stands on an item stays on it."""
        stood = self._highlighted_ref()
        self._refs = list(refs)
        self.set_options(options or [Option(Text(self.empty_text, "dim"), disabled=True)])
        if stood in self._refs:
            self.highlighted = self._refs.index(stood)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if ref := self._refs[event.option_index]:
            self.post_message(self.Chosen(ref))

    def _highlighted_ref(self) -> Ref | None:
        at = self.highlighted
        return None if at is None or at >= len(self._refs) else self._refs[at]


class RecalledPane(RefList):
    empty_text = "Nothing was recalled for the last answer."

    def show(self, recollection: Recollection | None) -> None:
        items = recollection.items if recollection else ()
        options = [Option(render.render_candidate(item, number)) for number, item in enumerate(items, 1)]
        self.set_items(options, [item.ref for item in items])


class ThoughtsPane(RefList):
    empty_text = "No thought yet: they come after the answer."

    def show(self, groups: Sequence[tuple[int, Sequence[Thought]]]) -> None:
        options: list[Option] = []
        refs: list[Ref | None] = []
        for group, held in groups:
            count = "1 thought" if len(held) == 1 else f"{len(held)} thoughts"
            options.append(Option(Text(f"group {group}: {count}", "bold"), disabled=True))
            refs.append(None)
            for thought in held:
                options.append(Option(render.render_thought(thought)))
                refs.append(thought.ref)
        if sum(len(held) for _, held in groups) >= MAX_THOUGHTS:
            more = f"Only {MAX_THOUGHTS} are shown; `thinkback thoughts` lists all."
            options.append(Option(Text(more, "dim"), disabled=True))
            refs.append(None)
        self.set_items(options, refs)


class JournalPane(RefList):
    """Every action, the newest first; `u` takes the one back that is highlighted."""

    empty_text = "No action yet: memory acts when it thinks."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("u", "undo", "Undo")]

    class Undo(Message):
        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    def show(self, actions: Sequence[Action]) -> None:
        latest = actions[::-1]
        self.set_items([Option(render.render_action(each)) for each in latest], [each.ref for each in latest])

    def action_undo(self) -> None:
        if ref := self._highlighted_ref():
            self.post_message(self.Undo(ref))


TAB_IDS = ("tab-summary", "tab-recalled", "tab-thoughts", "tab-journal")


class Sidebar(Vertical):
    """What memory makes of the conversation `talk`."""

    class Loaded(Message):
        """The tabs show the memory as it is now."""

        def __init__(self, stats: SpaceStats) -> None:
            super().__init__()
            self.stats = stats

    def __init__(self, chat_session: ChatSession) -> None:
        super().__init__(id="side")
        self._chat_session = chat_session
        self.summary = SummaryPane()
        self.recalled = RecalledPane()
        self.thoughts = ThoughtsPane()
        self.journal = JournalPane()

    def compose(self) -> ComposeResult:
        with TabbedContent(initial=TAB_IDS[0]):
            with TabPane("Summary", id=TAB_IDS[0]):
                yield self.summary
            with TabPane("Recalled", id=TAB_IDS[1]):
                yield self.recalled
            with TabPane("Thoughts", id=TAB_IDS[2]):
                yield self.thoughts
            with TabPane("Journal", id=TAB_IDS[3]):
                yield self.journal

    def show_tab(self, name: str) -> None:
        self.query_one(TabbedContent).active = name

    def next_tab(self) -> None:
        now = self.query_one(TabbedContent).active
        self.show_tab(TAB_IDS[(TAB_IDS.index(now) + 1) % len(TAB_IDS)])

    def show_recalled(self, recollection: Recollection | None) -> None:
        self.recalled.show(recollection)

    def reload(self, chat_session: ChatSession) -> None:
        """Show what there is now of this conversation."""
        self._chat_session = chat_session
        self._reload_in_thread(chat_session)

    @work(thread=True, group="look", exclusive=True)
    def _reload_in_thread(self, chat_session: ChatSession) -> None:
        worker = get_current_worker()
        with notify_errors(self.app):
            view = backend.load_sidebar(chat_session)
            if not worker.is_cancelled:  # else a newer look is on its way
                self.call_later(self._show_data, chat_session, view)

    def _show_data(self, chat_session: ChatSession, data: SidebarData) -> None:
        if chat_session == self._chat_session:
            self.summary.show(data.summary)
            self.thoughts.show(data.groups)
            self.journal.show(data.actions)
            self.post_message(self.Loaded(data.stats))

    # --- why is this here? ----------------------------------------------------------------------

    @on(RefList.Chosen)
    @work(thread=True, group="explain", exclusive=True)
    def _explain(self, event: RefList.Chosen) -> None:
        memory, ref = self._chat_session.memory, event.ref
        with notify_errors(self.app):
            if ref.kind == "action":
                (action,) = memory.store.journal(memory.user, ids=[ref.id])
                self.call_later(self._show_action, action)
            else:
                self.call_later(self._show_why, memory.why(ref))

    def _show_why(self, why: Explanation) -> None:
        self.app.push_screen(DetailScreen(f"Why {why.ref}?", why.lines))

    def _show_action(self, action: Action) -> None:
        def wished(wish: str | None) -> None:
            if wish == "undo":
                self._undo(action.ref)

        lines = render.action_details(action)
        screen = DetailScreen(f"{action.ref}: {action.action}", lines, undo=not action.undone_by)
        self.app.push_screen(screen, wished)

    # --- undo -----------------------------------------------------------------------------------

    @on(JournalPane.Undo)
    def _undo_requested(self, event: JournalPane.Undo) -> None:
        self._undo(event.ref)

    @work(thread=True, group="undo")
    def _undo(self, ref: Ref) -> None:
        with notify_errors(self.app):
            done = self._chat_session.memory.undo(ref)
            self.call_later(self._show_undone, f"{done.ref} takes {ref} back")

    @on(SummaryPane.Undo)
    @work(thread=True, group="undo")
    def _undo_summary(self) -> None:
        talk = self._chat_session
        with notify_errors(self.app):
            done = talk.memory.undo_summary(talk.session)
            self.call_later(self._show_undone, f"the summary is now version {done.version}")

    def _show_undone(self, what: str) -> None:
        self.notify(what, title="Undone")
        self._reload_in_thread(self._chat_session)


@contextmanager
def notify_errors(app: App[None]) -> Iterator[None]:
    """What memory cannot do now is told, and the conversation goes on."""
    try:
        yield
    except ThinkbackError as error:
        app.call_later(app.notify, one_line(str(error), 500), title="! error", severity="error")
