"""`thinkback-lab schemes`."""

from __future__ import annotations

from thinkback_lab.commands import options
from thinkback_lab.schemes.registry import described


def schemes(as_json: options.AsJson = False) -> None:
    """The memory systems that `--scheme` knows; yours can be one of them (docs/lab.md).

    \b
    Examples:
      thinkback-lab schemes
      thinkback-lab eval gvd --data DIR --scheme memorybank
      thinkback-lab eval gvd --data DIR --scheme newest.py:Newest
    """
    from rich.table import Table

    known = described()
    if as_json:
        options.show_json(known)
        return
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("scheme")
    grid.add_column("what it is")
    for name, about in known.items():
        grid.add_row(name, about)
    options.show_table(grid, "or module:Name, file.py:Name")
