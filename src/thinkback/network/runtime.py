"""onnxruntime, which runs networks on any processor."""

from __future__ import annotations

import os
from typing import Any


def import_onnxruntime() -> Any:
    """The module onnxruntime, with its telemetry off. Nothing else may import it.

    Since version 1.29 it sends usage data to Microsoft and stores an id of the device. It reads the variable
    when it is imported; the function keeps a process silent that had imported it before, and on Windows.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
