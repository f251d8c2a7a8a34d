"""The composition root of the server: settings and options -> a socket, processes, and what each runs."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from threading import Thread

from starlette.types import ASGIApp

from thinkback import settings as configured
from thinkback.apps.server.addresses import checked, listening, several_processes, shown
from thinkback.apps.server.backlog import Backlog
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.guarded import Guard, GuardedEmbedder, GuardedLLM
from thinkback.apps.server.options import Options
from thinkback.apps.server.processes import Leash, Supervisor, Task
from thinkback.apps.server.services import Memories, Services
from thinkback.apps.server.serving import Server, config
from thinkback.apps.server.telemetry import Telemetry
from thinkback.apps.server.telemetry.logs import Logs
from thinkback.apps.server.telemetry.logs import configured as configured_logs
from thinkback.apps.server.telemetry.metrics import FOLDER
from thinkback.apps.server.telemetry.watch import Watch
from thinkback.apps.server.thinking import Thinkers, step_aside
from thinkback.errors import StoreUnavailable
from thinkback.memory import Memory
from thinkback.settings import Settings

Create = Callable[[Services], ASGIApp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A server that listens: what whoever started it wants to know."""

    url: str
    database: str
    upstream: str  # its address, without any secret; empty: the local model answers, or memory itself
    llm: str
    embedder: str
    workers: int
    thinkers: int
    open: bool  # no key has been made: whoever reaches it may do everything


def serve(
    settings: Settings,
    options: Options,
    *,
    create: Create,
    told: Callable[[Started], None],
) -> int:
    """Listen, tell it, and serve until a signal; the exit code."""
    checked(options)
    logs = configured_logs(options.log_level)
    with closing(listening(options)) as listener:
        options = replace(options, port=listener.getsockname()[1])
        started = _started(settings, options, listener)
        told(started)
        if not several_processes():
            return together(settings, options, create, listener)
        tasks = [
            Task(f"answering-{number}", answer, (settings, options, create, listener))
            for number in range(1, options.workers + 1)
        ]
        return _supervised([*tasks, *_thinking(settings, options)], options, logs, listener.close)


def work(settings: Settings, options: Options) -> int:
    """Think alone, for servers elsewhere on the same database; the exit code."""
    logs = configured_logs(options.log_level)
    with closing(configured.open_store(settings)):  # says at once what is wrong with it
        pass
    return _supervised(_thinking(settings, options), options, logs, lambda: None)


def _started(settings: Settings, options: Options, listener: socket.socket) -> Started:
    with closing(configured.open_store(settings)) as store:  # also brings its schema up to date, once
        keys = store.keys()
    host, port = listener.getsockname()[:2]
    return Started(
        url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
        database=settings.db,
        upstream=shown(options.upstream) if options.upstream else "",
        llm=configured.llm_spec(settings) or "",
        embedder=settings.embedder,
        workers=options.workers,
        thinkers=options.thinkers,
        open=not keys,
    )


def _thinking(settings: Settings, options: Options) -> list[Task]:
    return [
        Task(f"thinking-{number}", think, (settings, options, number))
        for number in range(1, options.thinkers + 1)
    ]


def _supervised(tasks: Sequence[Task], options: Options, logs: Logs, at_stop: Callable[[], None]) -> int:
    with metrics_folder() as at_death:
        supervisor = Supervisor(tasks, grace_s=options.grace_s, logs=logs, at_stop=at_stop, at_death=at_death)
        return supervisor.run()


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


# --- what a process runs ----------------------------------------------------------------------


def answer(
    leash: Leash, settings: Settings, options: Options, create: Create, listener: socket.socket
) -> None:
    """A process that answers."""
    with closing(configured.open_memory(settings, background=False)) as memory:
        _answer(memory, options, create, listener, lambda server: leash.then(server.stop, options.grace_s))


def think(leash: Leash, settings: Settings, options: Options, number: int) -> None:
    """A process that thinks; it hands back what is in hand when its grace is over."""
    import signal

    step_aside()
    telemetry = Telemetry(configured_logs(options.log_level))
    with thinking(settings, telemetry, number) as thinkers:
        signal.signal(signal.SIGTERM, lambda *_: thinkers.stop())
        leash.then(lambda: _end(thinkers, options.grace_s), options.grace_s)
        thinkers.run()


def together(settings: Settings, options: Options, create: Create, listener: socket.socket) -> int:
    """Answering and thinking in this one process."""
    telemetry = Telemetry(configured_logs(options.log_level))
    with closing(configured.open_memory(settings, background=False)) as memory:
        if not options.thinkers:
            _answer(memory, options, create, listener, lambda server: None)
            return 0
        with thinking(settings, telemetry, 0) as thinkers:
            thread = Thread(target=thinkers.run, name="thinkback-thinking")
            thread.start()
            try:
                _answer(memory, options, create, listener, lambda server: None)
            finally:
                _end(thinkers, options.grace_s)
                thread.join(options.grace_s)
    return 0


@contextmanager
def thinking(settings: Settings, telemetry: Telemetry, number: int) -> Iterator[Thinkers]:
    """The thinking that is configured, with its models behind guards."""
    guards = {"embedder": Guard()}
    embedder = configured.embedder(settings)
    llm = configured.llm(settings)
    notes = configured.summary_llm(settings, llm)
    given: dict[str, object] = {"embedder": GuardedEmbedder(embedder, guards["embedder"])}
    given["llm"] = given["summary_llm"] = None
    if llm is not None:
        guards["llm"] = Guard()
        given["llm"] = GuardedLLM(llm, guards["llm"])
    if notes is not None:
        given["summary_llm"] = given["llm"] if notes is llm else GuardedLLM(notes, Guard())
    memory = configured.open_memory(settings, background=False, **given)
    with closing(memory.close_also(*dict.fromkeys(each for each in (embedder, llm, notes) if each))):
        yield Thinkers(Memories(memory), telemetry, guards, number=number)


def _answer(
    memory: Memory,
    options: Options,
    create: Create,
    listener: socket.socket,
    hold: Callable[[Server], None],
) -> None:
    telemetry = Telemetry(configured_logs(options.log_level))
    desk = Desk()
    services = Services(
        options=options,
        memories=Memories(memory),
        desk=desk,
        telemetry=telemetry,
        backlog=Backlog(memory.store.backlog, options.backlog),
    )
    server = Server(config(options, Watch(create(services), telemetry)), services.stopping)
    hold(server)
    try:
        server.run(sockets=[listener])
    finally:
        desk.close()
    if not server.started:
        raise StoreUnavailable("the server could not start: see the lines above")


def _end(thinkers: Thinkers, grace_s: float) -> None:
    """Stop; hand back what is still in hand when the time is over."""
    import threading

    thinkers.stop()
    late = threading.Timer(grace_s, thinkers.hand_back)
    late.daemon = True
    late.start()
