"""`why`: where a thought comes from and what became of it; what an answer was given."""

from __future__ import annotations

from thinkback.errors import NotFound
from thinkback.history import holding
from thinkback.ports import Store
from thinkback.text.safety.quarantine import redacted
from thinkback.types import Check, Ref, Thought, Turn, Why


def why_thought(store: Store, space: str, id_: int) -> Why:
    found = store.thoughts(space, ids=[id_], current=False)
    if not found:
        raise NotFound(f"no {Ref('thought', id_)} in this space")
    (thought,) = found
    sources = {turn.id: turn for turn in store.turns(space, ids=[source.turn for source in thought.sources])}
    touching = store.journal(space, thought=id_)
    actions = [each for each in touching if any(thought.id == id_ for thought in each.changed)]
    lines = [
        f"{thought.ref}: {thought.sentence}",
        f"({thought.subject}, {thought.relation}, {thought.object})",
    ]
    for source in thought.sources:
        turn = sources.get(source.turn)
        if turn is not None:
            words = turn.said(source.side)[source.start : source.end]
            lines.append(f'from {turn.ref}, {turn.at:%Y-%m-%d %H:%M}, {source.speaker} said: "{words}"')
    lines.append(holding(thought))
    for action in actions:
        undone = f", undone by {Ref('action', action.undone_by)}" if action.undone_by else ""
        lines.append(f"{action.ref} {action.action} by {action.actor}: {action.reason}{undone}")
    return Why(
        ref=thought.ref,
        text=thought.sentence,
        lines=tuple(lines),
        sources=tuple(sources.values()),
        thoughts=(thought,),
        actions=tuple(actions),
    )


def why_answer(store: Store, space: str, id_: int) -> Why:
    found = store.turns(space, ids=[id_])
    if not found:
        raise NotFound(f"no {Ref('turn', id_)} in this space")
    (turn,) = found
    thoughts = _thoughts(store, space, turn)
    raw = {
        item.id: redacted(item)
        for item in store.turns(space, ids=[u.id for u in turn.recalled if u.kind == "turn"])
    }
    lines = [f"{turn.ref}, {turn.at:%Y-%m-%d %H:%M}, {turn.asker}: {turn.query}"]
    if not turn.recalled:
        lines.append("nothing was recalled for it")
    for rank, used in enumerate(turn.recalled, start=1):
        ref = Ref(used.kind, used.id)
        known = thoughts.get(used.id) if used.kind == "thought" else raw.get(used.id)
        words = known.sentence if isinstance(known, Thought) else known.text if known else "(erased since)"
        since = "" if not isinstance(known, Thought) or known.current else " [retired since]"
        lines.append(
            f"{rank}. {ref} {words!r}{since}: score {used.score:.2f} "
            f"(meaning {used.cosine:.2f}, words {used.lexical:.2f}), group {used.group}"
        )
    lines += [_caught(check, thoughts.get(check.thought)) for check in turn.checks]
    actions = store.journal(space, turn=id_)
    lines += [f"then {action.ref} {action.action}: {action.reason}" for action in actions]
    return Why(
        ref=turn.ref,
        text=turn.response,
        lines=tuple(lines),
        sources=(turn,),
        thoughts=tuple(thoughts.values()),
        actions=tuple(actions),
        used=turn.recalled,
        checks=turn.checks,
    )


_DONE = {
    "regenerated": "asked again",
    "masked": "asked again with the contradicting words masked",
    "warned": "said, with a warning",
}


def _caught(check: Check, thought: Thought | None) -> str:
    """One contradiction: which draft said what, against which thought, by which check, and what was done."""
    held = f" {thought.sentence!r}" if thought else " (erased since)"
    how = check.reason
    if check.way == "embedding":
        how += f": {check.score:.2f}, threshold {check.threshold:.2f}"
    ref = Ref("thought", check.thought)
    return (
        f"draft {check.draft} said {check.words!r}: contradicts {ref}{held} ({how}); {_DONE[check.outcome]}"
    )


def _thoughts(store: Store, space: str, turn: Turn) -> dict[int, Thought]:
    ids = [used.id for used in turn.recalled if used.kind == "thought"]
    return {thought.id: thought for thought in store.thoughts(space, ids=ids, current=False)}
