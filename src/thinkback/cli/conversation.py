"""The chat loop of `thinkback chat`: from a pipe (text or JSON lines) or interactive with slash commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, BinaryIO

from thinkback.cli import output
from thinkback.cli.command import print_error
from thinkback.errors import InvalidInput, MissingExtra, ModelError, ThinkbackError
from thinkback.schemas import Json, to_json
from thinkback.types import USER_ACTOR, Action, Ref

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.recall.chat import ChatStream
    from thinkback.types import Answer, ConsistencyCheck, Recollection


USER_PREFIX, ANSWER_PREFIX = "you: ", "memory: "
MAX_SHOWN_MEMORIES = 3  # recalled memories listed below an answer
RECOVERABLE_ERRORS = (InvalidInput, MissingExtra, ModelError)
"""Errors that end one answer but not the conversation."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat in one session of a memory; each answer gets at most `k` recalled memories.

    With `show_recalled` they are listed below the answer.
    """

    memory: Memory
    session: str
    k: int
    show_recalled: bool = True

    def stream_answer(self, message: str) -> ChatStream:
        return self.memory.chat_stream(message, session=self.session, k=self.k)


def read_messages(lines: BinaryIO) -> Iterator[str]:
    """Yield each non-blank line as soon as it arrives; invalid UTF-8 becomes U+FFFD."""
    for line in iter(lines.readline, b""):
        if text := line.decode("utf-8", "replace").strip():
            yield text


def answer_lines(conversation: Conversation, lines: BinaryIO) -> None:
    """Answer each line of the input: print `you: ...` and `memory: ...`."""
    for message in read_messages(lines):
        output.print_line(USER_PREFIX + output.one_line(message, limit=2000))
        print_answer(conversation, message)


def print_answer(conversation: Conversation, message: str) -> int | None:
    """Stream one answer to standard output, then list what was recalled for it (if that is shown).

    Returns the id of the stored turn, or None if the answer failed.
    """
    started = False
    try:
        stream = conversation.stream_answer(message)
        for chunk in stream:
            started = started or _print_answer_prefix()
            sys.stdout.write(output.printable(chunk).replace("\n", "\n" + " " * len(ANSWER_PREFIX)))
            sys.stdout.flush()
    except RECOVERABLE_ERRORS as error:
        sys.stdout.write("\n" if started else "")
        sys.stdout.flush()
        print_error(str(error))
        return None
    sys.stdout.write("\n")
    for line in recalled_lines(stream.recollection) if conversation.show_recalled else ():
        output.print_line(f"  {line}", "dim")
    for line in (*integration_lines(stream.answer), *contradiction_lines(stream.answer.checks)):
        output.print_line(f"  {line}", "dim")
    for action in conversation.memory.journal(turn=stream.answer.turn.id):
        if action.actor == USER_ACTOR:
            output.print_line(f"  {action.ref} {action.action}: {output.one_line(action.reason)}", "dim")
    sys.stdout.flush()  # a program that reads our output through a pipe waits for the whole answer
    return stream.answer.turn.id


def recalled_lines(recollection: Recollection) -> Iterator[str]:
    """One line per recalled memory, with the reason why it was recalled."""
    for item in recollection.items[:MAX_SHOWN_MEMORIES]:
        yield f'recalled {item.ref} "{output.one_line(item.text, limit=120)}": {item.reason}'
    if len(recollection) > MAX_SHOWN_MEMORIES:
        yield f"recalled {len(recollection) - MAX_SHOWN_MEMORIES} more"


def integration_lines(answer: Answer) -> Iterator[str]:
    """The text that the memories were integrated into, or why they were not (if integration is on)."""
    if answer.integrated:
        yield f'integrated into "{output.one_line(answer.integrated, limit=240)}"'
    if answer.not_integrated:
        yield f"not integrated, the memories were used unchanged: {answer.not_integrated}"


def contradiction_lines(checks: Sequence[ConsistencyCheck]) -> Iterator[str]:
    """One line per contradiction that was removed from the answer.

    Contradictions with outcome `warned` are skipped: the answer itself ends with their warning.
    """
    for check in checks:
        if check.outcome != "warned":
            claim = output.one_line(check.words, limit=120)
            yield f'held back "{claim}": it contradicts {Ref("thought", check.thought)}'


def answer_lines_json(conversation: Conversation, lines: BinaryIO) -> None:
    """Answer each line of the input with one JSON object per line."""
    for message in read_messages(lines):
        result: Json = {
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
                {**to_json(item), "rank": rank} for rank, item in enumerate(stream.recollection, 1)
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
/why [thought:7]     explain the last answer, or a thought
/thoughts            list the current thoughts
/forget 7 [REASON]   forget thought:7 (or turn:3)
/correct 7 TEXT      forget thought:7 (or turn:3) and remember TEXT instead
/instructions        list your standing wishes
/undo 4              undo action:4
/help                show this help
/quit                leave (or press Ctrl-D)"""


def run_terminal_chat(conversation: Conversation) -> None:
    """Chat on a terminal until /quit or end of input.

    Ctrl-C stops the current answer; at the prompt it ends the program.
    """
    with suppress(ImportError):
        import readline  # noqa: F401 - importing it gives input() a history
    output.print_note("/help lists the commands; /quit leaves")
    last_turn: int | None = None
    while (line := _read_line()) is not None:
        if not line:
            continue
        if line.startswith("/"):
            if line.split()[0] in ("/quit", "/exit"):
                return
            _run_slash_command(conversation, line, last_turn)
            continue
        try:
            last_turn = print_answer(conversation, line) or last_turn
        except KeyboardInterrupt:
            output.print_line()
            output.print_note("stopped; your message is stored")


def _read_line() -> str | None:
    try:
        return input(USER_PREFIX).strip()
    except EOFError:
        output.print_line()
        return None


def _run_slash_command(conversation: Conversation, line: str, last_turn: int | None) -> None:
    name, _, argument = line.partition(" ")
    memory, argument = conversation.memory, argument.strip()
    try:
        if name == "/why":
            if not argument and last_turn is None:
                output.print_note("there is no answer yet")
                return
            for explanation in memory.why(argument or f"turn:{last_turn}").lines:
                output.print_line(f"  {output.one_line(explanation, limit=2000)}")
        elif name == "/thoughts":
            memory.wait(5)
            for thought in memory.thoughts():
                output.print_line(f"  {thought.ref}  {output.one_line(thought.sentence)}  ({thought.kind})")
        elif name == "/forget":
            thought_ref, _, reason = argument.partition(" ")
            _print_action(memory.forget(thought_ref, reason or "the user asked for it"))
        elif name == "/correct":
            memory_ref, _, text = argument.partition(" ")
            turn = memory.correct(memory_ref, text, "the user corrected it", session=conversation.session)
            output.print_line(f"  {turn.ref} is remembered instead of {memory_ref}")
        elif name == "/instructions":
            for thought in memory.instructions():
                output.print_line(f"  {thought.ref}  {output.one_line(thought.sentence)}")
        elif name == "/undo":
            _print_action(memory.undo(argument))
        else:
            output.print_line(CHAT_HELP)
    except ThinkbackError as error:
        print_error(str(error))


def _print_action(action: Action) -> None:
    output.print_line(f"  {action.ref} {action.action}: {output.one_line(action.reason)}")
