"""A real `thinkback serve` in separate processes on a free loopback port; it ends with the test."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

CHAT = {"model": "m", "messages": [{"role": "user", "content": "I moved to Lyon."}]}
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class HttpResponse:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class ServerProcess:
    """Starts on entering the context; killed on leaving it."""

    def __init__(self, folder: Path, *words: str, module: str = "thinkback", **environment: str) -> None:
        self._folder = folder
        self._command = [sys.executable, "-m", module, "serve", *words, "--json"]
        self._environment = environment
        self.info: dict[str, Any] = {}

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        self._folder.mkdir(exist_ok=True)
        self._log = (self._folder / "log").open("ab")
        self.process = subprocess.Popen(
            [*self._command, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "THINKBACK_DB": str(self._folder / "memory.db"), **self._environment},
            start_new_session=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log
        self.info = json.loads(line)
        self.port = int(urlsplit(self.info["url"]).port or 0)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.request("GET", "/ready").status != 200:
            assert time.monotonic() < deadline, self.log
            time.sleep(0.02)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> HttpResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            sent = {"Content-Type": "application/json"} if data is not None else {}
            if user is not None:
                sent["X-Thinkback-User"] = user
            connection.request(method, path, data, {**sent, **(headers or {})})
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return HttpResponse(response.status, told, response.read())
        finally:
            connection.close()

    def remember(self, user: str, text: str, **more: Any) -> HttpResponse:
        return self.request("POST", "/v1/memory/turns", {"query": text, **more}, user=user)

    def stop(self) -> int:
        """Stop it by SIGTERM; returns the exit code."""
        self.process.terminate()
        return self.process.wait(TIMEOUT_SECONDS)

    def kill(self) -> None:
        """Kill all its processes with SIGKILL."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._log.close()

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text("utf-8")

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.splitlines()]
