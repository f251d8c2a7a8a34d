"""The command `thinkback`."""

from thinkback.cli.app import main

__all__ = ["main"]
