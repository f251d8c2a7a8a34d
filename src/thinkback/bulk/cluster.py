"""Connection to a Ray cluster, on which tasks survive the death of a machine.

with Cluster("10.0.0.1:6379") as cluster:
    for result in cluster.map(encode_batches, calls): ...
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from thinkback.errors import ClusterError, InvalidInput, MissingExtra, ThinkbackError

LOCAL = "local"
MAX_RETRIES = 10  # of a task whose machine or process died
_CONNECT_TIMEOUT_SECONDS = 10.0
_CAPACITY_INTERVAL_SECONDS = 1.0
_ADDRESS_RE = re.compile(r"(?P<host>\S+):(?P<port>[0-9]+)")
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """An error of thinkback on a node; not every error class can be sent as it is."""

    message: str


class Cluster:
    """A connection to a Ray cluster, open within a `with` block.

    `address` is HOST:PORT of a cluster to which this machine belongs. With `local`, a cluster is started that
    uses the cores of this machine, listens on the loopback interface only, and ends with the block.
    """

    def __init__(self, address: str = LOCAL) -> None:
        self._host, self._port = parse_address(address)
        self._address = address
        self._ray: Any = None
        self._remote: Any = None  # `_run` as a function of Ray
        self._capacity = 0.0
        self._capacity_read_at = float("-inf")

    def __enter__(self) -> Self:
        self._ray = import_ray(loopback=self._host in _LOOPBACK_HOSTS, new=self._address == LOCAL)
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if self._address == LOCAL:
            options |= {"include_dashboard": False, "_node_ip_address": self._host}
        else:
            _check_reachable(self._host, self._port)
        try:
            self._ray.init(address=self._address, **options)
        except Exception as error:  # Ray raises errors of many kinds
            raise ClusterError(f"cannot connect to the Ray cluster {self._address}: {error}") from error
        self._remote = self._ray.remote(_run)
        return self

    def __exit__(self, *exc: object) -> None:
        self._ray.shutdown()

    def capacity(self, cpus: float = 1.0) -> int:
        """How many tasks that need `cpus` cores each can run at the same time now; at least one."""
        if time.monotonic() >= self._capacity_read_at + _CAPACITY_INTERVAL_SECONDS:
            self._capacity = self._ray.cluster_resources().get("CPU", 0.0)
            self._capacity_read_at = time.monotonic()
        return max(1, int(self._capacity / cpus))

    def submit(self, function: Callable[..., _Result], *arguments: object, cpus: float = 1.0) -> object:
        """Start a function of an installed module on some node. Returns the task for `wait` and `result`.

        It runs again on another node if its node dies, so it must be repeatable.
        """
        from thinkback import __version__

        remote = self._remote.options(
            num_cpus=cpus, max_retries=MAX_RETRIES, retry_exceptions=False, scheduling_strategy="SPREAD"
        )
        task: object = remote.remote(__version__, function, arguments)
        return task

    def wait(self, tasks: Sequence[object], timeout_seconds: float) -> list[object]:
        """The tasks that are finished; waits for the first one."""
        if not tasks:
            time.sleep(timeout_seconds)
            return []
        ready, _ = self._ray.wait(list(tasks), num_returns=1, timeout=timeout_seconds)
        return list(ready)

    def result(self, task: object) -> Any:
        """Wait for a task and return its result.

        Raises:
            ClusterError: the task failed, or its process died too often.
        """
        try:
            result = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            raise ClusterError(f"a task failed: {error.cause!r}") from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(f"a task was given up: {type(error).__name__}: {error}") from error
        if isinstance(result, TaskFailure):
            raise ClusterError(result.message)
        return result

    def map(
        self, function: Callable[..., _Result], calls: Iterable[Sequence[object]], *, cpus: float = 1.0
    ) -> Iterator[_Result]:
        """The results of `function` for the arguments of each call, in order.

        Calls are read when there is room for them, two per free core.
        """
        running: deque[object] = deque()
        for arguments in calls:
            running.append(self.submit(function, *arguments, cpus=cpus))
            while len(running) >= 2 * self.capacity(cpus):
                yield self.result(running.popleft())
        while running:
            yield self.result(running.popleft())


def _run(version: str, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Runs on a node."""
    from thinkback import __version__

    node = socket.gethostname()
    if version != __version__:
        return TaskFailure(f"node {node} has thinkback {__version__}: install {version} there")
    try:
        return function(*arguments)
    except ThinkbackError as error:
        return TaskFailure(f"{type(error).__name__} on node {node}: {error}")


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of an address, HOST:PORT or `local`.

    Raises:
        InvalidInput: it is neither.
    """
    if address == LOCAL:
        return "127.0.0.1", 0
    found = _ADDRESS_RE.fullmatch(address)
    if found is None:
        raise InvalidInput(f"--ray {address}: the address of a Ray cluster is HOST:PORT, or {LOCAL}")
    return found["host"].strip("[]"), int(found["port"])


def is_address(word: str) -> bool:
    """Whether a word of a command line is the address of a cluster."""
    return word == LOCAL or _ADDRESS_RE.fullmatch(word) is not None


def import_ray(*, loopback: bool, new: bool = False) -> Any:
    """Import Ray, which reads these variables when it is imported and passes them to its processes.

    Args:
        loopback: Whether the cluster is on the loopback interface of this machine.
        new: Whether this process starts it, so that no other one has to know its token.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing leaves the machine
    # Ray prints messages about dead nodes to standard output, where results go: skip them.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    if loopback:
        # Despite its name the only setting that keeps Ray's servers on 127.0.0.1: by default they listen on
        # all interfaces, and 127.0.0.1 is replaced by the address of the machine.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        if os.environ["RAY_AUTH_MODE"] == "token" and (new or not _has_token_file()):
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingExtra("Bulk work on a cluster (--ray)", "ray") from None
    return ray


def _has_token_file() -> bool:
    """Whether Ray finds its token in a file, as a rule that of a running cluster. A variable overrides it."""
    return "RAY_AUTH_TOKEN_PATH" in os.environ or (Path.home() / ".ray" / "auth_token").exists()


def _check_reachable(host: str, port: int) -> None:
    """Fail within seconds; Ray itself tries for minutes."""
    try:
        socket.create_connection((host, port), _CONNECT_TIMEOUT_SECONDS).close()
    except OSError as error:
        raise ClusterError(f"no Ray cluster answers at {host}:{port}: {error}") from error
