"""Keeps the summary of each session up to date, by rules and optionally by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from thinkback.errors import BadReply, Conflict, ModelError, NotFound
from thinkback.language.safety.quarantine import redact
from thinkback.prompts import load_prompt
from thinkback.protocols import LLM, Clock, Store
from thinkback.session import rule_reader
from thinkback.session.items import truncate_to_line
from thinkback.session.render import render_notes
from thinkback.session.updates import (
    SummaryBuilder,
    SummaryProposal,
    SummaryRevision,
    diff_summaries,
    filter_proposal,
    merge_proposal,
    replay_updates,
)
from thinkback.types import ExcludedOption, Message, Summary, SummaryEdit, SummaryUpdate, Turn

MAX_REPLY_TOKENS = 1024
MAX_REPLY_CHARACTERS = 64_000  # characters: a model that says more has lost its way
_MAX_SIDE_TOKENS = 400  # tokens of one side of a turn
_MAX_NOTES_TOKENS = 1200  # tokens of the summary


@dataclass(frozen=True, slots=True)
class LLMSummaryReader:
    """One call a reading; what cannot be used is a BadReply, and the summary stays as it is."""

    llm: LLM
    instructions: str = ""

    @property
    def name(self) -> str:
        return f"{self.llm.name} summarise@{load_prompt('summarise').version}"

    def read(self, turns: Sequence[Turn], summary: Summary) -> SummaryProposal:
        from thinkback.session.prompts.replies import summary_schema  # pydantic: not before it is needed

        prompt = load_prompt("summarise").render(
            instructions=f"{self.instructions.strip()}\n" if self.instructions.strip() else "",
            notes=render_notes(summary, _MAX_NOTES_TOKENS),
            turns="\n".join(_format_turn(turn) for turn in turns),
        )
        reply = self.llm.complete(
            [Message("user", prompt)], schema=summary_schema(), max_tokens=MAX_REPLY_TOKENS
        )
        return parse_summary_reply(reply.text)


def parse_summary_reply(text: str) -> SummaryProposal:
    """A reply as a proposal; BadReply where it is not one."""
    from pydantic import ValidationError

    from thinkback.session.prompts.replies import SummaryReply

    if len(text) > MAX_REPLY_CHARACTERS:
        raise BadReply(f"The summary was answered by {len(text):,} characters. Use another model.")
    try:
        reply = SummaryReply.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the reply"
        raise BadReply(f"The summary's update cannot be used: {where}: {first['msg']}.") from error
    return SummaryProposal(
        talk=reply.talk,
        topic=reply.topic,
        conclusion=reply.conclusion,
        needs=tuple(reply.needs),
        constraints=tuple(reply.constraints),
        excluded=tuple(ExcludedOption(each.option, each.reason) for each in reply.excluded),
        facts=tuple(reply.facts),
        to_clarify=tuple(reply.to_clarify),
        reopened=tuple(reply.reopened),
        settled=tuple(reply.settled),
        revisions=tuple(
            SummaryRevision(field=each.field, old=each.old, new=each.new, reason=each.reason)
            for each in reply.revised
        ),
    )


def _format_turn(turn: Turn) -> str:
    sides = (("User", turn.query), ("Assistant", turn.response))
    return "\n".join(
        f"{who}: {truncate_to_line(redact(words), _MAX_SIDE_TOKENS)}" for who, words in sides if words.strip()
    )


MODEL_BATCH_TURNS = 8  # turns that a model reads at once; older ones of a backlog are read by rules alone
RULES_ACTOR = "rules"
USER_ACTOR = "user"
_MAX_SAVE_ATTEMPTS = 5


class Summarizer:
    """Keeps the summaries of a database up to date."""

    def __init__(self, store: Store, clock: Clock, reader: LLMSummaryReader | None = None) -> None:
        self._store = store
        self._clock = clock
        self._reader = reader

    def current_summary(self, space: str, session: str) -> Summary:
        """The summary as of the session's last turn; what can be written down is."""
        for _ in range(_MAX_SAVE_ATTEMPTS):
            summary, turns = self._load_unread(space, session)
            settled = self._writable_turns(turns)
            try:
                summary = self._save_turns(space, summary, settled)
                break
            except Conflict:  # somebody else was quicker, or a turn was erased: look again
                continue
        for turn in turns[len(settled) :]:
            summary = replace(self._read_turn(space, summary, turn).summary, turn=turn.id)
        return summary

    def update_summaries(self, space: str, stopping: Callable[[], bool] = lambda: False) -> list[str]:
        """Bring every summary of a space up to what is thought over; what went wrong, in words."""
        problems: list[str] = []
        for session in self._store.summaries_behind(space):
            if stopping():
                break
            with suppress(Conflict, NotFound):  # it is behind still, and the next round finds it
                problems += self._update_session(space, session)
        return problems

    def summary_before(self, space: str, session: str, turn: int) -> Summary:
        """The summary as it was before a turn."""
        updates = [each for each in self._store.summary_updates(space, session) if each.turn < turn]
        return replay_updates(session, updates)

    def undo(self, space: str, session: str) -> SummaryUpdate:
        """Take back the last update; to undo that does it again."""
        summary = self._store.summary(space, session)
        changed = [each for each in self._store.summary_updates(space, session) if each.edits]
        if summary is None or not changed:
            raise NotFound(f"no update of the summary of session {session!r} to undo")
        last = changed[-1]
        earlier = replay_updates(session, changed[:-1])
        edits = diff_summaries(summary, earlier, f"undo of version {last.version}")
        after = replace(earlier, version=summary.version + 1, turn=summary.turn)
        update = self._make_update(after, edits, USER_ACTOR)
        self._store.save_summary(space, after, update, summary)
        return update

    def revise(self, space: str, session: str, after: Summary, reason: str) -> SummaryUpdate:
        """Put a summary as a person wants it; what changed is journalled like any update."""
        seen = self.current_summary(space, session)
        kept = self._store.summary(space, session) or Summary(session=session)
        if seen.turn != kept.turn:
            raise Conflict(
                f"session {session!r} has turns that are not thought over: try again after post_think"
            )
        if after.version != kept.version:
            raise Conflict(
                f"the summary of session {session!r} is at version {kept.version}: revise that one"
            )
        written = replace(after, session=session, version=kept.version + 1, turn=kept.turn)
        update = self._make_update(written, diff_summaries(kept, written, reason), USER_ACTOR)
        self._store.save_summary(space, written, update, kept)
        return update

    def _load_unread(self, space: str, session: str) -> tuple[Summary, list[Turn]]:
        kept = self._store.summary(space, session)
        summary = kept or Summary(session=session)
        turns = self._store.turns(space, session=session, after=summary.turn)
        if kept is None and turns:
            with suppress(Conflict):  # from now on it is followed
                self._store.save_summary(space, summary, None, summary)
        return summary, turns

    def _writable_turns(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """The turns that may be written down now: old ones; all thought over, where no model reads."""
        old = max(0, len(turns) - MODEL_BATCH_TURNS)
        if self._reader is None:
            while old < len(turns) and turns[old].thought_at is not None:
                old += 1
        return turns[:old]

    def _update_session(self, space: str, session: str) -> list[str]:
        summary, turns = self._load_unread(space, session)
        ready = self._finished_turns(space, turns)
        if not ready:
            return []
        summary = self._save_turns(space, summary, ready[:-MODEL_BATCH_TURNS] if self._reader else ready)
        return (
            []
            if self._reader is None
            else self._add_model_reading(self._reader, space, summary, ready[-MODEL_BATCH_TURNS:])
        )

    def _finished_turns(self, space: str, turns: Sequence[Turn]) -> list[Turn]:
        """Those before the first that is still to be thought over; a dead letter is not waited for."""
        ready: list[Turn] = []
        for turn in turns:
            if turn.thought_at is None:
                given_up = {failure.turn for failure in self._store.failures(space)}
                if turn.id not in given_up:
                    break
            ready.append(turn)
        return ready

    def _add_model_reading(
        self, reader: LLMSummaryReader, space: str, before: Summary, turns: Sequence[Turn]
    ) -> list[str]:
        """The model's reading merged over that of the rules, which stands alone where the model fails."""
        merging, problem = self._read_by_rules(space, before, turns), ""
        try:
            proposal, refused = filter_proposal(reader.read(turns, before), merging.summary, turns)
        except ModelError as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            step = merge_proposal(merging.summary, proposal, turns[-1].id)
            merging.summary, merging.edits = step.summary, [*merging.edits, *step.edits]
            problem = "; ".join((*refused, *step.problems))
        self._save(space, before, merging, turns[-1].id, reader.name, problem)
        return [f"the summary of session {before.session!r}: {problem}"] if problem else []

    def _save_turns(self, space: str, summary: Summary, turns: Sequence[Turn]) -> Summary:
        """These turns read by rules and written down: an update each, but one for all of a backlog."""
        backlog = max(0, len(turns) - MODEL_BATCH_TURNS)
        for some in (turns[:backlog], *((turn,) for turn in turns[backlog:])):
            if some:
                summary = self._save(
                    space, summary, self._read_by_rules(space, summary, some), some[-1].id, RULES_ACTOR
                )
        return summary

    def _read_by_rules(self, space: str, summary: Summary, turns: Sequence[Turn]) -> SummaryBuilder:
        merging = SummaryBuilder(summary, turns[-1].id)
        for turn in turns:
            step = self._read_turn(space, merging.summary, turn)
            merging.summary = step.summary
            merging.edits += step.edits
        return merging

    def _read_turn(self, space: str, summary: Summary, turn: Turn) -> SummaryBuilder:
        actions = self._store.journal(space, turn=turn.id) if turn.thought_at is not None else []
        named = {source.turn for action in actions for old in action.before for source in old.sources}
        earlier = {each.id: each for each in self._store.turns(space, ids=sorted(named))} if named else {}
        own = {id_: each for id_, each in earlier.items() if each.session == turn.session}
        return merge_proposal(summary, rule_reader.read_turn(turn, summary, actions, own), turn.id)

    def _save(
        self, space: str, before: Summary, builder: SummaryBuilder, turn: int, actor: str, problem: str = ""
    ) -> Summary:
        """Written with its line in the journal; a turn that changes nothing is only counted as read."""
        if not builder.edits and not problem:
            after = replace(builder.summary, turn=turn)
            self._store.save_summary(space, after, None, before)
            return after
        after = replace(builder.summary, turn=turn, version=before.version + 1)
        update = self._make_update(after, builder.edits, actor, problem)
        self._store.save_summary(space, after, update, before)
        return after

    def _make_update(
        self, after: Summary, edits: Sequence[SummaryEdit], actor: str, problem: str = ""
    ) -> SummaryUpdate:
        return SummaryUpdate(
            session=after.session,
            version=after.version,
            turn=after.turn,
            actor=actor,
            at=self._clock(),
            edits=tuple(edits),
            problem=problem,
        )
