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
from thinkback.errors import InvalidInput, ThinkbackError
from thinkback.think.edits import ThoughtEdit
from thinkback.tui import backend, render
from thinkback.tui.backend import MAX_THOUGHTS, ChatSession, SidebarData
from thinkback.tui.screens import CorrectionScreen, DetailScreen, EditScreen
from thinkback.types import Action, Explanation, Recollection, Ref, SpaceStats, Summary, Thought


class SummaryPane(Vertical):
    """The session summary, with a button that undoes its last update."""

    class Undo(Message):
        """The user asked to undo the last update of the summary."""

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
    """A list of thoughts, turns or actions. Enter or a click on an item asks for its explanation."""

    empty_text = "Nothing yet."

    class Chosen(Message):
        """The user asked for the explanation of an item."""

        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    def on_mount(self) -> None:
        self.set_items([], [])

    def set_items(self, options: Sequence[Option], refs: Sequence[Ref | None]) -> None:
        """Replace the items; the highlight stays on the same item if it is still listed.

        `refs` are parallel to `options`; a heading has None.
        """
        highlighted = self._highlighted_ref()
        self._refs = list(refs)
        self.set_options(options or [Option(Text(self.empty_text, "dim"), disabled=True)])
        if highlighted in self._refs:
            self.highlighted = self._refs.index(highlighted)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if ref := self._refs[event.option_index]:
            self.post_message(self.Chosen(ref))

    def _highlighted_ref(self) -> Ref | None:
        index = self.highlighted
        return None if index is None or index >= len(self._refs) else self._refs[index]


