"""Renders memory values as Rich text. Marks and words carry the meaning, never colour alone."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from thinkback.cli.output import one_line, printable
from thinkback.session.render import iter_items
from thinkback.types import Action, Candidate, Summary, SummaryField, Thought

MAX_ITEM_CHARS = 400  # longer texts are cut
SUMMARY_FIELDS: dict[SummaryField, tuple[str, str]] = {
    "topic": ("Topic", "·"),
    "conclusion": ("Conclusion so far", "="),
    "needs": ("Needs", "+"),
    "constraints": ("Constraints", "!"),
    "excluded": ("Excluded", "x"),
    "facts": ("Facts", "·"),
    "to_clarify": ("To clarify", "?"),
    "discussed": ("Discussed before", "·"),
}
EMPTY_SUMMARY_TEXT = (
    "Nothing yet. This tab shows the summary of the session: topic, needs, constraints, excluded options, "
    "facts, open questions."
)


def render_summary(summary: Summary) -> RenderableType:
    """The non-empty fields, in the order of llm-dialogue-simulation."""
    items = list(iter_items(summary))
    if not items:
        return Text(EMPTY_SUMMARY_TEXT, "dim")
    parts: list[RenderableType] = [Text(f"{summary.talk} · version {summary.version}", "dim")]
    for name, (heading, mark) in SUMMARY_FIELDS.items():
        lines = [item.text for item in items if item.field == name]
        if lines:
            parts += [
                Text(heading, "bold"),
                render_marked_lines((mark, Text(_shorten(line))) for line in lines),
            ]
    return Group(*parts)


def render_candidate(item: Candidate, number: int) -> RenderableType:
    text = Text(_shorten(item.text))
    text.append(f"\n{item.reason}", "dim")
    text.append(f"\n{item.ref} · score {item.score.total:.2f}", "dim")
    return render_marked_lines([(f"{number}.", text)])


def render_thought(thought: Thought) -> RenderableType:
    text = Text(_shorten(thought.sentence))
    text.append(f"\n{thought.ref} · {thought.kind}", "dim")
    return render_marked_lines([("·", text)])


def render_action(action: Action) -> RenderableType:
    text = Text.assemble((f"{action.action}{' (undone)' if action.undone_by else ''}", "bold"))
    for thought in action.changed:
        text.append(f"\n{_change_line(thought)}")
    text.append(f"\n{action.ref} · by {one_line(action.actor)}", "dim")
    return render_marked_lines([("↶" if action.undone_by or action.action == "undo" else "·", text)])


def action_details(action: Action) -> tuple[str, ...]:
    """The lines of the detail screen for a journal entry."""
    lines = [f"why: {action.reason}", f"by {action.actor}, {action.at.astimezone():%Y-%m-%d %H:%M}"]
    if action.turn is not None:
        lines.append(f"after turn:{action.turn}")
    lines += [_change_line(thought) for thought in action.changed]
    if action.undoes is not None:
        lines.append(f"undoes action:{action.undoes}")
    if action.undone_by is not None:
        lines.append(f"undone by action:{action.undone_by}; undo that one to restore it")
    return tuple(lines)


def render_marked_lines(lines: Iterable[tuple[str, Text]]) -> Table:
    """Lines with a hanging indent after their mark, wrapped to the width of the pane."""
    grid = Table.grid(padding=(0, 1, 0, 0), expand=True)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for mark, text in lines:
        grid.add_row(mark, text)
    return grid


def printable_lines(text: str) -> str:
    """`printable` for text of several lines; tabs become spaces."""
    return printable(text.replace("\r\n", "\n")).replace("\t", "    ")


def _change_line(thought: Thought) -> str:
    return f"{'+' if thought.current else '-'} {_shorten(thought.sentence)}"


def _shorten(text: str) -> str:
    return one_line(text, MAX_ITEM_CHARS)
