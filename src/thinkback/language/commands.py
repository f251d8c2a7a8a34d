"""Commands to the memory in what a user says: "forget that", "off the record", "always answer in German".

A command is found only where a whole sentence or clause is one. Questions ("can you forget?"), reports ("he
said forget that") and statements ("I always forget my keys") are not commands. The patterns are data, see
`commands.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from thinkback.language.protocol import load_language
from thinkback.language.relations import (
    LANGUAGES,
    Relation,
    canonical_relation,
    get_relation,
    list_relations,
)
from thinkback.language.sentences import Sentence, split_sentences
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import has_han

CommandKind = Literal["forget_last", "forget_topic", "off_record", "correct", "instruct"]
COMMAND_KINDS: tuple[CommandKind, ...] = (
    "forget_last",
    "forget_topic",
    "off_record",
    "correct",
    "instruct",
)

FORGET_KINDS: tuple[CommandKind, ...] = ("forget_last", "forget_topic", "off_record")

MAX_COMMAND_CHARS = 300  # of one sentence; a longer one is not read as a command
MIN_LOOSE_CHARACTERS, MAX_LOOSE_CHARACTERS = 2, 4  # of a topic that is also found with particles in it
MIN_SHARED_CHARACTERS, MIN_CHARACTER_SHARE = 4, 0.8  # of a longer one
MAX_CLAUSES = 3  # of one sentence, that together are one command
MAX_TEXT_CHARS = 20_000  # of a turn; a longer one is pasted text


@dataclass(frozen=True, slots=True)
class Command:
    """A command in the text of a turn: characters `start` to `end`.

    `topic` is what to forget; with `or_wish`, a topic that was never told is a standing wish not to mention
    it. `old` and `new` are the values of a correction; `old` may be empty. `text` is the sentence or clause
    as it was said.
    """

    kind: CommandKind
    start: int
    end: int
    text: str
    topic: str = ""
    old: str = ""
    new: str = ""
    or_wish: bool = False


@dataclass(frozen=True)
class _Patterns:
    """The compiled patterns of one language; those of `by_kind` without the words that may lead (`lead`).

    Compiled with them, they would take several times as long to compile.
    """

    lead: re.Pattern[str]
    by_kind: dict[CommandKind, tuple[tuple[bool, re.Pattern[str]], ...]]
    """Whether words may lead, and the pattern."""
    never: tuple[re.Pattern[str], ...]
    not_values: tuple[re.Pattern[str], ...]


def find_commands(text: str) -> tuple[Command, ...]:
    """The commands of a text, in order."""
    return tuple(_iter_commands(text)) if _has_command(text) else ()


@cache_by_digest(8192)
def _has_command(text: str) -> bool:
    """Whether there is one. Commands themselves are not cached: they contain what may have to be erased."""
    return next(_iter_commands(text), None) is not None


def _iter_commands(text: str) -> Iterator[Command]:
    if len(text) <= MAX_TEXT_CHARS and _pattern("hint").search(text.casefold()):
        for sentence in split_sentences(text):
            for command in _commands_of_sentence(sentence):
                # "bring it back" beside anything else is about a thing: "he has my drill, bring it back"
                if not only_undoes(command) or _is_whole(command, text):
                    yield command


def _is_whole(command: Command, text: str) -> bool:
    """Whether a text has no words besides a command."""
    return not re.search(r"\w", text[: command.start] + text[command.end :])


def is_only_commands(text: str) -> bool:
    """Whether a text says nothing besides commands and regret, so that there is nothing to think about."""
    rest = list(text)
    commands = find_commands(text)
    for command in commands:
        rest[command.start : command.end] = " " * (command.end - command.start)
    return bool(commands) and not has_content(_pattern("regret").sub("", "".join(rest)))


def blank_requests(text: str) -> str:
    """A text with spaces in place of requests to forget, carried out or not."""
    for command in find_commands(text):
        if command.kind in FORGET_KINDS:
            text = text[: command.start] + " " * (command.end - command.start) + text[command.end :]
    return text


def is_about_previous(command: Command, text: str) -> bool:
    """Whether "forget that" means the message before: the text tells nothing before it but regret."""
    return not has_content(_pattern("regret").sub("", text[: command.start]))


def may_undo(command: Command) -> bool:
    """Whether a command may take the command before it back: "undo that", "bring it back", 撤销."""
    return command.kind == "forget_last" and _pattern("undoes").search(command.text) is not None


def only_undoes(command: Command) -> bool:
    """Whether it can mean nothing else. "Undo that" after a statement means to forget the statement."""
    return command.kind == "forget_last" and _pattern("only_undoes").search(command.text) is not None


def is_about_next(command: Command) -> bool:
    """Whether an off-record command is about what follows it: "this is off the record", 接下来说的别记."""
    return bool(_pattern("about_next").search(command.text))


def has_content(text: str) -> bool:
    """Whether a text has at least three words or four Chinese characters."""
    han = sum("\u4e00" <= char <= "\u9fff" for char in text)
    return han >= 4 or len(re.findall(r"[^\W\d_]+|\d+", text)) - han >= 3


def after_keep_request(text: str) -> str:
    """What a text asks to keep in mind: "remember im off dairy" gives "im off dairy"; "" for other texts."""
    if len(text) > MAX_COMMAND_CHARS:
        return ""
    found = _pattern("keep_request_en").match(text) or _pattern("keep_request_zh").match(text)
    rest = text[found.end() :] if found else ""
    return "" if _pattern("asks_to_recall").search(rest) else rest


def corrects(text: str) -> bool:
    """Whether the user says that their own words before were a mistake: "sorry, I meant", 写错了."""
    return bool(_pattern("own_mistake").search(text))


def topic_terms(topic: str) -> frozenset[str]:
    """The search terms of a topic without general words: "my salary figure" -> {"salary"}."""
    return frozenset(extract_terms(_bare_topic(topic))) - frozenset(
        extract_terms(str(_data()["detection"]["generic_terms"]))
    )


def asks_for_fact(topic: str) -> bool:
    """Whether a topic is an indirect question: "where the key is"."""
    return _pattern("question_word").match(topic) is not None


def shown_topic(command: Command) -> str:
    """The topic of a request to forget, for the reply: "about my salary, please" gives "my salary"."""
    topic = _pattern("topic_end").split(command.topic)[0]
    shown = _pattern("shown_start").sub("", _pattern("topic_end_zh").sub("", topic)).strip()
    return shown if topic_terms(topic) or topic_relation(topic) else ""


def has_most_characters(topic: str, text: str) -> bool:
    """Whether a Chinese text has most characters of a longer topic: 信用卡欠款 is in 我欠了信用卡三万."""
    wanted = [term for term in topic_terms(topic) if len(term) == 1 and has_han(term)]
    found = sum(character in text for character in wanted)
    return len(wanted) >= MIN_SHARED_CHARACTERS and found >= MIN_CHARACTER_SHARE * len(wanted)


def loose_topic_terms(topic: str) -> frozenset[str]:
    """The search terms of a topic without words for relatives and friends: "cousin Otto" -> {"otto"}.

    Not of what belongs to one: "my boss's salary" is not any salary.
    """
    if re.search(r"['’]s?\b|\bof (?:my|our|his|her|their)\b", topic):
        return topic_terms(topic)
    roles = {
        term for code in LANGUAGES for role in load_language(code).roles() for term in extract_terms(role)
    }
    return topic_terms(topic) - roles if not has_han(topic) else frozenset()


def loose_topic_pattern(topic: str) -> re.Pattern[str] | None:
    """A Chinese topic with particles between its characters: 住院 is found in 住过院.

    Of three or more characters, also with a few others between: 哥坐牢 is found in 我哥建军坐过牢.
    """
    bare = _bare_topic(topic).strip()
    if not MIN_LOOSE_CHARACTERS <= len(bare) <= MAX_LOOSE_CHARACTERS or not all(map(has_han, bare)):
        return None
    between = "particles_zh" if len(bare) == MIN_LOOSE_CHARACTERS else "few_characters"
    return re.compile(str(_data()["detection"][between]).join(map(re.escape, bare)))


def secret_topic(topic: str) -> frozenset[str] | None:
    """The search terms of a topic beside a word for a secret: "the wifi password" gives {"wifi"}.

    None if it names no secret.
    """
    bare = _bare_topic(topic)
    if not _pattern("secret_word").search(bare):
        return None
    return topic_terms(_pattern("secret_word").sub(" ", bare))


@dataclass(frozen=True, slots=True)
class TopicRelation:
    """The relation that a topic names, and its words in all languages: 工资 is "salary"."""

    name: str
    words: tuple[frozenset[str], ...]
    """The search terms of each name and cue. A text without all terms of one of them does not state it."""
    is_person: bool = False
    """It is a relative or friend of the user: "my ex"."""


def topic_relation(topic: str) -> TopicRelation | None:
    """The relation that a topic names: an attribute of the user or a person by role."""
    bare = _bare_topic(topic).strip().lower()
    roles = [load_language(code).roles() for code in LANGUAGES]
    role = next((known[bare] for known in roles if bare in known), None)
    if role is not None:
        names = [word for known in roles for word, other in known.items() if other == role]
        return TopicRelation(f"has {role}", tuple(frozenset(extract_terms(name)) for name in names), True)
    named = get_relation(canonical_relation(bare)) if bare else None
    relation = named if named is not None and named.is_known else _asked_relation(topic)
    if relation is None:
        return None
    wordings = [relation.wording(code) for code in LANGUAGES]
    names = [bare, *(wording.noun for wording in wordings), *relation.aliases]
    names += [word for wording in wordings for cue in wording.cues for word in cue.split()]
    words = (frozenset(extract_terms(name)) for name in dict.fromkeys(names))
    return TopicRelation(relation.name, tuple(each for each in words if each))


def _asked_relation(topic: str) -> Relation | None:
    """The relation that a question about the user asks for: "how much I earn" is the salary.

    Of the relations with a cue that fits, the one with the longest cue. A Chinese cue must follow 我:
    我儿子多大 does not ask for the age of the user. An English one needs all its words, and no others with a
    meaning of their own: "when I got home" does not ask where the user lives.
    """
    asks = _pattern("topic_question").match(topic)
    if asks is None:
        return None
    words = set(re.findall(r"[^\W_]+", topic.lower()))
    meaningful = words - set(_data()["detection"]["topic_question_words"])
    best: Relation | None = None
    longest = 0
    for relation in list_relations():
        cues = relation.wording("en").cues
        names_only_it = _have_words_of(meaningful, " ".join(cues))
        for cue in (*cues, *relation.wording("zh").cues):
            if has_han(cue):
                fits = topic.startswith(cue, asks.end())
            else:
                fits = names_only_it and set(cue.split()) <= words
            if fits and len(cue) > longest:
                best, longest = relation, len(cue)
    return best


def _have_words_of(words: Collection[str], text: str) -> bool:
    """Whether all words occur in a text, in any form."""
    known, terms = set(text.split()), set(extract_terms(text))
    return all(word in known or terms.intersection(extract_terms(word)) for word in words)


def _bare_topic(topic: str) -> str:
    """A topic without the words around it: "my old salary, please", "what my salary is" -> "salary"."""
    text = _pattern("topic_end").split(topic)[0]
    if attribute := _pattern("topic_attribute").match(text):
        text = attribute["noun"]
    text = _pattern("topic_end_zh").sub("", _pattern("topic_start_zh").sub("", text))
    return text if _pattern("statement").match(text) else _pattern("topic_start").sub("", f"{text} ", count=1)


def is_safe_instruction(text: str) -> bool:
    """Whether a standing wish is about style or content, and not about rules, secrets or sending data."""
    return not any(pattern.search(text) for pattern in _unsafe())


def instruction_topic(text: str) -> str | None:
    """What an instruction is about ("language", "name", "emoji", ...), if it is a known topic."""
    return next((topic for topic, pattern in _topics().items() if pattern.search(text)), None)


def _commands_of_sentence(sentence: Sentence) -> Iterator[Command]:
    if len(sentence.text) > MAX_COMMAND_CHARS:
        return
    patterns = _patterns("zh" if has_han(sentence.text) else "en")
    if any(pattern.search(sentence.text) for pattern in patterns.never) or _asks(sentence.text):
        return
    whole = _match(sentence.text, sentence.start, patterns)
    if whole is not None:
        yield whole
        return
    end = 0
    for clause in _clauses(sentence):
        if clause.start < end:
            continue
        before = sentence.text[: clause.start - sentence.start]
        if _pattern("report").search(before) and not _pattern("own_report").search(before):
            continue
        command = _match(clause.text, clause.start, patterns)
        if command is not None and _may_be_a_clause(command, sentence, before):
            end = command.end
            yield command


def _may_be_a_clause(command: Command, sentence: Sentence, before: str) -> bool:
    """Whether a command of this kind may be one clause of a longer sentence, after the words `before`.

    "Forget that, I'll do it myself" tells nobody to forget; "..., this is off the record" does.
    """
    if command.kind == "forget_topic" and _pattern("own_plan").search(before):
        return False
    if command.kind == "off_record":
        return True
    first = command.start == sentence.start
    if command.kind == "correct":
        return first and corrects(command.text)
    return command.kind in ("instruct", "forget_topic") or not first


def _asks(text: str) -> bool:
    """Whether a sentence is a question, and not a request in the form of one."""
    return bool(_pattern("question").search(text)) and not (
        _pattern("request").match(text) or _pattern("zh_request").search(text)
    )


def _clauses(sentence: Sentence) -> Iterator[Sentence]:
    """The clauses of a sentence, each preceded by the runs of clauses that begin with it, longest first."""
    text, marks = sentence.text, list(_pattern("clause_end").finditer(sentence.text))
    starts = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    for first, start in enumerate(starts):
        for end in reversed(ends[first : first + MAX_CLAUSES]):
            clause = text[start:end].strip()
            if clause and len(clause) < len(text):
                yield Sentence(clause, sentence.start + start, sentence.start + start + len(clause))


def _match(text: str, start: int, patterns: _Patterns) -> Command | None:
    said = text.replace("’", "'")
    starts = _starts_after_lead(said, patterns.lead)
    for kind, candidates in patterns.by_kind.items():
        for may_lead, pattern in candidates:
            found = None
            for first in starts if may_lead else (0,):
                if (found := pattern.fullmatch(said, first)) is not None:
                    break
            if found is None:
                continue
            groups = {name: value.strip(" .:") for name, value in found.groupdict().items() if value}
            if kind == "correct" and not _is_correction(said, groups, patterns):
                continue
            topic = groups.get("topic", "")
            old, new = groups.get("old", ""), groups.get("new", "")
            if "rest" in groups:
                text = text[: found.start("rest")]
            return Command(kind, start, start + len(text), text, topic, old, new, "wish" in groups)
    return None


def _starts_after_lead(said: str, lead: re.Pattern[str]) -> list[int]:
    """Where a command may begin: after all words that may lead, after all but the last, ..., at the start."""
    starts = [0]
    while (found := lead.match(said, starts[0])) is not None and found.end() > starts[0]:
        starts.insert(0, found.end())
    return starts


def _is_correction(said: str, groups: dict[str, str], patterns: _Patterns) -> bool:
    """Whether the values look like values: "it's Lyon", but not "it's fine" or "not my favourite day"."""
    values = [groups[name] for name in ("old", "new") if name in groups]
    if "old" not in groups and _pattern("day_of_month").fullmatch(groups["new"]):
        return True
    if any(pattern.match(value.lower()) for pattern in patterns.not_values for value in values):
        return False
    explicit = _pattern("explicit_correction").search(said)
    if "old" in groups and (explicit or not said.lower().lstrip().startswith("not")):
        return True
    return has_han(said) or all(_pattern("name_or_number").match(value) for value in values)


@cache
def _data() -> dict[str, dict[str, dict[str, str | list[str]]]]:
    return tomllib.loads(files("thinkback.language").joinpath("commands.toml").read_text("utf-8"))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """A pattern of the table `detection`. It is case-sensitive unless it says otherwise."""
    return re.compile(str(_data()["detection"][name]))


@cache
def _unsafe() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(str(pattern), re.IGNORECASE) for pattern in _data()["unsafe"].values())


@cache
def _topics() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(str(pattern), re.IGNORECASE) for name, pattern in _data()["topics"].items()}


@cache
def _patterns(language: str) -> _Patterns:
    data = _data()[language]
    blocks = {name: str(block) for name, block in data["blocks"].items()}

    def compiled(name: str) -> tuple[re.Pattern[str], ...]:
        return tuple(
            re.compile(_expand(pattern.removeprefix("<lead>"), blocks), re.IGNORECASE)
            for pattern in data["patterns"][name]
        )

    by_kind = {
        kind: tuple(
            (str(pattern).startswith("<lead>"), one)
            for pattern, one in zip(data["patterns"][kind], compiled(kind), strict=True)
        )
        for kind in COMMAND_KINDS
    }
    lead = re.compile(_expand(blocks["lead"].removesuffix("*"), blocks), re.IGNORECASE)
    return _Patterns(lead, by_kind, compiled("never"), compiled("not_values"))


def _expand(pattern: str, blocks: dict[str, str]) -> str:
    """Replace `<name>` by the block of that name; groups such as `(?P<topic>` stay."""
    while (expanded := re.sub(r"(?<!\?P)<(\w+)>", lambda match: blocks[match[1]], pattern)) != pattern:
        pattern = expanded
    return pattern
