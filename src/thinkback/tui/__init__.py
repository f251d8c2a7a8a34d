"""Full-screen terminal app (`thinkback tui`) built on Textual: a chat beside the state of its memory.

The layout follows llm-dialogue-simulation: the conversation on one side, its summary on the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thinkback.errors import MissingExtra

if TYPE_CHECKING:
    from thinkback.tui.app import TerminalApp


def load_app() -> type[TerminalApp]:
    """Import the app class lazily.

    Raises:
        MissingExtra: Textual is not installed.
    """
    try:
        import textual  # noqa: F401 - only checks that it is installed
    except ImportError:
        raise MissingExtra("The terminal app", "tui") from None
    from thinkback.tui.app import TerminalApp

    return TerminalApp
