"""The web page: its build, made by `make web` from the sources in `web/`."""

from __future__ import annotations

from pathlib import Path

DIST = Path(__file__).parent / "dist"
"""Folder of the built page: `index.html` and `assets/` with hashed names."""
