"""Entry points of the worker processes: open a memory, then answer, recall or think until stopped."""

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

from thinkback import config
from thinkback.config import Settings
from thinkback.memory import Memory
from thinkback.protocols import LLM, Embedder
from thinkback.server.circuit_breaker import ModelBreaker, ProtectedEmbedder, ProtectedLLM
from thinkback.server.identity import OPEN_TENANT
from thinkback.server.middleware.telemetry import TelemetryMiddleware
from thinkback.server.processes.http_server import Server, uvicorn_config
from thinkback.server.processes.recall_worker import RecallWorker
from thinkback.server.processes.supervisor import StopPipe
from thinkback.server.processes.think_worker import ThinkWorker, lower_priority
from thinkback.server.services import Backlog, MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry, logs
from thinkback.server.thread_pool import ThreadPool

WARMUP_STATEMENTS = (
    "My sister Anna moved to Berlin last week, and I like tea.",
    "我妹妹安娜上周搬到了柏林，我喜欢喝茶。",
)
WARMUP_QUESTIONS = ("Where does my sister live now?", "我妹妹现在住在哪里？")


def warm_up(embedder: Embedder) -> None:
    """Load everything that is loaded on first use, by one remember and recall in a temporary database.

    Thinking is not included, it has its own processes.
    """
    with Memory.open(":memory:", embedder=embedder, think="extractive", background=False) as memory:
        for text in WARMUP_STATEMENTS:
            memory.remember(text)
        for question in WARMUP_QUESTIONS:
            memory.recall(question)


# Priorities: the pass-through of chats first, then recall, then thinking.
RECALL_NICE, THINK_NICE = 5, 10


def run_answer_process(
    stop_pipe: StopPipe, settings: Settings, options: Options, create: str, listener: socket.socket
) -> None:
    """A process that answers HTTP requests."""
    with closing(config.open_memory(settings, background=False, tenant=OPEN_TENANT)) as memory:
        _serve_http(
            memory,
            options,
            create,
            listener,
            lambda server: stop_pipe.on_stop(server.stop, options.grace_seconds),
        )


def run_recall_process(stop_pipe: StopPipe, settings: Settings, options: Options, path: str) -> None:
    """A process that recalls for the chats. It loads the embedder, but no language model.

    It starts with normal priority: until it is ready, chats have no memory.
    """
    logs.configure_logging(options.log_level)
    opened = config.open_memory(
        settings,
        background=False,
        tenant=OPEN_TENANT,
        llm=None,
        think="extractive",  # unused: this process does not think
    )
    with closing(opened) as memory:
        worker = RecallWorker(MemoryRegistry(memory), options)
        _warm_up_and_freeze(memory)
        lower_priority(RECALL_NICE)
        asyncio.run(worker.serve(path, lambda stop: stop_pipe.on_stop(stop, options.grace_seconds)))


def run_think_process(stop_pipe: StopPipe, settings: Settings, options: Options, number: int) -> None:
    """A process that thinks. When the grace period is over, it releases its claims and exits."""
    lower_priority(THINK_NICE)
    telemetry = Telemetry(logs.configure_logging(options.log_level))
    with open_think_worker(settings, telemetry, number) as worker:
        release_timer = _release_timer(worker, options.grace_seconds, lambda: os._exit(0))

        def stop(*_: object) -> None:
            worker.stop()
            if release_timer.ident is None:
                release_timer.start()

        signal.signal(signal.SIGTERM, stop)
        stop_pipe.on_stop(stop, options.grace_seconds)
        worker.run()
        release_timer.cancel()


def run_single_process(settings: Settings, options: Options, create: str, listener: socket.socket) -> int:
    """Answer, and think in a thread, in this process; returns the exit code.

    For systems without worker processes: nothing restarts it, and thinking has no lower priority.
    """
    telemetry = Telemetry(logs.configure_logging(options.log_level))
    with closing(config.open_memory(settings, background=False, tenant=OPEN_TENANT)) as memory:
        if not options.thinkers:
            _serve_http(memory, options, create, listener)
            return 0
        with open_think_worker(settings, telemetry, 0) as worker:
            thread = threading.Thread(target=worker.run, name="thinkback-thinking", daemon=True)
            thread.start()
            try:
                _serve_http(memory, options, create, listener)
            finally:
                worker.stop()
                thread.join(options.grace_seconds)
                worker.release_claims()
    return 0


@contextmanager
def open_think_worker(settings: Settings, telemetry: Telemetry, number: int) -> Iterator[ThinkWorker]:
    """A think worker with the configured models, each behind a circuit breaker."""
    embedder = config.create_embedder(settings)
    llm = config.create_llm(settings)
    summary_llm = config.create_summary_llm(settings, llm)
    breakers = {"embedder": ModelBreaker()}
    protected_llm = _protect_llm(llm, "llm", breakers)
    memory = config.open_memory(
        settings,
        background=False,
        tenant=OPEN_TENANT,
        embedder=ProtectedEmbedder(embedder, breakers["embedder"]),
        llm=protected_llm,
        summary_llm=protected_llm
        if summary_llm is llm
        else _protect_llm(summary_llm, "summary_llm", breakers),
    )
    models = dict.fromkeys(model for model in (embedder, llm, summary_llm) if model is not None)
    with closing(memory.own(*models)):
        yield ThinkWorker(MemoryRegistry(memory), telemetry, breakers, number=number)


def _protect_llm(llm: LLM | None, name: str, breakers: dict[str, ModelBreaker]) -> ProtectedLLM | None:
    if llm is None:
        return None
    breakers[name] = ModelBreaker()
    return ProtectedLLM(llm, breakers[name])


def _serve_http(
    memory: Memory,
    options: Options,
    create: str,
    listener: socket.socket,
    on_created: Callable[[Server], None] = lambda server: None,
) -> None:
    telemetry = Telemetry(logs.configure_logging(options.log_level))
    pool = ThreadPool()
    backlog = Backlog(memory.store.backlog, options.backlog)
    services = Services(options, MemoryRegistry(memory), pool, telemetry, backlog)
    app = resolve_name(create)(services)
    server = Server(uvicorn_config(options, TelemetryMiddleware(app, telemetry)), services.stopping)
    on_created(server)
    _warm_up_and_freeze(memory)
    try:
        server.run(sockets=[listener])
    finally:
        pool.close()


def _warm_up_and_freeze(memory: Memory) -> None:
    """Load what is needed now, and exclude it from garbage collection."""
    warm_up(memory.embedder)
    gc.collect()
    gc.freeze()


def _release_timer(
    worker: ThinkWorker, grace_seconds: float, exit_process: Callable[[], None]
) -> threading.Timer:
    """A timer that releases the worker's claims after the grace period and ends the process."""

    def release() -> None:
        worker.release_claims()
        exit_process()

    timer = threading.Timer(grace_seconds, release)
    timer.daemon = True
    return timer
