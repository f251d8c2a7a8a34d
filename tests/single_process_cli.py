"""`python -m tests.single_process_cli serve ...` is `thinkback serve ...` where there can be one process only."""

from __future__ import annotations

import os

from thinkback.cli import main

if __name__ == "__main__":
    del os.fork  # as on Windows
    main()
