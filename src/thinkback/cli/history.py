"""`history`, `entities`: what was thought of someone over time, and who is who."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback.cli.command import CommandCall, register_command


def register(app: typer.Typer) -> None:
    for function in (history, entities):
        register_command(app, "embedder")(function)


def history(
    call: CommandCall,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whose: user, Anna, my sister.")] = "user",
    relation: Annotated[
        str | None,
        typer.Argument(metavar="RELATION", help="Only this one, as `thinkback thoughts` names it."),
    ] = None,
) -> None:
    """Show what was thought of someone over time: every value, when it held, and why it came and went.

    \b
    Examples:
      thinkback history user "lives in"
      thinkback history Anna --json
    """
    from thinkback import json_output
    from thinkback.cli import output
    from thinkback.history import describe_validity

    with call.open_memory() as memory:
        found = memory.history(subject, relation)
    if call.json:
        output.print_json([json_output.dump_version(each) for each in found])
        return
    if not found:
        output.print_line(f"nothing was ever thought of {subject!r}")
    for each in found:
        thought = each.thought
        output.print_line(
            f"{thought.ref}  {output.one_line(thought.sentence)}", "" if thought.current else "dim"
        )
        output.print_line(f"  {describe_validity(thought)}")
        for action in each.actions:
            undone = " (undone)" if action.undone_by else ""
            done = f"{action.at.astimezone():%Y-%m-%d %H:%M} {action.ref} {action.action}{undone}"
            output.print_line(f"  {done} by {action.actor}: {output.one_line(action.reason)}")


def entities(call: CommandCall) -> None:
    """List who and what thoughts are about, with all names of each and the thoughts by which they are one.

    A decision is a thought like any other: `thinkback why` tells where it comes from, `thinkback forget` or
    `thinkback undo` takes it back.

    \b
    Examples:
      thinkback entities
      thinkback entities --json
    """
    from thinkback import json_output
    from thinkback.cli import output

    with call.open_memory() as memory:
        found = memory.entities()
    if call.json:
        output.print_json([json_output.dump_entity(each) for each in found])
        return
    rows = [
        (
            each.name,
            ", ".join(each.aliases),
            "; ".join(f"{decision.ref} {decision.sentence}" for decision in each.decisions),
        )
        for each in found
    ]
    output.print_table(("name", "also", "decided by"), rows, fold=("also", "decided by"))
