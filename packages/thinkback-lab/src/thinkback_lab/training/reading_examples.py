"""Training examples for a small model that reads turns in the line form (`thinkback.think.line_form`).

A life is replayed with its gold facts as thoughts. Before each turn is thought about, the request for a
reader is built as the product builds it, so that the known facts of a prompt are those that search finds; the
reply is made of the gold facts of the turn. Some known facts are left out at random, because a model does not
catch all of them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from thinkback.indexing import Indexer
from thinkback.presets import HYBRID
from thinkback.think.context import ContextBuilder
from thinkback.think.contract import ProposedFact, ReadRequest
from thinkback.think.line_form import (
    MAX_KNOWN_FACTS,
    WORDINGS,
    build_prompt,
    choose_known,
    format_line,
    format_when,
)
from thinkback.types import NewTurn, Thought, Turn
from thinkback_lab.datasets.lives import GoldFact, Life, LifeTurn
from thinkback_lab.evaluations.lives_gold import create_gold_thinker
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.life_variants import make_variant

NOISY_SHARE = 0.5  # of the examples, from which known facts are left out
DROPPED_SHARE = 0.25  # of the known facts of such an example
NO_CHANGE = "none"


@dataclass(frozen=True, slots=True)
class ReadingExample:
    """One turn: the system prompt and the text of both wordings, and the reply that is right for both."""

    life: str
    turn: int
    lang: str
    first: tuple[str, str]
    second: tuple[str, str]
    reply: str


def make_examples(
    lives: Sequence[Life],
    *,
    variants: int = 0,
    noise: bool = True,
    seed: int = 0,
    embedder: str = "minilm",
    on_progress: ProgressCallback = no_progress,
) -> Iterator[ReadingExample]:
    """Examples of all turns of the lives, and of so many variants of each life (see `life_variants`)."""
    harness = Harness(Setup(embedder=embedder, think="extractive"))
    for done, life in enumerate(lives, start=1):
        turns = list(_requests(harness, life))
        for variant in range(variants + 1):
            chance = random.Random(f"{seed} {life.id} {variant}")  # noqa: S311
            change = make_variant(life, chance) if variant else None
            for read in turns:
                request = _with_gaps(read.request_with_targets(), chance) if noise else read.request
                example = _example(life, read, request)
                yield example if change is None else _changed(example, change)
        on_progress(done, len(lives))


@dataclass(frozen=True, slots=True)
class _TurnToRead:
    """A turn, the request to read it, the thoughts of the facts that hold before it, and those it retires."""

    turn: LifeTurn
    request: ReadRequest
    thought_ids: Mapping[str, int]
    retired: tuple[Thought, ...]

    def request_with_targets(self) -> ReadRequest:
        """The request with all thoughts that the turn retires, also those that search did not find."""
        known = choose_known(self.request, self.turn.user)
        missing = [thought for thought in self.retired if thought not in known]
        if not missing:
            return self.request
        others = [thought for thought in known if thought not in self.retired]
        surplus = max(0, len(known) + len(missing) - MAX_KNOWN_FACTS)
        related = {*others[surplus:], *self.retired}
        return replace(self.request, related=tuple(sorted(related, key=lambda thought: thought.id)))


def _with_gaps(request: ReadRequest, chance: random.Random) -> ReadRequest:
    """The request, in some cases without some of the known facts."""
    if chance.random() >= NOISY_SHARE:
        return request
    kept = tuple(thought for thought in request.related if chance.random() >= DROPPED_SHARE)
    return replace(request, related=kept)


def _changed(example: ReadingExample, change: Callable[[str], str]) -> ReadingExample:
    return replace(
        example,
        first=(example.first[0], change(example.first[1])),
        second=(example.second[0], change(example.second[1])),
        reply=change(example.reply),
    )


def _requests(harness: Harness, life: Life) -> Iterator[_TurnToRead]:
    """Every turn of a life with the request to read it."""
    clock = ManualClock()
    with harness.open(clock) as opened:
        memory = opened.for_user(life.id)
        thinker = create_gold_thinker(memory)
        builder = ContextBuilder(memory.store, Indexer(memory.store, memory.embedder, HYBRID))
        for turn in life.turns:
            clock.now = turn.at
            # `remember` would carry out commands such as "forget that": here the gold says what is forgotten.
            new = NewTurn(query=turn.user, response=turn.assistant, at=turn.at, session=turn.session)
            (stored,) = memory.store.append(memory.user, [new], turn.at)
            facts = {*turn.ends, *turn.forget, *(id_ for fact in turn.facts for id_ in fact.replaces)}
            ids = sorted(thinker.thought_ids[fact] for fact in facts if fact in thinker.thought_ids)
            retired = memory.store.thoughts(memory.user, ids=ids) if ids else []
            request = builder.build(memory.user, [stored])
            yield _TurnToRead(turn, request, dict(thinker.thought_ids), tuple(retired))
            thinker.think(turn)


def _example(life: Life, read: _TurnToRead, request: ReadRequest) -> ReadingExample:
    stored = request.turns[0]
    prompts = [build_prompt(request, stored.query, wording) for wording in WORDINGS]
    # Both wordings show the same facts under the same numbers, unless one of them had to leave some out.
    known = min((prompt.known for prompt in prompts), key=len)
    if any(prompt.known != known for prompt in prompts):
        request = replace(request, related=known)
        prompts = [build_prompt(request, stored.query, wording) for wording in WORDINGS]
    numbers = {thought.id: number for number, thought in enumerate(known, start=1)}
    reply = "\n".join(_lines(read.turn, stored, numbers, read.thought_ids)) or NO_CHANGE
    first, second = ((prompt.messages[0].content, prompt.text) for prompt in prompts)
    return ReadingExample(life.id, read.turn.n, life.lang, first, second, reply)


def _lines(
    turn: LifeTurn, stored: Turn, numbers: Mapping[int, int], thought_ids: Mapping[str, int]
) -> Iterator[str]:
    used: set[int] = set()

    def take(facts: Iterable[str]) -> list[int]:
        ids = (thought_ids[fact] for fact in facts if fact in thought_ids)
        shown = {numbers[id_] for id_ in ids if id_ in numbers}
        fresh = sorted(shown - used)
        used.update(fresh)
        return fresh

    for fact in turn.facts:
        replaced = take(fact.replaces)
        when = format_when(fact.valid_from, fact.valid_to, stored.at)
        yield format_line("replace" if replaced else "add", replaced, _proposed(fact), when)
    if ended := take(turn.ends):
        yield format_line("end", ended)
    if forgotten := take(turn.forget):
        yield format_line("forget", forgotten)


def _proposed(fact: GoldFact) -> ProposedFact:
    return ProposedFact(
        about=fact.about, relation=fact.relation, value=fact.value, sentence=fact.text, kind=fact.kind
    )


def shown_targets(lives: Sequence[Life], embedder: str = "minilm") -> dict[str, float]:
    """How many of the facts that turns retire are found by search, and shown in the prompt."""
    harness = Harness(Setup(embedder=embedder, think="extractive"))
    found = shown = total = 0
    for read in (item for life in lives for item in _requests(harness, life)):
        total += len(read.retired)
        found += len({*read.retired} & {*read.request.related})
        shown += len({*read.retired} & {*choose_known(read.request, read.turn.user)})
    return {"targets": total, "found": found / max(total, 1), "shown": shown / max(total, 1)}


def write_examples(path: Path, examples: Iterable[ReadingExample]) -> int:
    """Write the examples as JSON lines; returns their number."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
            count += 1
    return count
