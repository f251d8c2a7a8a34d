"""Explanations (`why`) of thoughts, answers and recalls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from thinkback.errors import InvalidInput, NotFound
from thinkback.history import describe_validity
from thinkback.index.space_index import Hits
from thinkback.language.questions import classify_question
from thinkback.language.safety.quarantine import redact, redact_memory
from thinkback.protocols import Store
from thinkback.recall.query import ResolvedQuery, build_variants
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


def build_understanding(search: Search, thought_hits: Hits, turn_hits: Hits | None) -> QueryUnderstanding:
    """How the query was interpreted and searched, as recorded during the search."""
    query, resolved = search.query, search.query.resolved or ResolvedQuery("none")
    time = search.query_time
    searches: list[tuple[ItemKind, Hits | None]] = [("thought", thought_hits), ("turn", turn_hits)]
    return QueryUnderstanding(
        question=classify_question(query.text),
        tense=time.tense,
        spans=tuple(TimeSpan(span.words, span.start, span.end) for span in time.spans),
        reaches_back=search.reaches_back,
        manner=search.query_parts.manner,
        told=redact(search.query_parts.statement),
        kinds=tuple(sorted(query.kind_probabilities.items(), key=lambda kind: -kind[1])),
        names=tuple(map(redact, resolved.expansions)),
        aliases=tuple(map(redact, resolved.aliases)),
        ways=tuple(map(redact, resolved.reasons)),
        bridge=tuple(Ref("thought", id_) for id_ in resolved.linking_ids),
        wordings=tuple(_readable_variants(search)) if search.preset.lexical else (),
        searched=tuple(
            _build_search_trace(search, kind, hits) for kind, hits in searches if hits is not None
        ),
        preset=search.preset.name,
        relative=search.preset.weights is not None,
        nearly=search.preset.fill_threshold,
        middle=search.scorer.midpoint if search.preset.weights else None,
    )


def _build_search_trace(search: Search, kind: ItemKind, hits: Hits) -> SearchTrace:
    rows = search.index.size(kind)
    return SearchTrace(kind, rows, hits.candidates, hits.probes, hits.exact, hits.group)


def _readable_variants(search: Search) -> Iterator[QueryVariant]:
    """The words of each variant; words that only occur in a redacted part of the query are left out."""
    visible = _visible_words(search)

    def readable(words: Sequence[str]) -> tuple[str, ...]:
        return tuple(word for word in words if visible is None or word in visible)

    variants = search.variants
    kinds: tuple[tuple[ItemKind, ...], tuple[ItemKind, ...]] = (("turn", "thought"), ("thought",))
    for searched_kinds, group in zip(kinds, (variants.shared, variants.thoughts_only), strict=True):
        for words, optional_words, weight in group:
            yield QueryVariant(searched_kinds, readable(words), readable(optional_words), weight)


def _visible_words(search: Search) -> Collection[str] | None:
    """The words that may be shown if the query contains a secret; None if all may."""
    texts = [text for text in (search.query.text, search.query.expanded_text) if text]
    redacted = [redact(text) for text in texts]
    if redacted == texts:
        return None
    variants = [build_variants(text) for text in redacted]
    return {
        word
        for shared, thoughts_only in variants
        for words, optional_words, _ in (*shared, *thoughts_only)
        for word in (*words, *optional_words)
    }


def explain_thought(store: Store, space: str, id_: int) -> Explanation:
    """Where a thought comes from and what happened to it."""
    thoughts = store.thoughts(space, ids=[id_], current=False)
    if not thoughts:
        raise NotFound(f"no {Ref('thought', id_)} in this space")
    (thought,) = thoughts
    sources = {turn.id: turn for turn in store.turns(space, ids=[source.turn for source in thought.sources])}
    involved = store.journal(space, thought=id_)
    actions = [action for action in involved if any(thought.id == id_ for thought in action.changed)]
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
        # A hidden turn also says what was forgotten; the lines quote what it says about this thought.
        sources=tuple(turn for turn in sources.values() if not (turn.hidden and thought.current)),
        thoughts=(thought,),
        actions=tuple(actions),
    )


def explain_answer(store: Store, space: str, id_: int) -> Explanation:
    """Which memories an answer was given, and which contradictions were caught."""
    turns = store.turns(space, ids=[id_])
    if not turns:
        raise NotFound(f"no {Ref('turn', id_)} in this space")
    (turn,) = turns
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
    """One contradiction: draft, sentence, thought, method and outcome."""
    sentence = f" {thought.sentence!r}" if thought else " (erased since)"
    method = check.reason
    if check.way == "embedding":
        method += f": {check.score:.2f}, threshold {check.threshold:.2f}"
    ref = Ref("thought", check.thought)
    outcome = _OUTCOME_LABELS[check.outcome]
    return f"draft {check.draft} said {check.words!r}: contradicts {ref}{sentence} ({method}); {outcome}"


def _recalled_thoughts(store: Store, space: str, turn: Turn) -> dict[int, Thought]:
    ids = [used.id for used in turn.recalled if used.kind == "thought"]
    return {thought.id: thought for thought in store.thoughts(space, ids=ids, current=False)}


MAX_DROPPED_SHOWN = 10  # best dropped candidates
_MAX_LINE_CHARS = 200  # of a memory
_MAX_SYNONYMS = 16  # in one line

_MIN_KIND_PROBABILITY = 0.05  # for a kind to be mentioned
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
    "speaker": "said by the speaker who is named",
    "time": "in the time asked for",
}


def explain_recall(recollection: Recollection) -> Explanation:
    """How the query was interpreted, what was recalled, and the best candidates that were dropped."""
    understanding = recollection.understanding
    if understanding is None:
        raise InvalidInput("this recollection was not explained: recall it with explain=True")
    lines = [
        f'recall of "{_shorten(redact(recollection.query))}"',
        *(f"  {line}" for line in _describe_query(understanding)),
    ]
    lines.append(
        f"recalled {len(recollection.items)}, where a memory has to score {recollection.threshold:.2f}:"
    )
    for rank, item in enumerate(recollection.items, start=1):
        lines += _format_candidate(f"{rank}.", item, recollection.threshold)
    shown = recollection.dropped[:MAX_DROPPED_SHOWN]
    rest = len(recollection.dropped) - len(shown)
    lines.append(f"dropped {len(recollection.dropped)}{', the most promising first' if rest else ''}:")
    for item in shown:
        lines += _format_candidate("-", item, recollection.threshold)
    if rest:
        lines.append(f"  and {rest} more")
    return Explanation(
        ref=None,
        text=recollection.query,
        lines=tuple(lines),
        sources=tuple(item.turn for item in recollection.items if item.turn),
        thoughts=tuple(item.thought for item in recollection.items if item.thought),
    )


def _describe_query(understanding: QueryUnderstanding) -> Iterator[str]:
    asks = (
        f"asks {understanding.question.replace('_', ' ')}"
        if understanding.question != "none"
        else _FORM_LABELS[understanding.manner]
    )
    tense = {"now": "as it is now", "before": "as it was before", "any": "of any time"}[understanding.tense]
    past = "; what is held true no more may answer it" if understanding.reaches_back else ""
    yield f"taken for: {asks}, {tense}{past}"
    if understanding.told and understanding.manner == "asks":
        yield f'told in it: "{_shorten(understanding.told)}"'
    if understanding.kinds:
        likely = (
            f"{kind} {chance:.2f}" for kind, chance in understanding.kinds if chance >= _MIN_KIND_PROBABILITY
        )
        yield f"kind of memory asked for: {', '.join(likely)}"
    for span in understanding.spans:
        yield f'time: "{span.words}" is {_format_day(span.start)} up to {_format_day(span.end)}'
    yield from (f"who: {way}" for way in understanding.ways)
    if understanding.aliases:
        yield f"also known as: {', '.join(understanding.aliases)}"
    for words in dict.fromkeys(map(_format_variant, understanding.wordings)):
        yield f"searched with: {words}"
    for trace in understanding.searched:
        yield f"searched in: {_format_search_trace(trace)}"
    scale = "parts in standard deviations over this space" if understanding.relative else "parts as they are"
    yield f"scored by: {understanding.preset}, {scale}"


def _format_day(when: datetime | None) -> str:
    return "any time" if when is None else f"{when:%Y-%m-%d}"


def _format_variant(variant: QueryVariant) -> str:
    words = " ".join(variant.terms)
    if variant.if_known:
        known = variant.if_known[:_MAX_SYNONYMS]
        more = f" and {len(variant.if_known) - len(known)} more" if variant.if_known[_MAX_SYNONYMS:] else ""
        words += f"{' ' if words else ''}[where known: {' '.join(known)}{more}]"
    weight = "" if variant.weight == 1 else f", worth {variant.weight:g}"
    return words + weight + ("" if "turn" in variant.kinds else " (thoughts only)")


def _format_search_trace(trace: SearchTrace) -> str:
    what = f"{trace.rows} {trace.kind}{'' if trace.rows == 1 else 's'}"
    how = f"{trace.probes} groups probed" if trace.probes else "the whole space"
    compared = "all compared" if trace.exact else f"{trace.candidates} compared exactly"
    query_group = "" if trace.group is None else f"; the query is in group {trace.group}"
    return f"{what}, {how}, {compared}{query_group}"


def _format_candidate(mark: str, item: Candidate, threshold: float) -> Iterator[str]:
    """The candidate on one line, and its score on the next."""
    kind = item.thought.kind if item.thought else "raw turn"
    comparison = "reaches" if item.score.total >= threshold else "is below"
    yield (
        f"  {mark} {item.ref} {_shorten(item.text)!r}: {item.verdict}; {kind}, group {item.group}, "
        f"{_format_origin(item)}; {item.score.total:.3f} {comparison} {threshold:.3f} "
        f"(cosine {item.score.cosine:.2f}, share of words {item.score.lexical:.2f})"
    )
    yield f"       {_format_breakdown(item.score)}"


def _format_breakdown(score: Score) -> str:
    """The score as a sum: each component with its value and weight, then the adjustments."""
    breakdown = score.breakdown
    if breakdown is None:
        return "not explained"
    components = [component for component in breakdown.components if component.contribution]
    terms = [
        f"{component.contribution:+.2f} {_component_label(component.name)} "
        f"({component.value:.2f} x {component.weight:g})"
        for component in components
    ]
    initial = [] if breakdown.initial == breakdown.linear else [f"a score of {breakdown.initial:.3f}"]
    steps = [f"{step.why}: {step.after:.3f}" for step in breakdown.adjustments]
    return "; ".join(
        [f"{breakdown.linear:.2f} = {', '.join(terms) or 'nothing in common'}", *initial, *steps]
    )


def _component_label(name: str) -> str:
    return _COMPONENT_LABELS.get(name, name.replace("_", " "))


def _format_origin(item: Candidate) -> str:
    if item.turn is not None:
        return f"said on {item.turn.at:%Y-%m-%d}"
    sources = item.thought.sources if item.thought else ()
    speakers = [f"{source.speaker} in turn:{source.turn}" for source in sources]
    return f"said by {', '.join(dict.fromkeys(speakers))}" if speakers else "without a source"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE_CHARS else line[: _MAX_LINE_CHARS - 1] + "…"
