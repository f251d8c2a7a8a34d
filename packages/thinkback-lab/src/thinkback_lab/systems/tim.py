"""Think-in-Memory as in each paper: `tim:002` (the first), `tim:000`, `tim:001`, on thinkback's thoughts.

What all three share: thoughts are drawn from each turn, the random R of H(x) = argmax([xR; -xR]) puts them
into groups, and a question is compared by cosine with the thoughts of its own group and no other.

| | 002 | 000 | 001 |
|---|---|---|---|
| memory | thoughts alone | thoughts, and the bank of raw turns | the same |
| a thought's group is that of | its own embedding | its turn's embedding | its turn's embedding |
| no relevant thought in the group | nothing is recalled | the bank, by cosine | the bank, by cosine |
| a newer thought retires an older one | of its group | of its group | wherever it is (Algorithm 1) |

Where the papers are silent: a thought is relevant (000, 001) from a cosine of 0.2, in 002 every thought of
the group is; the bank is compared whole, for only the first stage hashes; R has so many columns that a
group holds about 25 to 50. A knowledge note is a triple, hence a thought (Definition 2): it goes into the
table as it is. Where we deviate: who is who is resolved in all three, as thinkback always does (only 001
has it); retiring and merging are guarded, so that what one likes adds up, where Algorithm 1 would keep the
last; the integrator (Eq. 7 of 000, Eq. 6 of 001), by which a model rewrites what was recalled, changes no
retrieval and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from thinkback import Preset, Thought
from thinkback_lab.cases import HistoryItem
from thinkback_lab.errors import LabError
from thinkback_lab.systems.baselines import RawTurns
from thinkback_lab.systems.interface import Resources, RetrievedMemory, SystemFactory
from thinkback_lab.systems.thinkback import ThinkbackSystem

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    Groups = npt.NDArray[np.int64]
    Embed = Callable[[Sequence[str]], Vectors]

MIN_COSINE = 0.2
GROUP_SIZE = 50
_TIM_PRESET = Preset(
    name="tim",
    cosine=1.0,
    lexical=0.0,
    threshold=MIN_COSINE,
    fill_threshold=MIN_COSINE,
    scan_below=0,
    learned_hashing=False,
    target_recall=0.0,
)


@dataclass(frozen=True, slots=True)
class PaperVariant:
    """In what the versions differ."""

    preset: Preset
    bank: bool
    across_groups: bool  # whether a thought may retire one of another group
    min_cosine: float = -1.0  # below every cosine


@dataclass(frozen=True, slots=True)
class ThoughtRow:
    """A thought in the hash table: what it says, where it comes from, and whose embedding places it."""

    text: str
    sources: tuple[str, ...]
    key: str


class HashTable:
    """The hash table: rows with their vectors and groups, and the R that made these."""

    def __init__(self, rows: Sequence[ThoughtRow], embed: Embed) -> None:
        self.rows = rows
        self._vectors = embed([row.text for row in rows])
        keys = embed([row.key for row in rows])
        self._matrix = random_matrix(keys.shape[1], len(rows))
        self.groups = hash_groups(keys, self._matrix)

    def drop(self, places: Sequence[int]) -> None:
        """These rows are in no group any more, so that no question finds them."""
        self.groups[list(places)] = -1

    def nearest(self, asked: Vectors, k: int, relevant: float) -> list[RetrievedMemory]:
        """Stage 1, the question's group; stage 2, cosine inside it."""
        (places,) = np.nonzero(self.groups == hash_groups(asked, self._matrix))
        cosine = self._vectors[places] @ asked[0]
        order = [at for at in np.argsort(-cosine, kind="stable").tolist() if cosine[at] >= relevant]
        rows = [(self.rows[places[at]], float(cosine[at])) for at in order[:k]]
        return [RetrievedMemory(row.text, row.sources, score) for row, score in rows]


class TiM:
    """The table is made when it is asked for, anew after more was told."""

    def __init__(self, resources: Resources, paper: PaperVariant) -> None:
        self._embed = resources.embedder.embed
        self._paper = paper
        self.thinkback = ThinkbackSystem(resources, paper.preset)
        self._bank = RawTurns(resources) if paper.bank else None
        self._triples: list[ThoughtRow] = []
        self._table: HashTable | None = None

    def tell(self, items: Sequence[HistoryItem]) -> None:
        self.thinkback.tell([item for item in items if item.kind != "knowledge"])
        self._triples += (
            ThoughtRow(item.text, (item.id,), item.text) for item in items if item.kind == "knowledge"
        )
        self._table = None
        if self._bank is not None:
            self._bank.tell(items)

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        table = self._table = self._table or self._build_table()
        found = table.nearest(self._embed([question]), k, self._paper.min_cosine) if table.rows else []
        return found if found or self._bank is None else self._bank.recall(question, k, at)

    def close(self) -> None:
        self.thinkback.close()

    def _build_table(self) -> HashTable:
        thoughts = self.thinkback.memory.thoughts(current=False)
        every = HashTable([*map(self._row, thoughts), *self._triples], self._embed)
        groups = {thought.id: group for thought, group in zip(thoughts, every.groups.tolist(), strict=False)}
        held = self.current_ids(thoughts, groups)
        every.drop([place for place, thought in enumerate(thoughts) if thought.id not in held])
        return every

    def _row(self, thought: Thought) -> ThoughtRow:
        (turn,) = self.thinkback.memory.store.turns(self.thinkback.memory.user, ids=[thought.last_turn])
        key = thought.sentence if self._paper.preset.group_by == "thought" else turn.text
        return ThoughtRow(
            thought.sentence, self.thinkback.items_of(source.turn for source in thought.sources), key
        )

    def current_ids(self, thoughts: Sequence[Thought], groups: Mapping[int, int]) -> set[int]:
        """What is current; and, in separate groups, what only a thought of another group retired."""
        held = {thought.id for thought in thoughts if thought.current}
        for action in self.thinkback.memory.journal() if not self._paper.across_groups else ():
            if action.action == "supersede" and action.undone_by is None:
                newer = {groups.get(thought.id) for thought in action.changed if thought.current}
                older = [thought.id for thought in action.changed if not thought.current]
                held |= {id_ for id_ in older if id_ in groups and groups[id_] not in newer}
        return held


def random_matrix(dim: int, rows: int) -> Vectors:
    """R of shape (d, b/2), standard normal: b groups, so many that about 50 rows share two of them."""
    columns = 1
    while columns * GROUP_SIZE < rows:
        columns *= 2
    return np.random.Generator(np.random.PCG64(0)).standard_normal((dim, columns), dtype=np.float32)


def hash_groups(vectors: Vectors, matrix: Vectors) -> Groups:
    """H(x) = argmax([xR; -xR]) of every row."""
    projected = vectors @ matrix
    found: Groups = np.argmax(np.hstack([projected, -projected]), axis=1)
    return found


PAPERS = {
    "000": PaperVariant(_TIM_PRESET, bank=True, across_groups=False, min_cosine=MIN_COSINE),
    "001": PaperVariant(_TIM_PRESET, bank=True, across_groups=True, min_cosine=MIN_COSINE),
    "002": PaperVariant(replace(_TIM_PRESET, group_by="thought"), bank=False, across_groups=False),
}


def tim_variant(argument: str = "002") -> SystemFactory:
    """`tim:000`, `tim:001`, `tim:002`: the numbers of the seeds."""
    if argument not in PAPERS:
        raise LabError(f"tim:{argument}: there are {', '.join(PAPERS)}")
    return lambda kit: TiM(kit, PAPERS[argument])
