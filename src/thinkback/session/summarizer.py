"""Keeps the summary of each session up to date, by rules and optionally by a model.

A session gets a summary when it is first requested; from then on it is updated after post-thinking, not while
a user waits. Rules read every turn. The model, if there is one, is asked once for the last few turns, so a
backlog costs one call. Turns that are still pending are read by rules without being saved, so an answer
always takes all previous turns into account.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from thinkback.errors import BadReply, Conflict, ModelError, NotFound
from thinkback.forgotten import without_forgotten
from thinkback.language.safety.quarantine import redact_side
from thinkback.prompts import escape_structure, load_prompt, own_answer
from thinkback.protocols import LLM, Clock, Store
from thinkback.session import rule_summarizer
from thinkback.session.render import render_notes
from thinkback.session.summary_items import truncate_to_line
from thinkback.session.summary_updates import (
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
MAX_REPLY_CHARACTERS = 64_000  # a longer reply is an error of the model
_MAX_SIDE_TOKENS = 400  # of one side of a turn
_MAX_NOTES_TOKENS = 1200  # of the summary so far
MODEL_BATCH_TURNS = 8  # the last turns, read by the model in one call; rules read the older ones of a backlog
RULES_ACTOR = "rules"
USER_ACTOR = "user"
_MAX_SAVE_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class LLMSummaryReader:
    """Asks a model what some turns add to a summary; `instructions` are added to the prompt."""

    llm: LLM
    instructions: str = ""

    @property
    def name(self) -> str:
        return f"{self.llm.name} summarise@{load_prompt('thinkback.session', 'summarise').version}"

    def read(self, turns: Sequence[Turn], summary: Summary) -> SummaryProposal:
        """Propose what the turns add to the summary, with one model call.

        Raises:
            ModelError: the model failed, or its reply cannot be used (BadReply).
        """
        # Imported here: it needs pydantic, which would slow down `import thinkback`.
        from thinkback.session.prompts import summary_schema

        prompt = load_prompt("thinkback.session", "summarise").render(
            instructions=f"{self.instructions.strip()}\n" if self.instructions.strip() else "",
            notes=render_notes(summary, _MAX_NOTES_TOKENS),
            turns="\n".join(_format_turn(turn) for turn in turns),
        )
        reply = self.llm.complete(
            [Message("user", prompt)], schema=summary_schema(), max_tokens=MAX_REPLY_TOKENS
        )
        return parse_summary_reply(reply.text)


def parse_summary_reply(text: str) -> SummaryProposal:
    """Parse a reply of the `summarise` prompt; raises BadReply if it is too long or invalid."""
    from pydantic import ValidationError

    from thinkback.session.prompts import SummaryReply

    if len(text) > MAX_REPLY_CHARACTERS:
        raise BadReply(f"The summary reply has {len(text):,} characters. Use another model.")
    try:
        reply = SummaryReply.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the reply"
        raise BadReply(f"The summary reply cannot be used: {where}: {first['msg']}.") from error
    return SummaryProposal(
        talk=reply.talk,
        topic=reply.topic,
        conclusion=reply.conclusion,
        needs=tuple(reply.needs),
        constraints=tuple(reply.constraints),
        excluded=tuple(ExcludedOption(item.option, item.reason) for item in reply.excluded),
        facts=tuple(reply.facts),
        to_clarify=tuple(reply.to_clarify),
        reopened=tuple(reply.reopened),
        settled=tuple(reply.settled),
        revisions=tuple(
            SummaryRevision(field=item.field, old=item.old, new=item.new, reason=item.reason)
            for item in reply.revised
        ),
    )


def _format_turn(turn: Turn) -> str:
    sides = (("User", redact_side(turn, "query")), ("Assistant", own_answer(redact_side(turn, "response"))))
    return "\n".join(
        f"{speaker}: {truncate_to_line(escape_structure(text), _MAX_SIDE_TOKENS)}"
        for speaker, text in sides
        if text.strip()
    )


class Summarizer:
    """Reads, updates, revises and undoes the summaries of sessions."""

    def __init__(self, store: Store, clock: Clock, reader: LLMSummaryReader | None = None) -> None:
        self._store = store
        self._clock = clock
        self._reader = reader

    def current_summary(self, space: str, session: str) -> Summary:
        """Return the summary up to the last turn of the session, and save the part that is final."""
        for _ in range(_MAX_SAVE_ATTEMPTS):
            summary, turns = self._load_unread(space, session)
            writable = self._writable_turns(turns)
            try:
                summary = self._save_turns(space, summary, writable)
                break
            except Conflict:  # saved by another process, or a turn was erased: read again
                continue
        for turn in turns[len(writable) :]:
            summary = replace(self._read_turn(space, summary, turn).summary, turn=turn.id)
        return summary

    def update_summaries(self, space: str, stopping: Callable[[], bool] = lambda: False) -> list[str]:
        """Update all summaries of a space up to the turns processed by post-thinking; return the problems."""
        problems: list[str] = []
        for session in self._store.summaries_behind(space):
            if stopping():
                break
            with suppress(Conflict, NotFound):  # still outdated: the next run finds it
                problems += self._update_session(space, session)
        return problems

    def summary_before(self, space: str, session: str, turn: int) -> Summary:
        """Return the summary as it was before a turn."""
        updates = [update for update in self._store.summary_updates(space, session) if update.turn < turn]
        return replay_updates(session, updates)

    def undo(self, space: str, session: str) -> SummaryUpdate:
        """Undo the last update. The undo is an update itself, so undoing twice restores it.

        Raises:
            NotFound: the summary has no update.
        """
        summary = self._store.summary(space, session)
        updates = [update for update in self._store.summary_updates(space, session) if update.edits]
        if summary is None or not updates:
            raise NotFound(f"no update of the summary of session {session!r} to undo")
        last = updates[-1]
        earlier = replay_updates(session, updates[:-1])
        edits = diff_summaries(summary, earlier, f"undo of version {last.version}")
        after = replace(earlier, version=summary.version + 1, turn=summary.turn)
        update = self._make_update(after, edits, USER_ACTOR)
        self._store.save_summary(space, after, update, summary)
        return update

    def revise(self, space: str, session: str, after: Summary, reason: str) -> SummaryUpdate:
        """Replace a summary by the user's version; the difference is recorded like any update.

        Raises:
            Conflict: the session has pending turns, or `after` is not based on the current version.
        """
        current = self.current_summary(space, session)
        stored = self._store.summary(space, session) or Summary(session=session)
        if current.turn != stored.turn:
            raise Conflict(f"session {session!r} has pending turns: call post_think, then try again")
        if after.version != stored.version:
            raise Conflict(
                f"the summary of session {session!r} is at version {stored.version}: revise that version"
            )
        revised = replace(after, session=session, version=stored.version + 1, turn=stored.turn)
        update = self._make_update(revised, diff_summaries(stored, revised, reason), USER_ACTOR)
        self._store.save_summary(space, revised, update, stored)
        return update

    def _load_unread(self, space: str, session: str) -> tuple[Summary, list[Turn]]:
        """Return the stored summary and the turns after it; an empty summary is stored if there is none."""
        stored = self._store.summary(space, session)
        summary = stored or Summary(session=session)
        turns = self._store.turns(space, session=session, after=summary.turn)
        turns = without_forgotten(self._store, space, turns)
        if stored is None and turns:
            with suppress(Conflict):  # from now on `update_summaries` includes this session
                self._store.save_summary(space, summary, None, summary)
        return summary, turns

    def _writable_turns(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Return the turns that can be saved now.

        With a model these are the turns too old for it, without one all turns processed by post-thinking.
        """
        count = max(0, len(turns) - MODEL_BATCH_TURNS)
        if self._reader is None:
            while count < len(turns) and turns[count].thought_at is not None:
                count += 1
        return turns[:count]

    def _update_session(self, space: str, session: str) -> list[str]:
        """Update one summary up to the turns processed by post-thinking; return the problems."""
        summary, turns = self._load_unread(space, session)
        ready = self._finished_turns(space, turns)
        if not ready:
            return []
        summary = self._save_turns(space, summary, ready[:-MODEL_BATCH_TURNS] if self._reader else ready)
        if self._reader is None:
            return []
        return self._add_model_reading(self._reader, space, summary, ready[-MODEL_BATCH_TURNS:])

    def _finished_turns(self, space: str, turns: Sequence[Turn]) -> list[Turn]:
        """Return the turns before the first pending one; dead letters do not count as pending."""
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
        """Merge the model's reading into that of the rules; if the model fails, save the latter alone."""
        builder, problem = self._read_by_rules(space, before, turns), ""
        try:
            proposal, rejected = filter_proposal(reader.read(turns, before), builder.summary, turns)
        except ModelError as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            step = merge_proposal(builder.summary, proposal, turns[-1].id)
            builder.summary, builder.edits = step.summary, [*builder.edits, *step.edits]
            problem = "; ".join((*rejected, *step.problems))
        self._save(space, before, builder, turns[-1].id, reader.name, problem)
        return [f"the summary of session {before.session!r}: {problem}"] if problem else []

    def _save_turns(self, space: str, summary: Summary, turns: Sequence[Turn]) -> Summary:
        """Read turns by rules and save them: one update per turn, one for all older turns of a backlog."""
        backlog = max(0, len(turns) - MODEL_BATCH_TURNS)
        for batch in (turns[:backlog], *((turn,) for turn in turns[backlog:])):
            if batch:
                summary = self._save(
                    space, summary, self._read_by_rules(space, summary, batch), batch[-1].id, RULES_ACTOR
                )
        return summary

    def _read_by_rules(self, space: str, summary: Summary, turns: Sequence[Turn]) -> SummaryBuilder:
        builder = SummaryBuilder(summary, turns[-1].id)
        for turn in turns:
            step = self._read_turn(space, builder.summary, turn)
            builder.summary = step.summary
            builder.edits += step.edits
        return builder

    def _read_turn(self, space: str, summary: Summary, turn: Turn) -> SummaryBuilder:
        actions = self._store.journal(space, turn=turn.id) if turn.thought_at is not None else []
        turn_ids = {source.turn for action in actions for old in action.before for source in old.sources}
        earlier = (
            {other.id: other for other in self._store.turns(space, ids=sorted(turn_ids))} if turn_ids else {}
        )
        same_session = {turn_id: other for turn_id, other in earlier.items() if other.session == turn.session}
        return merge_proposal(
            summary, rule_summarizer.read_turn(turn, summary, actions, same_session), turn.id
        )

    def _save(
        self, space: str, before: Summary, builder: SummaryBuilder, turn: int, actor: str, problem: str = ""
    ) -> Summary:
        """Save the summary with its update; without edits or problem only the turn number advances."""
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
