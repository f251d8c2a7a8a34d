"""Turns and thoughts with what recalls derive from them: computed when first needed, and kept with the row.

The derived values depend on the memory alone, so they hold for as long as the row is cached.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, cached_property

from thinkback.language.clauses import telling_clauses
from thinkback.language.commands import blank_requests, is_only_commands
from thinkback.language.kind_features import guess_kind
from thinkback.language.names import USER, normalise_name
from thinkback.language.questions import AnswerTest
from thinkback.language.relations import canonical_relation, list_relations
from thinkback.language.safety.quarantine import redact_memory, withheld_reason
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.tokens import extract_terms, said_terms
from thinkback.recall.display import format_exchange, format_query
from thinkback.types import SAID, Kind, Ref, Thought, Turn

_MAX_QUESTION_CHARS = 2000  # of a turn, to decide whether it only asks questions
_MULTIPLE_KINDS = frozenset(("relationship", "dialogue"))  # several people and topics share one relation
_DATE = re.compile(
    r"\d[\d:./年月日号-]*"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)


class _Row:
    """What the rows of both kinds have in common."""

    memory: Turn | Thought
    text: str

    def __init__(self) -> None:
        self.id = self.memory.id
        self._forms: dict[AnswerTest, bool] = {}

    @cached_property
    def ref(self) -> Ref:
        return self.memory.ref

    @cached_property
    def withheld_reason(self) -> str | None:
        """Why the memory must not be recalled at all; None if it may be."""
        return withheld_reason(self.memory)

    def has_form(self, test: AnswerTest) -> bool:
        """Whether the text has the form of an answer."""
        found = self._forms.get(test)
        if found is None:
            found = self._forms[test] = test(self.text)
        return found


class TurnRow(_Row):
    """A turn with what is derived from it."""

    is_turn = True
    is_spoken = False

    def __init__(self, turn: Turn) -> None:
        self.memory: Turn = turn
        self.text = turn.text
        super().__init__()

    @cached_property
    def redacted(self) -> TurnRow:
        """The turn without instructions, secrets and requests to forget."""
        safe = redact_memory(self.memory)
        query = blank_requests(safe.query)
        if query != safe.query:
            safe = replace(safe, query=query.rstrip())
        return self if safe is self.memory else TurnRow(safe)

    @cached_property
    def kind(self) -> Kind | None:
        """A guess of the kind of memory; None if unknown, or if the turn has a response."""
        return None if self.memory.response else guess_kind(self.memory.query)

    @cached_property
    def normalised_query(self) -> str:
        return normalise_name(self.memory.query)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What the user said, in terms."""
        return said_terms(self.memory.query)

    @cached_property
    def is_only_commands(self) -> bool:
        return is_only_commands(self.memory.query)

    @cached_property
    def is_only_questions(self) -> bool:
        query = self.memory.query[:_MAX_QUESTION_CHARS]
        if not all(is_question(sentence.text) for sentence in split_sentences(query)):
            return False
        return not telling_clauses(query)

    @cached_property
    def query_text(self) -> str:
        """The user's words with speaker and date."""
        return format_query(self.memory)

    @cached_property
    def exchange_text(self) -> str:
        """The same with the reply."""
        return format_exchange(self.memory)


class ThoughtRow(_Row):
    """A thought with what is derived from it."""

    is_turn = False

    def __init__(self, thought: Thought) -> None:
        self.memory: Thought = thought
        self.kind: Kind | None = thought.kind
        self.text = thought.sentence
        self.is_spoken = thought.relation == SAID  # a sentence of the user kept as said
        self.last_turn = thought.last_turn
        super().__init__()

    @cached_property
    def source_turns(self) -> frozenset[int]:
        return frozenset(source.turn for source in self.memory.sources)

    @cached_property
    def redacted(self) -> ThoughtRow:
        """The thought without instructions and secrets."""
        safe = redact_memory(self.memory)
        return self if safe is self.memory else ThoughtRow(safe)

    @cached_property
    def join_keys(self) -> frozenset[tuple[str, ...]]:
        """Thoughts with a common key may be shown in one item.

        So those of one turn, those with the same subject and relation, and those about the same other person
        or thing. A sentence that is kept as said is its own object; its relation says nothing.
        """
        thought = self.memory
        keys: set[tuple[str, ...]] = {("turn", str(turn)) for turn in self.source_turns}
        if thought.objects != (thought.sentence,):
            keys.add(("slot", thought.subject, thought.relation))
            if thought.subject != USER:
                keys.add(("subject", thought.subject))
        return frozenset(keys)

    @cached_property
    def series(self) -> tuple[str, tuple[str, ...]]:
        """Thoughts of one series: same subject and relation, whatever its date ("weight in May 2025")."""
        words = tuple(extract_terms(_DATE.sub(" ", self.memory.relation)))
        return normalise_name(self.memory.subject), words or (self.memory.relation,)

    @cached_property
    def slot(self) -> tuple[str, str] | None:
        """Subject and relation of a thought that a newer one may replace; None for others."""
        thought = self.memory
        has_slot = (
            thought.current
            and not self.is_spoken
            and canonical_relation(thought.relation) not in _multi_valued()
            and thought.kind not in _MULTIPLE_KINDS
            and not thought.negated
            and bool(thought.sources)
        )
        return (normalise_name(thought.subject), thought.relation.casefold()) if has_slot else None


MemoryRow = ThoughtRow | TurnRow


@cache
def _multi_valued() -> frozenset[str]:
    return frozenset(relation.name for relation in list_relations() if not relation.single_valued)
