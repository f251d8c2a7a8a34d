"""Requests and responses of mem0's open-source server, described for OpenAPI.

Requests are strict: values are not converted from other types.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Event = Literal["ADD", "UPDATE", "DELETE"]
UserId = Annotated[str | None, Field(description="The user. One of the three identifiers is required.")]
AgentId = Annotated[
    str | None, Field(description="The agent: its own memory, or with `user_id` what it knows of the user.")
]
RunId = Annotated[
    str | None, Field(description="The run: a session of the user or agent, or a memory of its own.")
]


Metadata = Annotated[
    dict[str, Any] | None, Field(description="Kept with the memories and usable in the filters of a search.")
]


class Message(BaseModel):
    model_config = ConfigDict(strict=True)
    role: Annotated[str, Field(description="user or assistant; system and tool messages are ignored.")]
    content: Annotated[str | list[Any] | None, Field(description="The text, or a list of parts.")] = None


class Add(BaseModel):
    """Messages to remember. The header X-Thinkback-Ignored lists fields that are unknown and ignored."""

    model_config = ConfigDict(extra="allow", strict=True)
    messages: Annotated[list[Message] | str, Field(description="A conversation, or one message of the user.")]
    user_id: UserId = None
    agent_id: AgentId = None
    run_id: RunId = None
    infer: Annotated[
        bool, Field(description="False: return the turns at once; they are thought over later.")
    ] = True
    timestamp: Annotated[int | None, Field(description="When it was said (Unix seconds).")] = None
    metadata: Metadata = None


class Search(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    query: str
    user_id: UserId = None
    agent_id: AgentId = None
    run_id: RunId = None
    limit: Annotated[int | None, Field(ge=1, le=100)] = None
    top_k: Annotated[int | None, Field(ge=1, le=100, description="Another name for `limit`.")] = None
    threshold: Annotated[float, Field(ge=0, le=1, description="Minimum score.")] = 0.0
    filters: Annotated[
        dict[str, Any] | None,
        Field(description="Identifiers, and conditions on metadata with AND, OR, NOT and operators."),
    ] = None


class Update(BaseModel):
    """The new text of a memory, in any of the three fields."""

    model_config = ConfigDict(extra="allow", strict=True)
    text: str | None = None
    memory: str | None = None
    data: str | None = None
    metadata: Metadata = None

    @property
    def new_text(self) -> str:
        return next((text for text in (self.text, self.memory, self.data) if text is not None), "")


class Added(BaseModel):
    """What happened to one memory."""

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
    metadata: Annotated[
        dict[str, Any] | None,
        Field(description="As it was sent, and the kind of the memory (`turn`: raw words)."),
    ]
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
    """One entry of a memory's history."""

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
    reason: Annotated[str, Field(description="The reason in the journal.")]


class StatusMessage(BaseModel):
    message: str
    id: Annotated[str | None, Field(description="The current memory.")] = None
