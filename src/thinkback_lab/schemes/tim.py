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
from thinkback_lab.cases import Item
from thinkback_lab.errors import LabError
from thinkback_lab.schemes.ours import Thinkback
from thinkback_lab.schemes.raw import Raw
from thinkback_lab.schemes.scheme import Found, Kit, Scheme

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    Groups = npt.NDArray[np.int64]
    Embed = Callable[[Sequence[str]], Vectors]

RELEVANT = 0.2
GROUP = 50
_BY_TURN = Preset(
    name="tim",
    cosine=1.0,
    lexical=0.0,
    threshold=RELEVANT,
    nearly=RELEVANT,
    scan_below=0,
    learned=False,
    target=0.0,
)


@dataclass(frozen=True, slots=True)
class Paper:
    """In what the versions differ."""

    preset: Preset
    bank: bool
    across: bool  # whether a thought may retire one of another group
    relevant: float = -1.0  # below every cosine


@dataclass(frozen=True, slots=True)
class Row:
    """A thought in the hash table: what it says, where it comes from, and whose embedding places it."""

    text: str
    sources: tuple[str, ...]
    key: str


class Table:
    """The hash table: rows with their vectors and groups, and the R that made these."""

    def __init__(self, rows: Sequence[Row], embed: Embed) -> None:
        self.rows = rows
        self._vectors = embed([row.text for row in rows])
        keys = embed([row.key for row in rows])
        self._matrix = random_matrix(keys.shape[1], len(rows))
        self.groups = hashed(keys, self._matrix)

    def drop(self, places: Sequence[int]) -> None:
        """These rows are in no group any more, so that no question finds them."""
        self.groups[list(places)] = -1

    def nearest(self, asked: Vectors, k: int, relevant: float) -> list[Found]:
        """Stage 1, the question's group; stage 2, cosine inside it."""
        (places,) = np.nonzero(self.groups == hashed(asked, self._matrix))
        cosine = self._vectors[places] @ asked[0]
        order = [at for at in np.argsort(-cosine, kind="stable").tolist() if cosine[at] >= relevant]
        rows = [(self.rows[places[at]], float(cosine[at])) for at in order[:k]]
        return [Found(row.text, row.sources, score) for row, score in rows]


class TiM:
    """The table is made when it is asked for, anew after more was told."""

    def __init__(self, kit: Kit, paper: Paper) -> None:
        self._embed = kit.embedder.embed
        self._paper = paper
        self.thinks = Thinkback(kit, paper.preset)
        self._bank = Raw(kit) if paper.bank else None
        self._triples: list[Row] = []
        self._table: Table | None = None

    def tell(self, items: Sequence[Item]) -> None:
        self.thinks.tell([item for item in items if item.kind != "knowledge"])
        self._triples += (Row(item.text, (item.id,), item.text) for item in items if item.kind == "knowledge")
        self._table = None
        if self._bank is not None:
            self._bank.tell(items)

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        table = self._table = self._table or self._made()
        found = table.nearest(self._embed([question]), k, self._paper.relevant) if table.rows else []
        return found if found or self._bank is None else self._bank.recall(question, k, at)

    def close(self) -> None:
        self.thinks.close()

    def _made(self) -> Table:
        thoughts = self.thinks.memory.thoughts(current=False)
        every = Table([*map(self._row, thoughts), *self._triples], self._embed)
        groups = {thought.id: group for thought, group in zip(thoughts, every.groups.tolist(), strict=False)}
        held = self.held(thoughts, groups)
        every.drop([place for place, thought in enumerate(thoughts) if thought.id not in held])
        return every

    def _row(self, thought: Thought) -> Row:
        (turn,) = self.thinks.memory.store.turns(self.thinks.memory.user, ids=[thought.last_turn])
        key = thought.sentence if self._paper.preset.group_by == "thought" else turn.text
        return Row(thought.sentence, self.thinks.items_of(source.turn for source in thought.sources), key)

    def held(self, thoughts: Sequence[Thought], groups: Mapping[int, int]) -> set[int]:
        """What is current; and, in separate groups, what only a thought of another group retired."""
        held = {thought.id for thought in thoughts if thought.current}
        for action in self.thinks.memory.journal() if not self._paper.across else ():
            if action.action == "supersede" and action.undone_by is None:
                newer = {groups.get(thought.id) for thought in action.changed if thought.current}
                older = [thought.id for thought in action.changed if not thought.current]
                held |= {id_ for id_ in older if id_ in groups and groups[id_] not in newer}
        return held


def random_matrix(dim: int, rows: int) -> Vectors:
    """R of shape (d, b/2), standard normal: b groups, so many that about 50 rows share two of them."""
    columns = 1
    while columns * GROUP < rows:
        columns *= 2
    return np.random.Generator(np.random.PCG64(0)).standard_normal((dim, columns), dtype=np.float32)


def hashed(vectors: Vectors, matrix: Vectors) -> Groups:
    """H(x) = argmax([xR; -xR]) of every row."""
    projected = vectors @ matrix
    found: Groups = np.argmax(np.hstack([projected, -projected]), axis=1)
    return found


PAPERS = {
    "000": Paper(_BY_TURN, bank=True, across=False, relevant=RELEVANT),
    "001": Paper(_BY_TURN, bank=True, across=True, relevant=RELEVANT),
    "002": Paper(replace(_BY_TURN, group_by="thought"), bank=False, across=False),
}


def version(argument: str = "002") -> Scheme:
    """`tim:000`, `tim:001`, `tim:002`: the numbers of the seeds."""
    if argument not in PAPERS:
        raise LabError(f"tim:{argument}: there are {', '.join(PAPERS)}")
    return lambda kit: TiM(kit, PAPERS[argument])
