"""The command line interface `thinkback`: one module per group of commands."""

from thinkback.cli.app import main

__all__ = ["main"]
