"""Cuts a message into pieces that can each be kept as one thought.

A sentence of reasonable length is one piece, unless it changes between telling and asking. Casual messages
and dictation run many statements together, with commas or with nothing between them; such a sentence is cut
where the sum of these costs is lowest:

    a cut in the middle of nothing   never
    a cut at a weak place            a fixed cost: before "I'm", "she's", 我, at a space between Chinese words
    a piece that is long or short    grows with the distance from the size that reads well

A sentence of a few words says nothing alone ("43.5.", "The left one."). It stays with the one before it, or,
at the beginning and after a question, with the one after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.language.plain_statements import is_plain_statement
from thinkback.language.sentences import (
    Sentence,
    count_words,
    is_question,
    is_supposition,
    split_sentences,
)
from thinkback.language.writing_systems import has_han

MAX_WHOLE_EN = 130
"""English sentences up to this many characters are cut only where they change between telling and asking."""
MAX_WHOLE_ZH = 45
"""The same for Chinese ones."""
TARGET_EN = 90
TARGET_ZH = 32
MIN_PIECE_EN = 14
MIN_PIECE_ZH = 5
MAX_FRAGMENT_WORDS_EN = 4
MAX_FRAGMENT_CHARS_ZH = 6
"""Sentences up to these sizes are joined to the one before or after."""
MAX_JOINED_EN = 170
MAX_JOINED_ZH = 60
MAX_SENTENCE_CHARS = 4_000
"""Cutting takes quadratic time in the number of places; longer sentences are first cut at this length."""

MIN_CLAUSE_WORDS = 3
"""A shorter clause is read with the next one."""
MIN_BEGUN_WORDS = 2
"""The same for one that begins with "I'm" and the like."""

_BEGINS_CLAUSE = re.compile(
    r"(?:i['’]?m|i['’]?ve|i am|we['’]re|we['’]?ve|we are|(?:i|we) have(?! (?:got )?to\b))\s|[我咱俺]",
    re.IGNORECASE,
)
_TAKES_RELATIVE_CLAUSE = re.compile(
    r"\b(?:things?|stuff|all|(?:any|some|every)(?:thing|one|body)|the \w+)\s*\Z", re.IGNORECASE
)  # "the things i have in the freezer"
_ADDS_TO_STATEMENT = re.compile(  # what looks like a question but goes on with a statement
    r"(?:(?<=,)|(?<=, ))(?:which|who|whose)\s+"
    r"(?!ones?\b|of\b|(?:(?!(?:i|we|he|she|they|it|you)\b)\w+\s+)?"
    r"(?:do|does|did|can|could|should|would|shall|will)\b)"
    r"|(?:and\s+)?so\s+(?:is|are|was|were|does|do|did|has|have|had|can)\s+"
    r"(?:(?:my|his|her|our|their|the)\s+\w+(?:\s+\w+)?|\w+)\W*\Z"
    r"|(?:and\s+)?(?:neither|nor)\b",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\W*(?:(?:and|but|so|cos|cuz|because)\s+)?(?!(?:here|shed|shell|hell)\b)"
    r"(?:he|she|it|its|they|him|her|them|that|this|these|those|which|who)(?:['’]?(?:s|re|d|ll|ve))?\b|[他她它牠]",
    re.IGNORECASE,
)
_ASKS_BRIEFLY = re.compile(  # "any ideas?", of any length
    r"\W*(?:(?:and|so)\s+)?(?:(?:any|some|got any|need|needs)\s+)?(?:good\s+|quick\s+)?"
    r"(?:ideas?|tips|advice|suggestions?|thoughts|recommendations?|recs|pointers|alternatives|help)\b"
    r"(?!\s+(?:is|are|was|were|me|him|her|them|my|the|out|from|of)\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i['’]?m|i['’]?ve|me|my|mine|we|us|our)\b|[我咱俺]", re.IGNORECASE)
_ORDERS = re.compile(
    r"\W*(?:(?:please|pls|can you|could you|just|so|and)\s+)*"
    r"(?:write|tell|give|show|help|make|translate|explain|find|remind|suggest|recommend|draft|list)\b"
    r"|\W*(?:请|麻烦你?)?(?:(?:帮|给|教|告诉|跟)我|推荐|介绍|翻译)",
    re.IGNORECASE,
)
_CLAUSE_MARKS = " ,，、;；—–-"  # that may end a clause; a question is recognised without them
_STRONG_COST = 0.1
_COMMA_COST = 0.35
_CONJUNCTION_COST = 0.6
_WEAK_COST = 1.0
_CUT_PLACES_EN = (
    (_STRONG_COST, re.compile(r"(?:[;；]|\s[-–—]+\s|—|\.{2,}|…|→|\)\s)\s*|:\s+|\s\+\s")),
    (_COMMA_COST, re.compile(r"(?:,|，|、)\s*(?!\d)")),
    (
        _CONJUNCTION_COST,
        re.compile(
            r"\s+(?=(?:and|but|so|because|cos|cuz|bc|then|which|though|although|while|whereas|except|plus|also"
            r"|anyway|btw|since|until|now)\s)",
            re.IGNORECASE,
        ),
    ),
    (
        _WEAK_COST,
        re.compile(
            r"(?<!\bthat)(?<!\bif)(?<!\bwhat)(?<!\bwhen)(?<!\bwhere)(?<!\bhow)(?<!\bwhy)(?<!\band)(?<!\bbut)"
            r"(?<!\bso)(?<!\bbecause)(?<!\bcos)(?<!\bsaid)(?<!\bsays)(?<!\bthink)(?<!\bthought)(?<!\bknow)"
            r"(?<!\bthan)(?<!\bas)(?<!\bwhich)(?<!\bwho)(?<!\blike)(?<!\breckons)(?<!\breckon)(?<!\bsince)"
            r"(?<!\bhope)(?<!\bwish)(?<!\bthen)(?<!\bthing)(?<!\bwhile)(?<!\buntil)(?<!\bis)(?<!\bare)(?<!\bwas)"
            r"(?<!\bdo)(?<!\bdid)(?<!\bdoes)(?<!\bcan)(?<!\bshould)(?<!\bcould)(?<!\bwould)(?<!\bwill)(?<!\bhave)"
            r"(?<!\bday)(?<!\btime)(?<!\bmeans)(?<!\bfor)(?<!\bto)(?<!\bof)(?<!\bwith)(?<!\bguess)(?<!\bam)"
            r"\s+(?=(?:i|i'm|im|i've|ive|i'll|i'd|he's|she's|it's|we're|they're|that's|there's|he|she|we|they"
            r"|my|me|mum|dad)\s+\w)",
            re.IGNORECASE,
        ),
    ),
)
_CUT_PLACES_ZH = (
    (_STRONG_COST, re.compile(r"(?:[;；→]|[—–-]{2,}|…+|[：:](?!\d)|\s[-–—+]\s)\s*")),
    (_COMMA_COST, re.compile(r"[，,]\s*(?!\d{3})|(?<=[)）」』”])(?=[^，。！？、,.;；：:的了吗呢])")),
    (
        _CONJUNCTION_COST,
        re.compile(r"\s+|(?=(?:但是|不过|可是|所以|因为|然后|后来|而且|另外|还有|只是|结果|现在))"),
    ),
    (_WEAK_COST, re.compile(r"(?<=[了的吧呢吗嗎啊呀嘛哈])(?=[我他她它你咱俺这那])|、")),
)


def split_clauses(text: str) -> list[Sentence]:
    """Cut a message into sentences, and long sentences into clauses; no non-blank character is lost."""
    pieces: list[Sentence] = []
    parts = (part for sentence in split_sentences(text) for part in _split_question(sentence))
    for piece in (piece for part in parts for piece in _cut(part)):
        if pieces and _belong_together(pieces[-1], piece, text):
            start = pieces.pop().start
            pieces.append(Sentence(text[start : piece.end], start, piece.end))
        else:
            pieces.append(piece)
    return pieces


def telling_clauses(text: str) -> list[Sentence]:
    """The clauses of a text that tell something about the user, beside questions or alone."""
    return [clause for clause in split_clauses(text) if _tells(clause.text)]


def _tells(clause: str) -> bool:
    """Whether a clause tells something about the user, and is neither a question nor an order."""
    asks = is_question(clause) or is_supposition(clause) or _ASKS_BRIEFLY.match(clause) or is_order(clause)
    return not asks and _FIRST_PERSON.search(clause) is not None


def is_order(text: str) -> bool:
    """Whether a text asks for work: "give me a recipe for people who dont eat meat"."""
    return _ORDERS.match(text) is not None


def _split_question(sentence: Sentence) -> Iterator[Sentence]:
    """Separate the clauses of a sentence that ask from those that tell something.

    A clause that refers back stays with the question before it: "what do I cook for Ana, she is a vegan".
    """
    start = 0
    asked: bool | None = None
    for at, clause in _clauses(sentence.text):
        asks = is_question(clause.rstrip(_CLAUSE_MARKS)) or _ASKS_BRIEFLY.match(clause) is not None
        if asked and not asks and _REFERS_BACK.match(clause):
            continue
        if asked is False and asks and _ADDS_TO_STATEMENT.match(sentence.text, at):
            continue
        if asked is not None and asks != asked:
            yield _part(sentence, start, at)
            start = at
        asked = asks
    yield _part(sentence, start, len(sentence.text))


def _clauses(text: str) -> Iterator[tuple[int, str]]:
    """The clauses of a sentence with their positions, each of at least `MIN_CLAUSE_WORDS` words.

    Two words are enough if they clearly begin a clause ("im diabetic"), which is required at a weak place. A
    last clause of a word or two is left out, unless it asks.
    """
    costs = _cut_places(text, _is_mostly_chinese(text)) if len(text) <= MAX_SENTENCE_CHARS else {}
    first = 0
    for at in sorted(costs):
        is_place = costs[at] < _WEAK_COST or (
            _BEGINS_CLAUSE.match(text, at) and not _TAKES_RELATIVE_CLAUSE.search(text, first, at)
        )
        least = MIN_BEGUN_WORDS if _BEGINS_CLAUSE.match(text, first) else MIN_CLAUSE_WORDS
        if is_place and count_words(text[first:at]) >= least:
            yield first, text[first:at]
            first = at
    rest = text[first:]
    begins = _BEGINS_CLAUSE.match(rest) or _ASKS_BRIEFLY.match(rest)
    if count_words(rest) >= MIN_CLAUSE_WORDS or begins:
        yield first, rest


def _part(sentence: Sentence, start: int, end: int) -> Sentence:
    """A part of a sentence, without surrounding white space."""
    raw = sentence.text[start:end]
    first = sentence.start + start + len(raw) - len(raw.lstrip())
    body = raw.strip()
    return Sentence(body, first, first + len(body))


def _belong_together(first: Sentence, second: Sentence, text: str) -> bool:
    """Whether one of two pieces on a line is a fragment that goes with the other."""
    if is_question(first.text) or is_question(second.text):
        return False
    if "\n" in text[first.end : second.start] or is_plain_statement(second.text):
        return False
    if not (_is_fragment(first.text) or _is_fragment(second.text)):
        return False
    return second.end - first.start <= (MAX_JOINED_ZH if _is_mostly_chinese(first.text) else MAX_JOINED_EN)


def _is_fragment(text: str) -> bool:
    most = MAX_FRAGMENT_CHARS_ZH if has_han(text) else MAX_FRAGMENT_WORDS_EN
    return count_words(text) <= most and not is_plain_statement(text)


def _cut(sentence: Sentence) -> Iterator[Sentence]:
    for start in range(0, len(sentence.text), MAX_SENTENCE_CHARS):
        part = sentence.text[start : start + MAX_SENTENCE_CHARS]
        chinese = _is_mostly_chinese(part)
        if len(part) <= (MAX_WHOLE_ZH if chinese else MAX_WHOLE_EN):
            ends = [len(part)]
        else:
            ends = _best_cuts(part, chinese)
        begin = 0
        for end in ends:
            body = part[begin:end].strip()
            if body:
                first = sentence.start + start + part.index(body, begin)
                yield Sentence(body, first, first + len(body))
            begin = end


def _is_mostly_chinese(text: str) -> bool:
    return has_han(text) and sum("\u3400" <= c <= "\u9fff" for c in text) * 3 >= len(text) - text.count(" ")


def _best_cuts(text: str, chinese: bool) -> list[int]:
    """The ends of the pieces with the lowest total cost, by dynamic programming over the possible places."""
    places = _cut_places(text, chinese)
    ends = [0, *sorted(places), len(text)]
    target = TARGET_ZH if chinese else TARGET_EN
    shortest = MIN_PIECE_ZH if chinese else MIN_PIECE_EN
    costs = [0.0] + [float("inf")] * (len(ends) - 1)
    previous = [0] * len(ends)
    for last in range(1, len(ends)):
        for first in range(last - 1, -1, -1):
            size = ends[last] - ends[first]
            cost = costs[first] + _size_cost(size, target, shortest) + places.get(ends[last], 0.0)
            if cost < costs[last]:
                costs[last], previous[last] = cost, first
            if size > 6 * target:
                break
    cuts: list[int] = []
    at = len(ends) - 1
    while at > 0:
        cuts.append(ends[at])
        at = previous[at]
    return cuts[::-1]


def _size_cost(size: int, target: int, shortest: int) -> float:
    """0 at the target; a piece below the shortest size, or of three times the target, costs several cuts."""
    if size < shortest:
        return 2.0
    if size <= target:
        return 0.5 * (1 - size / target)
    return (size / target - 1) ** 2


def _cut_places(text: str, chinese: bool) -> dict[int, float]:
    """Positions where a piece may end, with the cost of a cut there; the cheapest reason counts."""
    places: dict[int, float] = {}
    for cost, pattern in _CUT_PLACES_ZH if chinese else _CUT_PLACES_EN:
        for match in pattern.finditer(text):
            if 0 < match.end() < len(text) and not _inside_quotation(text, match.end()):
                places.setdefault(match.end(), cost)
    return places


def _inside_quotation(text: str, at: int) -> bool:
    """Whether a position lies between an opening and a closing quotation mark."""
    before = text[max(0, at - 60) : at]
    return any(
        before.rfind(opening) > before.rfind(closing) for opening, closing in ("“”", "「」", "（）", "()")
    )
