"""The app put together: it passes on what is typed, shows what comes back, and decides nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from threading import Event
from typing import ClassVar

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Footer, Static
from textual.worker import get_current_worker

from thinkback.cli.conversation import contradiction_lines, integration_lines
from thinkback.cli.output import one_line
from thinkback.memory import Memory
from thinkback.tui import backend
from thinkback.tui.backend import ChatSession, SessionMatch
from thinkback.tui.conversation import (
    ERROR,
    MAX_OPENED_TURNS,
    MEMORY,
    NOTE,
    YOU,
    ConversationView,
    MessageInput,
    MessageWidget,
)
from thinkback.tui.screens import HelpScreen, SessionsScreen
from thinkback.tui.sidebar import Sidebar, notify_errors
from thinkback.types import Answer, SpaceStats, Turn
from thinkback.validation import checked_name

RECHECK_DELAY_SECONDS = 5.0  # until turns that wait for another try are looked at again
MIN_WIDE_COLUMNS = 70  # columns below which the panes stand below the conversation
DARK_THEME, LIGHT_THEME = "textual-dark", "textual-light"
WELCOME_TEXT = "What you say is remembered and thought over. F1 shows what you can do here."


def new_session_name() -> str:
    return f"chat {datetime.now():%Y-%m-%d %H:%M:%S}"


class TerminalApp(App[None]):
    """One conversation at a time; memory is asked in threads, so that typing never waits for it."""

    CSS_PATH = "app.tcss"
    TITLE = "thinkback"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (MIN_WIDE_COLUMNS, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help", key_display="F1"),
        Binding("question_mark", "help", show=False),
        Binding("f2", "sessions", "Sessions", key_display="F2"),
        Binding("f3", "light_or_dark", "Light/dark", key_display="F3"),
        Binding("f4", "next_tab", "Next tab", key_display="F4"),
        Binding("ctrl+n", "new", show=False),
        Binding("escape", "stop", show=False),
        Binding("ctrl+c", "leave", "Leave", key_display="^C", priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("q", "leave", show=False),
    ]

    def __init__(self, memory: Memory, session: str | None = None, k: int = 5) -> None:
        super().__init__()
        self.chat_session = ChatSession(memory, checked_name(session or new_session_name(), "session"), k)
        self.theme = DARK_THEME
        # Held by name: what comes late, when the screen is gone already, finds them all the same.
        self.title_bar = Static(id="top", markup=False)
        self.conversation_view = ConversationView(id="conversation")
        self.sidebar = Sidebar(self.chat_session)
        self.message_input = MessageInput()
        self.status_text = Static(id="state", markup=False)
        self.counts_text = Static(id="counts", markup=False)
        self.thinking = False
        self._answer_widget: MessageWidget | None = None  # the one that is coming
        self._stop_requested = Event()
        self._leaving = Event()
        self._thinking_problem = ""
        self._context_tokens: int | None = None
        self._usage_text = ""
        self._stats: SpaceStats | None = None

    # --- what there is to see -------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self.title_bar
        with Horizontal(id="main"):
            yield self.conversation_view
            yield self.sidebar
        yield self.message_input
        with Horizontal(id="status"):
            yield self.status_text
            yield self.counts_text
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._open_session(self.chat_session.session)
        self.message_input.focus()

    @property
    def answering(self) -> bool:
        return self._answer_widget is not None

    def _show_status(self) -> None:
        model = self.chat_session.memory.llm
        who = model.name if model else "no language model: memory answers"
        self.title_bar.update(
            one_line(f"thinkback · {self.chat_session.memory.user} · {self.chat_session.session} · {who}")
        )
        if self._leaving.is_set():
            state = "… leaving: what you said is being kept"
        elif self.answering:
            state = "… answering (Esc stops)"
        elif self.thinking:
            state = "* post-thinking..."
        elif self._thinking_problem:
            state = f"! {self._thinking_problem}"
        else:
            state = "✓ ready"
        self.status_text.update(one_line(state))
        counts = (
            []
            if self._context_tokens is None
            else [f"context {self._context_tokens:,} tokens{self._usage_text}"]
        )
        if self._stats:
            counts.append(f"{self._stats.thoughts:,} thoughts")
        self.counts_text.update(" · ".join(counts))

    # --- one conversation -----------------------------------------------------------------------

    def _open_session(self, session: str) -> None:
        self.chat_session = replace(self.chat_session, session=session)
        self._context_tokens, self._usage_text, self._thinking_problem = None, "", ""
        self._show_status()
        self.sidebar.show_recalled(None)
        self._load_turns(self.chat_session)
        self._reload_and_wait()

    @work(thread=True, group="open")
    def _load_turns(self, chat_session: ChatSession) -> None:
        with notify_errors(self):
            turns = chat_session.memory.turns(
                session=chat_session.session, limit=MAX_OPENED_TURNS + 1, newest=True
            )
            self.call_later(self._show_turns, chat_session, turns)
            if turns:
                self.call_later(self._show_tokens, chat_session, backend.context_tokens(chat_session))

    def _show_turns(self, chat_session: ChatSession, turns: list[Turn]) -> None:
        if chat_session.session != self.chat_session.session:
            return
        self.conversation_view.show_turns(turns[-MAX_OPENED_TURNS:], more=len(turns) > MAX_OPENED_TURNS)
        if not turns:
            self.conversation_view.add_message(NOTE, WELCOME_TEXT)

    @on(MessageInput.Sent)
    def _send(self, event: MessageInput.Sent) -> None:
        if self.answering or self._leaving.is_set():
            self.message_input.restore_text(event.text)
            self.notify("One answer at a time: this one is still coming. Esc stops it.", title="Please wait")
            return
        self.conversation_view.add_message(YOU, event.text)
        self._answer_widget = self.conversation_view.add_message(MEMORY)
        self.conversation_view.anchor()
        self._thinking_problem = ""
        self._stop_requested.clear()
        self._show_status()
        self._stream_answer(self.chat_session, event.text)

    @work(thread=True, group="ask")
    def _stream_answer(self, chat_session: ChatSession, message: str) -> None:
        backend.stream_answer(chat_session, message, self._stop_requested, self.post_message)
        if not self._leaving.is_set():
            with notify_errors(self):
                self.call_later(self._show_tokens, chat_session, backend.context_tokens(chat_session))

    def _show_tokens(self, chat_session: ChatSession, tokens: int | None) -> None:
        if chat_session.session == self.chat_session.session:
            self._context_tokens = tokens
            self._show_status()

    @on(backend.RecallFinished)
    def _handle_recalled(self, event: backend.RecallFinished) -> None:
        self.sidebar.show_recalled(event.recollection)

    @on(backend.AnswerChunk)
    def _handle_chunk(self, event: backend.AnswerChunk) -> None:
        if self._answer_widget is not None:
            self._answer_widget.append_text(event.text)

    @on(backend.AnswerFinished)
    def _handle_answer_finished(self, event: backend.AnswerFinished) -> None:
        answer, self._answer_widget = self._answer_widget, None
        if self._leaving.is_set():
            self.exit()
            return
        if event.error is not None:
            if answer is not None and not answer.message_text:
                answer.remove()
            self._show_answer_error(event)
        elif event.answer is not None:
            self._show_answer_notes(event.answer, event.stopped)
        self._reload_and_wait()

    def _show_answer_notes(self, answer: Answer, stopped: bool) -> None:
        spent = answer.usage
        sent = f" (sent {spent.prompt_tokens:,}, got {spent.completion_tokens:,})"
        self._usage_text = sent if spent.prompt_tokens else ""
        notes = [*integration_lines(answer), *contradiction_lines(answer.checks)]
        if stopped:
            notes.append("Stopped; what was said so far is kept.")
        if notes:
            self.conversation_view.add_message(NOTE, "\n".join(notes))

    def _show_answer_error(self, event: backend.AnswerFinished) -> None:
        end = "What you said is kept." if event.turn_saved else "It is not kept: send it again."
        if not event.turn_saved:
            self.message_input.restore_text(event.user_message)
        self.conversation_view.add_message(ERROR, f"{event.error}\n{end}")

    # --- what memory makes of it ----------------------------------------------------------------

    def _reload_and_wait(self) -> None:
        """Show what there is now, and again when the background has thought."""
        self.thinking = True
        self._show_status()
        self.sidebar.reload(self.chat_session)
        self._wait_for_thinking()

    @work(thread=True, group="await", exclusive=True)
    def _wait_for_thinking(self) -> None:
        worker = get_current_worker()

        def wanted() -> bool:
            return not (worker.is_cancelled or self._leaving.is_set())

        with notify_errors(self):
            settled = backend.wait_for_thinking(self.chat_session.memory, wanted)
            if settled is not None and wanted():
                self.post_message(settled)

    @on(backend.ThinkingFinished)
    def _handle_thinking_finished(self, event: backend.ThinkingFinished) -> None:
        self.thinking = False
        if event.problem:
            self._thinking_problem = f"thinking failed, it is tried again: {event.problem}"
        elif event.pending:
            self._thinking_problem = f"{event.pending} to be thought over later"
        else:
            self._thinking_problem = ""
        if event.pending:
            self.set_timer(RECHECK_DELAY_SECONDS, self._wait_for_thinking)
        self._show_status()
        self.sidebar.reload(self.chat_session)

    @on(Sidebar.Loaded)
    def _handle_sidebar_loaded(self, event: Sidebar.Loaded) -> None:
        self._stats = event.stats
        self._show_status()

    # --- keys -----------------------------------------------------------------------------------

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())

    def action_light_or_dark(self) -> None:
        self.theme = DARK_THEME if self.theme == LIGHT_THEME else LIGHT_THEME

    def action_next_tab(self) -> None:
        self.sidebar.next_tab()

    def action_new(self) -> None:
        self._switch_session(SessionMatch("", ""))

    def action_sessions(self) -> None:
        if not isinstance(self.screen, SessionsScreen):
            self.push_screen(
                SessionsScreen(self.chat_session.memory, self.chat_session.session), self._switch_session
            )

    def _switch_session(self, match: SessionMatch | None) -> None:
        if match is None or (match.session and match.session == self.chat_session.session):
            return
        if self.answering:
            self.notify("An answer is still coming here. Esc stops it.", title="Please wait")
            return
        self._open_session(match.session or new_session_name())
        self.message_input.focus()

    def action_stop(self) -> None:
        self._stop_requested.set()

    def action_leave(self) -> None:
        """Go; an answer that is coming ends with its next piece, and the turn is kept with what was said."""
        self._leaving.set()
        self._stop_requested.set()
        if self.answering:
            self._show_status()
        else:
            self.exit()
