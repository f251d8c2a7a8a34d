"""Draft generators: the protocol, the LLM generator, rules and LLM combined, and the choice between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from thinkback.errors import BadReply, InvalidInput
from thinkback.language.names import normalise_name
from thinkback.language.relations import get_relation
from thinkback.language.yes_no_answers import find_yes_no_answer
from thinkback.prompts import load_prompt
from thinkback.protocols import LLM
from thinkback.think.comparison_keys import object_key, thought_key
from thinkback.think.consolidate import LLMConsolidator
from thinkback.think.prompt_lines import (
    PromptLine,
    max_thoughts_in,
    render_exchange,
    statement_lines,
    uncovered_lines,
)
from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import Message, ThoughtDraft, Turn


class ThoughtGenerator(Protocol):
    """Reads a turn and drafts thoughts about it, by rules, by a model, or by both."""

    @property
    def name(self) -> str:
        """Recorded in the journal as the actor, with the version of the prompt if one is used."""
        ...

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """Draft the thoughts of one turn; an empty list is a normal result.

        Args:
            turn: The turn to read.
            recent: The turns just before it in the same session, oldest first. They only help to resolve
                references such as "she"; no thought is drafted from them.

        Raises:
            ModelError: the model failed or its reply cannot be used.
        """
        ...


MAX_REPLY_TOKENS = 1024
_EMPTY_REPLY_HINT = 'If they state no fact in their own words, reply {"thoughts":[]}'


@dataclass(frozen=True, slots=True)
class LLMGenerator:
    """Asks the model for facts stated in the turn; `reply_parser` drops unsupported ones."""

    llm: LLM

    @property
    def name(self) -> str:
        return f"{self.llm.name} generate@{load_prompt('thinkback.think', 'generate').version}"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """Draft the thoughts of all statements of a turn.

        Raises:
            BadReply: the model's second reply cannot be used either.
        """
        return self.generate_for_lines(turn, statement_lines(turn), recent)

    def generate_for_lines(
        self, turn: Turn, lines_to_read: Sequence[PromptLine], recent: Sequence[Turn] = ()
    ) -> list[ThoughtDraft]:
        """Draft the thoughts of these lines only; without lines the model is not called.

        An unusable reply is requested once more. The second request says what was wrong, because at
        temperature 0 the same request would bring the same reply.
        """
        # Imported here: both need pydantic, which would slow down `import thinkback`.
        from thinkback.think.prompts import generate_schema
        from thinkback.think.reply_parser import parse_reply

        exchange, lines = render_exchange(turn, lines_to_read)
        if not lines:
            return []
        yes_no_answer = find_yes_no_answer(turn, recent)
        if yes_no_answer is not None:
            exchange = f"Assistant, just before:\n- {yes_no_answer.question}\n{exchange}"
        messages = [Message("user", load_prompt("thinkback.think", "generate").render(exchange=exchange))]
        schema = generate_schema(len(lines), max_thoughts=sum(max_thoughts_in(line) for line in lines))
        first_reply = self.llm.complete(messages, schema=schema, max_tokens=MAX_REPLY_TOKENS).text
        try:
            return parse_reply(first_reply, turn, lines, yes_no_answer)
        except BadReply as error:
            correction = f"{error}. Look at the numbered lines again. {_EMPTY_REPLY_HINT}"
        retry = [*messages, Message("assistant", first_reply), Message("user", correction)]
        return parse_reply(
            self.llm.complete(retry, schema=schema, max_tokens=MAX_REPLY_TOKENS).text,
            turn,
            lines,
            yes_no_answer,
        )


@dataclass(frozen=True, slots=True)
class CombinedGenerator:
    """Rules first, then the model for the lines they left; every draft records which of them made it."""

    model: LLMGenerator
    rules: ThoughtGenerator = field(default_factory=RuleGenerator)

    @property
    def name(self) -> str:
        return f"{self.rules.name} + {self.model.name}"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """Return the drafts of the rules, followed by those the model adds."""
        rule_drafts = self.rules.generate(turn, recent)
        model_drafts = self.model.generate_for_lines(turn, uncovered_lines(turn, rule_drafts), recent)
        return [
            *(replace(draft, made_by=self.rules.name) for draft in rule_drafts),
            *(
                replace(draft, made_by=self.model.name)
                for draft in model_drafts
                if not is_covered(draft, rule_drafts)
            ),
        ]


def is_covered(draft: ThoughtDraft, rule_drafts: Sequence[ThoughtDraft]) -> bool:
    """Return whether a rule draft of the same turn already states or contradicts a draft of the model."""
    return any(
        _already_states(rule_draft, draft) or _contradicts(rule_draft, draft) for rule_draft in rule_drafts
    )


def _already_states(rule_draft: ThoughtDraft, draft: ThoughtDraft) -> bool:
    """Return whether a rule draft makes the model's draft redundant.

    That is the case with the same subject and relation and all of its objects, or with the same words of the
    turn, the same subject and a shared object.
    """
    keys, rule_keys = _object_keys(draft), _object_keys(rule_draft)
    if thought_key(rule_draft.subject, rule_draft.relation) == thought_key(draft.subject, draft.relation):
        return rule_draft.negated == draft.negated and keys <= rule_keys
    same_words = any(
        (one.turn, one.side) == (other.turn, other.side) and one.start < other.end and other.start < one.end
        for one in rule_draft.sources
        for other in draft.sources
    )
    return (
        same_words
        and normalise_name(rule_draft.subject) == normalise_name(draft.subject)
        and not keys.isdisjoint(rule_keys)
    )


def _contradicts(rule_draft: ThoughtDraft, draft: ThoughtDraft) -> bool:
    """Return whether the drafts disagree: another value of a single-valued relation, or opposite polarity."""
    if thought_key(rule_draft.subject, rule_draft.relation) != thought_key(draft.subject, draft.relation):
        return False
    shared = not _object_keys(rule_draft).isdisjoint(_object_keys(draft))
    if rule_draft.negated != draft.negated:
        return shared
    return get_relation(rule_draft.relation).single_valued and not rule_draft.negated and not shared


def _object_keys(draft: ThoughtDraft) -> set[str]:
    return {object_key(item) for item in draft.objects}


ThinkMode = Literal["auto", "rules", "llm"]


def create_generator(think: ThinkMode | ThoughtGenerator, llm: LLM | None) -> ThoughtGenerator:
    """Create the generator for a think mode; a generator passed instead of a mode is returned as it is.

    - `auto`: rules, combined with the model if it is able to extract facts (`llm.extracts`)
    - `rules`: rules only
    - `llm`: the model only, as in the TiM papers

    Raises:
        InvalidInput: the mode is unknown, or `llm` was chosen without a model.
    """
    if not isinstance(think, str):
        return think
    if think == "llm":
        if llm is None:
            raise InvalidInput("think='llm' needs a language model: pass llm=, or think='rules'")
        return LLMGenerator(llm)
    if think not in ("auto", "rules"):
        raise InvalidInput(f"think={think!r}: choose auto, rules or llm")
    if think == "auto" and llm is not None and llm.extracts:
        return CombinedGenerator(LLMGenerator(llm))
    return RuleGenerator()


def create_llm_consolidator(think: ThinkMode | ThoughtGenerator, llm: LLM | None) -> LLMConsolidator | None:
    """Create the model side of consolidation; None if the model is not used for thinking."""
    if llm is None or think == "rules" or not (llm.extracts or think == "llm"):
        return None
    return LLMConsolidator(llm)
