"""The Chat view: streamed answers with their memories, and the actions of every bubble."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.web.conftest import OpenPage, Site
from tests.web.seeding import Fact, add_facts, open_memory

if TYPE_CHECKING:
    from playwright.sync_api import Page


def say(page: Page, text: str, answers: int) -> None:
    """Send a message and wait for the complete answer, the `answers`-th of the conversation."""
    page.get_by_label("Write a message").fill(text)
    page.keyboard.press("Enter")
    answer = page.locator(".message.assistant .bubble:not(.typing)")
    answer.nth(answers - 1).wait_for()
    page.get_by_role("button", name="Send").wait_for()


def test_answer_shows_the_memories_it_was_given(open_page: OpenPage) -> None:
    page = open_page("chat/recalls")
    page.get_by_role("heading", name="Tell it something worth remembering").wait_for()
    say(page, "Where does Anna live?", 1)
    page.locator("details.recalled summary").first.click()
    page.locator(".recalled li", has_text="Porto").get_by_text("cited in this answer").wait_for()
    assert "score" in page.locator(".recalled").first.inner_text()
    page.locator(".recalled li", has_text="Anna lives in Porto.").get_by_role("button").click()
    page.locator(".panel .thought-sentence", has_text="Anna lives in Porto.").wait_for()
    page.locator(".message.assistant").get_by_role("link", name="Why").click()
    page.get_by_role("heading", level=1, name="Why").wait_for()
    assert page.get_by_role("searchbox").input_value() == "Where does Anna live?"


def test_bubbles_can_be_forgotten_corrected_and_remembered(open_page: OpenPage) -> None:
    page = open_page("chat/actions", "talks")
    say(page, "I moved to Bergen last week.", 1)
    mine = page.locator(".message.user").first
    kept = mine.get_by_role("list", name="Kept in memory")
    kept.get_by_role("button", name="Bergen").first.wait_for()
    mine.get_by_role("button", name="Forget this").click()
    mine.get_by_text("Forgotten: it is no longer recalled.").wait_for()
    page.locator(".notice").get_by_role("button", name="Undo").click()
    page.get_by_text("Undone.").wait_for()
    mine.get_by_role("button", name="Forget this").wait_for()

    say(page, "My cat is called Tom.", 2)
    page.locator(".message.user").last.get_by_role("button", name="That's wrong").click()
    page.get_by_label("What is true instead?").fill("My cat is called Tim.")
    page.get_by_role("dialog").get_by_role("button", name="Correct").click()
    page.locator(".message.user .bubble", has_text="My cat is called Tim.").wait_for()

    page.locator(".message.user").last.get_by_role("button", name="Remember").click()
    page.get_by_text("Remembered.").first.wait_for()


def test_conversation_is_stored_and_can_be_chosen_again(open_page: OpenPage) -> None:
    page = open_page("chat/first", "keeps")
    say(page, "I keep three bees.", 1)
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("heading", name="Tell it something worth remembering").wait_for()
    page.get_by_label("Conversation", exact=True).first.select_option("first")
    page.locator(".bubble", has_text="I keep three bees.").wait_for()


def test_memory_can_be_switched_off(open_page: OpenPage) -> None:
    page = open_page("chat/off", "private")
    page.get_by_label("Memory in this chat").select_option("off")
    say(page, "My secret number is nine.", 1)
    page.reload()
    page.get_by_role("heading", name="Tell it something worth remembering").wait_for()


def test_instructions_in_force_are_listed(open_page: OpenPage) -> None:
    page = open_page("chat/wishes", "wishes")
    page.get_by_role("button", name="Instructions (0)").click()
    page.get_by_role("dialog").get_by_text("None yet.").wait_for()


def test_message_of_a_failed_request_is_not_lost(open_page: OpenPage) -> None:
    page = open_page("chat/fails", "fails")
    page.route("**/v1/chat/completions", lambda route: route.abort())
    page.get_by_label("Write a message").fill("Do not lose this.")
    page.keyboard.press("Enter")
    page.get_by_text("No answer: The server cannot be reached.").wait_for()
    assert page.get_by_label("Write a message").input_value() == "Do not lose this."


@pytest.mark.parametrize("route", ["chat/completions", "models"])
@pytest.mark.parametrize("status", [401, 429, 503])
def test_failure_of_the_upstream_is_shown_in_its_own_words(
    route: str, status: int, open_page: OpenPage
) -> None:
    page = open_page("chat/upstream", "upstream")
    body = json.dumps({"error": {"message": "Incorrect API key provided.", "type": "upstream"}})
    page.route(
        f"**/v1/{route}",
        lambda request: request.fulfill(status=status, content_type="application/json", body=body),
    )
    page.get_by_label("Write a message").fill("Hello")
    with page.expect_response("**/v1/web/session"):  # asks whether its own session has ended
        page.keyboard.press("Enter")
    page.get_by_text("No answer: Incorrect API key provided.").wait_for()
    assert page.get_by_label("Write a message").input_value() == "Hello"
    assert page.locator(".banner").count() == 0


@pytest.mark.parametrize(
    ("user", "route"), [("without-turn", "turns?*newest=true*limit=1"), ("unchecked", "check")]
)
def test_answer_stays_if_what_belongs_to_it_cannot_be_loaded(
    user: str, route: str, open_page: OpenPage
) -> None:
    page = open_page("chat/complete", user)
    page.get_by_role("heading", name="Tell it something worth remembering").wait_for()
    page.route(f"**/v1/memory/{route}", lambda request: request.fulfill(status=500, body="{}"))
    say(page, "I keep two hens.", 1)
    page.locator(".notice", has_text="status 500").wait_for()
    assert page.get_by_label("Write a message").input_value() == ""
    assert page.get_by_text("No answer").count() == 0


def test_safety_fact_that_a_message_touches_is_shown(open_page: OpenPage) -> None:
    page = open_page("chat/safety")  # this user is allergic to penicillin
    say(page, "Can I take penicillin for my ear?", 1)
    note = page.locator(".message.assistant .callout", has_text="Mind this")
    note.get_by_role("button", name="The user is allergic to penicillin.").click()
    page.locator(".panel .thought-sentence", has_text="penicillin").wait_for()


def test_contradiction_with_the_memory_is_shown(open_page: OpenPage) -> None:
    page = open_page("chat/contradicts")
    thought = {"id": 1, "sentence": "The user lives in Lyon.", "kind": "profile"}
    conflict = {
        "thought": thought,
        "sentence": "You live in Oslo.",
        "method": "x",
        "reason": "another place",
        "score": 1,
    }
    page.route(
        "**/v1/memory/check*",
        lambda route: route.fulfill(json={"conflicts": [conflict], "constraints": []}),
    )
    say(page, "Where do I live?", 1)
    alert = page.locator(".message.assistant").get_by_role("alert")
    alert.get_by_text("This answer contradicts what is remembered").wait_for()
    alert.get_by_role("button", name="The user lives in Lyon.").click()
    page.locator(".panel .thought-sentence", has_text="Lyon").wait_for()


def test_instruction_is_in_force_after_it_was_given(open_page: OpenPage) -> None:
    page = open_page("chat/rules", "instructs")
    say(page, "Please always answer in short sentences.", 1)
    page.get_by_role("button", name="Instructions (1)").click()
    page.get_by_role("dialog").get_by_role("button", name="short sentences").wait_for()


def test_answer_from_memory_alone_is_said_not_to_be_stored(open_page: OpenPage) -> None:
    page = open_page("chat/again")
    say(page, "Where does Anna live?", 1)
    say(page, "Where does the user live?", 2)
    answers = page.locator(".message.assistant .bubble").all_inner_texts()
    page.reload()
    page.locator(".message.assistant .bubble").nth(1).wait_for()  # this tab keeps them
    assert page.locator(".message.assistant .bubble").all_inner_texts() == answers
    assert page.locator(".session-note").count() == 0
    page.evaluate("sessionStorage.clear()")
    page.reload()
    page.locator(".session-note", has_text="such answers are not stored").wait_for()
    assert page.locator(".session-note").count() == 1
    assert page.locator(".message.assistant .bubble").count() == 0
    assert page.locator("details.recalled").count() == 2


def test_secret_is_redacted_in_the_transcript_and_its_turn_is_known(open_page: OpenPage, site: Site) -> None:
    page = open_page("chat/secrets", "secrets")
    say(page, "My wifi password is Kestrel-4711.", 1)
    page.locator(".message.user").get_by_role("button", name="Forget this").wait_for()  # its turn was found
    page.reload()
    page.locator(".message.user .bubble", has_text="[redacted password]").wait_for()
    assert "Kestrel" not in page.content()
    assert "Kestrel" not in page.evaluate("JSON.stringify(sessionStorage)")
    with open_memory(site.database, "secrets") as memory:
        assert "Kestrel" in memory.turns()[0].query


def test_erasing_also_removes_the_answers_that_the_tab_keeps(open_page: OpenPage) -> None:
    page = open_page("chat/erased", "erased")
    say(page, "I live in Turin.", 1)
    page.locator(".message.user").get_by_role("button", name="Forget this").wait_for()
    assert "erased" in page.evaluate("sessionStorage.getItem('thinkback.answers')")
    page.evaluate("location.hash = '#/memory'")
    page.get_by_role("button", name="Erase everything").click()
    page.get_by_label('Type "erase" to confirm').fill("erase")
    page.get_by_role("dialog").get_by_role("button", name="Erase everything").click()
    page.get_by_role("heading", name="Nothing is remembered yet").wait_for()
    assert page.evaluate("sessionStorage.getItem('thinkback.answers')") == "{}"


def test_answer_forgets_the_memory_that_it_cites(open_page: OpenPage, site: Site) -> None:
    with open_memory(site.database, "cites") as memory:
        add_facts(memory, [Fact("The user lives in Lyon.", relation="lives in", value="Lyon")])
    page = open_page("chat/cites", "cites")
    say(page, "Where do I live?", 1)
    answer = page.locator(".message.assistant").first
    answer.get_by_role("button", name="Thought 1", exact=True).wait_for()
    with page.expect_request(lambda request: request.method == "DELETE") as request:
        answer.get_by_role("button", name="Forget this").click()
    assert "/v1/memory/thoughts/1" in request.value.url
    answer.get_by_text("Forgotten: it is no longer recalled.").wait_for()
    assert page.locator(".message.user").get_by_role("button", name="Forget this").count() == 1
    page.locator(".notice").get_by_role("button", name="Undo").click()
    answer.get_by_role("button", name="That's wrong").click()
    page.get_by_label("What is true instead?").fill("I live in Paris.")
    page.get_by_role("dialog").get_by_role("button", name="Correct").click()
    answer.get_by_text("Corrected: the newer message counts.").wait_for()
    page.evaluate("location.hash = '#/memory?state=past'")
    page.locator(".virtual-list .row", has_text="The user lives in Lyon.").wait_for()


def test_answers_stay_while_other_views_are_visited(open_page: OpenPage) -> None:
    page = open_page("chat/returns")
    say(page, "Where does Anna live?", 1)
    said = page.locator(".message.assistant .bubble").inner_text()
    page.get_by_role("link", name="Journal").click()
    page.get_by_role("heading", level=1, name="Journal").wait_for()
    page.go_back()
    page.locator(".message.assistant .bubble", has_text="Porto").wait_for()
    assert page.locator(".message.assistant .bubble").inner_text() == said


def test_new_conversation_is_named_by_its_time(open_page: OpenPage) -> None:
    page = open_page("chat/web-2026-11-16-1436-8cdb", "names", timezone_id="UTC")
    chosen = page.get_by_label("Conversation", exact=True).first
    chosen.wait_for()
    assert chosen.locator("option:checked").inner_text() == "16 Nov 2026, 14:36 (new)"


def test_chosen_model_answers_and_its_contradiction_is_caught(open_page: OpenPage, model_site: Site) -> None:
    page = open_page("chat/model", url=model_site.url)
    page.get_by_label("Model", exact=True).select_option("large")
    say(page, "Where do I live?", 1)
    page.locator(".message.assistant .bubble", has_text="I am large. You live in Oslo.").wait_for()
    alert = page.locator(".message.assistant").get_by_role("alert")
    alert.get_by_text("This answer contradicts what is remembered").wait_for()
    alert.get_by_role("button", name="The user lives in Lyon.").wait_for()
    page.locator("details.recalled summary").click()
    page.locator(".recalled li", has_text="The user lives in Lyon.").get_by_text("score").wait_for()
    page.reload()
    page.locator(
        ".message.assistant .bubble", has_text="I am large."
    ).wait_for()  # an answer of a model is stored
