"""What mem0's clients send and are sent: the fields of its open-source server, described for OpenAPI.

Requests are strict in what they take for what: nothing is guessed from a value of another type.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Event = Literal["ADD", "UPDATE", "DELETE"]
UserId = Annotated[str | None, Field(description="Whose memory; one of the three identifiers is needed.")]
AgentId = Annotated[str | None, Field(description="An agent's own memory, or what it has of the user.")]
RunId = Annotated[
    str | None, Field(description="One run: a session of the user or agent, or its own memory.")
]


class Message(BaseModel):
    model_config = ConfigDict(strict=True)
    role: Annotated[str, Field(description="user or assistant; system and tool messages tell nothing.")]
    content: Annotated[str | list[Any] | None, Field(description="The words, or parts that hold some.")] = (
        None
    )


class Add(BaseModel):
    """Messages to remember. Fields that are not listed are not kept; a header of the answer names them."""

    model_config = ConfigDict(extra="allow", strict=True)
    messages: Annotated[list[Message] | str, Field(description="A conversation, or one thing a user said.")]
    user_id: UserId = None
    agent_id: AgentId = None
    run_id: RunId = None
    infer: Annotated[
        bool, Field(description="False: answer at once with what was said; it is thought over later.")
    ] = True
    timestamp: Annotated[int | None, Field(description="When it was said, in Unix seconds.")] = None


class Search(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    query: str
    user_id: UserId = None
    agent_id: AgentId = None
    run_id: RunId = None
    limit: Annotated[int | None, Field(ge=1, le=100)] = None
    top_k: Annotated[int | None, Field(ge=1, le=100, description="Another name of limit.")] = None
    threshold: Annotated[float, Field(ge=0, le=1, description="What scores lower is left out.")] = 0.0
    filters: Annotated[
        dict[str, Any] | None, Field(description="user_id, agent_id and run_id may stand here as well.")
    ] = None


class Update(BaseModel):
    """What is so instead, under any of the names it goes by."""

    model_config = ConfigDict(extra="allow", strict=True)
    text: str | None = None
    memory: str | None = None
    data: str | None = None

    @property
    def words(self) -> str:
        return next((each for each in (self.text, self.memory, self.data) if each is not None), "")


class Added(BaseModel):
    """What became of one memory."""

    id: str
    memory: str
    event: Event
    previous_memory: str | None = None


class AddedAll(BaseModel):
    results: list[Added]


class Item(BaseModel):
    id: str
    memory: str
    hash: str
    metadata: Annotated[dict[str, Any] | None, Field(description="Its kind, and whether it is raw words.")]
    created_at: datetime
    updated_at: datetime | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None


class FoundItem(Item):
    score: float


class Items(BaseModel):
    results: list[Item]


class FoundItems(BaseModel):
    results: list[FoundItem]


class HistoryEntry(BaseModel):
    """One line of a memory's history."""

    id: str
    memory_id: str
    old_memory: str | None
    new_memory: str | None
    event: Event
    created_at: datetime
    updated_at: datetime | None = None
    is_deleted: bool
    actor_id: str | None
    role: str | None = None
    reason: Annotated[str, Field(description="Why, as the journal has it.")]


class StatusMessage(BaseModel):
    message: str
    id: Annotated[str | None, Field(description="The memory that is held true now.")] = None
