"""The chat loop of `thinkback chat`: from a pipe (text or JSON lines) or interactive with slash commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, BinaryIO

from thinkback import json_output
from thinkback.cli import output
from thinkback.cli.command import print_error
from thinkback.errors import InvalidInput, MissingExtra, ModelError, ThinkbackError
from thinkback.types import Action, Ref

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.recall.chat import ChatStream
    from thinkback.types import Answer, ConsistencyCheck, Recollection


USER_PREFIX, ANSWER_PREFIX = "you: ", "memory: "
MAX_SHOWN_MEMORIES = 3  # recalled memories shown below an answer
RECOVERABLE_ERRORS = (InvalidInput, MissingExtra, ModelError)
"""What ends an answer, but not the conversation."""


@dataclass(frozen=True, slots=True)
class Conversation:
    memory: Memory
    session: str
    k: int

    def stream_answer(self, message: str) -> ChatStream:
        return self.memory.chat_stream(message, session=self.session, k=self.k)


def read_messages(lines: BinaryIO) -> Iterator[str]:
    """Each line that is not blank, as soon as it comes; bytes that are no UTF-8 become U+FFFD."""
    for line in iter(lines.readline, b""):
        if text := line.decode("utf-8", "replace").strip():
            yield text


def answer_lines(conversation: Conversation, lines: BinaryIO) -> None:
    """`you: ...` and `memory: ...` for each line; further lines of an answer are indented."""
    for message in read_messages(lines):
        output.print_line(USER_PREFIX + output.one_line(message, limit=2000))
        print_answer(conversation, message)


def print_answer(conversation: Conversation, message: str) -> int | None:
    """Print one answer as it comes and what it was given; the turn it became, None if it failed."""
    begun = False
    try:
        stream = conversation.stream_answer(message)
        for piece in stream:
            begun = begun or _print_answer_prefix()
            sys.stdout.write(output.printable(piece).replace("\n", "\n" + " " * len(ANSWER_PREFIX)))
            sys.stdout.flush()
    except RECOVERABLE_ERRORS as error:
        sys.stdout.write("\n" if begun else "")
        sys.stdout.flush()
        print_error(str(error))
        return None
    sys.stdout.write("\n")
    for line in recalled_lines(stream.recollection):
        output.print_line(f"  {line}", "dim")
    for line in (*integration_lines(stream.answer), *contradiction_lines(stream.answer.checks)):
        output.print_line(f"  {line}", "dim")
    sys.stdout.flush()  # whoever reads us through a pipe is waiting for the whole answer
    return stream.answer.turn.id


def recalled_lines(recollection: Recollection) -> Iterator[str]:
    """One line a memory: what was recalled, and why."""
    for item in recollection.items[:MAX_SHOWN_MEMORIES]:
        yield f'recalled {item.ref} "{output.one_line(item.text, limit=120)}": {item.reason}'
    if len(recollection) > MAX_SHOWN_MEMORIES:
        yield f"recalled {len(recollection) - MAX_SHOWN_MEMORIES} more"


def integration_lines(answer: Answer) -> Iterator[str]:
    """What the memories were joined into, or why they were not, where that is on."""
    if answer.integrated:
        yield f'integrated into "{output.one_line(answer.integrated, limit=240)}"'
    if answer.not_integrated:
        yield f"not integrated, the memories were used as they are: {answer.not_integrated}"


def contradiction_lines(checks: Sequence[ConsistencyCheck]) -> Iterator[str]:
    """One line a contradiction that was held back; one that was said ends the answer with a warning."""
    for check in checks:
        if check.outcome != "warned":
            said = output.one_line(check.words, limit=120)
            yield f'held back "{said}": it contradicts {Ref("thought", check.thought)}'


def answer_lines_json(conversation: Conversation, lines: BinaryIO) -> None:
    for message in read_messages(lines):
        result: json_output.Json = {
            "message": message,
            "answer": None,
            "turn": None,
            "recalled": [],
            "checks": [],
            "warning": None,
            "integrated": None,
            "not_integrated": None,
            "receipt": None,
            "error": None,
        }
        try:
            stream = conversation.stream_answer(message)
            result["recalled"] = [
                json_output.dump_candidate(item, n) for n, item in enumerate(stream.recollection, 1)
            ]
            result["answer"] = "".join(stream)
            result["turn"] = str(stream.answer.turn.ref)
            result["checks"] = [asdict(check) for check in stream.answer.checks]
            result["warning"] = stream.answer.warning or None
            result["integrated"] = stream.answer.integrated or None
            result["not_integrated"] = stream.answer.not_integrated or None
            result["receipt"] = asdict(stream.answer.usage)
        except RECOVERABLE_ERRORS as error:
            result["error"] = str(error)
            print_error(str(error))
        output.print_json(result, indent=None)
        sys.stdout.flush()


def _print_answer_prefix() -> bool:
    output.print_line(ANSWER_PREFIX, "bold", end="")
    return True


CHAT_HELP = """\
/why [thought:7]     why the last answer was given, or why a thought is held
/thoughts            what is held true
/forget 7 REASON     hold thought:7 true no longer
/undo 4              take action:4 back
/help                this
/quit                leave (or Ctrl-D)"""


def run_terminal_chat(conversation: Conversation) -> None:
    """Until /quit or the end of input. Ctrl-C stops an answer; at the prompt it ends the program."""
    with suppress(ImportError):
        import readline  # noqa: F401 - its import is what gives input() a history
    output.print_note("/help shows what you can do here; /quit leaves")
    last: int | None = None
    while (line := _read_line()) is not None:
        if not line:
            continue
        if line.startswith("/"):
            if line.split()[0] in ("/quit", "/exit"):
                return
            _run_slash_command(conversation, line, last)
            continue
        try:
            last = print_answer(conversation, line) or last
        except KeyboardInterrupt:
            output.print_line()
            output.print_note("stopped; what you said is remembered")


def _read_line() -> str | None:
    try:
        return input(USER_PREFIX).strip()
    except EOFError:
        output.print_line()
        return None


def _run_slash_command(conversation: Conversation, line: str, last_turn: int | None) -> None:
    name, _, rest = line.partition(" ")
    memory, rest = conversation.memory, rest.strip()
    try:
        if name == "/why":
            if not rest and last_turn is None:
                output.print_note("nothing was answered yet")
                return
            for shown in memory.why(rest or f"turn:{last_turn}").lines:
                output.print_line(f"  {output.one_line(shown, limit=2000)}")
        elif name == "/thoughts":
            memory.wait(5)
            for thought in memory.thoughts():
                output.print_line(f"  {thought.ref}  {output.one_line(thought.sentence)}  ({thought.kind})")
        elif name == "/forget":
            which, _, reason = rest.partition(" ")
            _print_action(memory.forget(which, reason))
        elif name == "/undo":
            _print_action(memory.undo(rest))
        else:
            output.print_line(CHAT_HELP)
    except ThinkbackError as error:
        print_error(str(error))


def _print_action(action: Action) -> None:
    output.print_line(f"  {action.ref} {action.action}: {output.one_line(action.reason)}")
