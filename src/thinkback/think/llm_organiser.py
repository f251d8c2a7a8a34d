"""LLMOrganiser: the papers' two prompts ask a model how to put a group in order (TiM 001, Figures 8 and 9).

It only proposes (`proposals`); the guard decides. A model sees the group's own numbering, 1, 2, 3: large ids
are hard to copy for a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from thinkback.errors import BadReply
from thinkback.ports import LLM
from thinkback.prompts import load
from thinkback.prompts.facts import numbered
from thinkback.text.clean import clean
from thinkback.think.proposals import Forget, Merge
from thinkback.types import Message, Thought

if TYPE_CHECKING:
    from pydantic import BaseModel

    Asked = TypeVar("Asked", bound=BaseModel)

MAX_TOKENS = 512
LONGEST_REPLY = 100_000


@dataclass(frozen=True, slots=True)
class LLMOrganiser:
    """Raises BadReply where an answer cannot be read; an empty list is a good answer."""

    llm: LLM

    @property
    def name(self) -> str:
        versions = "+".join(f"{prompt}@{load(prompt).version}" for prompt in ("merge", "forget"))
        return f"{self.llm.name} {versions}"

    def merges(self, thoughts: Sequence[Thought]) -> list[Merge]:
        """Which thoughts say the same kind of thing about the same one."""
        from thinkback.prompts.merge import MergeReply  # pydantic: not before it is needed

        reply = self._ask("merge", thoughts, MergeReply)
        ids = _ids(thoughts)
        return [
            Merge(tuple(ids[number] for number in each.ids), clean(each.sentence))
            for each in reply.merges
            if set(each.ids) <= set(ids)
        ]

    def forgets(self, thoughts: Sequence[Thought]) -> list[Forget]:
        """Which thoughts are contradicted, and by which."""
        from thinkback.prompts.forget import ForgetReply

        reply = self._ask("forget", thoughts, ForgetReply)
        ids = _ids(thoughts)
        return [
            Forget(ids[each.id], ids.get(each.against or 0), clean(each.reason))
            for each in reply.forget
            if each.id in ids
        ]

    def _ask(self, prompt: str, thoughts: Sequence[Thought], asked: type[Asked]) -> Asked:
        from pydantic import ValidationError

        listed = numbered((number, each.sentence) for number, each in enumerate(thoughts, start=1))
        messages = [Message("user", load(prompt).render(thoughts=listed))]
        reply = self.llm.complete(messages, schema=asked.model_json_schema(), max_tokens=MAX_TOKENS)
        if len(reply.text) > LONGEST_REPLY:
            raise BadReply(f"{prompt}: the reply has {len(reply.text)} characters")
        try:
            return asked.model_validate_json(clean(reply.text))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise BadReply(f"{prompt}: cannot use the reply: {first['msg']}") from error


def _ids(thoughts: Sequence[Thought]) -> dict[int, int]:
    """The number a model was shown -> the thought's own."""
    return {number: thought.id for number, thought in enumerate(thoughts, start=1)}
