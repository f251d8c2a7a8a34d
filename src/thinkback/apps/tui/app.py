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

from thinkback.apps.cli.conversation import caught, integrated
from thinkback.apps.cli.printing import one_line
from thinkback.apps.tui import bridge
from thinkback.apps.tui.bridge import Place, Talk
from thinkback.apps.tui.conversation import ERROR, MEMORY, NOTE, OPENED, YOU, Conversation, Said
from thinkback.apps.tui.entry import Entry
from thinkback.apps.tui.screens import Help, Sessions
from thinkback.apps.tui.side import Side, told
from thinkback.checks import checked_name
from thinkback.memory import Memory
from thinkback.types import Answer, Stats, Turn

AGAIN_S = 5.0  # until turns that wait for another try are looked at again
NARROW = 70  # columns below which the panes stand below the conversation
DARK, LIGHT = "textual-dark", "textual-light"
WELCOME = "What you say is remembered and thought over. F1 shows what you can do here."


def new_session() -> str:
    return f"chat {datetime.now():%Y-%m-%d %H:%M:%S}"


class TerminalApp(App[None]):
    """One conversation at a time; memory is asked in threads, so that typing never waits for it."""

    CSS_PATH = "app.tcss"
    TITLE = "thinkback"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012 - as Textual declares it
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
        self.talk = Talk(memory, checked_name(session or new_session(), "session"), k)
        self.theme = DARK
        # Held by name: what comes late, when the screen is gone already, finds them all the same.
        self.top = Static(id="top", markup=False)
        self.conversation = Conversation(id="conversation")
        self.side = Side(self.talk)
        self.entry = Entry()
        self.state = Static(id="state", markup=False)
        self.counts = Static(id="counts", markup=False)
        self.thinking = False
        self._answer: Said | None = None  # the one that is coming
        self._stop = Event()
        self._leaving = Event()
        self._trouble = ""
        self._tokens: int | None = None
        self._spent = ""
        self._stats: Stats | None = None

    # --- what there is to see -------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self.top
        with Horizontal(id="main"):
            yield self.conversation
            yield self.side
        yield self.entry
        with Horizontal(id="status"):
            yield self.state
            yield self.counts
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._open(self.talk.session)
        self.entry.focus()

    @property
    def answering(self) -> bool:
        return self._answer is not None

    def _show_state(self) -> None:
        model = self.talk.memory.llm
        who = model.name if model else "no language model: memory answers"
        self.top.update(one_line(f"thinkback · {self.talk.memory.user} · {self.talk.session} · {who}"))
        if self._leaving.is_set():
            state = "… leaving: what you said is being kept"
        elif self.answering:
            state = "… answering (Esc stops)"
        elif self.thinking:
            state = "* post-thinking..."
        elif self._trouble:
            state = f"! {self._trouble}"
        else:
            state = "✓ ready"
        self.state.update(one_line(state))
        counts = [] if self._tokens is None else [f"context {self._tokens:,} tokens{self._spent}"]
        if self._stats:
            counts.append(f"{self._stats.thoughts:,} thoughts")
        self.counts.update(" · ".join(counts))

    # --- one conversation -----------------------------------------------------------------------

    def _open(self, session: str) -> None:
        self.talk = replace(self.talk, session=session)
        self._tokens, self._spent, self._trouble = None, "", ""
        self._show_state()
        self.side.show_recalled(None)
        self._read_turns(self.talk)
        self._watch()

    @work(thread=True, group="open")
    def _read_turns(self, talk: Talk) -> None:
        with told(self):
            turns = talk.memory.turns(session=talk.session, limit=OPENED + 1, newest=True)
            self.call_later(self._show_turns, talk, turns)
            if turns:
                self.call_later(self._show_tokens, talk, bridge.context_tokens(talk))

    def _show_turns(self, talk: Talk, turns: list[Turn]) -> None:
        if talk.session != self.talk.session:
            return
        self.conversation.show(turns[-OPENED:], more=len(turns) > OPENED)
        if not turns:
            self.conversation.say(NOTE, WELCOME)

    @on(Entry.Sent)
    def _send(self, event: Entry.Sent) -> None:
        if self.answering or self._leaving.is_set():
            self.entry.give_back(event.text)
            self.notify("One answer at a time: this one is still coming. Esc stops it.", title="Please wait")
            return
        self.conversation.say(YOU, event.text)
        self._answer = self.conversation.say(MEMORY)
        self.conversation.anchor()
        self._trouble = ""
        self._stop.clear()
        self._show_state()
        self._ask(self.talk, event.text)

    @work(thread=True, group="ask")
    def _ask(self, talk: Talk, message: str) -> None:
        bridge.ask(talk, message, self._stop, self.post_message)
        if not self._leaving.is_set():
            with told(self):
                self.call_later(self._show_tokens, talk, bridge.context_tokens(talk))

    def _show_tokens(self, talk: Talk, tokens: int | None) -> None:
        if talk.session == self.talk.session:
            self._tokens = tokens
            self._show_state()

    @on(bridge.Recalled)
    def _recalled(self, event: bridge.Recalled) -> None:
        self.side.show_recalled(event.found)

    @on(bridge.Piece)
    def _piece(self, event: bridge.Piece) -> None:
        if self._answer is not None:
            self._answer.add(event.text)

    @on(bridge.Ended)
    def _ended(self, event: bridge.Ended) -> None:
        answer, self._answer = self._answer, None
        if self._leaving.is_set():
            self.exit()
            return
        if event.error is not None:
            if answer is not None and not answer.said:
                answer.remove()
            self._say_error(event)
        elif event.answer is not None:
            self._say_beside(event.answer, event.stopped)
        self._watch()

    def _say_beside(self, answer: Answer, stopped: bool) -> None:
        spent = answer.receipt
        sent = f" (sent {spent.prompt_tokens:,}, got {spent.completion_tokens:,})"
        self._spent = sent if spent.prompt_tokens else ""
        notes = [*integrated(answer), *caught(answer.checks)]
        if stopped:
            notes.append("Stopped; what was said so far is kept.")
        if notes:
            self.conversation.say(NOTE, "\n".join(notes))

    def _say_error(self, event: bridge.Ended) -> None:
        end = "What you said is kept." if event.kept else "It is not kept: send it again."
        if not event.kept:
            self.entry.give_back(event.said)
        self.conversation.say(ERROR, f"{event.error}\n{end}")

    # --- what memory makes of it ----------------------------------------------------------------

    def _watch(self) -> None:
        """Show what there is now, and again when the background has thought."""
        self.thinking = True
        self._show_state()
        self.side.look(self.talk)
        self._await()

    @work(thread=True, group="await", exclusive=True)
    def _await(self) -> None:
        worker = get_current_worker()

        def wanted() -> bool:
            return not (worker.is_cancelled or self._leaving.is_set())

        with told(self):
            settled = bridge.await_thinking(self.talk.memory, wanted)
            if settled is not None and wanted():
                self.post_message(settled)

    @on(bridge.Settled)
    def _settled(self, event: bridge.Settled) -> None:
        self.thinking = False
        if event.trouble:
            self._trouble = f"thinking failed, it is tried again: {event.trouble}"
        elif event.pending:
            self._trouble = f"{event.pending} to be thought over later"
        else:
            self._trouble = ""
        if event.pending:
            self.set_timer(AGAIN_S, self._await)
        self._show_state()
        self.side.look(self.talk)

    @on(Side.Looked)
    def _looked(self, event: Side.Looked) -> None:
        self._stats = event.stats
        self._show_state()

    # --- keys -----------------------------------------------------------------------------------

    def action_help(self) -> None:
        if not isinstance(self.screen, Help):
            self.push_screen(Help())

    def action_light_or_dark(self) -> None:
        self.theme = DARK if self.theme == LIGHT else LIGHT

    def action_next_tab(self) -> None:
        self.side.next_tab()

    def action_new(self) -> None:
        self._chose(Place("", ""))

    def action_sessions(self) -> None:
        if not isinstance(self.screen, Sessions):
            self.push_screen(Sessions(self.talk.memory, self.talk.session), self._chose)

    def _chose(self, place: Place | None) -> None:
        if place is None or (place.session and place.session == self.talk.session):
            return
        if self.answering:
            self.notify("An answer is still coming here. Esc stops it.", title="Please wait")
            return
        self._open(place.session or new_session())
        self.entry.focus()

    def action_stop(self) -> None:
        self._stop.set()

    def action_leave(self) -> None:
        """Go; an answer that is coming ends with its next piece, and the turn is kept with what was said."""
        self._leaving.set()
        self._stop.set()
        if self.answering:
            self._show_state()
        else:
            self.exit()
