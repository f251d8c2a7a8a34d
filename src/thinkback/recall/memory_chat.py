"""The chat without a language model: answers in the user's own words, and says what was understood.

    where is anna moving to?     Your sister Anna is moving to Turku in May. [thought:3]
    what is her husband called?  You have not told me that.
    which floor are we on?       I find no clear answer. The nearest that you told me: “...”
    I adopted a cat              what was understood of it (see `acknowledgements`)
    write me a poem              how to get a model that can

Answers are sentences of thoughts or of the user's messages, never of the assistant, rewritten from "I" to
"you" and cited. A sentence in another language than the question is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf

from thinkback.language.names import USER
from thinkback.language.relations import get_relation
from thinkback.language.restrictions import Restriction, find_restriction
from thinkback.language.second_person import to_second_person
from thinkback.language.sentence_builder import compose_sentence
from thinkback.language.sentences import count_words, shorten, split_sentences
from thinkback.language.spoken_dates import add_dates
from thinkback.language.tokens import extract_terms, fold_text
from thinkback.language.writing_systems import detect_language, has_han
from thinkback.recall.acknowledgements import (
    USER_TERMS,
    ToldTurn,
    acknowledge,
    capitalise,
    own_words,
    understood,
    without_end,
)
from thinkback.recall.answer import MAX_CHAT_ANSWER_WORDS, ScoredSentence, score_sentences
from thinkback.recall.answerable import AnswerJudge, asks, repair_question
from thinkback.recall.chat_phrases import load_patterns, say, small_talk
from thinkback.recall.message_parts import (
    MessageParts,
    continues_message,
    may_ask,
    split_message,
)
from thinkback.recall.nearest import find_nearest, is_stored_question, is_told, last_turn
from thinkback.recall.overview import asks_for_overview
from thinkback.recall.question_classifier import (
    THRESHOLD_IF_NOT_TOLD,
    asks_for_memory,
    mark_question,
)
from thinkback.recall.request_classifier import LIKELY_THRESHOLD, asks_for_work
from thinkback.recall.slot_questions import asked_relations
from thinkback.types import INSTRUCTION, SAID, Candidate, Recollection, Ref, Thought

MAX_LISTED = 5  # sentences in the answer to a question about everything that is known
MAX_CONTINUED_CHARS = 300  # of the message before a question such as "and which day"
MAX_QUOTED = 2  # memories in place of an answer
MIN_NEWEST_SHARE = 0.85  # of the best score: the newest sentence above it answers
MIN_SURE_ODDS = 1.5  # log odds from which a newer memory that was read is quoted alone
MIN_ANSWER_ODDS = 0.0  # below it a sentence that seems to answer is quoted as the nearest only
MIN_NEAR_ODDS = -2.0  # below it, not even that, if another memory reads like an answer
MIN_DENIAL_SHARE = 0.5  # of the score of a sentence: a later one above it may deny it
_MIN_SHARED_TERMS = 2  # by which a newer sentence is about the same as an older one; a rare one is enough
_MAX_TURNS_OF_A_RARE_TERM = 3
_SAID_TEXT = re.compile(r"user, (?P<day>\d{4}-\d\d-\d\d): (?P<words>.*)", re.DOTALL)  # `display.format_query`


LookUp = Callable[[str], Recollection]
"""Recalls what belongs to a text."""


def reply_from_memory(
    message: str,
    recollection: Recollection,
    told: ToldTurn | None = None,
    look_up: LookUp | None = None,
    before: str = "",
) -> str:
    """The whole reply to a message; `told` is its turn if it was stored and thought about already.

    With `look_up`, what was said later about an answer is recalled, too: it may be over by now; and a
    question such as "and which day" is recalled together with `before`, the message before it.
    """
    if reply := small_talk(message):
        return reply
    parts = split_message(message)
    if told and _tells_fact(parts, told):
        parts = MessageParts("", is_request=False, tells=True)
    if parts.is_request and not parts.question:
        return say("needs_model", message)
    question = "" if parts.is_rhetorical else parts.question
    # without what is mentioned beside a question: "what cant tess eat? im at the shops"
    told_beside = replace(told, mentioned=()) if question and told else told
    replies = [acknowledge(message, told_beside)] if parts.tells else []
    if not parts.question and told and told.is_read and replies == [say("okay", message)]:
        question = message if may_ask(message) else ""
    if question:
        if look_up is not None and told is not None:
            look_up = _without_turn(look_up, told.turn.id)
        continues = bool(before) and look_up is not None and continues_message(question)
        if continues and look_up is not None:
            more = look_up(f"{mark_question(question)} {before[-MAX_CONTINUED_CHARS:]}")
            known = {item.ref for item in recollection}
            items = (*recollection.items, *(item for item in more if item.ref not in known))
            answers = {**more.answers, **recollection.answers}
            recollection = replace(recollection, items=items, answers=answers)
        answer = answer_question(
            question, recollection, look_up, continues=continues, is_request=parts.is_request
        )
        if answer == say("not_told", question) and _seems_news(parts):
            return acknowledge(message, told)
        replies = [reply for reply in replies if reply != say("okay", message)] + [answer]
    return ("" if detect_language(message) == "zh" else " ").join(replies)


def declines(message: str, recollection: Recollection) -> bool:
    """Whether the reply to a question is only that it needs a model."""
    parts = split_message(message)
    if small_talk(message) or not parts.question or parts.is_rhetorical:
        return False
    answer = answer_question(parts.question, recollection, is_request=parts.is_request)
    return answer == say("needs_model", parts.question)


def _tells_fact(parts: MessageParts, told: ToldTurn) -> bool:
    """Whether a message that may tell something does, because a fact was found in it.

    A sentence kept as said is no such fact if the message surely asks: "name of the doctor mum goes to".
    """
    if not told.thoughts or not parts.may_tell or (parts.question and parts.tells):
        return False
    return _seems_news(parts) or any(thought.relation != SAID for thought in told.thoughts)


def _seems_news(parts: MessageParts) -> bool:
    """Whether a message that the classifier takes for a question may tell something: "im seeing raj now"."""
    return parts.may_tell and not asks_for_memory(parts.question, threshold=THRESHOLD_IF_NOT_TOLD)


def _without_turn(look_up: LookUp, turn: int) -> LookUp:
    """A recall that leaves out the message that asks: it may be stored already."""

    def recall(text: str) -> Recollection:
        found = look_up(text)
        return replace(found, items=tuple(item for item in found if last_turn(item) != turn))

    return recall


def answer_question(
    question: str,
    recollection: Recollection,
    look_up: LookUp | None = None,
    *,
    continues: bool = False,
    is_request: bool = False,
) -> str:
    """The cited answer from memory; else the nearest statements, or that it was not told or needs a model.

    `continues` says that the question is about the same as the message before, `is_request` that it is more
    likely one for a model: then nothing is quoted that does not seem to answer.
    """
    judge = AnswerJudge(mark_question(question))
    statements = list(_own_statements(question, recollection))
    forbidding = _find_forbidding(question, statements)
    chosen = forbidding or _choose(question, judge, statements)
    if look_up is not None and len(chosen) == 1 and not load_patterns("past").search(question):
        later = [*statements, *_own_statements(chosen[0].text, look_up(chosen[0].text))]
        newer_answer = _newer_denial(chosen[0], later) or _newer_answer(chosen[0], statements, recollection)
        chosen = [newer_answer or chosen[0]]
    nearest = find_nearest(judge, recollection)
    is_personal = continues or not asks(question) or bool(load_patterns("personal").search(question))
    is_single = len(chosen) == 1 and not forbidding
    values = _other_values(question, judge, chosen[0], statements, recollection) if is_single else []
    if is_single and _is_doubtful(question, chosen[0], recollection):
        nearest = _quotes_in_place_of(chosen[0], recollection, nearest)
    elif is_single and not values and _may_be_outdated(question, judge, chosen[0], nearest):
        newer = _newer_items(chosen[0].candidate, recollection) or nearest[:1]
        nearest = [*newer, *([] if _is_replaced(judge, chosen[0], nearest) else [chosen[0].candidate])]
        nearest = _surely_newer(recollection, chosen[0].said_in) or nearest
    elif chosen:
        cited = [_cite(question, each) for each in [*chosen, *values]]
        if any("[redacted" in each for each in cited):
            cited.append(say("secret", question))
        return ("" if detect_language(question) == "zh" else " ").join(cited)
    elif is_request:
        return say("needs_model", question)
    elif not (is_personal or asks_for_memory(question)):  # "why is the sky blue": needs a word in common
        nearest = [item for item in nearest if judge.shares_word(item.text, required=True)]
    if nearest:
        return say("nearest", question, "; ".join(map(_quote, nearest)))
    known_names = any(judge.shares_word(sentence.text, required=True) for sentence in statements)
    if known_names or is_personal:  # "what can i cook without gluten" is for a model
        return say(
            "needs_model" if asks_for_work(question, threshold=LIKELY_THRESHOLD) else "not_told", question
        )
    if judge.topic == "reason":  # "why is the sky blue"
        return say("needs_model", question)
    separator = "" if detect_language(question) == "zh" else " "
    return separator.join((say("not_told", question), say("needs_model", question)))


def _is_doubtful(question: str, chosen: ScoredSentence, recollection: Recollection) -> bool:
    """Whether a memory does not seem to answer when it is read together with the question.

    One in another language is read less well.
    """
    odds = recollection.answers.get(chosen.ref)
    if odds is None or has_han(question) != has_han(chosen.text) or asks_for_overview(question):
        return False
    return odds < MIN_ANSWER_ODDS and not _facts_asked_for(question, [chosen])


def _facts_asked_for(question: str, statements: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The current facts about the user that a question asks for by its relation, oldest first."""
    relations = asked_relations(repair_question(question))
    if not relations or load_patterns("past").search(question):
        return []
    facts = [
        each
        for each in statements
        if (triple := _find_triple(each)) is not None
        and triple.subject == USER
        and triple.relation in relations
        and not triple.negated
    ]
    return sorted(facts, key=lambda each: each.said_in)


