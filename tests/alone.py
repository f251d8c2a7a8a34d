"""`python -m tests.alone serve ...` is `thinkback serve ...` where there can be one process only."""

from __future__ import annotations

from thinkback.apps.cli import main
from thinkback.apps.server import start

if __name__ == "__main__":
    vars(start)["several_processes"] = lambda: False
    main()
