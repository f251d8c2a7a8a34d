"""Explanations (`why`) of thoughts, answers and recalls."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from thinkback.errors import InvalidInput, NotFound
from thinkback.history import describe_validity
from thinkback.index.lexical import QueryTerms, hash_terms
from thinkback.index.space_index import Hits
from thinkback.language.query_rewrite import content_terms, rewrite_question
from thinkback.language.query_time import QueryTime, parse_query_time
from thinkback.language.questions import classify_question
from thinkback.language.safety.quarantine import redact, redact_memory
from thinkback.language.thesaurus import related_terms
from thinkback.language.tokens import extract_terms
from thinkback.protocols import Store
from thinkback.recall.query import ResolvedQuery
from thinkback.recall.search import Search
from thinkback.types import (
    Candidate,
    ConsistencyCheck,
    Explanation,
    ItemKind,
    QueryUnderstanding,
    QueryVariant,
    Recollection,
    Ref,
    Score,
    SearchTrace,
    Thought,
    TimeSpan,
    Turn,
)


def build_understanding(search: Search, space: Hits, bank: Hits | None) -> QueryUnderstanding:
    question, meant = search.query, search.query.resolved or ResolvedQuery("none")
    asked = QueryTime((), "any") if question.now is None else parse_query_time(question.text, question.now)
    sides: list[tuple[ItemKind, Hits | None]] = [("thought", space), ("turn", bank)]
    return QueryUnderstanding(
        question=classify_question(question.text),
        tense=asked.tense,
        spans=tuple(TimeSpan(span.words, span.start, span.end) for span in asked.spans),
        reaches_back=search.reaches_back,
        manner=search.spoken.manner,
        told=redact(search.spoken.statement),
        kinds=tuple(sorted(question.kind_probabilities.items(), key=lambda each: -each[1])),
        names=tuple(map(redact, meant.expansions)),
        aliases=tuple(map(redact, meant.aliases)),
        ways=tuple(map(redact, meant.reasons)),
        bridge=tuple(Ref("thought", id_) for id_ in meant.linking_ids),
        wordings=tuple(_readable_variants(search)) if search.preset.lexical else (),
        searched=tuple(_build_search_trace(search, kind, hits) for kind, hits in sides if hits is not None),
        preset=search.preset.name,
        relative=search.preset.weights is not None,
        nearly=search.preset.fill_threshold,
        middle=search.scorer.midpoint if search.preset.weights else None,
    )


def _build_search_trace(search: Search, kind: ItemKind, hits: Hits) -> SearchTrace:
    rows = search.index.size(kind)
    return SearchTrace(kind, rows, hits.candidates, hits.probes, hits.exact, hits.group)


def _readable_variants(search: Search) -> Iterator[QueryVariant]:
    """The wordings as they were searched with: numbers, read back as words of the query and like them."""
    words = {int(hash_terms([term])[0]): term for term in _query_vocabulary(search)}

    def read(wording: QueryTerms) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known = () if wording.optional_terms is None else wording.optional_terms.tolist()
        counted, optional = (
            tuple(words[each] for each in numbers if each in words)
            for numbers in (wording.terms.tolist(), known)
        )
        return counted, optional

    kinds: dict[int, list[ItemKind]] = {}
    every = {id(each): each for wordings in search.variants.values() for each in wordings}
    for kind, wordings in search.variants.items():
        for each in wordings:
            kinds.setdefault(id(each), []).append(kind)
    for key, wording in every.items():
        yield QueryVariant(tuple(kinds[key]), *read(wording), wording.weight)


def _query_vocabulary(search: Search) -> Iterator[str]:
    """Every word that may have been searched with; a secret in the query is no word to tell."""
    for text in map(redact, filter(None, (search.query.text, search.query.expanded_text))):
        yield from extract_terms(text)
        yield from content_terms(text)
        yield from related_terms(text)
        for wording in rewrite_question(text):
            yield from wording


def explain_thought(store: Store, space: str, id_: int) -> Explanation:
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
            words = turn.text_of(source.side)[source.start : source.end]
            lines.append(f'from {turn.ref}, {turn.at:%Y-%m-%d %H:%M}, {source.speaker} said: "{words}"')
    lines.append(describe_validity(thought))
    for action in actions:
        undone = f", undone by {Ref('action', action.undone_by)}" if action.undone_by else ""
        lines.append(f"{action.ref} {action.action} by {action.actor}: {action.reason}{undone}")
    return Explanation(
        ref=thought.ref,
        text=thought.sentence,
        lines=tuple(lines),
        sources=tuple(sources.values()),
        thoughts=(thought,),
        actions=tuple(actions),
    )


def explain_answer(store: Store, space: str, id_: int) -> Explanation:
    found = store.turns(space, ids=[id_])
    if not found:
        raise NotFound(f"no {Ref('turn', id_)} in this space")
    (turn,) = found
    thoughts = _recalled_thoughts(store, space, turn)
    raw = {
        item.id: redact_memory(item)
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
    lines += [_format_check(check, thoughts.get(check.thought)) for check in turn.checks]
    actions = store.journal(space, turn=id_)
    lines += [f"then {action.ref} {action.action}: {action.reason}" for action in actions]
    return Explanation(
        ref=turn.ref,
        text=turn.response,
        lines=tuple(lines),
        sources=(turn,),
        thoughts=tuple(thoughts.values()),
        actions=tuple(actions),
        used=turn.recalled,
        checks=turn.checks,
    )


_OUTCOME_LABELS = {
    "regenerated": "asked again",
    "masked": "asked again with the contradicting words masked",
    "warned": "said, with a warning",
}


def _format_check(check: ConsistencyCheck, thought: Thought | None) -> str:
    """One contradiction: which draft said what, against which thought, by which check, and what was done."""
    held = f" {thought.sentence!r}" if thought else " (erased since)"
    how = check.reason
    if check.way == "embedding":
        how += f": {check.score:.2f}, threshold {check.threshold:.2f}"
    ref = Ref("thought", check.thought)
    return f"draft {check.draft} said {check.words!r}: contradicts {ref}{held} ({how}); {_OUTCOME_LABELS[check.outcome]}"


def _recalled_thoughts(store: Store, space: str, turn: Turn) -> dict[int, Thought]:
    ids = [used.id for used in turn.recalled if used.kind == "thought"]
    return {thought.id: thought for thought in store.thoughts(space, ids=ids, current=False)}


MAX_DROPPED_SHOWN = 10  # candidates that were dropped are told of, the most promising first
_MAX_LINE_CHARS = 200  # characters of a memory in one line
_MAX_SYNONYMS = 16  # words that mean alike in one line

_MIN_KIND_PROBABILITY = 0.05  # kinds at least so likely are told of
_FORM_LABELS = {"asks": "asks", "tells": "tells something", "at length": "a passage, searched for as a whole"}
_COMPONENT_LABELS = {
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


def explain_recall(found: Recollection) -> Explanation:
    """The whole recall told: the question, then what was recalled, then the most promising of the rest."""
    taken = found.understanding
    if taken is None:
        raise InvalidInput("this recollection was not explained: recall it with explain=True")
    lines = [
        f'recall of "{_shorten(redact(found.query))}"',
        *(f"  {line}" for line in _describe_query(taken)),
    ]
    lines.append(f"recalled {len(found.items)}, where a memory has to score {found.threshold:.2f}:")
    for rank, item in enumerate(found.items, start=1):
        lines += _format_candidate(f"{rank}.", item, found.threshold)
    shown = found.dropped[:MAX_DROPPED_SHOWN]
    rest = len(found.dropped) - len(shown)
    lines.append(f"dropped {len(found.dropped)}{', the most promising first' if rest else ''}:")
    for item in shown:
        lines += _format_candidate("-", item, found.threshold)
    if rest:
        lines.append(f"  and {rest} more")
    return Explanation(
        ref=None,
        text=found.query,
        lines=tuple(lines),
        sources=tuple(item.turn for item in found.items if item.turn),
        thoughts=tuple(item.thought for item in found.items if item.thought),
    )


def _describe_query(taken: QueryUnderstanding) -> Iterator[str]:
    asks = (
        f"asks {taken.question.replace('_', ' ')}" if taken.question != "none" else _FORM_LABELS[taken.manner]
    )
    tense = {"now": "as it is now", "before": "as it was before", "any": "of any time"}[taken.tense]
    back = "; what is held true no more may answer it" if taken.reaches_back else ""
    yield f"taken for: {asks}, {tense}{back}"
    if taken.told and taken.manner == "asks":
        yield f'told in it: "{_shorten(taken.told)}"'
    if taken.kinds:
        likely = (f"{kind} {chance:.2f}" for kind, chance in taken.kinds if chance >= _MIN_KIND_PROBABILITY)
        yield f"kind of memory asked for: {', '.join(likely)}"
    for span in taken.spans:
        yield f'time: "{span.words}" is {_format_day(span.start)} up to {_format_day(span.end)}'
    yield from (f"who: {way}" for way in taken.ways)
    if taken.aliases:
        yield f"also known as: {', '.join(taken.aliases)}"
    for words in dict.fromkeys(map(_format_variant, taken.wordings)):
        yield f"searched with: {words}"
    for side in taken.searched:
        yield f"searched in: {_format_search_trace(side)}"
    scale = "parts in standard deviations over this space" if taken.relative else "parts as they are"
    yield f"scored by: {taken.preset}, {scale}"


def _format_day(when: datetime | None) -> str:
    return "any time" if when is None else f"{when:%Y-%m-%d}"


def _format_variant(wording: QueryVariant) -> str:
    words = " ".join(wording.terms)
    if wording.if_known:
        known = wording.if_known[:_MAX_SYNONYMS]
        more = f" and {len(wording.if_known) - len(known)} more" if wording.if_known[_MAX_SYNONYMS:] else ""
        words += f"{' ' if words else ''}[where known: {' '.join(known)}{more}]"
    worth = "" if wording.weight == 1 else f", worth {wording.weight:g}"
    return words + worth + ("" if "turn" in wording.kinds else " (thoughts only)")


def _format_search_trace(side: SearchTrace) -> str:
    what = f"{side.rows} {side.kind}{'' if side.rows == 1 else 's'}"
    how = f"{side.probes} groups probed" if side.probes else "the whole space"
    near = "all compared" if side.exact else f"{side.candidates} compared exactly"
    asked = "" if side.group is None else f"; the query is in group {side.group}"
    return f"{what}, {how}, {near}{asked}"


def _format_candidate(mark: str, item: Candidate, threshold: float) -> Iterator[str]:
    """One line that says it all, and the parts of the score below it."""
    kind = item.thought.kind if item.thought else "raw turn"
    against = "reaches" if item.score.total >= threshold else "is below"
    yield (
        f"  {mark} {item.ref} {_shorten(item.text)!r}: {item.verdict}; {kind}, group {item.group}, "
        f"{_format_origin(item)}; {item.score.total:.3f} {against} {threshold:.3f} "
        f"(cosine {item.score.cosine:.2f}, share of words {item.score.lexical:.2f})"
    )
    yield f"       {_format_breakdown(item.score)}"


def _format_breakdown(score: Score) -> str:
    """The score as a sum: every part that counts with its value and weight, and what became of the sum."""
    made = score.breakdown
    if made is None:
        return "not explained"
    counted = [part for part in made.components if part.contribution]
    told = [
        f"{part.contribution:+.2f} {_COMPONENT_LABELS.get(part.name, part.name.replace('_', ' '))} "
        f"({part.value:.2f} x {part.weight:g})"
        for part in counted
    ]
    bent = [] if made.initial == made.linear else [f"a score of {made.initial:.3f}"]
    steps = [f"{step.why}: {step.after:.3f}" for step in made.adjustments]
    return "; ".join([f"{made.linear:.2f} = {', '.join(told) or 'nothing in common'}", *bent, *steps])


def _format_origin(item: Candidate) -> str:
    if item.turn is not None:
        return f"said on {item.turn.at:%Y-%m-%d}"
    sources = item.thought.sources if item.thought else ()
    said = [f"{source.speaker} in turn:{source.turn}" for source in sources]
    return f"said by {', '.join(dict.fromkeys(said))}" if said else "without a source"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE_CHARS else line[: _MAX_LINE_CHARS - 1] + "…"
