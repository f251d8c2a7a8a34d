"""The seed of the random faults: THINKBACK_FAULT_SEED gives other faults than the default ones."""

from __future__ import annotations

import os

FAULT_SEED = int(os.environ.get("THINKBACK_FAULT_SEED", "0"))
