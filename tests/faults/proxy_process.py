"""A proxy as a separate process until its input ends: proxy_process.py DATABASE UPSTREAM TIMEOUT_SECONDS."""

from __future__ import annotations

import sys

from tests.proxy_app import run_proxy

if __name__ == "__main__":
    database, upstream, silence = sys.argv[1:]
    with run_proxy(database, upstream, upstream_timeout_seconds=float(silence)) as proxy:
        print(proxy.url, flush=True)
        sys.stdin.read()
