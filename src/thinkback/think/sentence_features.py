"""Features of one piece of a user's message, for the sentence classifier and the pair scorer.

Text features are hashed into buckets: words, word pairs and triples, runs of two to five characters, and,
with a lower weight, the words of the whole message, of the pieces before and after, and of the assistant's
question just before. Digits are all equal, so that any amount or date counts as one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from thinkback.language.clauses import split_clauses
from thinkback.language.corrections import corrects_words
from thinkback.language.sentences import Sentence, is_question, is_supposition, split_sentences
from thinkback.language.writing_systems import has_han

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

BUCKETS = 1 << 18
MAX_PIECE_CHARS = 400
MAX_MESSAGE_CHARS = 2_000
MAX_QUESTION_CHARS = 300
MAX_PIECES = 200
"""Pieces of a message beyond this number are not read: a pasted book is no conversation."""

DENSE_FEATURES = 14
CONTEXT_WEIGHT = 0.5
NEIGHBOUR_WEIGHT = 0.4
QUESTION_WEIGHT = 0.5

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+(?:['’][^\W\d_\u3400-\u9fff]+)*|0+|[?？!！]")
_DIGIT = re.compile(r"\d")
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|im|i'm|i've|ive|we|our|us|mine|we're)\b|我|咱|俺|阮")
_SECOND_PERSON = re.compile(r"\b(?:you|your|you're|u|ur)\b|你|您")
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+")
_REQUEST = re.compile(
    r"^\W*(?:please|can you|could you|would you|give me|tell me|write|explain|help|show me|make|suggest|list"
    r"|translate|remind me|any ideas?|what|how|why|where|when|which|who|is|are|do|does|should|can)\b"
    r"|^(?:请|帮|给我|写|讲|说|算|翻译|推荐|来个|你|您|怎么|为什么|有没有|能不能)",
    re.IGNORECASE,
)
_QUESTION_MARK = re.compile(r"[?？]")
_CODE = re.compile(
    r"^\W*\w[\w.]*\s*=\s*[\[{(\"']|\b(?:Traceback|\w*(?:Error|Exception)) (?:in \S|\(most)"
    r"|\b\w+\([^()]*\)\s*[:;{]|[{}]\s*$|</\w+>"
)
_QUOTED = re.compile(r"""^["“「『'‘].*["”」』'’][.!?。！？]?$""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a user's message with what stands around it.

    `question` is the question with which the assistant's reply before the message ended, or "".
    """

    sentence: Sentence
    message: str
    before: str
    after: str
    question: str
    position: int
    count: int

    @property
    def text(self) -> str:
        return self.sentence.text


def split_pieces(message: str, previous_reply: str = "") -> list[Piece]:
    """The pieces of a message; `previous_reply` is what the assistant said just before."""
    pieces = _join_corrections(split_clauses(message), message)[:MAX_PIECES]
    question = last_question(previous_reply)
    texts = ["", *(piece.text for piece in pieces), ""]
    return [
        Piece(piece, message[:MAX_MESSAGE_CHARS], texts[i], texts[i + 2], question, i, len(pieces))
        for i, piece in enumerate(pieces)
    ]


def _join_corrections(pieces: Sequence[Sentence], message: str) -> list[Sentence]:
    """A piece that corrects the one before it makes one piece with it: "I am 70. No wait, 71"."""
    joined: list[Sentence] = []
    for piece in pieces:
        corrects = (
            bool(joined) and not is_question(piece.text) and corrects_words(joined[-1].text, piece.text)
        )
        start = joined.pop().start if corrects else piece.start
        joined.append(Sentence(message[start : piece.end], start, piece.end))
    return joined


def last_question(reply: str) -> str:
    """The question with which a reply ends, or "" if its last sentence is no question."""
    sentences = split_sentences(reply[-2 * MAX_QUESTION_CHARS :])
    if sentences and re.search(r"[?？]", sentences[-1].text[-4:]):
        return sentences[-1].text[-MAX_QUESTION_CHARS:]
    return ""


def is_statement(text: str) -> bool:
    """False for questions with a question mark, suppositions, code, and words that are only quoted.

    Questions without a mark and requests often state a fact beside what they ask; the classifier decides.
    """
    asks = _QUESTION_MARK.search(text[-6:]) and is_question(text)
    return not (asks or is_supposition(text) or _CODE.search(text) or _QUOTED.match(text))


def dense_features(piece: Piece) -> list[float]:
    """The `DENSE_FEATURES` features that are numbers of their own."""
    text = piece.text
    lowered = text.lower()
    chinese = has_han(text)
    size = len(text) * (3 if chinese else 1)
    return [
        1.0,
        float("?" in text or "？" in text),
        float(is_question(text)),
        float(piece.position == 0),
        float(piece.position == piece.count - 1),
        float(np.log1p(size)) / 4,
        float(bool(_DIGIT.search(text))),
        float(piece.count > 1),
        float(size < 15),
        float(bool(piece.question)),
        float(bool(piece.question) and piece.position == 0),
        min(len(_FIRST_PERSON.findall(lowered)), 4) / 3,
        min(len(_SECOND_PERSON.findall(lowered)), 3) / 2,
        min(len(_NAME.findall(text)), 4) / 3 if not _REQUEST.search(text) else -0.5,
    ]


def hashed_features(piece: Piece) -> tuple[npt.NDArray[np.int64], Floats]:
    """The buckets and values of the text features of a piece; a bucket may occur several times."""
    words = _tokens(piece.text[:MAX_PIECE_CHARS])
    groups: list[tuple[float, list[int]]] = [
        (1.0, _hash_all("w", _ngrams(words, 3))),
        (1.0, _hash_all("c", _character_ngrams(piece.text[:MAX_PIECE_CHARS]))),
        (CONTEXT_WEIGHT, _hash_all("m", _ngrams(_tokens(piece.message), 2))),
        (NEIGHBOUR_WEIGHT, _hash_all("b", _ngrams(_tokens(piece.before[-120:]), 2))),
        (NEIGHBOUR_WEIGHT, _hash_all("a", _ngrams(_tokens(piece.after[:120]), 2))),
    ]
    if piece.question and piece.position == 0:
        groups.append((QUESTION_WEIGHT, _hash_all("q", _ngrams(_tokens(piece.question), 2))))
    slots = np.concatenate([np.array(hashes, dtype=np.int64) for _, hashes in groups])
    values = np.concatenate([_unit_values(hashes, weight) for weight, hashes in groups])
    return slots, values


def _unit_values(hashes: Sequence[int], weight: float) -> Floats:
    """Equal values for all occurrences, scaled so that the counts of the group have the length `weight`."""
    if not hashes:
        return np.zeros(0)
    _, inverse, counts = np.unique(np.array(hashes), return_inverse=True, return_counts=True)
    length = float(np.sqrt(np.sum(counts.astype(np.float64) ** 2)))
    return np.full(len(inverse), weight / length)


def _tokens(text: str) -> list[str]:
    return [token if token[0] != "0" else "0" for token in _TOKEN.findall(_DIGIT.sub("0", text.lower()))]


def _ngrams(tokens: Sequence[str], longest: int) -> Iterable[str]:
    for size in range(1, longest + 1):
        for start in range(len(tokens) - size + 1):
            yield " ".join(tokens[start : start + size])


def _character_ngrams(text: str) -> Iterable[str]:
    """Runs of two to five characters within each word, with a space at either end of the word."""
    for word in _DIGIT.sub("0", text.lower()).split():
        padded = f" {word} "
        for size in range(2, 6):
            for start in range(max(len(padded) - size + 1, 1)):
                yield padded[start : start + size]


def _hash_all(group: str, features: Iterable[str]) -> list[int]:
    return [zlib.crc32(f"{group}:{each}".encode("utf-8", "surrogatepass")) % BUCKETS for each in features]
