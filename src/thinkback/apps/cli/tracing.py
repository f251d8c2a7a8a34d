"""`history`, `entities`: what was thought of someone over time, and who is who."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback.apps.cli.command import Call, command


def register(app: typer.Typer) -> None:
    for function in (history, entities):
        command(app, "embedder")(function)


def history(
    call: Call,
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
    from thinkback.apps import values
    from thinkback.apps.cli import printing
    from thinkback.history import holding

    with call.memory() as memory:
        found = memory.history(subject, relation)
    if call.json:
        printing.print_json([values.version(each) for each in found])
        return
    if not found:
        printing.say(f"nothing was ever thought of {subject!r}")
    for each in found:
        thought = each.thought
        printing.say(
            f"{thought.ref}  {printing.one_line(thought.sentence)}", "" if thought.current else "dim"
        )
        printing.say(f"  {holding(thought)}")
        for action in each.actions:
            undone = " (undone)" if action.undone_by else ""
            done = f"{action.at.astimezone():%Y-%m-%d %H:%M} {action.ref} {action.action}{undone}"
            printing.say(f"  {done} by {action.actor}: {printing.one_line(action.reason)}")


def entities(call: Call) -> None:
    """List who and what thoughts are about, with all names of each and the thoughts by which they are one.

    A decision is a thought like any other: `thinkback why` tells where it comes from, `thinkback forget` or
    `thinkback undo` takes it back.

    \b
    Examples:
      thinkback entities
      thinkback entities --json
    """
    from thinkback.apps import values
    from thinkback.apps.cli import printing

    with call.memory() as memory:
        found = memory.entities()
    if call.json:
        printing.print_json([values.entity(each) for each in found])
        return
    rows = [
        (
            each.name,
            ", ".join(each.aliases),
            "; ".join(f"{decision.ref} {decision.sentence}" for decision in each.decisions),
        )
        for each in found
    ]
    printing.table(("name", "also", "decided by"), rows, wide=("also", "decided by"))
