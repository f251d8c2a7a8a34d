"""A folder of recorded replies, looked up by prompt.

    FOLDER/replies/*.jsonl    one {"key": ..., "reply": text or object} per line; other members are ignored
    FOLDER/pending/KEY.json   {"key", "messages", "schema"}: a prompt that has no recorded reply
    FOLDER/used.txt           the keys that were asked for, one per line; delete it to count from the start

A key is the first 16 hexadecimal digits of the SHA-256 of this JSON object, written with sorted members,
without spaces and in ASCII:

    {"messages": [{"role": ..., "content": ...}, ...], "schema": NAME}

The name of a schema is its `title`, else the name that the request gives it; without a schema it is null.
Members of messages that are null are left out, and lone surrogates are replaced by U+FFFD. Nothing else
counts, neither the model nor the temperature nor the process: a changed prompt needs a new reply, an
unchanged one never does.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thinkback import Message, ModelError
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, iter_json_lines

KEY_DIGITS = 16
DEFAULT_SCHEMA_NAME = "reply"  # the name under which thinkback's OpenAI client sends a schema without a title


class IncompleteRecording(LabError):
    """Prompts have no recorded reply; the message says where they were written."""


class MissingReply(IncompleteRecording, ModelError):
    """One prompt has no recorded reply. thinkback handles it like the failure of any other model."""

    def __init__(self, key: str, pending: Path) -> None:
        super().__init__(
            f"no reply is recorded for the prompt {key}, which was written to {pending}: answer it, "
            f"add the reply to a file in {pending.parent.parent / 'replies'} and run the command again"
        )
        self.key = key
        self.pending = pending


class UnusableReply(LabError, ModelError):
    """A recorded reply is not JSON although its prompt asks for JSON."""


@dataclass(frozen=True)
class Prompt:
    """The part of a request that decides its reply."""

    messages: tuple[Mapping[str, Any], ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str | None = None

    @classmethod
    def from_messages(cls, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Prompt:
        """The prompt of a call through thinkback's LLM protocol."""
        if not messages:
            raise LabError("a language model was called without messages: pass at least one")
        chat = [{"role": message.role, "content": message.content} for message in messages]
        return cls(_clean_messages(chat), schema, None if schema is None else _schema_name(schema))

    @classmethod
    def from_request(cls, body: object) -> Prompt:
        """The prompt in the body of a chat completion request. Raises ValueError if it has none."""
        if not isinstance(body, Mapping):
            raise ValueError("the body must be an object")
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise ValueError("'messages' must be a list with at least one message")
        if not all(isinstance(each, Mapping) and isinstance(each.get("role"), str) for each in messages):
            raise ValueError("every message must be an object with a 'role'")
        chat = _clean_messages(messages)
        match body.get("response_format"):
            case {"type": "json_schema", "json_schema": {"schema": Mapping() as schema} as declared}:
                return cls(chat, schema, _schema_name(schema, declared.get("name")))
            case {"type": "json_object"}:
                return cls(chat, {"type": "object"})
        return cls(chat)

    @cached_property
    def key(self) -> str:
        """The key of the reply; see the module's docstring."""
        content = {"messages": self.messages, "schema": self.schema_name}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:KEY_DIGITS]

    @property
    def texts(self) -> Iterator[str]:
        """The text of all messages, for counting tokens."""
        for message in self.messages:
            content = message.get("content")
            for part in content if isinstance(content, list) else [{"text": content}]:
                text = part.get("text") if isinstance(part, Mapping) else None
                if isinstance(text, str):
                    yield text


def _schema_name(schema: Mapping[str, Any], declared: object = None) -> str:
    names = (schema.get("title"), declared, DEFAULT_SCHEMA_NAME)
    return str(_clean_json(next(name for name in names if isinstance(name, str) and name)))


def _clean_messages(messages: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {name: _clean_json(value) for name, value in message.items() if value is not None}
        for message in messages
    )


def _clean_json(value: Any) -> Any:
    """The value with valid Unicode only, as thinkback's OpenAI client sends it."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {_clean_json(name): _clean_json(each) for name, each in value.items()}
    return [_clean_json(each) for each in value] if isinstance(value, list) else value


class _ReplyLine(BaseModel):
    """A line of a file in `replies`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    key: str = Field(pattern=f"^[0-9a-f]{{{KEY_DIGITS}}}$")
    reply: str | dict[str, Any]

    @property
    def text(self) -> str:
        return self.reply if isinstance(self.reply, str) else json.dumps(self.reply, ensure_ascii=False)


