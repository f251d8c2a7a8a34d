"""Thinking about the pending turns of many users on a cluster.

The nodes claim and apply turns in the shared database under leases, as any number of `thinkback work`
processes do. This process hands out users and limits the rate. The turns of a user are in order, so one
user's backlog is never worked on by two nodes; many users are spread.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from thinkback.bulk.cluster import Cluster
from thinkback.bulk.tasks import MAX_PROBLEMS, ThinkReport, think_space
from thinkback.config import NONE, Settings, llm_spec, open_store
from thinkback.errors import InvalidInput
from thinkback.protocols import ProgressCallback, Store
from thinkback.storage import is_postgres
from thinkback.think.leases import LEASE_SECONDS
from thinkback.types import Usage

MAX_TASK_TURNS = 50
TASK_SECONDS = 10.0  # with a rate limit, a task gets as many turns as may be sent in this time
REMOTE_MODEL_CPUS = 0.25  # cores of a task that mostly waits for the answers of a server
POLL_SECONDS = 0.2
RETRY_SECONDS = 2.0  # before a user whose turns another process has claimed is tried again
GIVE_UP_SECONDS = 2.5 * LEASE_SECONDS  # without progress; the claims of a dead node have ended by then


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkThinkResult:
    """What thinking on a cluster did, counted in the database, so that it includes the work of dead nodes.

    `usage` counts the calls of nodes that reported. `failed` turns were given up.
    """

    users: int
    turns: int
    actions: int
    failed: int
    pending: int
    usage: Usage
    problems: tuple[str, ...]


class RequestBudget:
    """Spreads requests over time: on average at most `per_minute`, by all nodes together."""

    def __init__(self, per_minute: float, now: float) -> None:
        self._seconds_per_request = 60.0 / per_minute
        self._free_at = now

    def reserve(self, requests: float, now: float) -> bool:
        """Whether these requests may be sent now. If so, they are counted."""
        if now < self._free_at:
            return False
        self._free_at = now + requests * self._seconds_per_request
        return True

    def correct(self, reserved: float, used: float) -> None:
        """Count the requests that were really sent instead of those reserved."""
        self._free_at += (used - reserved) * self._seconds_per_request


@dataclass
class _Schedule:
    """Which users wait, which are worked on, and which have made no progress since when."""

    waiting: deque[str]
    pending: dict[str, int]  # turns by user
    left: int  # turns of all users
    running: dict[object, tuple[str, float]] = field(default_factory=dict)  # task -> user, reserved requests
    delayed: deque[tuple[float, str]] = field(default_factory=deque)  # (when, user)
    stalled_since: dict[str, float] = field(default_factory=dict)

    def wake_delayed(self, now: float) -> None:
        while self.delayed and self.delayed[0][0] <= now:
            self.waiting.append(self.delayed.popleft()[1])

    def finish(self, user: str, report: ThinkReport, now: float) -> None:
        before = self.pending[user]
        now_pending = self.pending[user] = before if report.pending is None else report.pending
        self.left += now_pending - before
        if not now_pending:
            return
        if report.turns or now_pending < before:
            self.stalled_since.pop(user, None)
            self.waiting.append(user)
        elif now - self.stalled_since.setdefault(user, now) < GIVE_UP_SECONDS:
            self.delayed.append((now + RETRY_SECONDS, user))


def require_shared_database(settings: Settings) -> None:
    """Raises:
    InvalidInput: the nodes could not open the database.
    """
    if not is_postgres(settings.db):
        raise InvalidInput(
            "thinking with --ray needs a database that all nodes can open: postgresql://HOST/NAME "
            "(`thinkback move` copies a SQLite file there). Importing into SQLite works with --later"
        )


def pending_users(store: Store) -> list[str]:
    """The users of the store's tenant with pending turns."""
    return [user for user in store.users() if store.pending(user)]


def think_users(
    cluster: Cluster,
    settings: Settings,
    users: Sequence[str] | None = None,
    *,
    requests_per_minute: float | None = None,
    progress: ProgressCallback | None = None,
) -> BulkThinkResult:
    """Think about all pending turns of these users, by default of all users of the tenant.

    Turns that fail are left pending or given up, as by `Memory.post_think`.

    Args:
        cluster: Where to think. Its nodes must reach the database and have the same models as this machine.
        settings: Database, tenant and models.
        users: The users, by their names in the database.
        requests_per_minute: Limit of requests to the language model, for all nodes together.
        progress: Called with (done, total).
    """
    require_shared_database(settings)
    if requests_per_minute is not None and not requests_per_minute > 0:
        raise InvalidInput("the number of requests per minute must be positive")
    # All nodes use the model that this machine would use.
    settings = replace(settings, llm=llm_spec(settings) or NONE, origins={})
    with closing(open_store(settings)) as database:
        store = database.for_tenant(settings.tenant) if settings.tenant else database
        users = pending_users(store) if users is None else users
        before = {user: store.stats(user) for user in users}
        reports = _run(
            cluster, settings, {user: stats.pending for user, stats in before.items()},
            requests_per_minute, progress,
        )  # fmt: skip
        after = {user: store.stats(user) for user in users}
    failed = sum(after[user].failed - before[user].failed for user in users)
    pending = sum(stats.pending for stats in after.values())
    problems = [problem for report in reports for problem in report.problems]
    return BulkThinkResult(
        users=len(users),
        turns=sum(stats.pending for stats in before.values()) - pending - failed,
        actions=sum(after[user].actions - before[user].actions for user in users),
        failed=failed,
        pending=pending,
        usage=Usage(
            sum(report.llm_calls for report in reports),
            sum(report.prompt_tokens for report in reports),
            sum(report.completion_tokens for report in reports),
        ),
        problems=tuple(dict.fromkeys(problems))[:MAX_PROBLEMS],
    )


def _run(
    cluster: Cluster,
    settings: Settings,
    pending: dict[str, int],
    requests_per_minute: float | None,
    progress: ProgressCallback | None,
) -> list[ThinkReport]:
    cpus = REMOTE_MODEL_CPUS if settings.llm.startswith("openai:") else 1.0
    limit = MAX_TASK_TURNS
    budget = None
    if requests_per_minute is not None:
        budget = RequestBudget(requests_per_minute, time.monotonic())
        limit = max(1, min(limit, int(requests_per_minute * TASK_SECONDS / 60)))
    total = sum(pending.values())
    schedule = _Schedule(deque(user for user, count in pending.items() if count), dict(pending), total)
    reports: list[ThinkReport] = []
    requests_per_turn = 1.0
    while schedule.waiting or schedule.running or schedule.delayed:
        schedule.wake_delayed(time.monotonic())
        while schedule.waiting and len(schedule.running) < cluster.capacity(cpus):
            turns = min(limit, schedule.pending[schedule.waiting[0]])
            reserved = turns * requests_per_turn
            if budget is not None and not budget.reserve(reserved, time.monotonic()):
                break
            user = schedule.waiting.popleft()
            schedule.running[cluster.submit(think_space, settings, user, turns, cpus=cpus)] = user, reserved
        for task in cluster.wait(list(schedule.running), POLL_SECONDS):
            user, reserved = schedule.running.pop(task)
            report: ThinkReport = cluster.result(task)
            reports.append(report)
            if budget is not None:
                budget.correct(reserved, report.llm_calls)
                if tried := report.turns + report.failed:
                    requests_per_turn = (requests_per_turn + report.llm_calls / tried) / 2
            schedule.finish(user, report, time.monotonic())
            if progress:
                progress(max(total - schedule.left, 0), total)
    return reports
