"""Values of memory as lines to show; what they are is told by signs and words, never by colour alone."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from thinkback.apps.cli.printing import one_line, printable
from thinkback.types import Action, Candidate, Summary, SummaryField, Thought
from thinkback.working.show import every

LONGEST = 400  # characters of one item
FIELDS: dict[SummaryField, tuple[str, str]] = {
    "topic": ("Topic", "·"),
    "conclusion": ("Conclusion so far", "="),
    "needs": ("Needs", "+"),
    "constraints": ("Constraints", "!"),
    "excluded": ("Excluded", "x"),
    "facts": ("Facts", "·"),
    "to_clarify": ("To clarify", "?"),
    "discussed": ("Discussed before", "·"),
}
NOTHING_YET = (
    "Nothing yet. What the conversation comes to is gathered here: topic, needs, constraints, excluded "
    "options, facts, open questions."
)


def summary(found: Summary) -> RenderableType:
    """Each field that has something, in the order of seed 003."""
    items = list(every(found))
    if not items:
        return Text(NOTHING_YET, "dim")
    parts: list[RenderableType] = [Text(f"{found.talk} · version {found.version}", "dim")]
    for name, (heading, mark) in FIELDS.items():
        lines = [item.text for item in items if item.field == name]
        if lines:
            parts += [Text(heading, "bold"), marked((mark, Text(_short(line))) for line in lines)]
    return Group(*parts)


def recalled(item: Candidate, number: int) -> RenderableType:
    text = Text(_short(item.text))
    text.append(f"\n{item.reason}", "dim")
    text.append(f"\n{item.ref} · score {item.score.total:.2f}", "dim")
    return marked([(f"{number}.", text)])


def thought(held: Thought) -> RenderableType:
    text = Text(_short(held.sentence))
    text.append(f"\n{held.ref} · {held.kind}", "dim")
    return marked([("·", text)])


def action(done: Action) -> RenderableType:
    text = Text.assemble((f"{done.action}{' (undone)' if done.undone_by else ''}", "bold"))
    for each in done.changed:
        text.append(f"\n{_change(each)}")
    text.append(f"\n{done.ref} · by {one_line(done.actor)}", "dim")
    return marked([("↶" if done.undone_by or done.action == "undo" else "·", text)])


def action_in_full(done: Action) -> tuple[str, ...]:
    told = [f"why: {done.reason}", f"by {done.actor}, {done.at.astimezone():%Y-%m-%d %H:%M}"]
    if done.turn is not None:
        told.append(f"after turn:{done.turn}")
    told += [_change(each) for each in done.changed]
    if done.undoes is not None:
        told.append(f"undoes action:{done.undoes}")
    if done.undone_by is not None:
        told.append(f"undone by action:{done.undone_by}: undo that one to have it again")
    return tuple(told)


def marked(lines: Iterable[tuple[str, Text]]) -> Table:
    """Lines that hang from their marks, however narrow the pane is."""
    grid = Table.grid(padding=(0, 1, 0, 0), expand=True)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for mark, text in lines:
        grid.add_row(mark, text)
    return grid


def _change(after: Thought) -> str:
    return f"{'+' if after.current else '-'} {_short(after.sentence)}"


def _short(text: str) -> str:
    return one_line(text, LONGEST)


def whole(text: str) -> str:
    """A text of several lines that cannot control the terminal."""
    return printable(text.replace("\r\n", "\n")).replace("\t", "    ")