def read_replies(folder: Path) -> dict[str, str]:
    """The recorded replies by key.

    Raises:
        LabError: The folder does not exist, a line is malformed, a reply is empty, or two replies to the same
            prompt differ.
    """
    if not folder.is_dir():
        raise LabError(f"{folder}: no such folder: create it with: mkdir -p {folder / 'replies'}")
    replies: dict[str, str] = {}
    locations: dict[str, str] = {}
    paths = [folder / "replies"] if (folder / "replies").exists() else []
    if paths and not paths[0].is_dir():
        raise LabError(f"{paths[0]}: must be a folder of JSON lines files")
    for location, line in iter_json_lines(paths):
        row = _parse_line(location, line)
        if replies.setdefault(row.key, row.text) != row.text:
            raise LabError(
                f"two different replies to the prompt {row.key}: {locations[row.key]} and {location}: "
                "delete one"
            )
        locations.setdefault(row.key, location)
    return replies


def _parse_line(location: str, line: str) -> _ReplyLine:
    try:
        row = _ReplyLine.model_validate(json.loads(line))
    except ValidationError as error:
        raise LabError(f"{location}: {format_validation_error(error)}") from error
    except (ValueError, RecursionError) as error:
        raise LabError(f"{location}: not JSON ({error})") from error
    if not row.text.strip():
        raise LabError(f"{location}: the reply to {row.key} is empty")
    return row


@dataclass(frozen=True, slots=True)
class FolderStatus:
    """The keys in a folder. `unused` are replies that no prompt has asked for since `used.txt` began."""

    replies: tuple[str, ...]
    pending: tuple[str, ...]
    unused: tuple[str, ...]


def read_status(folder: Path) -> FolderStatus:
    """What a folder contains; a pending prompt that has been answered does not count."""
    replies = read_replies(folder)
    pending = {path.stem for path in _pending_files(folder)}
    unused = replies.keys() - _read_used_keys(folder)
    return FolderStatus(
        tuple(sorted(replies)), tuple(sorted(pending - replies.keys())), tuple(sorted(unused))
    )


class Recordings:
    """The recorded replies of a folder, loaded once. Thread-safe.

    Opening it deletes the pending prompts that have been answered.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._replies = read_replies(folder)
        self._lock = threading.Lock()
        self._used = _read_used_keys(folder)
        self._missing: set[str] = set()
        self._answered = 0
        for path in _pending_files(folder):
            if path.stem in self._replies:
                with suppress(OSError):  # a read-only folder can be used, too
                    path.unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def answered(self) -> int:
        """The number of prompts that were answered, repeated ones included."""
        return self._answered

    @property
    def missing(self) -> int:
        """The number of different prompts that had no reply."""
        return len(self._missing)

    def find_reply(self, prompt: Prompt) -> str:
        """The recorded reply to a prompt.

        Raises:
            MissingReply: There is none; the prompt has been written to the folder of pending prompts.
            LabError: There is none, and the prompt could not be written.
        """
        key = prompt.key
        with self._lock:
            text = self._replies.get(key)
            if text is not None:
                self._answered += 1
                if key not in self._used:
                    self._used.add(key)
                    self._append_used(key)
                return text
            path = self.folder / "pending" / f"{key}.json"
            if key not in self._missing or not path.exists():
                _write_pending(path, prompt)
                self._missing.add(key)
        raise MissingReply(key, path)

    def _append_used(self, key: str) -> None:
        """Note a key in used.txt; one short append is atomic, so that processes can share the file."""
        with suppress(OSError), (self.folder / "used.txt").open("a", encoding="ascii") as file:
            file.write(f"{key}\n")


def _pending_files(folder: Path) -> list[Path]:
    return sorted((folder / "pending").glob("*.json"))


def _read_used_keys(folder: Path) -> set[str]:
    try:
        return set((folder / "used.txt").read_text("ascii", errors="replace").split())
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise LabError(f"{folder / 'used.txt'}: {error.strerror or error}") from error


def _write_pending(path: Path, prompt: Prompt) -> None:
    """Write atomically; other processes may write the same prompt at the same time."""
    entry = {"key": prompt.key, "messages": prompt.messages, "schema": prompt.schema}
    temporary = path.with_name(f".{path.stem}-{os.getpid()}-{threading.get_ident()}.part")
    try:
        path.parent.mkdir(exist_ok=True)
        text = json.dumps(entry, ensure_ascii=False, indent=2)
        temporary.write_text(text + "\n", encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise LabError(
            f"no reply is recorded for the prompt {prompt.key}, and it cannot be written to {path}: "
            f"{error.strerror or error}"
        ) from error
