"""The command `thinkback`."""

from thinkback.apps.cli.app import main

__all__ = ["main"]
