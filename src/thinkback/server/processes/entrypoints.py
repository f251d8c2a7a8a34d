"""What each server process runs: a memory, and around it answering, recalling or thinking."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pkgutil import resolve_name

from thinkback import config as configured
from thinkback.config import Settings
from thinkback.memory import Memory
from thinkback.protocols import LLM, Embedder
from thinkback.server.circuit_breaker import ModelBreaker, ProtectedEmbedder, ProtectedLLM
from thinkback.server.middleware.telemetry import TelemetryMiddleware
from thinkback.server.options import Options
from thinkback.server.principal import OPEN_TENANT
from thinkback.server.processes.http_server import Server, uvicorn_config
from thinkback.server.processes.recall_worker import RecallWorker
from thinkback.server.processes.supervisor import StopPipe
from thinkback.server.processes.think_worker import ThinkWorker, lower_priority
from thinkback.server.services import Backlog, MemoryRegistry, Services
from thinkback.server.telemetry import Telemetry, logs
from thinkback.server.thread_pool import ThreadPool

WARMUP_STATEMENTS = (
    "My sister Anna moved to Berlin last week, and I like tea.",
    "我妹妹安娜上周搬到了柏林，我喜欢喝茶。",
)
WARMUP_QUESTIONS = ("Where does my sister live now?", "我妹妹现在住在哪里？")


def warm_up(embedder: Embedder) -> None:
    """Remember and recall once, in a database that ends with it. Thinking has its own processes."""
    with Memory.open(":memory:", embedder=embedder, think="rules", background=False) as memory:
        for text in WARMUP_STATEMENTS:
            memory.remember(text)
        for question in WARMUP_QUESTIONS:
            memory.recall(question)


RECALL_NICE, THINK_NICE = 5, 10  # a chat passes first, then it is recalled for, then it is thought over


def run_answer_process(
    leash: StopPipe, settings: Settings, options: Options, create: str, listener: socket.socket
) -> None:
    """A process that answers."""
    with closing(configured.open_memory(settings, background=False, tenant=OPEN_TENANT)) as memory:
        _serve_http(
            memory,
            options,
            create,
            listener,
            lambda server: leash.on_stop(server.stop, options.grace_seconds),
        )


def run_recall_process(leash: StopPipe, settings: Settings, options: Options, path: str) -> None:
    """A process that recalls for the chats; it has no model but the embedder."""
    lower_priority(RECALL_NICE)
    logs.configure_logging(options.log_level)
    opened = configured.open_memory(
        settings,
        background=False,
        tenant=OPEN_TENANT,
        llm=None,
        think="rules",  # it does not think
    )
    with closing(opened) as memory:
        office = RecallWorker(MemoryRegistry(memory), options)
        _warm_up_and_freeze(memory)
        asyncio.run(office.serve(path, lambda stop: leash.on_stop(stop, options.grace_seconds)))


def run_think_process(leash: StopPipe, settings: Settings, options: Options, number: int) -> None:
    """A process that thinks; it hands back what is in hand when its grace is over."""
    lower_priority(THINK_NICE)
    telemetry = Telemetry(logs.configure_logging(options.log_level))
    with open_think_worker(settings, telemetry, number) as thinkers:
        late = _release_timer(thinkers, options.grace_seconds, lambda: os._exit(0))

        def end(*_: object) -> None:
            thinkers.stop()
            if late.ident is None:
                late.start()

        signal.signal(signal.SIGTERM, end)
        leash.on_stop(end, options.grace_seconds)
        thinkers.run()
        late.cancel()


def run_single_process(settings: Settings, options: Options, create: str, listener: socket.socket) -> int:
    """Answering, and thinking in a thread, in this one process; the exit code.

    Then nobody starts it again when it dies, and thinking cannot step aside for answering.
    """
    telemetry = Telemetry(logs.configure_logging(options.log_level))
    with closing(configured.open_memory(settings, background=False, tenant=OPEN_TENANT)) as memory:
        if not options.thinkers:
            _serve_http(memory, options, create, listener)
            return 0
        with open_think_worker(settings, telemetry, 0) as thinkers:
            thread = threading.Thread(target=thinkers.run, name="thinkback-thinking", daemon=True)
            thread.start()
            try:
                _serve_http(memory, options, create, listener)
            finally:
                thinkers.stop()
                thread.join(options.grace_seconds)
                thinkers.release_claims()
    return 0


@contextmanager
def open_think_worker(settings: Settings, telemetry: Telemetry, number: int) -> Iterator[ThinkWorker]:
    """The thinking that is configured, with its models behind guards."""
    embedder = configured.create_embedder(settings)
    llm = configured.create_llm(settings)
    notes = configured.create_summary_llm(settings, llm)
    guards = {"embedder": ModelBreaker()}
    speaks = _protect_llm(llm, "llm", guards)
    memory = configured.open_memory(
        settings,
        background=False,
        tenant=OPEN_TENANT,
        embedder=ProtectedEmbedder(embedder, guards["embedder"]),
        llm=speaks,
        summary_llm=speaks if notes is llm else _protect_llm(notes, "summary_llm", guards),
    )
    made = dict.fromkeys(model for model in (embedder, llm, notes) if model is not None)
    with closing(memory.own(*made)):
        yield ThinkWorker(MemoryRegistry(memory), telemetry, guards, number=number)


def _protect_llm(llm: LLM | None, name: str, guards: dict[str, ModelBreaker]) -> ProtectedLLM | None:
    if llm is None:
        return None
    guards[name] = ModelBreaker()
    return ProtectedLLM(llm, guards[name])


def _serve_http(
    memory: Memory,
    options: Options,
    create: str,
    listener: socket.socket,
    hold: Callable[[Server], None] = lambda server: None,
) -> None:
    telemetry = Telemetry(logs.configure_logging(options.log_level))
    desk = ThreadPool()
    backlog = Backlog(memory.store.backlog, options.backlog)
    services = Services(options, MemoryRegistry(memory), desk, telemetry, backlog)
    app = resolve_name(create)(services)
    server = Server(uvicorn_config(options, TelemetryMiddleware(app, telemetry)), services.stopping)
    hold(server)
    _warm_up_and_freeze(memory)
    try:
        server.run(sockets=[listener])
    finally:
        desk.close()


def _warm_up_and_freeze(memory: Memory) -> None:
    """What is needed is loaded, and stays: the collector of garbage need not look at it ever again."""
    warm_up(memory.embedder)
    gc.collect()
    gc.freeze()


def _release_timer(thinkers: ThinkWorker, grace_s: float, leave: Callable[[], None]) -> threading.Timer:
    """When the grace is over, what is still in hand is handed back, and the process ends under it."""

    def hand_back() -> None:
        thinkers.release_claims()
        leave()

    timer = threading.Timer(grace_s, hand_back)
    timer.daemon = True
    return timer
