"""`why` for a recall, in words: what the query was taken for, and each candidate with all that it scored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from thinkback.errors import InvalidInput
from thinkback.text.safety.trust import redact
from thinkback.types import Candidate, Recollection, Score, Searched, Understanding, Why, Wordings

DROPPED = 10  # candidates that were dropped are told of, the most promising first
_LONGEST = 200  # characters of a memory in one line
_WORDS = 16  # words that mean alike in one line

_LIKELY = 0.05  # kinds at least so likely are told of
_MANNERS = {"asks": "asks", "tells": "tells something", "at length": "a passage, searched for as a whole"}
_PARTS = {
    "asked": "words of the clause that asks",
    "meaning_han": "meaning, as far as it reads Chinese",
    "before": "words right before it",
    "meaning_before": "meaning right before it",
    "after": "words right after it",
    "meaning_after": "meaning right after it",
    "told": "said by the query already",
    "told_before": "follows what the query says",
    "thought": "for being a thought",
    "about": "told of whom it speaks of",
    "time": "in the time asked for",
}


def why_recall(found: Recollection) -> Why:
    """The whole recall told: the question, then what was recalled, then the most promising of the rest."""
    taken = found.understanding
    if taken is None:
        raise InvalidInput("this recollection was not explained: recall it with explain=True")
    lines = [f'recall of "{_short(redact(found.query))}"', *(f"  {line}" for line in _taken_for(taken))]
    lines.append(f"recalled {len(found.items)}, where a memory has to score {found.threshold:.2f}:")
    for rank, item in enumerate(found.items, start=1):
        lines += _candidate(f"{rank}.", item, found.threshold)
    shown = found.dropped[:DROPPED]
    rest = len(found.dropped) - len(shown)
    lines.append(f"dropped {len(found.dropped)}{', the most promising first' if rest else ''}:")
    for item in shown:
        lines += _candidate("-", item, found.threshold)
    if rest:
        lines.append(f"  and {rest} more")
    return Why(
        ref=None,
        text=found.query,
        lines=tuple(lines),
        sources=tuple(item.turn for item in found.items if item.turn),
        thoughts=tuple(item.thought for item in found.items if item.thought),
    )


def _taken_for(taken: Understanding) -> Iterator[str]:
    asks = f"asks {taken.question.replace('_', ' ')}" if taken.question != "none" else _MANNERS[taken.manner]
    tense = {"now": "as it is now", "before": "as it was before", "any": "of any time"}[taken.tense]
    back = "; what is held true no more may answer it" if taken.reaches_back else ""
    yield f"taken for: {asks}, {tense}{back}"
    if taken.told and taken.manner == "asks":
        yield f'told in it: "{_short(taken.told)}"'
    if taken.kinds:
        likely = (f"{kind} {chance:.2f}" for kind, chance in taken.kinds if chance >= _LIKELY)
        yield f"kind of memory asked for: {', '.join(likely)}"
    for span in taken.spans:
        yield f'time: "{span.words}" is {_day(span.start)} up to {_day(span.end)}'
    yield from (f"who: {way}" for way in taken.ways)
    if taken.aliases:
        yield f"also known as: {', '.join(taken.aliases)}"
    for words in dict.fromkeys(map(_wording, taken.wordings)):
        yield f"searched with: {words}"
    for side in taken.searched:
        yield f"searched in: {_searched(side)}"
    scale = "parts in standard deviations over this space" if taken.relative else "parts as they are"
    yield f"scored by: {taken.preset}, {scale}"


def _day(when: datetime | None) -> str:
    return "any time" if when is None else f"{when:%Y-%m-%d}"


def _wording(wording: Wordings) -> str:
    words = " ".join(wording.terms)
    if wording.if_known:
        known = wording.if_known[:_WORDS]
        more = f" and {len(wording.if_known) - len(known)} more" if wording.if_known[_WORDS:] else ""
        words += f"{' ' if words else ''}[where known: {' '.join(known)}{more}]"
    worth = "" if wording.weight == 1 else f", worth {wording.weight:g}"
    return words + worth + ("" if "turn" in wording.kinds else " (thoughts only)")


def _searched(side: Searched) -> str:
    what = f"{side.rows} {side.kind}{'' if side.rows == 1 else 's'}"
    how = f"{side.probes} groups probed" if side.probes else "the whole space"
    near = "all compared" if side.exact else f"{side.candidates} compared exactly"
    asked = "" if side.group is None else f"; the query is in group {side.group}"
    return f"{what}, {how}, {near}{asked}"


def _candidate(mark: str, item: Candidate, threshold: float) -> Iterator[str]:
    """One line that says it all, and the parts of the score below it."""
    kind = item.thought.kind if item.thought else "raw turn"
    against = "reaches" if item.score.total >= threshold else "is below"
    yield (
        f"  {mark} {item.ref} {_short(item.text)!r}: {item.verdict}; {kind}, group {item.group}, "
        f"{_origin(item)}; {item.score.total:.3f} {against} {threshold:.3f} "
        f"(cosine {item.score.cosine:.2f}, share of words {item.score.lexical:.2f})"
    )
    yield f"       {_sum(item.score)}"


def _sum(score: Score) -> str:
    """The score as a sum: every part that counts with its value and weight, and what became of the sum."""
    made = score.sum
    if made is None:
        return "not explained"
    counted = [part for part in made.parts if part.contribution]
    told = [
        f"{part.contribution:+.2f} {_PARTS.get(part.name, part.name.replace('_', ' '))} "
        f"({part.value:.2f} x {part.weight:g})"
        for part in counted
    ]
    bent = [] if made.bent == made.linear else [f"a score of {made.bent:.3f}"]
    steps = [f"{step.why}: {step.after:.3f}" for step in made.adjustments]
    return "; ".join([f"{made.linear:.2f} = {', '.join(told) or 'nothing in common'}", *bent, *steps])


def _origin(item: Candidate) -> str:
    if item.turn is not None:
        return f"said on {item.turn.at:%Y-%m-%d}"
    sources = item.thought.sources if item.thought else ()
    said = [f"{source.speaker} in turn:{source.turn}" for source in sources]
    return f"said by {', '.join(dict.fromkeys(said))}" if said else "without a source"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
