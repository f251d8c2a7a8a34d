"""Salvage: a new database with every turn and thought that can still be read from a damaged one.

Rows are recognised by the types of their columns, wherever in the file they are. Index entries are not read,
for they can be computed again. API keys are not read either: create new ones.

A space keeps its journal if that is complete and agrees with its thoughts. Otherwise every thought gets one
new action as its history. What was forgotten stays so: hidden turns stay hidden, and a thought whose last
state is unknown is retired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thinkback import errors
from thinkback.schemas import check_field_types
from thinkback.storage.relational import rows
from thinkback.storage.relational.metadata import metadata_from_json
from thinkback.storage.sqlite import SqliteStore
from thinkback.storage.sqlite.connection import FILE_SUFFIXES
from thinkback.storage.sqlite.page_reader import PageReader, Record, Value
from thinkback.types import Action, SalvagedSpace, SalvageResult, Summary, SummaryUpdate, Thought, Turn

ACTOR = "salvage"
_HISTORY_LOST = "salvaged from a damaged database, where its history was lost"
_STATE_UNKNOWN = "salvaged from the journal of a damaged database; whether it was still current is unknown"

# The types of the columns: i integer, t text, upper case if NULL is possible, 0 NULL (the rowid).
_SPACE, _EARLY_SPACE, _SPACE_NAME = "0ttiiiiiiii", "0tiiiiiiii", "tti"
_TURN, _TURN_ADDED = "iiITIiTtTttiittt", ("t", "I", "i", "T")
_THOUGHT, _ACTION, _ACTION_ADDED = "iiittttti" + "IIiIti", "iitttiIIItt", ("t",)
_SUMMARY, _SUMMARY_UPDATE, _METADATA = "itiit", "itit", "iit"
_TYPES: dict[str, tuple[type, ...]] = {"i": (int,), "I": (int,), "t": (str,), "T": (str,), "0": ()}


@dataclass
class _Rows:
    """What was read of one space."""

    key: tuple[str, str] | None = None  # tenant and user
    counters: tuple[int, int] = (0, 0)  # the last turn and thought there ever were
    turns: dict[int, Turn] = field(default_factory=dict)
    thoughts: dict[int, Thought] = field(default_factory=dict)
    actions: dict[int, Action] = field(default_factory=dict)
    summaries: dict[str, Summary] = field(default_factory=dict)
    updates: dict[tuple[str, int], SummaryUpdate] = field(default_factory=dict)
    metadata: dict[int, dict[str, Any]] = field(default_factory=dict)  # by turn


def salvage(broken: str, out: str) -> SalvageResult:
    """Write what is readable in `broken` (with its WAL) to the new database `out`. `broken` is only read.

    Raises:
        Conflict: `out` exists.
        CorruptStore: nothing is readable.
    """
    source, target = Path(broken), Path(out)
    if target.exists():
        raise errors.Conflict(f"{out} exists: name a new file")
    try:
        with PageReader(source) as reader:
            spaces = _read_spaces(reader)
            unreadable = reader.unreadable_records
    except OSError as error:
        raise errors.StoreUnavailable(f"{broken} cannot be read: {error.strerror}") from error
    if not any(space.turns or space.thoughts for space in spaces.values()):
        raise errors.CorruptStore(f"{broken} contains no readable turn and no readable thought")
    try:
        with closing(SqliteStore(out)) as store:
            salvaged = tuple(_write_space(store, id_, space) for id_, space in sorted(spaces.items()))
            problems = store.verify()
    except BaseException:
        for suffix in FILE_SUFFIXES:
            Path(out + suffix).unlink(missing_ok=True)
        raise
    if problems:
        raise errors.CorruptStore(f"{out} was written but is not consistent: {problems[0]}")
    return SalvageResult(spaces=salvaged, unreadable_rows=unreadable)


def _read_spaces(reader: PageReader) -> dict[int, _Rows]:
    spaces: dict[int, _Rows] = defaultdict(_Rows)
    names: dict[int, tuple[str, str]] = {}
    for record in reader.records():
        try:
            _read_record(record, spaces, names)
        except (errors.StoreError, errors.InvalidInput):
            reader.unreadable_records += 1
    for id_, key in names.items():  # from the index, in case the row itself is lost
        if id_ in spaces and spaces[id_].key is None:
            spaces[id_].key = key
    return {id_: space for id_, space in spaces.items() if space.key or space.turns or space.thoughts}


def _read_record(record: Record, spaces: dict[int, _Rows], names: dict[int, tuple[str, str]]) -> None:
    values, is_table = list(record.values), record.rowid is not None
    if is_table and (_has_types(values, _SPACE) or _has_types(values, _EARLY_SPACE)):
        tenant, name = values[1:3] if len(values) == len(_SPACE) else ("", values[1])
        last_turn, last_thought = values[-8:-6]
        space = spaces[record.rowid or 0]
        space.key, space.counters = (str(tenant), str(name)), (_int(last_turn), _int(last_thought))
    elif not is_table and _has_types(values, _SPACE_NAME):
        names[_int(values[2])] = (str(values[0]), str(values[1]))
    elif is_table and (turn := _completed(values, _TURN, _TURN_ADDED, ("[]", None, 0, None))):
        _add_turn(spaces[_int(turn[0])], turn)
    elif is_table and (action := _completed(values, _ACTION, _ACTION_ADDED, ("[]",))):
        read = rows.action_from_row(tuple(action[1:]))
        check_field_types(read)
        spaces[_int(action[0])].actions[read.id] = read
    elif not is_table and _has_types(values, _THOUGHT):
        thought = rows.thought_from_row((values[1], *values[3:14]))
        check_field_types(thought)
        spaces[_int(values[0])].thoughts[thought.id] = thought
    elif not is_table and _has_types(values, _SUMMARY):
        summary = rows.summary_from_row((values[4],))
        check_field_types(summary)
        spaces[_int(values[0])].summaries[summary.session] = summary
    elif not is_table and _has_types(values, _SUMMARY_UPDATE):
        update = rows.summary_update_from_row((values[3],))
        check_field_types(update)
        spaces[_int(values[0])].updates[update.session, update.version] = update
    elif not is_table and _has_types(values, _METADATA):
        spaces[_int(values[0])].metadata[_int(values[1])] = metadata_from_json(str(values[2]))


def _add_turn(space: _Rows, values: list[Value]) -> None:
    _, id_, thought_at, _, _, _, _, session, key, asker, answerer, at, recorded_at = values[:13]
    recalled, query, response, checks, hidden_by, _, findings = values[13:]
    row = (id_, session, key, asker, answerer, at, recorded_at, recalled, query, response)
    turn = rows.turn_from_row((*row, thought_at, checks, hidden_by, findings))
    check_field_types(turn)
    space.turns[turn.id] = turn


def _has_types(values: list[Value], types: str) -> bool:
    return len(values) == len(types) and all(
        letter in "0IT" if value is None else type(value) in _TYPES[letter]
        for value, letter in zip(values, types, strict=True)
    )


def _completed(
    values: list[Value], types: str, added: tuple[str, ...], defaults: tuple[Value, ...]
) -> list[Value]:
    """The values with defaults for columns that were added after the row was written; empty if no match."""
    missing = len(types) + len(added) - len(values)
    if not 0 <= missing <= len(added):
        return []
    complete = [*values, *defaults[len(defaults) - missing :]]
    return complete if _has_types(complete, types + "".join(added)) else []


def _int(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _write_space(store: SqliteStore, id_: int, space: _Rows) -> SalvagedSpace:
    tenant, user = space.key or ("", f"salvaged-{id_}")
    _drop_repeated_keys(space.turns)
    from_journal = _add_thoughts_of_journal(space)
    actions = sorted(space.actions.values(), key=lambda action: action.id)
    keeps_journal = not from_journal and _is_complete(space, actions)
    if not keeps_journal:
        _drop_lost_sources(space)
        actions = _new_journal(space, from_journal)
    sessions = {turn.session for turn in space.turns.values()}
    summaries = [summary for summary in space.summaries.values() if _is_covered(summary, space.turns)]
    kept = {summary.session: summary for summary in summaries if summary.session in sessions}
    updates = [
        update
        for (session, version), update in sorted(space.updates.items())
        if session in kept and version <= kept[session].version
    ]
    turns = sorted(space.turns.values(), key=lambda turn: turn.id)
    target = store.for_tenant(tenant)
    metadata = {turn.id: space.metadata[turn.id] for turn in turns if turn.id in space.metadata}
    try:
        target.load(user, turns, actions, (), list(kept.values()), updates, metadata)
    except errors.IntegrityError:  # damage that every single row survived: keep what stands for itself
        _drop_lost_sources(space)
        keeps_journal = False
        target.load(user, turns, _new_journal(space, from_journal), (), metadata=metadata)
    last_turn, last_thought = space.counters
    return SalvagedSpace(
        tenant=tenant,
        user=user,
        turns=len(turns),
        thoughts=len(space.thoughts),
        missing_turns=max(last_turn, 0, *space.turns) - len(turns),
        missing_thoughts=max(last_thought, 0, *space.thoughts) - len(space.thoughts),
        keeps_journal=keeps_journal,
    )


def _is_covered(summary: Summary, turns: Mapping[int, Turn]) -> bool:
    return summary.turn == 0 or summary.turn in turns


def _drop_repeated_keys(turns: dict[int, Turn]) -> None:
    """A key that damage has made equal to another would prevent loading."""
    seen: set[str] = set()
    for id_, turn in sorted(turns.items()):
        if turn.key in seen:
            turns[id_] = replace(turn, key=None)
        elif turn.key is not None:
            seen.add(turn.key)


def _add_thoughts_of_journal(space: _Rows) -> set[int]:
    """Add thoughts whose row is lost as the last readable action left them. Returns their ids."""
    states = _replay(space.actions.values())
    lost = states.keys() - space.thoughts.keys()
    for id_ in lost:
        thought = states[id_]
        space.thoughts[id_] = replace(thought, retired_at=thought.retired_at or thought.recorded_at)
    return set(lost)


def _replay(actions: Iterable[Action]) -> dict[int, Thought]:
    states: dict[int, Thought] = {}
    for action in sorted(actions, key=lambda action: action.id):
        states |= {thought.id: thought for thought in action.after}
    return states


def _is_complete(space: _Rows, actions: list[Action]) -> bool:
    """Whether the journal explains all thoughts and hidden turns, and refers to nothing that is lost."""
    known: set[int] = set()
    for action in actions:
        if any(thought.id not in known for thought in action.before):
            return False
        known |= {thought.id for thought in action.after}
    by_id = {action.id: action for action in actions}
    hidden = {turn.id for turn in space.turns.values() if turn.hidden}
    hidden_by_journal = {
        turn for action in actions if action.undone_by is None for turn in action.hides if turn in space.turns
    }
    sources = {source.turn for thought in space.thoughts.values() for source in thought.sources}
    return (
        _replay(actions) == space.thoughts
        and hidden == hidden_by_journal
        and sources <= space.turns.keys()
        and all(action.turn is None or action.turn in space.turns for action in actions)
        and all(action.undoes is None or action.undoes in by_id for action in actions)
        and all(action.undone_by is None or action.undone_by in by_id for action in actions)
    )


def _drop_lost_sources(space: _Rows) -> None:
    for id_, thought in space.thoughts.items():
        sources = tuple(source for source in thought.sources if source.turn in space.turns)
        space.thoughts[id_] = replace(thought, sources=sources)


def _new_journal(space: _Rows, from_journal: set[int]) -> list[Action]:
    """One action for every thought, and one that hides the turns that were hidden."""
    actions = [
        Action(
            id=number,
            action="insert",
            reason=_STATE_UNKNOWN if id_ in from_journal else _HISTORY_LOST,
            actor=ACTOR,
            at=thought.recorded_at,
            after=(thought,),
        )
        for number, (id_, thought) in enumerate(sorted(space.thoughts.items()), start=1)
    ]
    hidden = sorted(turn.id for turn in space.turns.values() if turn.hidden)
    if hidden:
        at = max(space.turns[id_].recorded_at for id_ in hidden)
        forget = Action(
            id=len(actions) + 1,
            action="forget",
            reason=_HISTORY_LOST,
            actor=ACTOR,
            at=at,
            hides=tuple(hidden),
        )
        actions.append(forget)
    return actions