def _quotes_in_place_of(
    chosen: ScoredSentence, recollection: Recollection, nearest: Sequence[Candidate]
) -> list[Candidate]:
    """What is quoted in place of a doubtful answer: what reads like one, and the memory itself if it is near.

    If nothing reads like one, it is the memory, and one that may have replaced it or is nearest.
    """
    own, sure = chosen.candidate, _find_likely_answer(recollection)
    if sure is None:
        near = [*_newer_items(own, recollection), *nearest, own]
        quoted = [near[0], own]
    elif recollection.answers[chosen.ref] >= MIN_NEAR_ODDS:
        quoted = [sure, own]
    elif last_turn(sure) < chosen.said_in and load_patterns("denies").search(chosen.text):
        quoted = [own, sure]  # "i'm not going after all"
    else:
        quoted = [sure, *(item for item in nearest if last_turn(item) != chosen.said_in)]
    told: dict[int, Candidate] = {}
    for item in quoted:
        if is_told(item) or (item is own and not own.with_response):
            told.setdefault(last_turn(item), item)
    return list(told.values())[:MAX_QUOTED]


def _may_be_outdated(
    question: str, judge: AnswerJudge, chosen: ScoredSentence, nearest: Sequence[Candidate]
) -> bool:
    """Whether something newer that was recalled too may have changed an answer."""
    if load_patterns("past").search(question):
        return False
    if chosen.candidate.outdated is not None:
        return True
    if not nearest or last_turn(nearest[0]) <= chosen.said_in:
        return False
    return judge.has_form(nearest[0].text) and judge.shares_word(nearest[0].text)


