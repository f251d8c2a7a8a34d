"""Detects what an answer says against recalled thoughts: contradict(w, t) of TiM (ACL), Eq. 10.

Three methods. `words` compares a sentence with each thought (`language.claims`). `safety` looks for
recommendations that an allergy, a diet or a contraindication forbids (`recall.constraints`). `model` asks a
capable model once per draft for the contradictions, and judges each of them: its quote must be in the draft
and its thought must exist and still hold. The first two need no model and decide sentence by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thinkback.errors import ModelError
from thinkback.language.claims import find_contradiction
from thinkback.language.restrictions import find_substances
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.tokens import extract_terms, fold_text
from thinkback.language.writing_systems import clean_text
from thinkback.prompts import escape_structure, format_numbered, load_prompt
from thinkback.protocols import LLM
from thinkback.recall.constraints import Constraint, find_constraints, find_violation
from thinkback.types import CheckMethod, Message, NewTurn, Recollection, Reply, Thought, Turn

MAX_CHECK_TOKENS = 400
MAX_CONSTRAINTS = 32  # safety facts checked besides the recalled thoughts
RecordCall = Callable[[Sequence[Message], str, Reply | None], None]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A sentence that contradicts a thought. `forbid` are the contradicting words, to be masked (Eq. 9)."""

    thought: Thought
    sentence: str
    method: CheckMethod
    reason: str
    score: float = 1.0
    threshold: float = 1.0
    forbid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TouchedConstraint:
    """A safety fact that concerns a message or its answer, and why."""

    constraint: Constraint
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The result of checking a whole answer."""

    conflicts: tuple[Conflict, ...]
    constraints: tuple[TouchedConstraint, ...]


@dataclass(frozen=True, slots=True)
class CheckerFactory:
    """Creates the checker for an answer. `llm` is asked for contradictions if it is a capable model."""

    llm: LLM | None = None

    def create(
        self,
        new_turn: NewTurn,
        recollection: Recollection,
        recent: Sequence[Turn],
        constraints: Sequence[Constraint] = (),
    ) -> ConsistencyChecker | None:
        """The checker for answers to `new_turn`; None if no thought could be contradicted.

        What the user said after a thought was formed takes precedence: "I moved to Lyon!" may be answered
        with Lyon while the space still says Paris.
        """
        recalled = [item for item in recollection if item.thought is not None]
        current = [item.thought for item in recalled if item.thought and item.outdated is None]
        past = [item.thought for item in recalled if item.thought and item.outdated is not None]
        known = {thought.id for thought in (*current, *past)}
        current += [
            constraint.thought
            for constraint in constraints[:MAX_CONSTRAINTS]
            if constraint.thought.id not in known
        ]
        outdated = {thought.id for thought in current if is_taken_back(thought, new_turn.query)}
        for turn in recent:
            outdated |= {
                thought.id
                for thought in current
                if thought.last_turn < turn.id and is_taken_back(thought, turn.query)
            }
        past += [thought for thought in current if thought.id in outdated]
        current = [thought for thought in current if thought.id not in outdated]
        capable = self.llm is not None and self.llm.follows and self.llm.extracts
        return ConsistencyChecker(current, new_turn, past, self.llm if capable else None) if current else None


_TAKES_BACK = re.compile(
    r"\b(?:forget|not|no longer|any ?more|never|sorry|actually|wrong|mistake|changed|moved|quit|stopped)\b"
    r"|n't\b"
    "|忘|不是|其实|不再|搞错|说错|改成|换成|没有|不",
    re.IGNORECASE,
)


def is_taken_back(thought: Thought, message: str) -> bool:
    """Whether a message of the user replaces a thought or takes it back."""
    for sentence in split_sentences(message):
        if is_question(sentence.text):
            continue
        if find_contradiction([thought.sentence], 0, _as_answer(sentence.text)):
            return True
        if _TAKES_BACK.search(sentence.text):
            values = set(extract_terms(thought.object)) or set(extract_terms(thought.sentence))
            if values & set(extract_terms(sentence.text)):
                return True
    return False


def _as_answer(text: str) -> str:
    """A sentence of the user, addressed to the user, as an answer would say it."""
    text = re.sub(r"\b(?:I'm|I am|i'm|im)\b", "you are", text)
    text = re.sub(r"\b[Mm]y\b", "your", re.sub(r"\b[Ii]\b", "you", text))
    return text.replace("我", "你")


class ConsistencyChecker:
    """Checks one answer. `past` thoughts are shown to the model as past, and never contradicted."""

    def __init__(
        self,
        thoughts: Sequence[Thought],
        new_turn: NewTurn,
        past: Sequence[Thought] = (),
        llm: LLM | None = None,
    ) -> None:
        self._thoughts = tuple(thoughts)
        self._past = tuple(past)
        self._llm = llm
        self._new_turn = new_turn
        self._constraints = find_constraints(self._thoughts)
        self._sentences = [thought.sentence for thought in self._thoughts]
        self._terms = {term for sentence in self._sentences for term in _words_of(sentence)}
        self._people = {name for text in self._sentences for name in re.findall(r"\b[A-Z][a-z]+\b", text)}

    def conflicts(self, before: str, sentence: str) -> list[Conflict]:
        """The contradictions in `sentence`, which follows the text `before`; at most one for each thought.

        A first sentence that is only a value ("Paris.") is read as the answer to the question.
        """
        text = sentence.strip()
        found: dict[int, Conflict] = {}
        for constraint in self._constraints:
            if word := find_violation(constraint, text, self._new_turn.query, self._thoughts):
                reason = f"{word!r} is against a {constraint.restriction.kind}"
                found[constraint.thought.id] = Conflict(
                    constraint.thought, text, "safety", reason, forbid=self._forbidden((word,))
                )
        if is_question(text):
            return list(found.values())
        stated = text if before.strip() else complete_answer(text, self._new_turn.query)
        for index, thought in enumerate(self._thoughts):
            if thought.id in found:
                continue
            if contradiction := find_contradiction(self._sentences, index, stated):
                found[thought.id] = Conflict(
                    thought, text, "words", contradiction.reason, forbid=self._forbidden(contradiction.words)
                )
        return list(found.values())

    def check(self, answer: str) -> list[Conflict]:
        """The contradictions of a whole answer, without a model; at most one for each thought."""
        found: dict[int, Conflict] = {}
        before = ""
        for sentence in split_sentences(answer):
            for conflict in self.conflicts(before, sentence.text):
                found.setdefault(conflict.thought.id, conflict)
            before += sentence.text
        return list(found.values())

    def needs_model(self, sentence: str) -> bool:
        """Whether a model should look at a sentence: it says something new about the thoughts' topics."""
        if self._llm is None or not extract_terms(sentence):
            return False
        folded = fold_text(sentence)
        terms = _words_of(sentence)
        known = self._terms | _words_of(self._new_turn.query)
        if terms <= known and not _NEGATED.search(folded):
            return False
        return bool(
            _ADDRESSED.search(folded)
            or terms & self._terms
            or any(name in sentence for name in self._people)
            or find_substances(sentence)
        )

    def model_conflicts(self, before: str, draft: str, record_call: RecordCall) -> list[Conflict]:
        """The contradictions that the model finds in `draft` after the text `before`, judged one by one.

        Empty if the model fails or its reply cannot be used: the draft has passed the other checks.
        """
        from thinkback.recall.prompts import ContradictionsReply  # imports pydantic

        if self._llm is None:
            return []
        facts = [*self._sentences, *(f"{thought.sentence} (past)" for thought in self._past)]
        prompt = load_prompt("thinkback.recall", "contradictions").render(
            facts=format_numbered(enumerate(map(escape_structure, facts), start=1)),
            message=" ".join(escape_structure(self._new_turn.query).split()),
            draft=" ".join(escape_structure(f"{before} {draft}").split()),
        )
        messages = [Message("user", prompt)]
        reply: Reply | None = None
        try:
            reply = self._llm.complete(
                messages, schema=ContradictionsReply.model_json_schema(), max_tokens=MAX_CHECK_TOKENS
            )
            listed = ContradictionsReply.model_validate_json(clean_text(reply.text)).contradictions
        except (ModelError, ValueError):  # ValueError includes pydantic's ValidationError
            return []
        finally:
            record_call(messages, reply.text if reply else "", reply)
        found: dict[int, Conflict] = {}
        for item in listed:
            sentence = _find_quote(item.quote, draft)
            if sentence and 1 <= item.fact <= len(self._thoughts):
                thought = self._thoughts[item.fact - 1]
                reason = " ".join(clean_text(item.reason).split()) or "the model says so"
                found.setdefault(thought.id, Conflict(thought, sentence, "model", reason))
        return list(found.values())

    def sentence_of(self, thought: int) -> str:
        """The sentence of one of the checked thoughts."""
        return next(candidate.sentence for candidate in self._thoughts if candidate.id == thought)

    def _forbidden(self, values: Sequence[str]) -> tuple[str, ...]:
        """The words to mask.

        Not words that the right answer may need, and not digits, which share their tokens with other numbers.
        """
        needed = {word for sentence in self._sentences for word in _WORD.findall(sentence)}
        needed |= set(_WORD.findall(self._new_turn.query))
        return tuple(
            dict.fromkeys(
                word
                for value in values
                for word in _WORD.findall(value)
                if len(word) > 1 and not any(_may_share_token(word, other) for other in needed)
            )
        )


