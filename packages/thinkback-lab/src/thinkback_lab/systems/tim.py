"""Think-in-Memory as in each paper, on thinkback's thoughts: `tim:002` (arXiv), `tim:000` (EMNLP), `tim:001`
(ACL).

In all three, thoughts are extracted from each turn, a random R in H(x) = argmax([xR; -xR]) assigns them to
groups, and a question is compared by cosine with the thoughts of its own group only.

| | 002 (arXiv) | 000 (EMNLP) | 001 (ACL) |
|---|---|---|---|
| memory | thoughts | thoughts and raw turns | thoughts and raw turns |
| a thought is hashed by | its own embedding | its turn's embedding | its turn's embedding |
| no relevant thought in the group | recall nothing | raw turns by cosine | raw turns by cosine |
| a new thought supersedes an old one | in its group | in its group | in any group (Algorithm 1) |

Not specified by the papers: the relevance threshold (cosine 0.2 in 000 and 001, none in 002), the search of
raw turns (exhaustive), and the size of R (groups of about 25 to 50). Knowledge notes are triples, that is
thoughts (Definition 2), and are added to the table unchanged. Deviations: entities are resolved in all three
(only 001 does); superseding and merging are guarded, where Algorithm 1 would always keep the newest; the
integrator (Eq. 7 of 000, Eq. 6 of 001) is omitted, because it does not change retrieval.
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
    """How the papers differ."""

    preset: Preset
    bank: bool
    across_groups: bool  # a thought may supersede one of another group
    min_cosine: float = -1.0  # below every cosine


@dataclass(frozen=True, slots=True)
class ThoughtRow:
    """A thought in the hash table: text, source items, and the text whose embedding selects the group."""

    text: str
    sources: tuple[str, ...]
    key: str


class HashTable:
    """Rows with their vectors and groups, and the matrix R."""

    def __init__(self, rows: Sequence[ThoughtRow], embed: Embed) -> None:
        self.rows = rows
        self._vectors = embed([row.text for row in rows])
        keys = embed([row.key for row in rows])
        self._matrix = random_matrix(keys.shape[1], len(rows))
        self.groups = hash_groups(keys, self._matrix)

    def drop(self, positions: Sequence[int]) -> None:
        """Remove rows from their groups, so that no question finds them."""
        self.groups[list(positions)] = -1

    def nearest(self, query: Vectors, k: int, min_cosine: float) -> list[RetrievedMemory]:
        """Stage 1: the question's group; stage 2: cosine within it."""
        (positions,) = np.nonzero(self.groups == hash_groups(query, self._matrix))
        cosine = self._vectors[positions] @ query[0]
        order = [at for at in np.argsort(-cosine, kind="stable").tolist() if cosine[at] >= min_cosine]
        rows = [(self.rows[positions[at]], float(cosine[at])) for at in order[:k]]
        return [RetrievedMemory(row.text, row.sources, score) for row, score in rows]


class TiM:
    """The hash table is rebuilt lazily after items were added."""

    def __init__(self, resources: Resources, paper: PaperVariant) -> None:
        self._embed = resources.embedder.embed
        self._paper = paper
        self.thinkback = ThinkbackSystem(resources, paper.preset)
        self._bank = RawTurns(resources) if paper.bank else None
        self._triples: list[ThoughtRow] = []
        self._table: HashTable | None = None

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self.thinkback.add_items([item for item in items if item.kind != "knowledge"])
        self._triples += (
            ThoughtRow(item.text, (item.id,), item.text) for item in items if item.kind == "knowledge"
        )
        self._table = None
        if self._bank is not None:
            self._bank.add_items(items)

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        table = self._table = self._table or self._build_table()
        found = table.nearest(self._embed([question]), k, self._paper.min_cosine) if table.rows else []
        return found if found or self._bank is None else self._bank.recall(question, k, at)

    def close(self) -> None:
        self.thinkback.close()

    def _build_table(self) -> HashTable:
        thoughts = self.thinkback.memory.thoughts(current=False)
        table = HashTable([*map(self._row, thoughts), *self._triples], self._embed)
        groups = {thought.id: group for thought, group in zip(thoughts, table.groups.tolist(), strict=False)}
        current = self.current_ids(thoughts, groups)
        table.drop([position for position, thought in enumerate(thoughts) if thought.id not in current])
        return table

    def _row(self, thought: Thought) -> ThoughtRow:
        (turn,) = self.thinkback.memory.store.turns(self.thinkback.memory.user, ids=[thought.last_turn])
        key = thought.sentence if self._paper.preset.group_by == "thought" else turn.text
        return ThoughtRow(
            thought.sentence, self.thinkback.items_of(source.turn for source in thought.sources), key
        )

    def current_ids(self, thoughts: Sequence[Thought], groups: Mapping[int, int]) -> set[int]:
        """Current thoughts; with separate groups also those superseded only by thoughts of other groups."""
        ids = {thought.id for thought in thoughts if thought.current}
        for action in self.thinkback.memory.journal() if not self._paper.across_groups else ():
            if action.action == "supersede" and action.undone_by is None:
                newer = {groups.get(thought.id) for thought in action.changed if thought.current}
                older = [thought.id for thought in action.changed if not thought.current]
                ids |= {id_ for id_ in older if id_ in groups and groups[id_] not in newer}
        return ids


def random_matrix(dim: int, rows: int) -> Vectors:
    """R of shape (d, b/2), standard normal, with so many groups b that two of them share about 50 rows."""
    columns = 1
    while columns * GROUP_SIZE < rows:
        columns *= 2
    return np.random.Generator(np.random.PCG64(0)).standard_normal((dim, columns), dtype=np.float32)


def hash_groups(vectors: Vectors, matrix: Vectors) -> Groups:
    """H(x) = argmax([xR; -xR]) of every row."""
    projected = vectors @ matrix
    groups: Groups = np.argmax(np.hstack([projected, -projected]), axis=1)
    return groups


PAPERS = {
    "000": PaperVariant(_TIM_PRESET, bank=True, across_groups=False, min_cosine=MIN_COSINE),
    "001": PaperVariant(_TIM_PRESET, bank=True, across_groups=True, min_cosine=MIN_COSINE),
    "002": PaperVariant(replace(_TIM_PRESET, group_by="thought"), bank=False, across_groups=False),
}


def tim_variant(argument: str = "002") -> SystemFactory:
    """Make the variant of one paper: `tim:000`, `tim:001` or `tim:002`."""
    if argument not in PAPERS:
        raise LabError(f"tim:{argument}: choose from {', '.join(PAPERS)}")
    return lambda kit: TiM(kit, PAPERS[argument])
