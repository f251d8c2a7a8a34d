"""`/v1/lab`: finished runs of thinkback-lab, compared question by question. Needs the scope `admin`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from thinkback.errors import NotFound
from thinkback.server.lab_runs import MAX_COMPARED, Comparison, RunFolder
from thinkback.server.routes.dependencies import (
    AdminAccess,
    RequestContext,
    json_reply,
    make_offset_page,
    tagged_router,
)
from thinkback.server.routes.requests import After, Limit
from thinkback.server.routes.responses import Page, ResponseModel

router = tagged_router("laboratory")

RunName = Annotated[str, Field(min_length=1, max_length=255)]


class RunResponse(ResponseModel):
    name: str
    dataset: str
    system: str
    settings: dict[str, Any]
    metrics: dict[str, float]
    n: int
    modified_at: datetime
    has_questions: bool


class RunDetailResponse(RunResponse):
    """`results` is the content of the run's results.json."""

    results: dict[str, Any]


class ComparedRun(ResponseModel):
    name: str
    label: str


class FoundMemory(ResponseModel):
    """A recalled memory; `gold`: it comes from a turn that holds the answer."""

    text: str
    score: float | None
    gold: bool


class QuestionAnswer(ResponseModel):
    scores: dict[str, float]
    answer: str | None
    found: list[FoundMemory]


class ComparedQuestion(ResponseModel):
    case: str
    id: str
    category: str
    question: str
    expected: str
    gold_texts: list[str]
    runs: list[QuestionAnswer]


class CompareResponse(Page[ComparedQuestion]):
    """The questions that all runs share; `means` are those of `metric` over all of them."""

    runs: list[ComparedRun]
    metric: str
    metrics: list[str]
    categories: list[str]
    total: int
    different: int
    means: list[float | None]


@router.get("/runs", response_model=Page[RunResponse])
async def list_runs(ctx: AdminAccess, after: After = 0, limit: Limit = 100) -> Response:
    """List the finished runs in the folder given by `thinkback serve --runs`, newest first."""

    def make(_: object) -> dict[str, Any]:
        return make_offset_page(_folder(ctx).runs(), after, limit, lambda run: run.summary())

    return await json_reply(ctx, make)


@router.get("/runs/{run}", response_model=RunDetailResponse)
async def get_run(ctx: AdminAccess, run: Annotated[str, Path(max_length=255)]) -> Response:
    """One finished run with all of its results."""

    def make(_: object) -> dict[str, Any]:
        found = _folder(ctx).run(run)
        return {**found.summary(), "results": found.results}

    return await json_reply(ctx, make)


@router.get("/compare", response_model=CompareResponse)
async def compare_runs(
    ctx: AdminAccess,
    runs: Annotated[list[RunName], Query(alias="run", min_length=1, max_length=MAX_COMPARED)],
    metric: Annotated[str, Query(max_length=100, description="Empty: the first metric they share.")] = "",
    only: Annotated[Literal["all", "different"], Query()] = "all",
    q: Annotated[str, Query(max_length=1000)] = "",
    category: Annotated[str, Query(max_length=200)] = "",
    after: After = 0,
    limit: Limit = 50,
) -> Response:
    """Compare runs of the same data set question by question."""
    wanted = Comparison(
        runs=runs, metric=metric, only_different=only == "different", words=q, category=category
    )
    return await json_reply(ctx, lambda _: _folder(ctx).compare(wanted, after, limit))


def _folder(ctx: RequestContext) -> RunFolder:
    if not ctx.services.options.runs:
        raise NotFound("this server shows no runs: start it with --runs FOLDER")
    return RunFolder(ctx.services.options.runs)