_WORD = re.compile(r"[^\W\d_]+")
_NEGATED = re.compile(r"\b(?:not|no|never|cannot)\b|n't\b|[不没]")
_ADDRESSED = re.compile(r"\byou(?:r|rs|rself|'re|'ve)?\b|[你您]")
_MIN_QUOTE_CHARS = 2


def _words_of(text: str) -> set[str]:
    """The terms of a text; of Chinese single characters only, as 你住在 and 用户住在 share no bigram."""
    return {term for term in extract_terms(text) if term.isascii() or len(term) == 1}


def _find_quote(quote: str, draft: str) -> str:
    """The sentence of the draft that contains the quote; "" if the draft does not contain it."""
    wanted = _normalise(quote)
    if len(wanted) < _MIN_QUOTE_CHARS or wanted not in _normalise(draft):
        return ""
    sentences = [sentence.text for sentence in split_sentences(draft)]
    return next((text for text in sentences if wanted in _normalise(text)), draft.strip())


def _normalise(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold_text(text))


def _may_share_token(one: str, other: str) -> bool:
    """Words with the same beginning may share the token that would be masked."""
    a, b = one.casefold(), other.casefold()
    return a[:3] == b[:3] or (not a.isascii() and (a in b or b in a))


_BARE_ANSWER = re.compile(
    r"(?:(?:in|at|on|it is|it's|that is|that's|是|在)\s*)?(?P<v>[^,;:.!?，。；！？]{1,40})[.!。！]?",
    re.IGNORECASE,
)
_NOT_A_VALUE = re.compile(
    r"\b(?:I|you|your|is|are|do|does|not|don't|know|sorry|the user)\b|[你我您不没]|知道"
    r"|\A(?:sure|yes|no|ok|okay|of course|certainly|absolutely|right|great|good|fine|thanks|thank|hello"
    r"|hi|hey|welcome|maybe|perhaps|unknown|none|nothing|nowhere|noted|understood|done|let)\b"
    r"|\A(?:好|是的?[。！]?\Z|对[。！]?\Z|嗯|当然|可以|未知|谢谢|明白|知道)",
    re.IGNORECASE,
)
"""Words that show that a short reply is not a bare value: it has its own verb or only reacts."""
_QUESTION_STATEMENTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), template)
    for pattern, template in (
        (r"\bwhere (?:do|did) I (?:currently |now )?live\b|\bwhich city do I live\b", "You live in {}."),
        (r"\bwhere do I work\b|\bwho do I work for\b", "You work at {}."),
        (r"\bwhat(?:'s| is) my name\b", "Your name is {}."),
        (r"\bhow old am I\b", "You are {} years old."),
        (r"\bwhere was I born\b", "You were born in {}."),
        (r"\bwhat(?:'s| is) my (?P<what>[\w' -]{2,40}?)\s*\?", "Your {what} is {}."),
        (r"\bwho is my (?P<what>[\w -]{2,20}?)\s*\?", "Your {what} is {}."),
        ("我(?:现在)?(?:住|家)在?哪", "你住在{}。"),
        ("我(?:现在)?在哪(?:里|儿|家公司)?(?:工作|上班)", "你在{}工作。"),
        ("我叫什么|我的名字", "你叫{}。"),
        ("我的?(?P<what>[^的叫，。？]{1,4})叫什么", "你的{what}叫{}。"),
        ("我(?:今年)?(?:多大|几岁)", "你{}。"),
        ("我的(?P<what>[^是，。？]{1,8})是(?:什么|多少|谁|哪)", "你的{what}是{}。"),
    )
)


def complete_answer(reply: str, query: str) -> str:
    """A bare reply completed from its question: "Paris." becomes "You live in Paris."; else unchanged."""
    bare = _BARE_ANSWER.fullmatch(reply.strip())
    if bare is None or _NOT_A_VALUE.search(reply):
        return reply
    for pattern, template in _QUESTION_STATEMENTS:
        if match := pattern.search(query):
            value = bare["v"].strip().removesuffix(" years old")
            return template.replace("{what}", match.groupdict().get("what") or "").replace("{}", value)
    return reply
