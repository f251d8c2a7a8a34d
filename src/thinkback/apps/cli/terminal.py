"""A conversation on a terminal: a prompt, the answer as it comes, and commands that begin with a slash."""

from __future__ import annotations

from contextlib import suppress

from thinkback.apps.cli import conversation, printing
from thinkback.apps.cli.command import complain
from thinkback.apps.cli.conversation import Conversation
from thinkback.errors import ThinkbackError
from thinkback.types import Action

HELP = """\
/why [thought:7]     why the last answer was given, or why a thought is held
/thoughts            what is held true
/forget 7 REASON     hold thought:7 true no longer
/undo 4              take action:4 back
/help                this
/quit                leave (or Ctrl-D)"""


def converse(talk: Conversation) -> None:
    """Until /quit or the end of input. Ctrl-C stops an answer; at the prompt it ends the program."""
    with suppress(ImportError):
        import readline  # noqa: F401 - its import is what gives input() a history
    printing.note("/help shows what you can do here; /quit leaves")
    last: int | None = None
    while (line := _read()) is not None:
        if not line:
            continue
        if line.startswith("/"):
            if line.split()[0] in ("/quit", "/exit"):
                return
            _obey(talk, line, last)
            continue
        try:
            last = conversation.answer(talk, line) or last
        except KeyboardInterrupt:
            printing.say()
            printing.note("stopped; what you said is remembered")


def _read() -> str | None:
    try:
        return input(conversation.YOU).strip()
    except EOFError:
        printing.say()
        return None


def _obey(talk: Conversation, line: str, last: int | None) -> None:
    name, _, rest = line.partition(" ")
    memory, rest = talk.memory, rest.strip()
    try:
        if name == "/why":
            if not rest and last is None:
                printing.note("nothing was answered yet")
                return
            for shown in memory.why(rest or f"turn:{last}").lines:
                printing.say(f"  {printing.one_line(shown, limit=2000)}")
        elif name == "/thoughts":
            memory.wait(5)
            for thought in memory.thoughts():
                printing.say(f"  {thought.ref}  {printing.one_line(thought.sentence)}  ({thought.kind})")
        elif name == "/forget":
            which, _, reason = rest.partition(" ")
            _show(memory.forget(which, reason))
        elif name == "/undo":
            _show(memory.undo(rest))
        else:
            printing.say(HELP)
    except ThinkbackError as error:
        complain(str(error))


def _show(action: Action) -> None:
    printing.say(f"  {action.ref} {action.action}: {printing.one_line(action.reason)}")
