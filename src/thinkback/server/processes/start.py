"""Start the server: validate the options, open the listening socket, and run the supervisor with its answer, recall and think processes."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

from thinkback import config as configured
from thinkback.config import Settings
from thinkback.errors import InvalidInput
from thinkback.server.middleware.hosts import check_exposure, describe_open_access
from thinkback.server.options import Options
from thinkback.server.processes.supervisor import Supervisor, Task
from thinkback.server.telemetry import logs
from thinkback.server.telemetry.metrics import MULTIPROCESS_DIR_VARIABLE

LISTEN_BACKLOG = 2048  # connections that may wait to be accepted


def can_fork() -> bool:
    """Without fork (Windows) one process answers, and thinks in a thread of its own."""
    return hasattr(os, "fork")


def validate_options(options: Options) -> None:
    """InvalidInput where options contradict themselves or this machine."""
    if options.workers < 1:
        raise InvalidInput(f"--workers {options.workers}: at least one process has to answer")
    if options.workers > 1 and not can_fork():
        raise InvalidInput(f"--workers {options.workers}: this system can run one process; leave it out")
    if options.upstream and _is_this_server(_split_url(options.upstream), options):
        raise InvalidInput(
            f"the upstream {redact_url(options.upstream)} is this server itself: set --upstream (or "
            "OPENAI_BASE_URL) to the server of the models, or --upstream '' for none"
        )


def open_listener(options: Options) -> socket.socket:
    """The socket that all processes accept from; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
        listener.listen(LISTEN_BACKLOG)
    except OSError as error:
        listener.close()
        raise _listen_error(options, error) from error
    return listener


def redact_url(url: str) -> str:
    """An address without user, password and query."""
    parts = _split_url(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not close
        known = False
    if not known:
        raise InvalidInput(
            "--upstream: give the base URL of a model server, such as http://127.0.0.1:8080/v1"
        )
    return parts


def _is_this_server(upstream: SplitResult, options: Options) -> bool:
    port = upstream.port or (443 if upstream.scheme == "https" else 80)
    names = {options.host.lower(), "localhost", "127.0.0.1", "::1", *options.allow_hosts}
    return port == options.port and upstream.hostname in names


def _listen_error(options: Options, error: OSError) -> InvalidInput:
    there = f"{options.host}:{options.port}"
    if error.errno == errno.EADDRINUSE:
        return InvalidInput(f"{there} is taken by another program: end it, or choose another --port")
    if error.errno == errno.EACCES:
        return InvalidInput(f"{there} is not for this user: choose a --port above 1023")
    return InvalidInput(f"{there} is no address of this machine: {error.strerror or error}")


ANSWER_ENTRYPOINT = "thinkback.server.processes.entrypoints:answer"
RECALL_ENTRYPOINT = "thinkback.server.processes.entrypoints:recall"
THINK_ENTRYPOINT = "thinkback.server.processes.entrypoints:think"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
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


def serve(
    settings: Settings, options: Options, *, create: str, on_started: Callable[[ServerInfo], None]
) -> int:
    """Listen, tell it, and serve the application that `create` ("module:function") makes until a signal.

    The exit code: 0 when it was asked to end and everything did.
    """
    validate_options(options)
    with closing(open_listener(options)) as listener, _recall_sockets(options) as paths:
        options = replace(options, port=listener.getsockname()[1], recall_sockets=paths)
        on_started(_server_info(settings, options, listener))
        if not can_fork():
            from thinkback.server.processes.entrypoints import run_single_process

            return run_single_process(settings, options, create, listener)
        tasks = [
            *(
                Task(f"recalling-{number}", RECALL_ENTRYPOINT, (settings, options, path))
                for number, path in enumerate(paths, 1)
            ),
            *(
                Task(f"answering-{number}", ANSWER_ENTRYPOINT, (settings, options, create, listener))
                for number in range(1, options.workers + 1)
            ),
            *_think_tasks(settings, options),
        ]
        return _run_supervisor(tasks, options, listener.close)


def work(settings: Settings, options: Options) -> int:
    """Think alone, for servers elsewhere on the same database; the exit code."""
    _has_keys(settings)
    return _run_supervisor(_think_tasks(settings, options), options, lambda: None)


def _server_info(settings: Settings, options: Options, listener: socket.socket) -> ServerInfo:
    has_keys = _has_keys(settings)
    check_exposure(options, has_keys)
    host, port = listener.getsockname()[:2]
    return ServerInfo(
        url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
        database=settings.db,
        upstream=redact_url(options.upstream) if options.upstream else "",
        llm=configured.llm_spec(settings) or "",
        embedder=settings.embedder,
        workers=options.workers,
        recallers=len(options.recall_sockets),
        thinkers=options.thinkers,
        open=not has_keys,
        access="every request needs a key" if has_keys else describe_open_access(options),
    )


def _has_keys(settings: Settings) -> bool:
    """Opens the database once before many do: its schema is brought up to date, and what is wrong is said."""
    with closing(configured.open_store(settings)) as store:
        store.bind_embedder(configured.create_embedder(settings).name)
        return store.requires_keys()


def _think_tasks(settings: Settings, options: Options) -> list[Task]:
    return [
        Task(f"thinking-{number}", THINK_ENTRYPOINT, (settings, options, number))
        for number in range(1, options.thinkers + 1)
    ]


def _run_supervisor(tasks: Sequence[Task], options: Options, at_stop: Callable[[], None]) -> int:
    with metrics_directory() as at_death:
        return Supervisor(
            tasks,
            grace_seconds=options.grace_seconds,
            logs=logs.configure_logging(options.log_level),
            on_stop=at_stop,
            on_exit=at_death,
        ).run()


@contextmanager
def _recall_sockets(options: Options) -> Iterator[tuple[str, ...]]:
    """Where those that recall are asked, in a folder for its owner alone; none where no upstream is."""
    if not options.upstream or not can_fork():
        yield ()
        return
    with tempfile.TemporaryDirectory(prefix="thinkback-") as folder:
        yield tuple(f"{folder}/{number}" for number in range(1, options.recallers + 1))


@contextmanager
def metrics_directory() -> Iterator[Callable[[int], None]]:
    """Where all processes write their metrics, private and gone afterwards; what to do when one has died."""
    from prometheus_client.multiprocess import mark_process_dead

    folder = tempfile.mkdtemp(prefix="thinkback-metrics-")  # for its owner alone
    os.environ[MULTIPROCESS_DIR_VARIABLE] = folder
    try:
        yield lambda pid: mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
    finally:
        os.environ.pop(MULTIPROCESS_DIR_VARIABLE, None)
        shutil.rmtree(folder, ignore_errors=True)