class MemoryList(RefList):
    """A list of thoughts and turns; `f` forgets the highlighted one, `c` corrects it, `e` edits its words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "forget", "Forget"),
        Binding("c", "correct", "Correct"),
        Binding("e", "edit", "Edit"),
    ]

    class Forget(Message):
        """The user asked to forget a memory."""

        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    class Correct(Message):
        """The user asked to correct a memory."""

        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    class Edit(Message):
        """The user asked to edit a thought."""

        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    def action_edit(self) -> None:
        if ref := self._highlighted_ref():
            self.post_message(self.Edit(ref))

    def action_forget(self) -> None:
        if ref := self._highlighted_ref():
            self.post_message(self.Forget(ref))

    def action_correct(self) -> None:
        if ref := self._highlighted_ref():
            self.post_message(self.Correct(ref))


class RecalledPane(MemoryList):
    """The memories recalled for the last answer."""

    empty_text = "Nothing was recalled for the last answer."

    def show(self, recollection: Recollection | None) -> None:
        items = recollection.items if recollection else ()
        options = [Option(render.render_candidate(item, number)) for number, item in enumerate(items, 1)]
        self.set_items(options, [item.ref for item in items])


class ThoughtsPane(MemoryList):
    """The current thoughts by group."""

    empty_text = "No thoughts yet. They are extracted after each answer."

    def show(self, groups: Sequence[tuple[int, Sequence[Thought]]]) -> None:
        options: list[Option] = []
        refs: list[Ref | None] = []
        for group, thoughts in groups:
            count = "1 thought" if len(thoughts) == 1 else f"{len(thoughts)} thoughts"
            options.append(Option(Text(f"group {group}: {count}", "bold"), disabled=True))
            refs.append(None)
            for thought in thoughts:
                options.append(Option(render.render_thought(thought)))
                refs.append(thought.ref)
        if sum(len(thoughts) for _, thoughts in groups) >= MAX_THOUGHTS:
            more = f"Only {MAX_THOUGHTS} are shown; `thinkback thoughts` lists all."
            options.append(Option(Text(more, "dim"), disabled=True))
            refs.append(None)
        self.set_items(options, refs)


class JournalPane(RefList):
    """The latest actions, the newest first; `u` undoes the highlighted one."""

    empty_text = "No actions yet. Post-thinking creates them."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("u", "undo", "Undo")]

    class Undo(Message):
        """The user asked to undo an action."""

        def __init__(self, ref: Ref) -> None:
            super().__init__()
            self.ref = ref

    def show(self, actions: Sequence[Action]) -> None:
        newest_first = actions[::-1]
        options = [Option(render.render_action(action)) for action in newest_first]
        self.set_items(options, [action.ref for action in newest_first])

    def action_undo(self) -> None:
        if ref := self._highlighted_ref():
            self.post_message(self.Undo(ref))


THOUGHTS_TAB = "tab-thoughts"
TAB_IDS = ("tab-summary", "tab-recalled", THOUGHTS_TAB, "tab-journal")


class Sidebar(Vertical):
    """The four tabs, showing the memory of the current chat session."""

    class Loaded(Message):
        """The tabs were updated."""

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

    def show_tab(self, tab_id: str) -> None:
        self.query_one(TabbedContent).active = tab_id

    def next_tab(self) -> None:
        active = self.query_one(TabbedContent).active
        self.show_tab(TAB_IDS[(TAB_IDS.index(active) + 1) % len(TAB_IDS)])

    def show_recalled(self, recollection: Recollection | None) -> None:
        self.recalled.show(recollection)

    def reload(self, chat_session: ChatSession) -> None:
        """Load and show the current state of this session in the background."""
        self._chat_session = chat_session
        self._reload_in_thread(chat_session)

    @work(thread=True, group="reload", exclusive=True)
    def _reload_in_thread(self, chat_session: ChatSession) -> None:
        worker = get_current_worker()
        with notify_errors(self.app):
            data = backend.load_sidebar(chat_session)
            if not worker.is_cancelled:  # cancelled by a newer reload
                self.call_later(self._show_data, chat_session, data)

    def _show_data(self, chat_session: ChatSession, data: SidebarData) -> None:
        if chat_session == self._chat_session:
            self.summary.show(data.summary)
            self.thoughts.show(data.groups)
            self.journal.show(data.actions)
            self.post_message(self.Loaded(data.stats))

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

    def _show_why(self, explanation: Explanation) -> None:
        self.app.push_screen(DetailScreen(f"Why {explanation.ref}?", explanation.lines))

    def _show_action(self, action: Action) -> None:
        def on_closed(result: str | None) -> None:
            if result == "undo":
                self._undo(action.ref)

        lines = render.action_details(action)
        screen = DetailScreen(f"{action.ref}: {action.action}", lines, undo=not action.undone_by)
        self.app.push_screen(screen, on_closed)

    @on(JournalPane.Undo)
    def _undo_requested(self, event: JournalPane.Undo) -> None:
        self._undo(event.ref)

    @work(thread=True, group="undo")
    def _undo(self, ref: Ref) -> None:
        with notify_errors(self.app):
            undo_action = self._chat_session.memory.undo(ref)
            self.call_later(self._show_undone, f"{undo_action.ref} undoes {ref}")

    @on(MemoryList.Forget)
    @work(thread=True, group="undo")
    def _forget(self, event: MemoryList.Forget) -> None:
        with notify_errors(self.app):
            action = self._chat_session.memory.forget(event.ref, "the user asked for it")
            self.call_later(
                self._show_done, f"{action.ref} forgets {event.ref}; undo it in the journal", "Forgotten"
            )

    @on(MemoryList.Correct)
    def _ask_for_correction(self, event: MemoryList.Correct) -> None:
        def on_closed(text: str | None) -> None:
            if text:
                self._correct(event.ref, text)

        self.app.push_screen(CorrectionScreen(f"Correct {event.ref}"), on_closed)

    @work(thread=True, group="undo")
    def _correct(self, ref: Ref, text: str) -> None:
        chat_session = self._chat_session
        with notify_errors(self.app):
            turn = chat_session.memory.correct(
                ref, text, "the user corrected it", session=chat_session.session
            )
            self.call_later(self._show_done, f"{turn.ref} is remembered instead of {ref}", "Corrected")

    @on(MemoryList.Edit)
    @work(thread=True, group="explain", exclusive=True)
    def _ask_for_edit(self, event: MemoryList.Edit) -> None:
        ref, memory = event.ref, self._chat_session.memory
        with notify_errors(self.app):
            if ref.kind != "thought":
                raise InvalidInput("only thoughts can be edited; press c to correct what you said")
            (thought,) = memory.store.thoughts(memory.user, ids=[ref.id], current=False)
            self.call_later(self._open_editor, thought)

    def _open_editor(self, thought: Thought) -> None:
        def on_closed(text: str | None) -> None:
            if text and text != thought.sentence:
                self._edit(thought.ref, text)

        self.app.push_screen(EditScreen(f"Edit {thought.ref}", thought.sentence), on_closed)

    @work(thread=True, group="undo")
    def _edit(self, ref: Ref, sentence: str) -> None:
        chat_session = self._chat_session
        with notify_errors(self.app):
            action = chat_session.memory.edit(
                ref, ThoughtEdit(sentence=sentence), "the user edited it", session=chat_session.session
            )
            self.call_later(self._show_done, f"{action.ref} replaces {ref}; undo it in the journal", "Edited")

    @on(SummaryPane.Undo)
    @work(thread=True, group="undo")
    def _undo_summary(self) -> None:
        chat_session = self._chat_session
        with notify_errors(self.app):
            summary = chat_session.memory.undo_summary(chat_session.session)
            self.call_later(self._show_undone, f"the summary is now version {summary.version}")

    def _show_undone(self, message: str) -> None:
        self._show_done(message, "Undone")

    def _show_done(self, message: str, title: str) -> None:
        self.notify(message, title=title)
        self._reload_in_thread(self._chat_session)


@contextmanager
def notify_errors(app: App[None]) -> Iterator[None]:
    """Show errors of the memory as notifications; the app keeps running."""
    try:
        yield
    except ThinkbackError as error:
        app.call_later(app.notify, one_line(str(error), 500), title="! error", severity="error")
