"""The Textual app: layout, key bindings, and the handlers that connect the widgets to the memory."""

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
from thinkback.tui.sidebar import THOUGHTS_TAB, Sidebar, notify_errors
from thinkback.types import Answer, SpaceStats, Turn
from thinkback.validation import checked_name

RECHECK_DELAY_SECONDS = 5.0  # pause before checking again on turns that still have to be processed
MIN_WIDE_COLUMNS = 70  # on narrower terminals the sidebar is placed below the conversation
DARK_THEME, LIGHT_THEME = "textual-dark", "textual-light"
KNOWN_TEXT = "What is known. All of it is in the tab Thoughts: Enter tells why, f, c and e change it."
WELCOME_TEXT = "Your messages are stored and thoughts are extracted from them. Press F1 for help."


def new_session_name() -> str:
    return f"chat {datetime.now():%Y-%m-%d %H:%M:%S}"


class TerminalApp(App[None]):
    """Shows one conversation at a time. All calls to the memory run in threads, so typing never blocks."""

    CSS_PATH = "app.tcss"
    TITLE = "thinkback"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (MIN_WIDE_COLUMNS, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help", key_display="F1"),
        Binding("question_mark", "help", show=False),
        Binding("f2", "sessions", "Sessions", key_display="F2"),
        Binding("f3", "toggle_theme", "Light/dark", key_display="F3"),
        Binding("f4", "next_tab", "Next tab", key_display="F4"),
        Binding("ctrl+n", "new_session", show=False),
        Binding("escape", "stop", show=False),
        Binding("ctrl+c", "leave", "Leave", key_display="^C", priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("q", "leave", show=False),
    ]

    def __init__(self, memory: Memory, session: str | None = None, k: int = 5) -> None:
        super().__init__()
        self.chat_session = ChatSession(memory, checked_name(session or new_session_name(), "session"), k)
        self.theme = DARK_THEME
        # Attributes instead of queries: late events may arrive when the screen is already gone.
        self.title_bar = Static(id="top", markup=False)
        self.conversation_view = ConversationView(id="conversation")
        self.sidebar = Sidebar(self.chat_session)
        self.message_input = MessageInput()
        self.status_text = Static(id="state", markup=False)
        self.counts_text = Static(id="counts", markup=False)
        self.thinking = False
        self._answer_widget: MessageWidget | None = None  # the answer that is being streamed
        self._stop_requested = Event()
        self._leaving = Event()
        self._thinking_problem = ""
        self._context_tokens: int | None = None
        self._usage_text = ""
        self._stats: SpaceStats | None = None

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
        model_name = model.name if model else "no language model: answers come from memory"
        user, session = self.chat_session.memory.user, self.chat_session.session
        self.title_bar.update(one_line(f"thinkback · {user} · {session} · {model_name}"))
        if self._leaving.is_set():
            status = "… leaving: saving your message"
        elif self.answering:
            status = "… answering (Esc stops)"
        elif self.thinking:
            status = "* post-thinking..."
        elif self._thinking_problem:
            status = f"! {self._thinking_problem}"
        else:
            status = "✓ ready"
        self.status_text.update(one_line(status))
        counts: list[str] = []
        if self._context_tokens is not None:
            counts.append(f"context {self._context_tokens:,} tokens{self._usage_text}")
        if self._stats:
            counts.append(f"{self._stats.thoughts:,} thoughts")
        self.counts_text.update(" · ".join(counts))

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
            known = [] if turns else backend.known_sentences(chat_session.memory)
            self.call_later(self._show_turns, chat_session, turns, known)
            if turns:
                self.call_later(self._show_tokens, chat_session, backend.context_tokens(chat_session))

    def _show_turns(self, chat_session: ChatSession, turns: list[Turn], known: list[str]) -> None:
        if chat_session.session != self.chat_session.session:
            return
        self.conversation_view.show_turns(turns[-MAX_OPENED_TURNS:], more=len(turns) > MAX_OPENED_TURNS)
        if known:
            lines = (KNOWN_TEXT, *(f"· {one_line(sentence, 200)}" for sentence in known))
            self.conversation_view.add_message(NOTE, "\n".join(lines))
            self.sidebar.show_tab(THOUGHTS_TAB)
        elif not turns:
            self.conversation_view.add_message(NOTE, WELCOME_TEXT)

    @on(MessageInput.Sent)
    def _send(self, event: MessageInput.Sent) -> None:
        if self.answering or self._leaving.is_set():
            self.message_input.restore_text(event.text)
            self.notify("The previous answer is not finished. Esc stops it.", title="Please wait")
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
        widget, self._answer_widget = self._answer_widget, None
        if self._leaving.is_set():
            self.exit()
            return
        if event.error is not None:
            if widget is not None and not widget.message_text:
                widget.remove()
            self._show_answer_error(event)
        elif event.answer is not None:
            self._show_answer_notes(event.answer, event.stopped)
        self._reload_and_wait()

    def _show_answer_notes(self, answer: Answer, stopped: bool) -> None:
        usage = answer.usage
        tokens = f" (sent {usage.prompt_tokens:,}, received {usage.completion_tokens:,})"
        self._usage_text = tokens if usage.prompt_tokens else ""
        notes = [*integration_lines(answer), *contradiction_lines(answer.checks)]
        if stopped:
            notes.append("Stopped; the answer so far is stored.")
        if notes:
            self.conversation_view.add_message(NOTE, "\n".join(notes))

    def _show_answer_error(self, event: backend.AnswerFinished) -> None:
        hint = "Your message is stored." if event.turn_saved else "Your message is not stored: send it again."
        if not event.turn_saved:
            self.message_input.restore_text(event.user_message)
        self.conversation_view.add_message(ERROR, f"{event.error}\n{hint}")

    def _reload_and_wait(self) -> None:
        """Reload the sidebar now, and again when the background has processed the new turns."""
        self.thinking = True
        self._show_status()
        self.sidebar.reload(self.chat_session)
        self._wait_for_thinking()

    @work(thread=True, group="await", exclusive=True)
    def _wait_for_thinking(self) -> None:
        worker = get_current_worker()

        def is_wanted() -> bool:
            return not (worker.is_cancelled or self._leaving.is_set())

        with notify_errors(self):
            finished = backend.wait_for_thinking(self.chat_session.memory, is_wanted)
            if finished is not None and is_wanted():
                self.post_message(finished)

    @on(backend.ThinkingFinished)
    def _handle_thinking_finished(self, event: backend.ThinkingFinished) -> None:
        self.thinking = False
        if event.problem:
            self._thinking_problem = f"post-thinking failed and will be retried: {event.problem}"
        elif event.pending:
            self._thinking_problem = f"turns to be processed later: {event.pending}"
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

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())

    def action_toggle_theme(self) -> None:
        self.theme = DARK_THEME if self.theme == LIGHT_THEME else LIGHT_THEME

    def action_next_tab(self) -> None:
        self.sidebar.next_tab()

    def action_new_session(self) -> None:
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
            self.notify("The answer in this session is not finished. Esc stops it.", title="Please wait")
            return
        self._open_session(match.session or new_session_name())
        self.message_input.focus()

    def action_stop(self) -> None:
        self._stop_requested.set()

    def action_leave(self) -> None:
        """Exit. A running answer stops at its next chunk and is stored as far as it came."""
        self._leaving.set()
        self._stop_requested.set()
        if self.answering:
            self._show_status()
        else:
            self.exit()
