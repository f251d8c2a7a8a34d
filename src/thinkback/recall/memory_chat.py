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

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

from thinkback.language.clauses import telling_clauses
from thinkback.language.names import USER
from thinkback.language.owners import asks_about_user
from thinkback.language.sentences import split_sentences
from thinkback.language.writing_systems import detect_language, has_han
from thinkback.recall.acknowledgements import ToldTurn, acknowledge, capitalise
from thinkback.recall.answer import ScoredSentence
from thinkback.recall.answer_choice import (
    MIN_ANSWER_ODDS,
    choose_sentences,
    find_asked_facts,
    find_forbidding,
    find_newer_denial,
    find_other_values,
    own_statements,
    without_others,
)
from thinkback.recall.answerable import AnswerJudge, asks, asks_about_somebody
from thinkback.recall.asked_restrictions import find_asked_restrictions, with_others_chosen
from thinkback.recall.chat_phrases import load_patterns, say, small_talk
from thinkback.recall.citations import SAID_TEXT, cite, cite_as_told, find_triple, quote, spoken_words
from thinkback.recall.former import (
    asks_for_former,
    find_ended,
    find_ending,
    find_former,
    tells_present,
    without_former,
    without_present,
)
from thinkback.recall.message_parts import MessageParts, continues_message, may_ask, split_message
from thinkback.recall.nearest import (
    CLEAR_LEAD,
    MIN_NEAR_ODDS,
    MIN_SURE_ODDS,
    find_best_read,
    find_doubted,
    find_nearest,
    is_told,
    last_turn,
    newer_items,
    odds_lead,
)
from thinkback.recall.overview import asks_for_overview
from thinkback.recall.question_classifier import THRESHOLD_IF_NOT_TOLD, asks_for_memory, mark_question
from thinkback.recall.request_classifier import LIKELY_THRESHOLD, asks_for_work
from thinkback.types import SAID, Candidate, Recollection

MAX_CONTINUED_CHARS = 300  # of the message before a question such as "and which day"
MAX_QUOTED = 2  # memories in place of an answer
MIN_QUOTED_ODDS = 4.0  # from which a memory without words of the question is quoted as its answer
MIN_UNSHARED_ODDS = 3.0  # below it, one that stands out among the others must have a word of the question

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
    tells = parts.tells or bool(told and told.thoughts and telling_clauses(message))
    if parts.is_request and not parts.question:
        noted = [acknowledge(message, told)] if tells else []
        return _join(message, [*noted, say("needs_model", message)])
    question = "" if parts.is_rhetorical else parts.question
    # without what is mentioned beside a question: "what cant tess eat? im at the shops"
    told_beside = replace(told, mentioned=()) if question and told else told
    replies = [acknowledge(message, told_beside)] if tells else []
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
    return _join(message, replies)


