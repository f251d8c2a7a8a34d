"""`verify`: whether every row of a database can be read, and whether the rows agree with each other.

The problems name tables and numbers, never stored text.
"""

from __future__ import annotations

from collections.abc import Iterator

from thinkback.errors import CorruptStore, InvalidInput, StoreError
from thinkback.schemas import check_field_types
from thinkback.storage.relational import rows
from thinkback.storage.relational.database import Database, Row
from thinkback.types import Thought

_PAGE_ROWS = 500
_COUNTED_PROBLEMS = {
    "verify.foreign_keys": "rows violate a foreign key",
    "verify.rows_without_space": "rows belong to no user",
    "verify.counters": "users have a counter that is behind their rows",
    "verify.thoughts_without_entity": "thoughts have no entity",
    "verify.aliases_without_entity": "aliases have no entity",
    "verify.thoughts_without_action": "thoughts have no action in the journal",
    "verify.touched_without_row": "links between thoughts and actions lead nowhere",
    "verify.derived_without_row": "links between turns and thoughts lead nowhere",
    "verify.hidden_without_action": "turns are hidden by an action that does not exist",
    "verify.entries_without_row": "index entries have no turn or thought",
    "verify.turns_without_entry": "turns are marked as indexed but have no index entry",
    "verify.thoughts_without_entry": "thoughts are marked as indexed but have no index entry",
    "verify.entries_of_other_embedder": "index entries are by another embedder",
}


def verify(db: Database) -> list[str]:
    """The problems of the whole database, all read from one committed state."""
    problems: list[str] = []
    try:
        with db.snapshot():
            problems += db.check()
            problems += _count_problems(db)
            for tenant, space_id in db.read("verify.spaces"):
                problems += _check_space(db.for_tenant(tenant), space_id)
    except CorruptStore as error:
        problems.append(str(error))
    except StoreError as error:
        if not problems:
            raise
        # PostgreSQL reads nothing more in a transaction after damage was met in it.
        problems.append(f"the rest was not checked: {error}")
    return list(dict.fromkeys(problems))


def _count_problems(db: Database) -> Iterator[str]:
    for name, problem in _COUNTED_PROBLEMS.items():
        try:
            count = db.read(name)[0][0]
        except CorruptStore as error:
            yield f"{name} cannot be checked: {error}"
        else:
            if count:
                yield f"{count} {problem}"


def _check_space(db: Database, space_id: int) -> Iterator[str]:
    """Read all rows of a space, and compare its thoughts with its journal."""
    states: dict[int, Thought] = {}
    differing = 0
    for query, table, convert in (
        ("verify.turns", "turns", rows.turn_from_row),
        ("verify.actions", "actions", rows.action_from_row),
        ("verify.thoughts", "thoughts", rows.thought_from_row),
    ):
        damaged = 0
        for row in _pages(db, query, (space_id,), id_column=0):
            try:
                value = convert(row)
                check_field_types(value)
            except (CorruptStore, InvalidInput):
                damaged += 1
                continue
            if table == "actions":
                states |= {thought.id: thought for thought in value.after}  # type: ignore[union-attr]
            elif table == "thoughts":
                differing += states.get(value.id) != value
        if damaged:
            yield f"space {space_id}: {damaged} damaged rows in table {table}"
    if differing:
        yield f"space {space_id}: {differing} thoughts differ from the journal"
    damaged_entries = sum(_damaged_entries(db, space_id))
    if damaged_entries:
        yield f"space {space_id}: {damaged_entries} damaged rows in table entries"


def _damaged_entries(db: Database, space_id: int) -> Iterator[bool]:
    """For every index entry, whether its vector is damaged."""
    length = None
    for kind in ("turn", "thought"):
        for row in _pages(db, "verify.entries", (space_id, kind), id_column=1):
            try:
                vector = rows.entry_from_row(row).vector
            except CorruptStore:
                yield True
                continue
            length = length or vector.size
            yield vector.size != length or not rows.is_plausible(vector)


def _pages(db: Database, query: str, parameters: tuple[int | str, ...], id_column: int) -> Iterator[Row]:
    """The rows of a query, a few at a time."""
    after = 0
    while records := db.read(query, (*parameters, after, _PAGE_ROWS)):
        yield from records
        last = records[-1][id_column]
        if type(last) is not int or last <= after:
            raise CorruptStore("the rows of a table are not in order")
        after = last
