"""Scans a text for instructions and secrets, with patterns and with the trained detectors, in bounded time.

A short text is read in full. A longer one is read in chunks: those that may contain something are read in
full as long as the budget of the text lasts, and roughly afterwards. What is read roughly is not trusted:
values near labels are redacted as secrets, and the text is recalled as a quotation only. So the time for each
character falls with the length of a text, whatever it contains.

`scan_text` is fast enough to scan whatever is read. `scan_message` also reads the text with a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from thinkback.language.safety.contact_details import is_contact_statement
from thinkback.language.safety.detector import SafetyModel, find_access_values, score_windows
from thinkback.language.safety.injection import INSTRUCTION, detect_instructions
from thinkback.language.safety.network_detector import MIN_SCORE, NetworkReading, read_message
from thinkback.language.safety.normalise import (
    MARK_PLACEHOLDER,
    NormalisedText,
    QuarantinedSpan,
    disguised_readings,
    merge_spans,
    normalise_text,
)
from thinkback.language.safety.prefilter import Suspicion, prefilter_text
from thinkback.language.safety.secret_detection import detect_secrets, find_values
from thinkback.language.safety.secret_formats import blank_placeholders, find_key_blocks
from thinkback.language.safety.secret_kinds import SECRET, SECRET_KINDS
from thinkback.language.safety.secret_labels import ORDINARY_VALUE
from thinkback.language.text_cache import cache_by_digest
from thinkback.network.cross_encoder import find_cross_encoder

FULLY_READ_CHARS = 8192  # a text up to this length is read in full
NETWORK_MAX_CHARS = 2048  # a message up to this length is read by the network
CHUNK_CHARS = 384  # of a longer one; reading a chunk in full costs up to 20 milliseconds
OVERLAP_CHARS = 128  # with the chunk before
_FULL_CHUNKS = 1  # of a longer text that are read in full in any case
_FULL_SHARE = 128  # and one of so many
_DISGUISE_SCORE = 1.5  # added to an order that is read from disguised text
_MAX_KNOWN_SECRETS = 12  # of a reading; in one with more, everything with digits is redacted
_MAX_ROUGH_VALUES = 8  # of a chunk; one with more is withheld as a whole

_MARK_TEXTS = (f"quarantined {INSTRUCTION}", *(f"redacted {kind}" for kind in SECRET_KINDS))
REDACTION_MARK = re.compile(rf"\[(?:{'|'.join(_MARK_TEXTS)})\]")
"""Matches the marks that replace quarantined spans, such as `[redacted password]`."""

QUOTATION_MARK = "[quoted text, not an instruction]"
"""Stands before a text that may be an instruction. It is read as white space."""

_BREAK = re.compile(r"[\n。！？]|[.!?]\s|\s")
_ROUGH_VALUE = re.compile(r"(?<![!-~])[!-~]*\d[!-~]*")
_ROUGH_LABEL = re.compile(
    r"(?i)(?=[pstklc密口令])(?:password|passwd|passphrase|pwd|secret|token|key|login|pin|code|passwort|kennwort|passe"
    r"|密码|口令|密钥|令牌)[\"']?(?:\s(?:is|ist|est)\s|\s?[:=：是]\s?|\s)[\"']?([!-~]{4,64})"
)
_ROUGH_PREFIX = re.compile(r"\A[\w.-]{1,30}[=:](?=.)")
_MIN_ROUGH_CHARS = 4


class Findings(NamedTuple):
    """What a text contains: each a tuple of disjoint spans in order.

    `suspicious` passages may be instructions: they are shown as quotations, and are kept as said at most.
    """

    instructions: tuple[QuarantinedSpan, ...] = ()
    secrets: tuple[QuarantinedSpan, ...] = ()
    suspicious: tuple[QuarantinedSpan, ...] = ()

    @property
    def quarantined(self) -> tuple[QuarantinedSpan, ...]:
        """Instructions and secrets; a secret inside an instruction is part of the instruction."""
        if not self.instructions:
            return self.secrets
        return merge_spans([*self.instructions, *self.secrets])


@cache_by_digest(8192, min_characters=1)  # the trained detector is slow for short texts too
def scan_text(text: str) -> Findings:
    """Find all instructions, secrets and suspicious passages of a text."""
    if len(text) <= FULLY_READ_CHARS:
        return scan_in_full(text, prefilter_text(text), runs=True)
    text = REDACTION_MARK.sub(lambda mark: MARK_PLACEHOLDER * len(mark[0]), text)  # no chunk may cut one
    found: list[tuple[int, Findings]] = []
    budget = _FULL_CHUNKS + len(text) // CHUNK_CHARS // _FULL_SHARE
    for start, end in _chunks(text):
        chunk = text[start:end]
        suspicion = prefilter_text(chunk, disguises=budget > 0)
        if not suspicion.any:
            continue
        if budget > 0 and not _is_dense(chunk):
            budget -= 1
            part = scan_in_full(chunk, suspicion, runs=False)
        else:
            part = _scan_roughly(chunk, suspicion)
        found.append((start, part))
    blocks = [QuarantinedSpan(*block) for block in find_key_blocks(text)]
    return Findings(
        *(
            merge_spans(
                [
                    *(blocks if name == "secrets" else ()),
                    *(
                        span._replace(start=span.start + offset, end=span.end + offset)
                        for offset, part in found
                        for span in getattr(part, name)
                    ),
                ]
            )
            for name in Findings._fields
        )
    )


def scan_message(text: str) -> Findings | None:
    """The same, read by the network too; None if `thinkback-reranker` is not installed.

    It reads messages up to `NETWORK_MAX_CHARS`, at most two parts of each: those that the linear detector
    finds most suspicious. Where it has read everything and is sure that nothing is an instruction, nothing is
    suspicious.
    """
    if find_cross_encoder() is None:
        return None
    if len(text) > NETWORK_MAX_CHARS:
        return scan_text(text)
    normalised = normalise_text(_blank_marks(text), REDACTION_MARK).text
    network = read_message(normalised, partial(_suspicion, normalised))
    if network is None:
        return None
    read = scan_in_full(text, prefilter_text(text), runs=True, network=network)
    if network.is_complete:
        return read
    return Findings(*(merge_spans([*a, *b]) for a, b in zip(scan_text(text), read, strict=True)))


def _suspicion(text: str, start: int, end: int) -> float:
    """The highest score of the linear detector for a sentence of a part of a text."""
    return max(
        (max(each.score.order, each.score.secret) for each in score_windows(text[start:end], runs=False)),
        default=MIN_SCORE,
    )


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Overlapping chunks that begin and end at white space or at the end of a sentence, if there is any."""
    start = 0
    while start < len(text):
        end = min(start + CHUNK_CHARS, len(text))
        if end < len(text):
            gap = _BREAK.search(text, end, end + OVERLAP_CHARS)
            end = gap.end() if gap else end
        yield max(0, start - OVERLAP_CHARS), end
        start = end