def _join(message: str, replies: Sequence[str]) -> str:
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
    told = list(own_statements(question, recollection))
    asks_former = asks_for_former(question)
    statements, recollection = without_others(question, told, recollection)
    if asks_former:
        statements, recollection = without_present(question, statements, recollection)
    statements = without_former(question, statements)
    restrictions = find_asked_restrictions(question, told)
    forbidding = [] if restrictions else find_forbidding(question, statements)
    chosen = forbidding or choose_sentences(question, judge, statements, recollection.answers)
    forbidding = forbidding or with_others_chosen(restrictions, chosen)
    chosen = forbidding or chosen
    chosen = chosen or (find_former(statements, recollection) if asks_former else [])
    ended_by: Candidate | None = None
    if look_up is not None and len(chosen) == 1 and not load_patterns("past").search(question):
        more = look_up(chosen[0].text)
        chosen[0], ended_by = _changed_later(question, chosen[0], statements, recollection, more)
    nearest = find_nearest(judge, recollection)
    doubted = None if is_request or asks_former else find_doubted(recollection)
    is_personal = continues or not asks(question) or bool(load_patterns("personal").search(question))
    is_single = len(chosen) == 1 and not forbidding
    values = find_other_values(question, judge, chosen[0], statements, recollection) if is_single else []
    if changed := _quotes_of_change(chosen, ended_by, None if forbidding else doubted, recollection):
        nearest = changed
    elif is_single and _is_doubtful(question, chosen[0], recollection):
        nearest = _quotes_in_place_of(chosen[0], recollection, nearest)
    elif is_single and not values and _may_be_outdated(question, judge, chosen[0], nearest):
        newer = newer_items(chosen[0].candidate, recollection) or nearest[:1]
        nearest = [*newer, *([] if _is_replaced(judge, chosen[0], nearest) else [chosen[0].candidate])]
        nearest = _surely_newer(recollection, chosen[0].said_in) or nearest
    elif chosen:
        with_day = asks_former and is_single and tells_present(chosen[0])
        return _cite_all(question, [*chosen, *values], with_day=with_day)
    elif is_request:
        return say("needs_model", question)
    elif likely := _quote_likely_answer(question, judge, statements, recollection):
        return likely
    else:
        if recollection.answers:  # "and which day" has no words of the answer
            nearest = find_best_read(judge, recollection) or (nearest if continues else [])
        if not (is_personal or asks_for_memory(question)):  # "why is the sky blue": needs a word in common
            nearest = [item for item in nearest if judge.shares_word(item.text, required=True)]
    if nearest:
        return say("nearest", question, "; ".join(map(quote, nearest)))
    knows_words = any(judge.shares_word(sentence.text, required=True) for sentence in statements)
    return _say_not_told(question, judge, may_be_told=knows_words or is_personal)


def _cite_all(question: str, sentences: Sequence[ScoredSentence], *, with_day: bool) -> str:
    """The sentences that answer, cited; `with_day` with the day when each was said."""
    if with_day:
        cited = [capitalise(quote(each.candidate)) for each in sentences]
    else:
        cited = [cite(question, each) for each in sentences]
    if any("[redacted" in each for each in cited):
        cited.append(say("secret", question))
    return ("" if detect_language(question) == "zh" else " ").join(cited)


def _changed_later(
    question: str,
    chosen: ScoredSentence,
    statements: Sequence[ScoredSentence],
    recollection: Recollection,
    more: Recollection,
) -> tuple[ScoredSentence, Candidate | None]:
    """The answer, or a later sentence that replaced it; and a later memory that says that it has ended.

    `more` is what was recalled for the answer itself.
    """
    later = [*statements, *own_statements(chosen.text, more)]
    newer = find_newer_denial(chosen, later) or _newer_answer(chosen, statements, recollection)
    if newer is not None:
        return newer, None
    ending = find_ending(chosen, [*recollection, *more]) or find_ended(question, recollection)
    return chosen, ending if ending is not None and last_turn(ending) > chosen.said_in else None


def _say_not_told(question: str, judge: AnswerJudge, *, may_be_told: bool) -> str:
    """The reply if nothing was found: "not told", or "needs a model" for requests and general questions."""
    not_told, needs_model = say("not_told", question), say("needs_model", question)
    if may_be_told:  # "what can i cook without gluten" is for a model
        return needs_model if asks_for_work(question, threshold=LIKELY_THRESHOLD) else not_told
    if judge.topic == "reason":  # "why is the sky blue"
        return needs_model
    return ("" if detect_language(question) == "zh" else " ").join((not_told, needs_model))


def _is_doubtful(question: str, chosen: ScoredSentence, recollection: Recollection) -> bool:
    """Whether a memory does not seem to answer when it is read together with the question.

    One in another language is read less well.
    """
    odds = recollection.answers.get(chosen.ref)
    if odds is None or has_han(question) != has_han(chosen.text):
        return False
    if asks_for_overview(question) or asks_about_somebody(question):
        return False  # no memory reads like the answer to "tell me about my brother"
    lead = odds_lead(chosen.candidate, recollection)
    if odds >= MIN_NEAR_ODDS and lead >= CLEAR_LEAD:
        return False
    reads_far_worse = lead <= -CLEAR_LEAD and odds - lead >= MIN_SURE_ODDS
    return (odds < MIN_ANSWER_ODDS or reads_far_worse) and not find_asked_facts(question, [chosen])


