"""Carries out commands to the memory as soon as a turn with one is stored, without a model.

    forget that                  hides the previous turn and takes back what was drawn from it
    forget X                     hides the turns about X and retires the thoughts about X; what a hidden turn
                                 says besides is kept as thoughts
    don't mention X again        the same; if X was never told, a standing wish
    off the record, ...          hides the turn itself
    I meant Lyon, not Paris      replaces the value of the thought just drawn, if there is exactly one
    always answer in German      keeps an instruction, which every context carries
    undo that                    takes back what the message before did, if it was one of these

Each is a journal action by the user that names the turn and can be undone. A command whose target is not
certain does nothing: the reader of turns may still understand it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from thinkback.errors import Conflict
from thinkback.indexing import Indexer
from thinkback.language.commands import (
    Command,
    corrects,
    find_commands,
    instruction_topic,
    is_only_commands,
    is_safe_instruction,
    may_undo,
    only_undoes,
)
from thinkback.language.corrections import Correction, CorrectionStrength, read_corrections, split_place
from thinkback.language.names import USER, normalise_name
from thinkback.language.safety.quarantine import find_secrets
from thinkback.language.sentences import split_sentences
from thinkback.protocols import Clock, Store
from thinkback.think.command_context import (
    SeemsQuestion,
    log_failure,
    only_asks,
    recent_turns,
    thoughts_of,
)
from thinkback.think.corrections import Corrector, ValueSimilarity
from thinkback.think.forget_requests import Forgetter
from thinkback.think.forgetting import RemainderKeeper
from thinkback.types import (
    INSTRUCTION,
    USER_ACTOR,
    Action,
    Operation,
    Plan,
    Source,
    ThoughtDraft,
    Turn,
)

MAX_INSTRUCTION_TURN_CHARS = 600  # a longer turn is pasted text: its sentences are not wishes of the user
_MAX_RETRIES = 3  # of a command after a concurrent change


def _without_restated(text: str, commands: Sequence[Command]) -> tuple[Command, ...]:
    """The commands without "as if I had not said it" in a sentence that names what to forget."""
    named = [
        (sentence.start, sentence.end)
        for sentence in split_sentences(text)
        if any(
            command.kind == "forget_topic" and sentence.start <= command.start < sentence.end
            for command in commands
        )
    ]
    return tuple(
        command
        for command in commands
        if command.kind != "forget_last" or not any(start <= command.start < end for start, end in named)
    )


class CommandRunner:
    """Carries out the commands of turns for the spaces of one tenant."""

    def __init__(
        self,
        store: Store,
        indexer: Indexer,
        clock: Clock,
        similarity: ValueSimilarity,
        *,
        reads_corrections: bool = False,
        seems_question: SeemsQuestion = lambda text: False,
    ) -> None:
        """With `reads_corrections`, also corrections without a fixed form count.

        They should not if a model or another reader thinks: it reads them with what was said before.
        `seems_question` finds questions without a question mark.
        """
        self._store = store
        self._indexer = indexer
        self._clock = clock
        self._reads_corrections = reads_corrections
        remainder = RemainderKeeper(store, indexer, clock)
        self._forgetter = Forgetter(store, clock, remainder)
        self._seems_question = seems_question
        self._corrector = Corrector(store, remainder, similarity, seems_question)

    def run(self, space: str, turn: Turn) -> list[Action]:
        """Carry out the commands of a stored turn, once. Returns the actions."""
        commands = find_commands(turn.query)
        corrections = read_corrections(turn.query) if self._reads_corrections and not commands else ()
        if not (commands or corrections) or turn.hidden or self._was_run(space, turn):
            return []
        for correction in corrections:  # the readings of one message: at most one has a target
            with log_failure(f"correction of {turn.ref}"):  # if it fails, the reader comes later
                action = self._run_with_retries(partial(self._correct, space, turn, correction))
                if action is not None:
                    return [action]
        commands = _without_restated(turn.query, commands)
        actions: list[Action] = []
        for command in commands:
            # The space may change at the same time, or the embedder may be down: the reader comes later.
            with log_failure(f"command {command.kind} of {turn.ref}"):
                action = self._run_with_retries(partial(self._run_command, space, turn, command))
                if action is not None:
                    actions.append(action)
            if command.kind == "off_record" and any(turn.id in action.hides for action in actions):
                break
        return actions

    def may_correct(self, turn: Turn) -> bool:
        """Whether a turn may correct what was told before it, which must have been thought over then.

        Never if the reader reads corrections itself, with the turns before them.
        """
        if not self._reads_corrections:
            return False
        commands = find_commands(turn.query)
        return any(command.kind == "correct" for command in commands) or (
            not commands and bool(read_corrections(turn.query))
        )

    def _was_run(self, space: str, turn: Turn) -> bool:
        return any(action.actor == USER_ACTOR for action in self._store.journal(space, turn=turn.id))

    def _run_with_retries(self, command: Callable[[], Action | None]) -> Action | None:
        """Carry out a command, again if thinking changed the space at the same time."""
        for _ in range(_MAX_RETRIES):
            with suppress(Conflict):
                return command()
        return command()

    def _run_command(self, space: str, turn: Turn, command: Command) -> Action | None:
        if command.kind == "forget_topic":
            action = self._forgetter.forget_topic(space, turn, command)
            return self._instruct(space, turn, command) if action is None and command.or_wish else action
        if command.kind == "correct":
            strength: CorrectionStrength = "certain" if command.old or corrects(command.text) else "likely"
            tells_more = not is_only_commands(turn.query)
            new, role = split_place(command.new)
            old, _ = split_place(command.old)
            correction = Correction(new, old, strength, tells_more, in_fixed_form=True, role=role)
            return self._correct(space, turn, correction, command.start)
        if command.kind == "instruct":
            return self._instruct(space, turn, command)
        if may_undo(command) and is_only_commands(turn.query):
            return self._undo_last(space, turn, command)
        return None if only_undoes(command) else self._forgetter.forget_turns(space, turn, command)

    def _undo_last(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Undo the last command; after a statement, forget the statement, unless it can only mean to undo.

        Messages that told nothing and changed nothing are passed over: questions, thanks, a command that
        found nothing.
        """
        before = recent_turns(self._store, space, turn, hidden=True)
        for other in reversed(before):
            actions = self._store.journal(space, turn=other.id)
            if done := [action for action in actions if action.actor == USER_ACTOR]:
                return self._undo(space, turn, done)
            if self._tells(space, other):
                forgets = other is before[-1] and not only_undoes(command)
                return self._forgetter.forget_turns(space, turn, command) if forgets else None
        return None

    def _tells(self, space: str, turn: Turn) -> bool:
        """Whether a message tells something, or may do so because it was not thought over yet."""
        if turn.thought_at is None:
            return not only_asks(turn, self._seems_question)
        return bool(thoughts_of(self._store, space, [turn]))

    def _undo(self, space: str, turn: Turn, done: Sequence[Action]) -> Action | None:
        """Undo those of the actions that are not undone yet, the last one first; None if there are none."""
        undone: Action | None = None
        for action in reversed(done):
            if not action.undone_by and action.action != "undo":
                undone = self._store.undo(space, action.id, USER_ACTOR, self._clock(), cause=turn.id)
        return undone

    def _correct(self, space: str, turn: Turn, correction: Correction, start: int = 0) -> Action | None:
        operation = self._corrector.plan(space, turn, correction, start)
        if operation is None:
            return None
        return self._apply(space, turn, operation, completes=not correction.tells_more)

    def _instruct(self, space: str, turn: Turn, command: Command) -> Action | None:
        """Keep a standing wish; it replaces an older one on the same topic."""
        wish = command.text.strip()
        if (
            len(turn.query) > MAX_INSTRUCTION_TURN_CHARS
            or find_secrets(wish)
            or not is_safe_instruction(wish)
        ):
            return None
        draft = ThoughtDraft(
            subject=USER,
            relation=INSTRUCTION,
            objects=(wish.rstrip(".!。！ "),),
            sentence=wish,
            kind="profile",
            sources=(Source(turn.id, turn.asker, "query", command.start, command.end),),
            valid_from=turn.at,
        )
        topic = instruction_topic(wish)
        held = self._store.thoughts(space, relation=INSTRUCTION)
        if any(normalise_name(old.object) == normalise_name(draft.object) for old in held):
            return None
        replaced = [old for old in held if topic is not None and instruction_topic(old.sentence) == topic]
        if not replaced:
            reason = f"{turn.ref} asks for it from now on"
            return self._apply(space, turn, Operation(action="insert", reason=reason, add=(draft,)))
        reason = f"{turn.ref} asks for another {topic} from now on"
        retire = tuple(old.id for old in replaced)
        return self._apply(
            space, turn, Operation(action="supersede", reason=reason, add=(draft,), retire=retire)
        )

    def _apply(
        self, space: str, turn: Turn, operation: Operation, *, completes: bool | None = None
    ) -> Action:
        """Apply an operation; the turn is done if it `completes` it (default: if it is only commands)."""
        plan = Plan(
            turn=None,
            lease="",
            actor=USER_ACTOR,
            operations=(operation,),
            cause=turn.id,
            completes_cause=is_only_commands(turn.query) if completes is None else completes,
        )
        entries, epoch = self._indexer.entries_for_plan(space, plan)
        (action,) = self._store.apply(space, plan, entries, self._clock(), epoch)
        return action
