"""Starting the server: settings and options -> a socket, and processes that answer, recall and think.

This is the supervisor's side, and light: what a process runs (`inside`) is loaded there and named here.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from thinkback import settings as configured
from thinkback.apps.server.gate.doorways import check_may_start, open_notice
from thinkback.apps.server.options import Options
from thinkback.apps.server.running.addresses import checked, listening, several_processes, shown
from thinkback.apps.server.running.processes import Supervisor, Task
from thinkback.apps.server.telemetry import logs
from thinkback.apps.server.telemetry.metrics import FOLDER
from thinkback.settings import Settings

ANSWER = "thinkback.apps.server.running.inside:answer"
RECALL = "thinkback.apps.server.running.inside:recall"
THINK = "thinkback.apps.server.running.inside:think"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A server that listens: what whoever started it wants to know."""

    url: str
    database: str
    upstream: str  # its address, without any secret; empty: the local model answers, or memory itself
    llm: str
    embedder: str
    workers: int
    recallers: int
    thinkers: int
    open: bool  # no key has been made
    access: str  # what that means


def serve(settings: Settings, options: Options, *, create: str, told: Callable[[Started], None]) -> int:
    """Listen, tell it, and serve the application that `create` ("module:function") makes until a signal.

    The exit code: 0 when it was asked to end and everything did.
    """
    checked(options)
    with closing(listening(options)) as listener, _offices(options) as paths:
        options = replace(options, port=listener.getsockname()[1], offices=paths)
        told(_started(settings, options, listener))
        if not several_processes():
            from thinkback.apps.server.running.inside import together

            return together(settings, options, create, listener)
        tasks = [
            *(
                Task(f"recalling-{number}", RECALL, (settings, options, path))
                for number, path in enumerate(paths, 1)
            ),
            *(
                Task(f"answering-{number}", ANSWER, (settings, options, create, listener))
                for number in range(1, options.workers + 1)
            ),
            *_thinking(settings, options),
        ]
        return _supervised(tasks, options, listener.close)


def work(settings: Settings, options: Options) -> int:
    """Think alone, for servers elsewhere on the same database; the exit code."""
    _has_keys(settings)
    return _supervised(_thinking(settings, options), options, lambda: None)


def _started(settings: Settings, options: Options, listener: socket.socket) -> Started:
    has_keys = _has_keys(settings)
    check_may_start(options, has_keys)
    host, port = listener.getsockname()[:2]
    return Started(
        url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
        database=settings.db,
        upstream=shown(options.upstream) if options.upstream else "",
        llm=configured.llm_spec(settings) or "",
        embedder=settings.embedder,
        workers=options.workers,
        recallers=len(options.offices),
        thinkers=options.thinkers,
        open=not has_keys,
        access="every request needs a key" if has_keys else open_notice(options),
    )


def _has_keys(settings: Settings) -> bool:
    """Opens the database once before many do: its schema is brought up to date, and what is wrong is said."""
    with closing(configured.open_store(settings)) as store:
        store.adopt(configured.embedder(settings).name)
        return store.keyed()


def _thinking(settings: Settings, options: Options) -> list[Task]:
    return [
        Task(f"thinking-{number}", THINK, (settings, options, number))
        for number in range(1, options.thinkers + 1)
    ]


def _supervised(tasks: Sequence[Task], options: Options, at_stop: Callable[[], None]) -> int:
    with metrics_folder() as at_death:
        return Supervisor(
            tasks,
            grace_s=options.grace_s,
            logs=logs.configured(options.log_level),
            at_stop=at_stop,
            at_death=at_death,
        ).run()


@contextmanager
def _offices(options: Options) -> Iterator[tuple[str, ...]]:
    """Where those that recall are asked, in a folder for its owner alone; none where no upstream is."""
    if not options.upstream or not several_processes():
        yield ()
        return
    with tempfile.TemporaryDirectory(prefix="thinkback-") as folder:
        yield tuple(f"{folder}/{number}" for number in range(1, options.recallers + 1))


@contextmanager
def metrics_folder() -> Iterator[Callable[[int], None]]:
    """Where all processes write their metrics, private and gone afterwards; what to do when one has died."""
    from prometheus_client.multiprocess import mark_process_dead

    folder = tempfile.mkdtemp(prefix="thinkback-metrics-")  # for its owner alone
    os.environ[FOLDER] = folder
    try:
        yield lambda pid: mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
    finally:
        os.environ.pop(FOLDER, None)
        shutil.rmtree(folder, ignore_errors=True)
