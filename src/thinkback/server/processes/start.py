"""Start the server: validate the options, open the listening socket, and run the supervisor.

This is the supervisor's side, and imports little: the code of the worker processes (`entrypoints`) is
referred to by name and only loaded there.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

from thinkback import config
from thinkback.config import Settings
from thinkback.errors import InvalidInput
from thinkback.server.middleware.hosts import check_exposure, describe_open_access
from thinkback.server.processes.listeners import leave_connections_to_others, open_listeners
from thinkback.server.processes.supervisor import Supervisor, Task
from thinkback.server.services import Options
from thinkback.server.telemetry import logs
from thinkback.server.telemetry.metrics import MULTIPROCESS_DIR_VARIABLE

ANSWER_ENTRYPOINT = "thinkback.server.processes.entrypoints:run_answer_process"
RECALL_ENTRYPOINT = "thinkback.server.processes.entrypoints:run_recall_process"
THINK_ENTRYPOINT = "thinkback.server.processes.entrypoints:run_think_process"


def supports_workers() -> bool:
    """Whether several processes can share the socket.

    On Windows one process answers, and thinks in a thread.
    """
    return hasattr(os, "fork")


def validate_options(options: Options) -> None:
    """Raise `InvalidInput` if options contradict each other or this machine."""
    if options.workers < 1:
        raise InvalidInput(f"--workers {options.workers}: at least one process must answer")
    if options.workers > 1 and not supports_workers():
        raise InvalidInput(f"--workers {options.workers}: this system supports one process; omit the option")
    if options.upstream and _is_this_server(_split_url(options.upstream), options):
        raise InvalidInput(
            f"the upstream {redact_url(options.upstream)} is this server itself: set --upstream (or "
            "OPENAI_BASE_URL) to the model server, or --upstream '' for none"
        )


def redact_url(url: str) -> str:
    """A URL without user, password and query."""
    parts = _split_url(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # the port is not a number, or a bracket is not closed
        valid = False
    if not valid:
        raise InvalidInput(
            "--upstream: give the base URL of a model server, such as http://127.0.0.1:8080/v1"
        )
    return parts


def _is_this_server(upstream: SplitResult, options: Options) -> bool:
    port = upstream.port or (443 if upstream.scheme == "https" else 80)
    names = {options.host.lower(), "localhost", "127.0.0.1", "::1", *options.allow_hosts}
    return port == options.port and upstream.hostname in names


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What `serve` reports when the server listens. The fields are the JSON of `thinkback serve --json`."""

    url: str
    database: str
    upstream: str  # its URL without secrets; empty: the local model answers, or memory alone
    llm: str
    embedder: str
    workers: int
    recallers: int
    thinkers: int
    open: bool  # no key has been created
    access: str  # what that means, in words


def serve(
    settings: Settings, options: Options, *, create: str, on_started: Callable[[ServerInfo], None]
) -> int:
    """Run the server until a signal; returns the exit code (0 if all processes ended in time).

    `create` names the application factory ("module:function"). `on_started` is called once it listens.
    """
    validate_options(options)
    with open_listeners(options) as listeners, _recall_sockets(options) as paths:
        options = replace(
            options,
            port=listeners[0].getsockname()[1],
            recall_sockets=paths,
            shared_limits=options.workers > 1 or config.is_shared_database(settings),
        )
        on_started(_server_info(settings, options, listeners[0]))
        if not supports_workers():
            from thinkback.server.processes.entrypoints import run_single_process

            return run_single_process(settings, options, create, listeners[0])
        answering = {f"answering-{number}": listener for number, listener in enumerate(listeners, 1)}
        tasks = [
            *(
                Task(f"recalling-{number}", RECALL_ENTRYPOINT, (settings, options, path))
                for number, path in enumerate(paths, 1)
            ),
            *(
                Task(name, ANSWER_ENTRYPOINT, (settings, options, create, listener))
                for name, listener in answering.items()
            ),
            *_think_tasks(settings, options),
        ]

        def stop_accepting() -> None:
            for listener in listeners:
                listener.close()

        def on_exit(name: str) -> None:
            if name in answering:
                leave_connections_to_others(answering[name], listeners)

        return _run_supervisor(tasks, options, stop_accepting, on_exit)


def work(settings: Settings, options: Options) -> int:
    """Only think, for servers on the same database elsewhere; returns the exit code."""
    _has_keys(settings)
    return _run_supervisor(_think_tasks(settings, options), options, lambda: None, lambda name: None)


def _server_info(settings: Settings, options: Options, listener: socket.socket) -> ServerInfo:
    has_keys = _has_keys(settings)
    check_exposure(options, has_keys)
    host, port = listener.getsockname()[:2]
    return ServerInfo(
        url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
        database=config.database_name(settings),
        upstream=redact_url(options.upstream) if options.upstream else "",
        llm=config.llm_spec(settings) or "",
        embedder=settings.embedder,
        workers=options.workers,
        recallers=len(options.recall_sockets),
        thinkers=options.thinkers,
        open=not has_keys,
        access="every request needs a key" if has_keys else describe_open_access(options),
    )


def _has_keys(settings: Settings) -> bool:
    """Open the database once before the workers do, so that migrations and errors happen only here."""
    with closing(config.open_store(settings)) as store:
        store.bind_embedder(config.create_embedder(settings).name)
        return store.requires_keys()


def _think_tasks(settings: Settings, options: Options) -> list[Task]:
    return [
        Task(f"thinking-{number}", THINK_ENTRYPOINT, (settings, options, number))
        for number in range(1, options.thinkers + 1)
    ]


def _run_supervisor(
    tasks: Sequence[Task], options: Options, on_stop: Callable[[], None], on_exit: Callable[[str], None]
) -> int:
    with metrics_directory() as forget_metrics:

        def exited(name: str, pid: int) -> None:
            forget_metrics(pid)
            on_exit(name)

        return Supervisor(
            tasks,
            grace_seconds=options.grace_seconds,
            logs=logs.configure_logging(options.log_level),
            on_stop=on_stop,
            on_exit=exited,
        ).run()


@contextmanager
def _recall_sockets(options: Options) -> Iterator[tuple[str, ...]]:
    """Socket paths of the recall processes, in a private folder; empty without an upstream."""
    if not options.upstream or not supports_workers():
        yield ()
        return
    with tempfile.TemporaryDirectory(prefix="thinkback-") as folder:
        yield tuple(f"{folder}/{number}" for number in range(1, options.recallers + 1))


@contextmanager
def metrics_directory() -> Iterator[Callable[[int], None]]:
    """A private folder for the metrics of all processes; yields a callback for processes that died."""
    from prometheus_client.multiprocess import mark_process_dead

    folder = tempfile.mkdtemp(prefix="thinkback-metrics-")
    os.environ[MULTIPROCESS_DIR_VARIABLE] = folder
    try:
        yield lambda pid: mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
    finally:
        os.environ.pop(MULTIPROCESS_DIR_VARIABLE, None)
        shutil.rmtree(folder, ignore_errors=True)
