"""Views of a whole memory for the web page: browse, detail of a thought, timeline, graph, topics, map."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from thinkback.language.safety.quarantine import redact_memory
from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import ReadAccess, json_reply, tagged_router, turn_to_json
from thinkback.server.routes.requests import MAX_INTEGER, After, DateTime, Limit, PathId
from thinkback.server.routes.responses import (
    ActionResponse,
    Page,
    ResponseModel,
    ThoughtResponse,
    ThoughtVersionResponse,
    TurnResponse,
)
from thinkback.server.routes.thoughts import get_thought_or_404
from thinkback.server.views.browse import Filter, Sort, State, browse
from thinkback.server.views.graph import graph
from thinkback.server.views.snapshot import SpaceSnapshot
from thinkback.server.views.timeline import Step, timeline
from thinkback.server.views.topics import topics
from thinkback.types import Action, Kind, Side, Source, Thought, Turn

if TYPE_CHECKING:
    from thinkback.server.views.browse import BrowsedThought as BrowsedThoughtResponse
else:
    from thinkback.schemas import response_model
    from thinkback.server.views.browse import BrowsedThought

    BrowsedThoughtResponse = response_model(BrowsedThought)

router = tagged_router("views")

MAX_TIMELINE_ITEMS = 5000
MAX_NODES = 1000
MAX_HISTORY = 200

Words = Annotated[str, Query(max_length=1000, description="Words that must all occur, in any order.")]
Kinds = Annotated[list[Kind] | None, Query(alias="kind", max_length=5, description="Repeatable.")]
Person = Annotated[
    str, Query(max_length=200, description="Any name of the subject or a value, or in the sentence.")
]
Since = Annotated[DateTime | None, Query(description="Valid at this time or later.")]
Until = Annotated[DateTime | None, Query(description="Valid at this time or earlier.")]
StateFilter = Annotated[State, Query(description="current, past (retired) or all.")]


class PersonCount(ResponseModel):
    name: str
    count: int
    aliases: list[str]


class BrowseCounts(ResponseModel):
    """Matches by kind and by state, each without its own filter."""

    kinds: dict[Kind, int]
    states: dict[Literal["current", "past"], int]


class BrowseResponse(Page[BrowsedThoughtResponse]):
    """One page of thoughts; `total` counts all pages."""

    total: int
    counts: BrowseCounts
    people: list[PersonCount]


class SourceResponse(ResponseModel):
    """The turn that a thought quotes, redacted and split around the quote.

    `start` and `end` are code points of the redacted text.
    """

    turn: TurnResponse
    side: Side
    speaker: str
    start: int
    end: int
    before: str
    quote: str
    after: str


class ThoughtDetailResponse(ResponseModel):
    """A thought with its sources and its history; `lines` explain it in words."""

    thought: ThoughtResponse
    group: int | None
    sources: list[SourceResponse]
    history: list[ThoughtVersionResponse]
    replaced_by: list[ThoughtResponse]
    replaces: list[ThoughtResponse]
    actions: list[ActionResponse]
    text: str
    lines: list[str]


class TimelineItem(ResponseModel):
    """A thought from `at` until `until`. If it is not `dated`, `at` is when it was said.

    An event that was announced is on the day that its sentence names.
    """

    id: int
    at: datetime
    until: datetime | None
    dated: bool
    sentence: str
    kind: Kind
    person: str
    current: bool


class TimelineBucket(ResponseModel):
    start: datetime
    counts: dict[Kind, int]


class TimelineResponse(Page[TimelineItem]):
    total: int
    first: datetime | None
    last: datetime | None
    step: Step
    buckets: list[TimelineBucket]


class GraphNode(ResponseModel):
    id: int
    name: str
    aliases: list[str]
    type: Literal["user", "person", "thing"]
    thoughts: int


class GraphEdge(ResponseModel):
    """A thought that joins two nodes, by their ids. A negated one says that the relation does not hold."""

    source: int
    target: int
    relation: str
    negated: bool
    thought: int
    current: bool


class GraphResponse(ResponseModel):
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int


class Topic(ResponseModel):
    """A group of similar thoughts, labelled with its most telling words."""

    group: int
    count: int
    label: str


class TopicsResponse(ResponseModel):
    items: list[Topic]
    total: int


class MapGroup(Topic):
    x: float
    y: float


class MapResponse(ResponseModel):
    """Points are [thought, x, y, group, index of the kind], with x and y between -1 and 1."""

    method: Literal["tsne", "pca"]
    points: list[Annotated[list[float], Field(min_length=5, max_length=5)]]
    kinds: list[Kind]
    groups: list[MapGroup]
    ms: int


@router.get("/browse", response_model=BrowseResponse)
async def browse_thoughts(
    ctx: ReadAccess,
    q: Words = "",
    kinds: Kinds = None,
    person: Person = "",
    state: StateFilter = "current",
    since: Since = None,
    until: Until = None,
    group: Annotated[int | None, Query(ge=0, le=MAX_INTEGER)] = None,
    sort: Annotated[Sort, Query()] = "newest",
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """Search thoughts by words and filters, fast enough to do so while typing. `after` is an offset."""
    wanted = Filter(
        words=q, kinds=kinds or (), person=person, state=state, since=since, until=until, group=group
    )
    return await _view(ctx, lambda _, snapshot: browse(snapshot, wanted, sort, after, limit))


@router.get("/thoughts/{id}/detail", response_model=ThoughtDetailResponse)
async def thought_detail(ctx: ReadAccess, id: PathId) -> Response:
    """One thought with the passages it quotes, its history, and what it replaced or was replaced by."""
    return await _view(ctx, lambda memory, snapshot: _thought_detail(memory, snapshot, id))


@router.get("/timeline", response_model=TimelineResponse)
async def list_timeline(
    ctx: ReadAccess,
    q: Words = "",
    kinds: Kinds = None,
    person: Person = "",
    state: StateFilter = "all",
    since: Since = None,
    until: Until = None,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_TIMELINE_ITEMS)] = 1000,
) -> Response:
    """Thoughts in order of when they began, and their number by day, month or year."""
    wanted = Filter(words=q, kinds=kinds or (), person=person, state=state, since=since, until=until)
    return await _view(ctx, lambda _, snapshot: timeline(snapshot, wanted, after, limit))


@router.get("/graph", response_model=GraphResponse)
async def get_graph(
    ctx: ReadAccess,
    state: StateFilter = "current",
    limit: Annotated[int, Query(ge=1, le=MAX_NODES, description="Maximum number of nodes.")] = 150,
) -> Response:
    """The people and things that thoughts name most often, and the thoughts that join them."""
    return await _view(ctx, lambda _, snapshot: graph(snapshot, state, limit))


@router.get("/topics", response_model=TopicsResponse)
async def list_topics(
    ctx: ReadAccess,
    limit: Annotated[int, Query(ge=1, le=MAX_NODES, description="Maximum number of topics.")] = 100,
) -> Response:
    """The groups of similar thoughts with their most telling words, largest first."""
    return await _view(ctx, lambda _, snapshot: topics(snapshot, limit))


@router.get("/map", response_model=MapResponse)
async def get_map(ctx: ReadAccess) -> Response:
    """The current thoughts as points in two dimensions, similar ones close together.

    Computed once for each version of the memory, which takes some seconds for 10,000 thoughts.
    """
    return await _view(ctx, ctx.services.maps.get)


async def _view(ctx: ReadAccess, make: Callable[[Memory, SpaceSnapshot], dict[str, Any]]) -> Response:
    snapshots = ctx.services.snapshots
    return await json_reply(ctx, lambda memory: make(memory, snapshots.get(memory)))


def _thought_detail(memory: Memory, snapshot: SpaceSnapshot, id_: int) -> dict[str, Any]:
    thought = get_thought_or_404(memory, id_)
    actions = [
        action
        for action in memory.journal(thought=id_)
        if any(changed.id == id_ for changed in action.changed)
    ]
    explanation = memory.why(thought)
    history = memory.history(thought.subject, thought.relation, limit=MAX_HISTORY)
    return {
        "thought": to_json(thought),
        "group": snapshot.group_of(id_),
        "sources": _sources(memory, thought),
        "history": [to_json(version) for version in history],
        "replaced_by": [to_json(other) for other in _replacements(actions, thought, retired=True)],
        "replaces": [to_json(other) for other in _replacements(actions, thought, retired=False)],
        "actions": [to_json(action) for action in actions],
        "text": explanation.text,
        "lines": list(explanation.lines),
    }


def _replacements(actions: list[Action], thought: Thought, *, retired: bool) -> list[Thought]:
    """The thoughts that took the place of this one, or whose place it took, by actions still in force."""
    found: dict[int, Thought] = {}
    for action in actions:
        if action.action not in ("supersede", "merge") or action.undone_by is not None:
            continue
        after = {changed.id: changed for changed in action.changed}
        retires = after.get(thought.id) is not None and not after[thought.id].current
        if retires == retired:
            found |= {
                other.id: other
                for other in action.changed
                if other.id != thought.id and other.current == retired
            }
    return list(found.values())


def _sources(memory: Memory, thought: Thought) -> list[dict[str, Any]]:
    ids = sorted({source.turn for source in thought.sources})
    turns = {turn.id: turn for turn in memory.store.turns(memory.user, ids=ids)} if ids else {}
    return [
        {
            "turn": turn_to_json(turns[source.turn]),
            "side": source.side,
            "speaker": source.speaker,
            **_split_quote(turns[source.turn], source),
        }
        for source in thought.sources
        if source.turn in turns
    ]


def _split_quote(turn: Turn, source: Source) -> dict[str, Any]:
    """A text of a turn around a quote. In a redacted text, a quote that is not found is the whole text."""
    shown = redact_memory(turn).text_of(source.side)
    start, end = source.start, source.end
    if shown != (text := turn.text_of(source.side)):
        quote = text[start:end]
        start = shown.find(quote)
        start, end = (0, len(shown)) if start < 0 else (start, start + len(quote))
    return {
        "start": start,
        "end": end,
        "before": shown[:start],
        "quote": shown[start:end],
        "after": shown[end:],
    }