def _newer_answer(
    chosen: ScoredSentence, statements: Sequence[ScoredSentence], recollection: Recollection
) -> ScoredSentence | None:
    """What the memory says that replaced an answer, if it reads like an answer to the question itself.

    Only one of a single sentence: of several, another one may be the answer.
    """
    newer = _newer_items(chosen.candidate, recollection)
    refs = {item.ref for item in newer if recollection.answers.get(item.ref, -inf) >= MIN_ANSWER_ODDS}
    said = [each for each in statements if each.candidate.ref in refs]
    return said[0] if len(said) == 1 and _is_whole(said[0]) else None


def _is_whole(sentence: ScoredSentence) -> bool:
    """Whether a sentence is everything that its memory says."""
    thought, turn = sentence.candidate.thought, sentence.candidate.turn
    said = thought.sentence if thought is not None else turn.query if turn is not None else sentence.text
    return len(list(split_sentences(said))) == 1


def _surely_newer(recollection: Recollection, turn: int) -> list[Candidate]:
    """The memory that reads like the answer, if it was told after a turn."""
    sure = _find_likely_answer(recollection)
    return [sure] if sure is not None and last_turn(sure) > turn and is_told(sure) else []


def _find_likely_answer(recollection: Recollection) -> Candidate | None:
    """The memory that most likely answers, by reading it, if that is sure.

    If that memory is outdated, it is the memory that replaced it.
    """
    odds = recollection.answers
    told = [item for item in recollection if item.ref in odds and is_told(item)]
    best = max(told, key=lambda item: (odds[item.ref], last_turn(item)), default=None)
    if best is None or odds[best.ref] < MIN_SURE_ODDS:
        return None
    return next(iter(_newer_items(best, recollection)), best)


