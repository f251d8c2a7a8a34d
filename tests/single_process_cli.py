"""`python -m tests.single_process_cli serve ...`: `thinkback serve ...` without `os.fork`, as on Windows."""

from __future__ import annotations

import os

from thinkback.cli import main

if __name__ == "__main__":
    del os.fork
    main()
