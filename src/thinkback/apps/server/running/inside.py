"""What a process of the server runs: a memory, and around it answering, recalling or thinking."""

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

from thinkback import settings as configured
from thinkback.apps.server.backlog import Backlog
from thinkback.apps.server.caller import OPEN_TENANT
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.gate.protocol import config
from thinkback.apps.server.options import Options
from thinkback.apps.server.proxy.clerks.office import Office
from thinkback.apps.server.running.guarded import Guard, GuardedEmbedder, GuardedLLM
from thinkback.apps.server.running.processes import Leash
from thinkback.apps.server.running.serving import Server
from thinkback.apps.server.running.thinking import Thinkers, step_aside
from thinkback.apps.server.running.warming import warm
from thinkback.apps.server.services import Memories, Services
from thinkback.apps.server.telemetry import Telemetry, logs
from thinkback.apps.server.telemetry.watch import Watch
from thinkback.memory import Memory
from thinkback.ports import LLM
from thinkback.settings import Settings

RECALL_NICE, THINK_NICE = 5, 10  # a chat passes first, then it is recalled for, then it is thought over


def answer(leash: Leash, settings: Settings, options: Options, create: str, listener: socket.socket) -> None:
    """A process that answers."""
    with closing(configured.open_memory(settings, background=False, tenant=OPEN_TENANT)) as memory:
        _answer(memory, options, create, listener, lambda server: leash.then(server.stop, options.grace_s))


def recall(leash: Leash, settings: Settings, options: Options, path: str) -> None:
    """A process that recalls for the chats; it has no model but the embedder."""
    step_aside(RECALL_NICE)
    logs.configured(options.log_level)
    opened = configured.open_memory(
        settings,
        background=False,
        tenant=OPEN_TENANT,
        llm=None,
        think="rules",  # it does not think
    )
    with closing(opened) as memory:
        office = Office(Memories(memory), options)
        _settled(memory)
        asyncio.run(office.serve(path, lambda stop: leash.then(stop, options.grace_s)))


def think(leash: Leash, settings: Settings, options: Options, number: int) -> None:
    """A process that thinks; it hands back what is in hand when its grace is over."""
    step_aside(THINK_NICE)
    telemetry = Telemetry(logs.configured(options.log_level))
    with thinking(settings, telemetry, number) as thinkers:
        late = _late(thinkers, options.grace_s, lambda: os._exit(0))

        def end(*_: object) -> None:
            thinkers.stop()
            if late.ident is None:
                late.start()

        signal.signal(signal.SIGTERM, end)
        leash.then(end, options.grace_s)
        thinkers.run()
        late.cancel()


def together(settings: Settings, options: Options, create: str, listener: socket.socket) -> int:
    """Answering, and thinking in a thread, in this one process; the exit code.

    Then nobody starts it again when it dies, and thinking cannot step aside for answering.
    """
    telemetry = Telemetry(logs.configured(options.log_level))
    with closing(configured.open_memory(settings, background=False, tenant=OPEN_TENANT)) as memory:
        if not options.thinkers:
            _answer(memory, options, create, listener)
            return 0
        with thinking(settings, telemetry, 0) as thinkers:
            thread = threading.Thread(target=thinkers.run, name="thinkback-thinking", daemon=True)
            thread.start()
            try:
                _answer(memory, options, create, listener)
            finally:
                thinkers.stop()
                thread.join(options.grace_s)
                thinkers.hand_back()
    return 0


@contextmanager
def thinking(settings: Settings, telemetry: Telemetry, number: int) -> Iterator[Thinkers]:
    """The thinking that is configured, with its models behind guards."""
    embedder = configured.embedder(settings)
    llm = configured.llm(settings)
    notes = configured.summary_llm(settings, llm)
    guards = {"embedder": Guard()}
    speaks = _guarded(llm, "llm", guards)
    memory = configured.open_memory(
        settings,
        background=False,
        tenant=OPEN_TENANT,
        embedder=GuardedEmbedder(embedder, guards["embedder"]),
        llm=speaks,
        summary_llm=speaks if notes is llm else _guarded(notes, "summary_llm", guards),
    )
    made = dict.fromkeys(model for model in (embedder, llm, notes) if model is not None)
    with closing(memory.close_also(*made)):
        yield Thinkers(Memories(memory), telemetry, guards, number=number)


def _guarded(llm: LLM | None, name: str, guards: dict[str, Guard]) -> GuardedLLM | None:
    if llm is None:
        return None
    guards[name] = Guard()
    return GuardedLLM(llm, guards[name])


def _answer(
    memory: Memory,
    options: Options,
    create: str,
    listener: socket.socket,
    hold: Callable[[Server], None] = lambda server: None,
) -> None:
    telemetry = Telemetry(logs.configured(options.log_level))
    desk = Desk()
    backlog = Backlog(memory.store.backlog, options.backlog)
    services = Services(options, Memories(memory), desk, telemetry, backlog)
    app = resolve_name(create)(services)
    server = Server(config(options, Watch(app, telemetry)), services.stopping)
    hold(server)
    _settled(memory)
    try:
        server.run(sockets=[listener])
    finally:
        desk.close()


def _settled(memory: Memory) -> None:
    """What is needed is loaded, and stays: the collector of garbage need not look at it ever again."""
    warm(memory.embedder)
    gc.collect()
    gc.freeze()


def _late(thinkers: Thinkers, grace_s: float, leave: Callable[[], None]) -> threading.Timer:
    """When the grace is over, what is still in hand is handed back, and the process ends under it."""

    def hand_back() -> None:
        thinkers.hand_back()
        leave()

    timer = threading.Timer(grace_s, hand_back)
    timer.daemon = True
    return timer
