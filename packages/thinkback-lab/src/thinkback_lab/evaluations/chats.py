"""Chats: a conversation as a person has it with `thinkback chat`, and how its questions are answered.

A file is one chat, one JSON object per line, plain or gzipped; `at` is the time of the message:

  {"at", "say": text, "understood": [[word, ...], ...]}          a statement, command or small talk
  {"at", "ask": text, "accept": [[word, ...], ...], "reject": [word, ...]}     a question about what was told
  {"at", "ask": text, "told": false}                             a question about what was never told
  {"at", "request": text}                                        anything that memory cannot answer

Case does not matter. A right answer has one word of every `accept` list and no `reject` word, except for
those of the message that told the accepted words last ("moved off bus 207, im on 311 now"). "Not told" is
recognised in English and Chinese, also as "no clear answer", after which the nearest statements may
have the accepted words. `understood` are the words that the acknowledgement of a statement has to show; an
empty list means that nothing may be claimed to be kept.

Every question has one outcome:

  right     told, and answered with the accepted words
  not told  never told, and the answer says so, or that it is not sure and what comes nearest
  missed    told, but the answer says that it was not
  wrong     told, but answered with other words of the user, or with a rejected word; or, told or not, with
            nothing but "okay" or how to get a language model
  invented  never told, but answered as if it were; or with a number or name that the user never said
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from thinkback.language.writing_systems import detect_language
from thinkback.recall.chat_phrases import say
from thinkback.recall.grounding import find_ungrounded
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, iter_json_lines
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    from rich.table import Table

NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
Outcome = Literal["right", "not told", "missed", "wrong", "invented"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_NOT_TOLD = re.compile(
    r"\byou(?: have|'ve)?(?: not|n't)(?: yet)? (?:told|mentioned|said)"
    r"|\byou haven['’]?t (?:told|mentioned|said)"
    r"|\bI (?:do not|don['’]?t) (?:know|have|remember)|\bnot (?:mentioned|specified|provided)"
    r"|\bno clear answer\b|没有找到确切的答案"
    "|还?没有?(?:告诉|提到|说)过?|不知道|未提及",
    re.IGNORECASE,
)
_NEEDS_MODEL = re.compile(r"\bthinkback pull\b")
_KEPT = re.compile(r"\bnoted\b|记下了", re.IGNORECASE)
_FRAME = (
    "You told me: The nearest that you told me: 你告诉过我：你说过的最接近的是："  # words around quotations
)
_CITATION = re.compile(r"\[(?:thought|turn):\d+\]")


class ChatMessage(BaseModel):
    """One message of a chat: exactly one of `say`, `ask` and `request`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: datetime
    say: NonEmptyStr | None = None
    ask: NonEmptyStr | None = None
    request: NonEmptyStr | None = None
    told: bool = True
    accept: tuple[tuple[NonEmptyStr, ...], ...] = ()
    reject: tuple[NonEmptyStr, ...] = ()
    understood: tuple[tuple[NonEmptyStr, ...], ...] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(text is not None for text in (self.say, self.ask, self.request)) != 1:
            raise ValueError("give exactly one of say, ask and request")
        if (self.ask is not None and self.told) != bool(self.accept):
            raise ValueError("a question that was told needs accept, everything else has none")
        if self.understood is not None and self.say is None:
            raise ValueError("only say has understood")
        return self

    @property
    def text(self) -> str:
        return self.say or self.ask or self.request or ""


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat, named like its file."""

    name: str
    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The answer to one message.

    `earlier` is what the user had said by then, this message included; `told` are the statements among it.
    """

    chat: str
    message: ChatMessage
    answer: str
    earlier: tuple[str, ...]
    told: tuple[str, ...]
    ms: float

    @property
    def outcome(self) -> Outcome | None:
        """How a question was answered; None for other messages."""
        if self.message.ask is None:
            return None
        return judge_answer(self.message, self.answer, self.earlier, self.told)

    @property
    def acknowledged(self) -> bool | None:
        """Whether the answer to a statement shows what was understood; None if the chat does not say."""
        if self.message.understood is None:
            return None
        if not self.message.understood:
            return not _KEPT.search(self.answer)
        return has_accepted(self.answer, self.message.understood)

    @property
    def declined(self) -> bool | None:
        """Whether a request is answered by how to get a larger model; None for other messages."""
        return None if self.message.request is None else bool(_NEEDS_MODEL.search(self.answer))

    @property
    def in_language(self) -> bool:
        """Whether the answer, without quotations, is in the language of the message."""
        frame = re.sub("“[^”]*”", "", _CITATION.sub("", self.answer))
        asked, answered = detect_language(self.message.text), detect_language(frame)
        return "und" in (asked, answered) or asked == answered


def judge_answer(message: ChatMessage, answer: str, earlier: Sequence[str], told: Sequence[str]) -> Outcome:
    """The outcome of a question.

    `earlier` is what the user has said so far, and `told` are the statements among it.
    """
    text = _CITATION.sub("", answer)
    says_not_told = bool(_NOT_TOLD.search(text))
    if _says_nothing(answer) and not says_not_told:
        return "wrong"
    if not message.told:
        return "not told" if says_not_told else "invented"
    newest = next((said.lower() for said in reversed(told) if has_accepted(said, message.accept)), "")
    shown = text.lower()
    rejected = [word for word in message.reject if word.lower() in shown and word.lower() not in newest]
    accepted = has_accepted(text, message.accept) and not rejected
    # A right answer in Chinese may use other words: then only its numbers and Latin names are checked.
    forms = (text, re.sub("[\u3400-\u9fff]", " ", text)) if accepted else (text,)
    sources = (*earlier, _FRAME)
    if not says_not_told and all(
        find_ungrounded(_without_dates(form), sources, strict=False) for form in forms
    ):
        return "invented"
    if accepted:
        return "right"
    return "missed" if says_not_told else "wrong"