def _newer_items(item: Candidate, recollection: Recollection) -> list[Candidate]:
    """The memory that may have replaced an item, if it was recalled, too."""
    outdated = item.outdated
    if outdated is None or outdated.certain:
        return []
    if outdated.newer is not None:
        return [other for other in recollection if other.ref == outdated.newer]
    day = f"{outdated.until:%Y-%m-%d}"
    said = ((item, _SAID_TEXT.fullmatch(item.text)) for item in recollection)
    return [item for item, words in said if words is not None and words["day"] == day][:1]


def _is_replaced(judge: AnswerJudge, sentence: ScoredSentence, nearest: Sequence[Candidate]) -> bool:
    """Whether the newest memory that was found is of the day since which a sentence is outdated."""
    outdated = sentence.candidate.outdated
    if outdated is None or not nearest or not judge.shares_word(nearest[0].text):
        return False
    said = _SAID_TEXT.fullmatch(nearest[0].text)
    return said is not None and said["day"] == f"{outdated.until:%Y-%m-%d}"


def _cite(question: str, sentence: ScoredSentence) -> str:
    """A sentence as said to the user, with its reference.

    A triple is written in the language of the question; the user's own words in another one are quoted.
    """
    ref, chinese = sentence.ref, detect_language(question) == "zh"
    if translated := _translate(question, sentence):
        return f"{capitalise(understood(question, translated))} [{ref}]"
    words = _dated_words(sentence)
    rewritten = to_second_person(words)
    if rewritten is None or chinese != has_han(rewritten):
        return f"{say('told', question, without_end(words))}{'。' if chinese else '.'} [{ref}]"
    return f"{capitalise(understood(question, words))} [{ref}]"


def _dated_words(sentence: ScoredSentence) -> str:
    """The user's words, not too long, with the dates that relative times mean."""
    if whole := _whole_denial(sentence):
        return own_words(whole)
    words = own_words(sentence.text)
    words = shorten(words, lambda text: count_words(text) <= MAX_CHAT_ANSWER_WORDS) or words
    turn = sentence.candidate.turn
    return words if turn is None else add_dates(words, turn.at)  # thoughts have their dates already


def _whole_denial(sentence: ScoredSentence) -> str:
    """The whole message, with its dates, of a sentence that denies something; "" for others and long ones.

    What is true instead often stands in the next sentence.
    """
    said = _SAID_TEXT.fullmatch(sentence.candidate.text)
    if said is None or sentence.candidate.with_response or not load_patterns("denies").search(sentence.text):
        return ""
    return said["words"] if count_words(said["words"]) <= MAX_CHAT_ANSWER_WORDS else ""


def _translate(question: str, sentence: ScoredSentence) -> str:
    """A triple as a sentence in the language of the question; "" if it is in that language, or no triple."""
    chinese = detect_language(question) == "zh"
    triple = _find_triple(sentence)
    if triple is None or has_han(sentence.text) == chinese:
        return ""
    return compose_sentence(
        triple.subject,
        triple.relation,
        triple.objects,
        negated=triple.negated,
        lang="zh" if chinese else "en",
    )