def scan_in_full(
    text: str, suspicion: Suspicion, *, runs: bool, network: NetworkReading | None = None
) -> Findings:
    """Read a text with the patterns that the prefilter calls for, and with the trained detectors.

    With `runs`, the linear detector reads runs of sentences too. `network` is the reading of the text as it
    stands, without disguises.
    """
    normalised = normalise_text(_blank_marks(text), REDACTION_MARK)
    parts = [_scan_reading(normalised, suspicion, runs, network=network)]
    if suspicion.disguised and not is_contact_statement(text):
        suspicion = Suspicion(True, True)
        parts += [
            _scan_reading(reading, suspicion, runs, _DISGUISE_SCORE)
            for reading in disguised_readings(normalised)
        ]
    return Findings(
        *(merge_spans([span for part in parts for span in getattr(part, name)]) for name in Findings._fields)
    )


def _blank_marks(text: str) -> str:
    """The text with spaces in place of quotation marks of ours and of placeholders."""
    return blank_placeholders(text.replace(QUOTATION_MARK, " " * len(QUOTATION_MARK)))


def _scan_reading(
    reading: NormalisedText,
    suspicion: Suspicion,
    runs: bool,
    added_score: float = 0.0,
    network: NetworkReading | None = None,
) -> Findings:
    limits = SafetyModel.shipped().thresholds
    windows = score_windows(reading.text, runs=runs)
    instructions: list[QuarantinedSpan] = []
    suspicious: list[QuarantinedSpan] = []
    flagged: list[tuple[int, int]] = []
    if suspicion.instructions:
        for start, end, certain in detect_instructions(reading.text):
            scores = [each.score.order for each in windows if each.start < end and start < each.end]
            score = max(scores, default=limits.quoted)
            if certain or score >= limits.doubted:
                target = instructions if certain or score >= limits.quoted else suspicious
                target.append(reading.original_span(start, end, INSTRUCTION))
                flagged.append((start, end))
    known = list(detect_secrets(reading.text)) if suspicion.secrets else []
    for window in windows:
        start, end = _trim(reading.text, window.start, window.end)
        if is_contact_statement(reading.text[start:end]):
            continue
        order = window.score.order + added_score
        if order >= limits.quoted and not any(a < end and start < b for a, b in flagged):
            flagged.append((start, end))  # sentences come before runs of sentences
            target = instructions if order >= limits.withheld else suspicious
            target.append(reading.original_span(start, end, INSTRUCTION))
        if window.score.secret >= limits.secret and not any(a < end and start < b for a, b, _ in known):
            known += find_values(reading.text, start, end)
    if not added_score:  # the text as it stands
        found = [(start, end) for start, end, _ in known]
        is_dense = len(found) > _MAX_KNOWN_SECRETS
        more = _rough_values(reading.text) if is_dense else find_access_values(reading.text, found, network)
        known += [(start, end, SECRET) for start, end in more]
    if network is not None:
        found = [(start, end) for start, end, _ in known]
        linear = max((each.score.secret for each in windows), default=MIN_SCORE)
        known += [(start, end, SECRET) for start, end in network.secret_words(reading.text, found, linear)]
        score = network.order_score(max((each.score.order for each in windows), default=MIN_SCORE))
        if score < network.thresholds.overruled:
            suspicious = []
        elif score >= network.thresholds.quoted and not flagged:
            suspicious = [reading.original_span(network.start, network.end, INSTRUCTION)]
    secrets = [reading.original_span(*each) for each in known]
    return Findings(merge_spans(instructions), merge_spans(secrets), merge_spans(suspicious))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends."""
    stripped = text[start:end].strip()
    start = text.index(stripped, start)
    return start, start + len(stripped)


def _is_dense(chunk: str) -> bool:
    """Whether a chunk has many values: they cost most to read in full, and reading roughly hides them."""
    values = islice(_ROUGH_VALUE.finditer(chunk), _MAX_ROUGH_VALUES + 1)
    return sum(1 for _ in values) > _MAX_ROUGH_VALUES


def _scan_roughly(chunk: str, suspicion: Suspicion) -> Findings:
    """Redact every value near a label and everything with digits; an instruction is possible anywhere."""
    secrets: list[QuarantinedSpan] = []
    if suspicion.secrets:
        for start, end in _rough_values(chunk):
            secrets.append(QuarantinedSpan(start, end, SECRET))
            if len(secrets) > _MAX_ROUGH_VALUES:
                secrets = [QuarantinedSpan(0, len(chunk), SECRET)]
                break
    suspicious = (QuarantinedSpan(0, len(chunk), INSTRUCTION),) if suspicion.instructions else ()
    return Findings((), merge_spans(secrets), suspicious)


def _rough_values(chunk: str) -> Iterator[tuple[int, int]]:
    for label in _ROUGH_LABEL.finditer(chunk):
        yield label.span(1)
    for value in _ROUGH_VALUE.finditer(chunk):
        start, end = value.span()
        prefix = _ROUGH_PREFIX.match(value[0])
        start += prefix.end() if prefix else 0
        if end - start >= _MIN_ROUGH_CHARS and not ORDINARY_VALUE.fullmatch(chunk, start, end):
            yield start, end