def _says_nothing(answer: str) -> bool:
    """Whether a reply only says "okay", or that a language model is needed."""
    return answer in {say(name, text) for name in ("okay", "needs_model") for text in ("en", "好")}


def has_accepted(text: str, groups: Iterable[Sequence[str]]) -> bool:
    """Whether a text has one word of every group."""
    lowered = text.lower()
    return all(any(word.lower() in lowered for word in group) for group in groups)


def _without_dates(text: str) -> str:
    """The text without the dates that memory adds: "on saturday (2026-03-07)", "last year (2025)"."""
    return re.sub(r"[（(](?:[^()（）]*\d{4}-\d{2}[^()（）]*|\d{4})[)）]", "", text)


def read_chats(paths: Iterable[Path]) -> list[Chat]:
    """Read all chats of files and folders, in order."""
    messages: dict[str, list[ChatMessage]] = {}
    for where, line in iter_json_lines(paths):
        try:
            message = ChatMessage.model_validate_json(line)
        except ValidationError as error:
            raise LabError(f"{where}: {format_validation_error(error)}") from error
        messages.setdefault(where.rpartition(", line ")[0], []).append(message)
    if not messages:
        raise LabError("the files contain no chats: each line must be a JSON object")
    return [Chat(Path(path).name.partition(".")[0], tuple(lines)) for path, lines in messages.items()]


def run_chats(
    chats: Sequence[Chat], setup: Setup, on_progress: ProgressCallback = no_progress
) -> list[ChatReply]:
    """Have every chat in an empty memory of its own, through `Memory.chat`; progress counts messages."""
    harness = Harness(setup)
    total = sum(len(chat.messages) for chat in chats)
    replies: list[ChatReply] = []
    for chat in chats:
        clock = ManualClock()
        with harness.open(clock) as memory:
            talk = memory.for_user(chat.name)
            earlier: list[str] = []
            told: list[str] = []
            for message in chat.messages:
                on_progress(len(replies), total)
                clock.now = message.at.replace(tzinfo=UTC)
                earlier.append(message.text)
                told += [message.say] if message.say else []
                started = time.perf_counter()
                answer = talk.chat(message.text, session=f"{message.at:%Y-%m-%d}")
                ms = (time.perf_counter() - started) * 1000
                talk.post_think()  # as the background thread does between messages
                replies.append(
                    ChatReply(
                        chat=chat.name,
                        message=message,
                        answer=answer.text,
                        earlier=tuple(earlier),
                        told=tuple(told),
                        ms=ms,
                    )
                )
    on_progress(total, total)
    return replies


def summarise_chats(replies: Sequence[ChatReply], settings: Mapping[str, object]) -> dict[str, Any]:
    """Results in the common form; `replies` has a line for each message."""
    names = dict.fromkeys(reply.chat for reply in replies)
    return {
        "dataset": "chats",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": sum(reply.outcome is not None for reply in replies),
        "metrics": _figures(replies),
        "by_chat": {name: _figures([reply for reply in replies if reply.chat == name]) for name in names},
        "replies": [
            {
                "chat": reply.chat,
                "message": reply.message.text,
                "answer": reply.answer,
                "outcome": reply.outcome,
                "acknowledged": reply.acknowledged,
                "declined": reply.declined,
                "in_language": reply.in_language,
                "ms": round(reply.ms, 1),
            }
            for reply in replies
        ],
    }


def _figures(replies: Sequence[ChatReply]) -> dict[str, Any]:
    outcomes = Counter(reply.outcome for reply in replies if reply.outcome is not None)
    questions = sum(outcomes.values())
    times = sorted(reply.ms for reply in replies)
    return {
        "questions": questions,
        **{outcome: outcomes[outcome] for outcome in OUTCOMES},
        "right or not told": _share(outcomes["right"] + outcomes["not told"], questions),
        "acknowledged": _share_true([reply.acknowledged for reply in replies]),
        "declined": _share_true([reply.declined for reply in replies]),
        "in_language": _share_true([reply.in_language for reply in replies]),
        "ms_p50": round(times[len(times) // 2], 1),
        "ms_max": round(times[-1], 1),
    }


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


def _share_true(values: Iterable[bool | None]) -> float | None:
    judged = [value for value in values if value is not None]
    return _share(sum(judged), len(judged))


def chats_table(summary: Mapping[str, Any]) -> Table:
    """One row per chat and one for all."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("chat")
    columns = ("questions", *OUTCOMES, "right or not told", "acknowledged", "declined")
    for column in columns:
        grid.add_column(column, justify="right")
    for name, figures in (*summary["by_chat"].items(), ("all", summary["metrics"])):
        grid.add_row(name, *(_format_cell(figures[column]) for column in columns))
    return grid


def _format_cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
