"""`audit`: what one should look at in a memory."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback.cli.command import CommandCall, register_command

CONCERN_ADVICE = {
    "duplicate": "the same thought more than once: `thinkback forget` retires the copies",
    "loop": "the same words again and again: look at what writes into this memory",
    "quarantined": "kept as it was said, never recalled: `thinkback erase` removes a turn for good",
    "stale": "its time is over: `thinkback forget` retires it",
    "unsupported": "no turn says so: `thinkback why` shows where it came from",
}


def register(app: typer.Typer) -> None:
    register_command(app, "embedder")(audit)


def audit(
    call: CommandCall,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 if anything was found.")] = False,
) -> None:
    """List what deserves a look: duplicates, loops, quarantined turns, stale and unsupported thoughts.

    Orders to the assistant and secrets are kept as they were said and never recalled; here they are shown
    in redacted form. `thinkback erase` removes a turn for good.

    \b
    Examples:
      thinkback audit
      thinkback audit --user ann --strict --json
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = memory.audit()
    if call.json:
        output.print_json(json_output.dump_audit(found))
    else:
        if found.findings:
            rows = [
                (each.concern, ", ".join(str(ref) for ref in each.refs), each.reason, each.text)
                for each in found.findings
            ]
            output.print_table(
                ("concern", "where", "reason", "redacted"), rows, fold=("where", "reason", "redacted")
            )
            output.print_line()
            for concern in dict.fromkeys(each.concern for each in found.findings):
                output.print_line(f"{concern}: {CONCERN_ADVICE[concern]}")
        counts = ", ".join(f"{count} {concern}" for concern, count in found.counts.items())
        output.print_line(f"{found.turns} turns, {found.thoughts} thoughts: {counts}")
    if strict and found.findings:
        raise typer.Exit(1)