def _find_triple(sentence: ScoredSentence) -> Thought | None:
    """The thought that the sentence states, if its relation has sentences in every language."""
    if sentence.candidate.outdated:
        return None
    thought = sentence.thought
    if thought is None or thought.sentence != sentence.text or thought.relation == SAID:
        return None
    return thought if get_relation(thought.relation).is_known else None


def _own_statements(question: str, recollection: Recollection) -> Iterator[ScoredSentence]:
    """The sentences of thoughts and of the user's own messages; standing wishes answer nothing."""
    for sentence in score_sentences(question, recollection, sides=("query",)):
        thought = sentence.candidate.thought
        is_wish = thought is not None and thought.relation == INSTRUCTION
        is_question = asks(sentence.text) if thought else is_stored_question(sentence.text)
        if not (is_wish or is_question):
            yield sentence


def _choose(question: str, judge: AnswerJudge, statements: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The sentences that answer the question, best first."""
    if asks_for_overview(question):
        return [
            each
            for number, each in enumerate(statements)
            if not any(each.terms <= other.terms for other in statements[:number])
        ][:MAX_LISTED]
    about_past = load_patterns("past").search(question) is not None
    matching = [
        (sentence.score * (0.5 + 0.5 * match), sentence)
        for sentence in statements
        if (match := _match(question, judge, sentence, statements)) is not None
    ]
    if not about_past:
        asked = frozenset(extract_terms(question))
        matching = [(score, _newer_denial(each, statements, asked) or each) for score, each in matching]
        current = [(score, each) for score, each in matching if each.candidate.outdated is None]
        matching = current or matching
    if not matching:
        return _facts_asked_for(question, statements)[-1:]
    best = max(score for score, _ in matching)
    near = [each for score, each in matching if score >= MIN_NEWEST_SHARE * best]
    if load_patterns("about").search(question):
        ranked = [each for _, each in sorted(matching, key=lambda pair: -pair[0])]
        return _without_repetitions(ranked)[:MAX_LISTED]
    return [max(near, key=lambda each: (each.said_in, each.candidate.thought is not None, each.score))]


def _other_values(
    question: str,
    judge: AnswerJudge,
    chosen: ScoredSentence,
    statements: Sequence[ScoredSentence],
    recollection: Recollection,
) -> list[ScoredSentence]:
    """The other values of a fact that may have several: "allergic to peanuts", and "to shellfish".

    A value counts if it was told in the same turn as the chosen one, or if the cross-encoder takes it for an
    answer; not if a later sentence takes it back. If the chosen sentence is itself a denial, the values are
    those of the best matching fact.
    """
    if load_patterns("past").search(question):
        return []
    values = [
        each for each in statements if _slot(each) and _match(question, judge, each, statements) is not None
    ]
    slot = _slot(chosen)
    if slot is None and values and _takes_back(chosen):
        slot = _slot(max(values, key=lambda each: each.score))
    asked = frozenset(extract_terms(question)) | USER_TERMS
    others: dict[Ref, ScoredSentence] = {}
    for each in values:
        if slot is None or _slot(each) != slot or each.ref == chosen.ref:
            continue
        answers = recollection.answers.get(each.ref, -inf) >= MIN_ANSWER_ODDS
        denied = any(
            other.said_in > each.said_in and _takes_back(other) and (other.terms & each.terms) - asked
            for other in (chosen, *statements)
        )
        if (answers or each.said_in == chosen.said_in) and not denied:
            others.setdefault(each.ref, each)
    return list(others.values())


def _takes_back(sentence: ScoredSentence) -> bool:
    """Whether a sentence says that something is not so, or has ended."""
    return any(load_patterns(name).search(sentence.text) for name in ("denies", "ends"))


def _slot(sentence: ScoredSentence) -> tuple[str, str] | None:
    """Whom and which relation a current fact of a rule is about, if that may have several values."""
    triple = _find_triple(sentence)
    if triple is None or get_relation(triple.relation).single_valued:
        return None
    return triple.subject, triple.relation


def _match(
    question: str, judge: AnswerJudge, sentence: ScoredSentence, statements: Sequence[ScoredSentence]
) -> float | None:
    """How well a sentence answers; a triple also as it reads in the language of the question."""
    match = judge.match(sentence.text, _antecedent(sentence, statements))
    if match is None and (translated := _translate(question, sentence)):
        match = judge.match(translated)
    return match


def _antecedent(sentence: ScoredSentence, statements: Sequence[ScoredSentence]) -> str:
    """What was said just before a sentence whose subject is "she" or "he": it tells who that is."""
    if not load_patterns("pronoun_subject").search(sentence.text):
        return ""
    return " ".join(
        other.text
        for other in statements
        if 0 <= sentence.said_in - other.said_in <= 1 and other.text != sentence.text
    )


def _quote(item: Candidate) -> str:
    """A memory with its reference: as it was said, with its day, or as a fact about the user."""
    said = _SAID_TEXT.fullmatch(item.text)
    if said is None:
        sentence = item.thought.sentence if item.thought else ""
        fact = to_second_person(sentence) if sentence and not item.outdated else None
        return f"{item.text.replace(sentence, fact, 1) if fact else item.text} [{item.ref}]"
    words = shorten(said["words"], lambda text: count_words(text) <= MAX_CHAT_ANSWER_WORDS) or said["words"]
    return f"“{without_end(own_words(words))}” ({said['day']}) [{item.ref}]"


def _find_forbidding(question: str, statements: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The newest statement that forbids what a question asks for: "can ines eat walnut bread?"."""
    if not load_patterns("permission").search(question):
        return []
    forbidding = [
        sentence
        for sentence in statements
        if sentence.candidate.outdated is None
        and (restriction := find_restriction(sentence.text)) is not None
        and restriction.kind != "contraindication"
        and restriction.find_forbidden(question)
        and _asks_about_holder(question, restriction, sentence, statements)
    ]
    forbidding.sort(key=lambda each: (each.said_in, each.candidate.thought is not None))
    return forbidding[-1:]


def _asks_about_holder(
    question: str, restriction: Restriction, sentence: ScoredSentence, statements: Sequence[ScoredSentence]
) -> bool:
    """Whether a question is about the person that a restriction concerns, by name or role."""
    if restriction.concerns_user:
        return load_patterns("first_person").search(question) is not None
    substances = {fold_text(mention.word) for mention in restriction.find_forbidden(question)}
    words = [word for word in AnswerJudge(question).words if word.text not in substances]
    if any(word.is_in(sentence.text, sentence.terms) for word in words):
        return True
    # "my daughter" is Ines if a statement that names her says so
    holders = [fold_text(holder) for holder in restriction.holders]
    return any(
        any(holder in fold_text(each.text) for holder in holders)
        and any(word.is_role and word.is_in(each.text, each.terms) for word in words)
        for each in statements
    )


def _newer_denial(
    sentence: ScoredSentence, statements: Sequence[ScoredSentence], asked: frozenset[str] | None = None
) -> ScoredSentence | None:
    """The newest later sentence that denies or changes what this one tells, if there is one.

    With the terms of the question (`asked`) it must fit the question nearly as well, or share one of them.
    Without, it must say that something has ended.
    """
    later = [
        other
        for other in statements
        if other.said_in > sentence.said_in
        and load_patterns("ends" if asked is None else "denies").search(other.text)
        and (shared := (other.terms & sentence.terms) - USER_TERMS)
        and (len(shared) >= _MIN_SHARED_TERMS or any(_is_rare(term, statements) for term in shared))
        and (
            asked is None
            or other.score >= MIN_DENIAL_SHARE * sentence.score
            or any(len(term) > 1 for term in shared & asked)  # a single character is in too many words
        )
    ]
    return max(later, key=lambda other: other.said_in, default=None)


def _is_rare(term: str, statements: Sequence[ScoredSentence]) -> bool:
    """Whether a term is in few of the recalled messages, as a name is."""
    return len({each.said_in for each in statements if term in each.terms}) <= _MAX_TURNS_OF_A_RARE_TERM


def _without_repetitions(sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    chosen: list[ScoredSentence] = []
    for sentence in sentences:
        if not any(sentence.turns & other.turns or sentence.terms <= other.terms for other in chosen):
            chosen.append(sentence)
    return chosen
