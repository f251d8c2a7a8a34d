"""The terminal app: a conversation, and beside it what memory makes of it (seed 003, on Textual)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thinkback.errors import MissingExtra

if TYPE_CHECKING:
    from thinkback.tui.app import TerminalApp


def load_app() -> type[TerminalApp]:
    """The app; MissingExtra where Textual is not installed."""
    try:
        import textual  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise MissingExtra("The terminal app", "tui") from None
    from thinkback.tui.app import TerminalApp

    return TerminalApp
