"""A proxy as a process of its own, until its input ends: proxy_child.py DATABASE UPSTREAM SILENCE_SECONDS."""

from __future__ import annotations

import sys

from tests.proxy_app import run_proxy

if __name__ == "__main__":
    database, upstream, silence = sys.argv[1:]
    with run_proxy(database, upstream, upstream_s=float(silence)) as proxy:
        print(proxy.url, flush=True)
        sys.stdin.read()
