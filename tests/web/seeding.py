"""Fills databases for the browser tests: thoughts are written through the store, without thinking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from thinkback.errors import ConcurrentUpdate
from thinkback.indexing import Indexer
from thinkback.memory import Memory
from thinkback.presets import HYBRID
from thinkback.types import KINDS, Kind, NewTurn, Operation, Plan, Source, ThoughtDraft

START = datetime(2021, 3, 1, 9, tzinfo=UTC)
BATCH_SIZE = 500
PEOPLE = ("user", "Anna", "Bela", "Chen", "Dora", "Emil", "Farid", "Greta", "Hugo", "Ines")
PLACES = ("Lyon", "Oslo", "Porto", "Quito", "Turin", "Delhi", "Accra", "Osaka", "Leeds", "Basel")
THINGS = (
    "boat",
    "garden",
    "violin",
    "bicycle",
    "novel",
    "bakery",
    "telescope",
    "greenhouse",
    "camera",
    "loom",
)


@dataclass(frozen=True)
class Fact:
    """A thought to be stored, when it became true, and the id of the thought that it replaces."""

    sentence: str
    subject: str = "user"
    relation: str = "has"
    value: str = ""
    kind: Kind = "profile"
    at: datetime = START
    session: str = "s1"
    replaces: int | None = None


def add_facts(memory: Memory, facts: Sequence[Fact]) -> None:
    """Store each fact as a turn and a thought that quotes it."""
    store, space = memory.store, memory.user
    indexer = Indexer(store, memory.embedder, HYBRID)
    for fact in facts:
        (turn,) = store.append(
            space, [NewTurn(query=fact.sentence, at=fact.at, session=fact.session)], fact.at
        )
        _apply(memory, indexer, [(turn.id, fact)], fact.at)


def add_many_facts(memory: Memory, facts: Sequence[Fact]) -> None:
    """Like `add_facts`, with many thoughts per turn: fast enough for 10,000 of them."""
    indexer = Indexer(memory.store, memory.embedder, HYBRID)
    for chunk in _batches(facts):
        new = NewTurn(query="\n".join(fact.sentence for fact in chunk), at=chunk[0].at, session="many")
        (turn,) = memory.store.append(memory.user, [new], chunk[0].at)
        _apply(memory, indexer, [(turn.id, fact) for fact in chunk], chunk[0].at)
    indexer.regroup(memory.user)


def add_turns(memory: Memory, turns: Sequence[NewTurn]) -> None:
    """Store turns that need no thinking any more."""
    memory.store.append(memory.user, turns, START)
    while claimed := memory.store.claim(memory.user, 1, 600, datetime.now(UTC)):
        plan = Plan(turn=claimed[0].turn.id, lease=claimed[0].lease, actor="test")
        memory.store.apply(memory.user, plan, [], START)


def _batches(facts: Sequence[Fact]) -> list[Sequence[Fact]]:
    return [facts[start : start + BATCH_SIZE] for start in range(0, len(facts), BATCH_SIZE)]


def _apply(memory: Memory, indexer: Indexer, facts: Sequence[tuple[int, Fact]], now: datetime) -> None:
    # leased by the real time, which is that of the server beside
    (claimed,) = memory.store.claim(memory.user, 1, 600, datetime.now(UTC))
    operations = tuple(
        Operation(
            action="supersede" if fact.replaces else "insert",
            reason="newer" if fact.replaces else "new",
            retire=(fact.replaces,) if fact.replaces else (),
            add=(
                ThoughtDraft(
                    subject=fact.subject,
                    relation=fact.relation,
                    objects=(fact.value or fact.sentence,),
                    sentence=fact.sentence,
                    kind=fact.kind,
                    sources=(Source(turn, "user", "query", 0, len(fact.sentence)),),
                    valid_from=fact.at,
                ),
            ),
        )
        for turn, fact in facts
    )
    plan = Plan(turn=claimed.turn.id, lease=claimed.lease, actor="test", operations=operations)
    while True:
        entries, epoch = indexer.entries_for_plan(memory.user, plan)
        try:
            memory.store.apply(memory.user, plan, entries, now, epoch)
            return
        except ConcurrentUpdate:  # the server has just organised the index of this user
            continue


def open_memory(path: Path, user: str = "default", tenant: str = "", embedder: str = "hashing") -> Memory:
    return Memory(path, user=user, tenant=tenant, embedder=embedder, background=False)


def many_facts(count: int) -> list[Fact]:
    """Distinct facts about several people over several years."""
    facts = []
    for number in range(count):
        person, place = PEOPLE[number % 10], PLACES[number // 10 % 10]
        thing = THINGS[number // 100 % 10]
        sentence = f"{person} keeps {thing} number {number} in {place}."
        kind = KINDS[number % len(KINDS)]
        at = START + timedelta(hours=4 * number)
        facts.append(Fact(sentence, person, "keeps", f"{thing} number {number}", kind, at))
    return facts


def chat_turn(text: str) -> NewTurn:
    """A turn whose message and answer are both this text."""
    return NewTurn(query=text, response=text, at=START, session="chat")


def demo_facts() -> list[Fact]:
    """A small memory with several people and kinds."""
    rows: list[tuple[str, str, str, str, Kind]] = [
        ("The user lives in Lyon.", "user", "lives in", "Lyon", "profile"),
        ("The user works as a nurse.", "user", "works as", "nurse", "profile"),
        ("Anna is the sister of the user.", "user", "sister", "Anna", "relationship"),
        ("Anna lives in Porto.", "Anna", "lives in", "Porto", "profile"),
        ("Anna is allergic to peanuts.", "Anna", "allergic to", "peanuts", "profile"),
        ("The user started at the hospital.", "user", "started at", "hospital", "event"),
        ("Bela teaches the user the violin.", "Bela", "teaches", "violin", "relationship"),
        ("The hospital has three wards.", "hospital", "has", "three wards", "knowledge"),
        ("The user promised Bela a concert ticket.", "user", "promised", "concert ticket", "dialogue"),
        ("The user is allergic to penicillin.", "user", "allergic to", "penicillin", "profile"),
        ("The user plans a trip to Oslo.", "user", "plans", "trip to Oslo", "event"),
        ("Chen is a colleague of the user.", "user", "colleague", "Chen", "relationship"),
    ]
    return [
        Fact(
            sentence,
            subject,
            relation,
            value,
            kind,
            START + timedelta(days=60 * number),
            f"s{number // 4 + 1}",
        )
        for number, (sentence, subject, relation, value, kind) in enumerate(rows)
    ]
