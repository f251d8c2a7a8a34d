"""One conversation: messages in, answers out, each with what was recalled for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, BinaryIO

from thinkback.apps import values
from thinkback.apps.cli import printing
from thinkback.apps.cli.command import complain
from thinkback.errors import InvalidInput, MissingExtra, ModelError
from thinkback.types import Ref

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.recall.chat import ChatStream
    from thinkback.types import Answer, Check, Recollection

YOU, MEMORY = "you: ", "memory: "
SHOWN = 3  # recalled memories shown below an answer
GOES_ON = (InvalidInput, MissingExtra, ModelError)
"""What ends an answer, but not the conversation."""


@dataclass(frozen=True, slots=True)
class Conversation:
    memory: Memory
    session: str
    k: int

    def ask(self, message: str) -> ChatStream:
        return self.memory.chat_stream(message, session=self.session, k=self.k)


def messages(lines: BinaryIO) -> Iterator[str]:
    """Each line that is not blank, as soon as it comes; bytes that are no UTF-8 become U+FFFD."""
    for line in iter(lines.readline, b""):
        if text := line.decode("utf-8", "replace").strip():
            yield text


def answer_lines(talk: Conversation, lines: BinaryIO) -> None:
    """`you: ...` and `memory: ...` for each line; further lines of an answer are indented."""
    for message in messages(lines):
        printing.say(YOU + printing.one_line(message, limit=2000))
        answer(talk, message)


def answer(talk: Conversation, message: str) -> int | None:
    """Print one answer as it comes and what it was given; the turn it became, None if it failed."""
    begun = False
    try:
        stream = talk.ask(message)
        for piece in stream:
            begun = begun or _begin()
            sys.stdout.write(printing.printable(piece).replace("\n", "\n" + " " * len(MEMORY)))
            sys.stdout.flush()
    except GOES_ON as error:
        sys.stdout.write("\n" if begun else "")
        sys.stdout.flush()
        complain(str(error))
        return None
    sys.stdout.write("\n")
    for line in recalled(stream.recollection):
        printing.say(f"  {line}", "dim")
    for line in (*integrated(stream.answer), *caught(stream.answer.checks)):
        printing.say(f"  {line}", "dim")
    sys.stdout.flush()  # whoever reads us through a pipe is waiting for the whole answer
    return stream.answer.turn.id


def recalled(found: Recollection) -> Iterator[str]:
    """One line a memory: what was recalled, and why."""
    for item in found.items[:SHOWN]:
        yield f'recalled {item.ref} "{printing.one_line(item.text, limit=120)}": {item.reason}'
    if len(found) > SHOWN:
        yield f"recalled {len(found) - SHOWN} more"


def integrated(answer: Answer) -> Iterator[str]:
    """What the memories were joined into, or why they were not, where that is on."""
    if answer.integrated:
        yield f'integrated into "{printing.one_line(answer.integrated, limit=240)}"'
    if answer.not_integrated:
        yield f"not integrated, the memories were used as they are: {answer.not_integrated}"


def caught(checks: Sequence[Check]) -> Iterator[str]:
    """One line a contradiction that was held back; one that was said ends the answer with a warning."""
    for check in checks:
        if check.outcome != "warned":
            said = printing.one_line(check.words, limit=120)
            yield f'held back "{said}": it contradicts {Ref("thought", check.thought)}'


def answer_lines_json(talk: Conversation, lines: BinaryIO) -> None:
    for message in messages(lines):
        result: values.Json = {
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
            stream = talk.ask(message)
            result["recalled"] = [values.candidate(item, n) for n, item in enumerate(stream.recollection, 1)]
            result["answer"] = "".join(stream)
            result["turn"] = str(stream.answer.turn.ref)
            result["checks"] = [asdict(check) for check in stream.answer.checks]
            result["warning"] = stream.answer.warning or None
            result["integrated"] = stream.answer.integrated or None
            result["not_integrated"] = stream.answer.not_integrated or None
            result["receipt"] = asdict(stream.answer.receipt)
        except GOES_ON as error:
            result["error"] = str(error)
            complain(str(error))
        printing.print_json(result, indent=None)
        sys.stdout.flush()


def _begin() -> bool:
    printing.say(MEMORY, "bold", end="")
    return True
