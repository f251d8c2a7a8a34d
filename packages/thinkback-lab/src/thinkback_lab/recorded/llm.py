"""A language model that answers from recorded replies, without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thinkback import Message, Reply
from thinkback_lab.recorded.folder import (
    IncompleteRecording,
    MissingReply,
    Prompt,
    Recordings,
    UnusableReply,
)
from thinkback_lab.text import count_tokens

SPEC_PREFIX = "recorded:"
_WORD = re.compile(r"\s*\S+\s*?|\s+")


class RecordedLLM:
    """Answers from the replies in a folder. Token counts are estimates; `max_tokens` does not cut a reply.

    Example:
        llm = RecordedLLM(Path("recordings/scenarios"))
        llm.complete([Message("user", "Where is the Eiffel tower?")]).text
    """

    extracts = True
    follows = True
    speaks: tuple[str, ...] | None = None
    masks = False

    def __init__(self, folder: Path) -> None:
        self.name = f"{SPEC_PREFIX}{folder.name}"
        self.recordings = Recordings(folder)

    def __repr__(self) -> str:
        return f"<RecordedLLM {self.recordings.folder}>"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        """The recorded reply.

        Raises:
            MissingReply: The prompt has no recorded reply and was written to the folder of pending prompts.
            UnusableReply: A schema is given, and the recorded reply is not JSON.
        """
        prompt = Prompt.from_messages(messages, schema)
        text = self._find_reply(prompt)
        if schema is not None:
            _check_json(prompt.key, text)
        return estimate_usage(prompt, text)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        prompt = Prompt.from_messages(messages)
        text = self._find_reply(prompt)
        yield from split_words(text)
        return estimate_usage(prompt, text)

    def _find_reply(self, prompt: Prompt) -> str:
        try:
            return self.recordings.find_reply(prompt)
        except MissingReply as error:
            for missing in _watched:
                missing.append(error)
            raise


def estimate_usage(prompt: Prompt, text: str) -> Reply:
    """The reply with token counts estimated by the laboratory's counter."""
    return Reply(text, sum(map(count_tokens, prompt.texts)), count_tokens(text))


def split_words(text: str) -> list[str]:
    """The pieces of a streamed reply; joined they give the text."""
    return _WORD.findall(text)


def _check_json(key: str, text: str) -> None:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableReply(
            f"the recorded reply to {key} is not JSON, which its prompt asks for: record an object"
        ) from None


_watched: list[list[MissingReply]] = []
"""The missing replies of each active `require_all_replies` block."""


@contextmanager
def require_all_replies() -> Iterator[None]:
    """Raise IncompleteRecording at the end of the block if a recorded reply was missing in it.

    Thinking goes on when a model fails, so that one run collects as many pending prompts as possible. The
    result of such a run must not pass for the result of a complete recording.
    """
    missing: list[MissingReply] = []
    _watched.append(missing)
    try:
        yield
    finally:
        _watched[:] = [each for each in _watched if each is not missing]
    _raise_if_missing(missing)


def check_all_replies() -> None:
    """Raise the error of the innermost `require_all_replies` block now, before a result is saved."""
    _raise_if_missing(_watched[-1] if _watched else ())


def _raise_if_missing(missing: Sequence[MissingReply]) -> None:
    paths = {error.key: error.pending for error in missing}
    if len(paths) == 1:
        raise missing[0]
    if paths:
        folders = " and ".join(sorted({str(path.parent) for path in paths.values()}))
        raise IncompleteRecording(
            f"{len(paths)} prompts have no recorded reply: they were written to {folders}: answer them, add "
            "the replies to a file in the folder replies beside it and run the command again"
        )