def _quotes_in_place_of(
    chosen: ScoredSentence, recollection: Recollection, nearest: Sequence[Candidate]
) -> list[Candidate]:
    """What is quoted in place of a doubtful answer: what reads like one, and the memory itself if it is near.

    If nothing reads like one, it is the memory and one near it, the better read one first, or the one that
    may have replaced it.
    """
    own, sure = chosen.candidate, _find_likely_answer(recollection)
    if sure is None:
        odds = recollection.answers
        near = [item for item in nearest if odds.get(item.ref, -inf) >= odds[chosen.ref] - CLEAR_LEAD]
        near.sort(key=lambda item: -odds[item.ref])
        better = [item for item in near[:1] if odds[item.ref] > odds[chosen.ref]]
        quoted = [*(newer_items(own, recollection) or better), own, *near]
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


def _quotes_of_change(
    chosen: Sequence[ScoredSentence],
    ended_by: Candidate | None,
    doubted: Candidate | None,
    recollection: Recollection,
) -> list[Candidate]:
    """What is quoted if the answer may have changed: what ended it, or a doubted memory and the newer one."""
    if ended_by is not None:
        return [ended_by, chosen[0].candidate]
    if doubted is None or len(chosen) > 1:
        return []
    return [doubted, *filter(is_told, newer_items(doubted, recollection))]


def _may_be_outdated(
    question: str, judge: AnswerJudge, chosen: ScoredSentence, nearest: Sequence[Candidate]
) -> bool:
    """Whether something newer that was recalled too may have changed an answer."""
    if load_patterns("past").search(question):
        return False
    if chosen.candidate.outdated is not None:
        return True
    if find_asked_facts(question, [chosen]):
        return False
    if not nearest or last_turn(nearest[0]) <= chosen.said_in:
        return False
    return judge.has_form(nearest[0].text) and judge.shares_word(nearest[0].text)


def _newer_answer(
    chosen: ScoredSentence, statements: Sequence[ScoredSentence], recollection: Recollection
) -> ScoredSentence | None:
    """What the memory says that replaced an answer, if it reads like an answer to the question itself.

    Only one of a single sentence: of several, another one may be the answer.
    """
    newer = newer_items(chosen.candidate, recollection)
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
    return next(iter(newer_items(best, recollection)), best)


def _quote_likely_answer(
    question: str, judge: AnswerJudge, statements: Sequence[ScoredSentence], recollection: Recollection
) -> str:
    """The memory with the best odds to answer, if they are high; "" otherwise. Its words need not match.

    Less is enough if they are far above those of all others, and the people that are asked about are named.
    """
    best = _find_likely_answer(recollection)
    if best is None or best.outdated:
        return ""
    odds = recollection.answers.get(best.ref, -inf)
    stands_out = odds_lead(best, recollection) >= CLEAR_LEAD and judge.names_asked_people(best.text)
    is_supported = odds >= MIN_UNSHARED_ODDS or judge.shares_word(best.text)
    if odds < MIN_QUOTED_ODDS and not (stands_out and is_supported):
        return ""
    if "[redacted" in best.text:
        return say("secret", question)
    said = [each for each in statements if each.ref == best.ref]
    if not said:
        return ""
    if triple := find_triple(said[0]):
        return cite(question, said[0]) if asks_about_user(question) == (triple.subject == USER) else ""
    return cite_as_told(question, spoken_words(best), best.ref)


def _is_replaced(judge: AnswerJudge, sentence: ScoredSentence, nearest: Sequence[Candidate]) -> bool:
    """Whether the newest memory that was found is of the day since which a sentence is outdated."""
    outdated = sentence.candidate.outdated
    if outdated is None or not nearest or not judge.shares_word(nearest[0].text):
        return False
    said = SAID_TEXT.fullmatch(nearest[0].text)
    return said is not None and said["day"] == f"{outdated.until:%Y-%m-%d}"
