"""The Memory view: search, filters, details, and every change with its undo and its roll-back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.web.conftest import OpenPage, Site
from tests.web.seeding import Fact, add_facts, add_many_facts, open_memory

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


def fresh_user(site: Site, name: str, *sentences: str) -> str:
    """A user of the running server with these thoughts."""
    with open_memory(site.database, name) as memory:
        add_facts(memory, [Fact(sentence, relation="has", value=sentence) for sentence in sentences])
    return name


def sentences(page: Page) -> list[str]:
    page.locator(".virtual-list .sentence").first.wait_for()
    shown: list[str] = page.locator(".virtual-list .sentence").all_text_contents()
    return shown


def open_thought(page: Page, words: str) -> None:
    page.locator(".virtual-list .row", has_text=words).click()
    page.locator(".panel .thought-sentence", has_text=words).wait_for()


def test_search_as_you_type_narrows_the_list(open_page: OpenPage) -> None:
    page = open_page("memory")
    page.get_by_text("12 thoughts", exact=True).wait_for()
    page.get_by_label("Search thoughts").press_sequentially("anna porto")
    page.get_by_text("1 thought found").wait_for()
    assert sentences(page) == ["Anna lives in Porto."]
    page.get_by_label("Search thoughts").fill("nothing has these words")
    page.get_by_role("heading", name="No thought matches").wait_for()
    page.get_by_role("button", name="Clear filters").last.click()
    page.get_by_text("12 thoughts", exact=True).wait_for()


@pytest.mark.parametrize(
    ("label", "option", "expected"),
    [
        ("Kind", "knowledge", ["The hospital has three wards."]),
        ("Person", "Bela", ["Bela teaches the user the violin."]),
    ],
)
def test_filter(label: str, option: str, expected: list[str], open_page: OpenPage) -> None:
    page = open_page("memory")
    page.locator(".virtual-list .row").first.wait_for()
    page.get_by_label(label).select_option(option)
    page.get_by_text("found").wait_for()
    assert set(expected) <= set(sentences(page))
    assert len(sentences(page)) < 12


def test_filters_by_time_and_order(open_page: OpenPage) -> None:
    page = open_page("memory?until=2021-04-01&sort=oldest")
    assert sentences(page)[0] == "The user lives in Lyon."
    assert "The user plans a trip to Oslo." not in sentences(page)


def test_days_are_the_same_west_of_utc(open_page: OpenPage, site: Site) -> None:
    """Validity is stored as midnight UTC, which is the evening before in New York."""
    name = fresh_user(site, "west", "The user rents a garden.")
    page = open_page("memory", name, timezone_id="America/New_York")
    open_thought(page, "The user rents a garden.")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("True from").fill("2021-04-05")
    page.get_by_label("True until").fill("2021-05-31")
    with page.expect_request(lambda request: request.method == "PATCH") as request:
        page.get_by_role("button", name="Save").click()
    sent = json.loads(request.value.post_data or "")
    assert (sent["valid_from"], sent["valid_to"]) == ("2021-04-05T00:00:00Z", "2021-05-31T23:59:59Z")
    panel = page.get_by_role("complementary", name="Details of a thought")
    panel.get_by_text("5 Apr 2021 – 31 May 2021").first.wait_for()
    page.evaluate("location.hash = '#/memory?until=2021-04-05&state=all'")
    page.locator(".virtual-list .row", has_text="5 Apr 2021").wait_for()
    page.evaluate("location.hash = '#/timeline'")
    page.locator(".virtual-list .row", has_text="5 Apr 2021 – 31 May 2021").wait_for()


def test_rows_far_down_are_loaded_again_after_a_change(open_page: OpenPage, site: Site) -> None:
    with open_memory(site.database, "long") as memory:
        add_many_facts(memory, [Fact(f"The user owns book {number}.") for number in range(230)])
    page = open_page("memory", "long")
    page.locator(".virtual-list").focus()
    page.keyboard.press("End")
    rows = page.locator(".virtual-list .row")
    page.locator(".virtual-list .row[aria-posinset='230'] .sentence:not(.muted)").wait_for()
    page.keyboard.press("Delete")
    page.get_by_text("229 thoughts", exact=True).wait_for()
    page.locator(".virtual-list .row[aria-posinset='229'] .sentence:not(.muted)").wait_for()
    page.route("**/v1/memory/browse?*after=1*", lambda request: request.fulfill(status=500, body="{}"))
    page.reload()
    page.locator(".virtual-list .row[aria-posinset='1'] .sentence:not(.muted)").wait_for()
    page.locator(".virtual-list").evaluate("list => { list.scrollTop = 120 * 62; }")
    page.get_by_text("status 500").wait_for()
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    rows.filter(has_text="The user owns book 110.").wait_for()


def test_details_have_the_marked_quote_both_times_and_the_changes(open_page: OpenPage) -> None:
    page = open_page("memory")
    open_thought(page, "Anna is allergic to peanuts.")
    panel = page.get_by_role("complementary", name="Details of a thought")
    assert panel.locator("mark").inner_text() == "Anna is allergic to peanuts."
    times = panel.locator(".times").first
    assert times.locator("dt").all_inner_texts() == ["True", "Known"]
    assert times.locator("dd:not(.track)").all_inner_texts() == ["27 Oct 2021 – now"] * 2
    assert times.locator(".track span").count() == 2
    assert "added" in panel.inner_text()
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")


def test_edit_keeps_the_former_version_in_the_history(open_page: OpenPage, site: Site) -> None:
    page = open_page("memory", fresh_user(site, "edits", "The user owns a boat."))
    open_thought(page, "The user owns a boat.")
    page.locator(".panel").get_by_role("button", name="Edit").click()
    page.get_by_label("Sentence").fill("The user owns a red boat.")
    page.get_by_label("Value").fill("red boat")
    page.get_by_role("button", name="Save").click()
    page.locator(".panel .thought-sentence", has_text="red boat").wait_for()
    page.locator(".panel").get_by_text("Replaces").wait_for()
    page.locator(".notice").get_by_role("button", name="Undo").click()
    page.locator(".virtual-list .sentence", has_text="The user owns a boat.").wait_for()


def test_forget_and_undo(open_page: OpenPage, site: Site) -> None:
    page = open_page("memory", fresh_user(site, "forgets", "The user likes tea.", "The user likes chess."))
    open_thought(page, "The user likes tea.")
    page.locator(".panel").get_by_role("button", name="Forget").click()
    page.get_by_text("1 thought", exact=True).wait_for()
    page.locator(".notice").get_by_role("button", name="Undo").click()
    page.get_by_text("2 thoughts", exact=True).wait_for()


def test_correct_replaces_the_statement(open_page: OpenPage, site: Site) -> None:
    page = open_page("memory", fresh_user(site, "corrects", "The user lives in Lyon."))
    open_thought(page, "The user lives in Lyon.")
    page.locator(".panel").get_by_role("button", name="Correct").click()
    page.get_by_label("What is true instead?").fill("I live in Paris.")
    page.get_by_role("dialog").get_by_role("button", name="Correct").click()
    page.get_by_text("Corrected.").wait_for()
    page.get_by_label("Current or past").select_option("past")
    page.locator(".virtual-list .sentence", has_text="The user lives in Lyon.").wait_for()


def test_erase_asks_first_and_removes_the_turn(open_page: OpenPage, site: Site) -> None:
    page = open_page("memory", fresh_user(site, "erases", "The user hides a key.", "The user likes tea."))
    open_thought(page, "The user hides a key.")
    page.locator(".panel").get_by_role("button", name="Erase").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.get_by_text("2 thoughts", exact=True).wait_for()
    page.locator(".panel").get_by_role("button", name="Erase").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase").click()
    page.get_by_text("Erased: 1 turn,").wait_for()
    assert sentences(page) == ["The user likes tea."]


def test_erase_everything_needs_the_typed_word(open_page: OpenPage, site: Site) -> None:
    page = open_page("memory", fresh_user(site, "leaves", "The user likes tea."))
    page.get_by_role("button", name="Erase everything").click()
    confirm = page.get_by_role("dialog").get_by_role("button", name="Erase everything")
    assert confirm.is_disabled()
    page.get_by_label('Type "erase" to confirm').fill("erase")
    confirm.click()
    page.get_by_role("heading", name="Nothing is remembered yet").wait_for()


def test_remember_adds_a_thought(open_page: OpenPage) -> None:
    page = open_page("memory", "starts")
    page.get_by_role("heading", name="Nothing is remembered yet").wait_for()
    page.get_by_role("button", name="Remember something").click()
    page.get_by_label("What should be remembered?").fill("I have been a vegetarian since 2019.")
    page.get_by_role("dialog").get_by_role("button", name="Remember").click()
    page.get_by_text("Remembered.").wait_for()


def test_search_without_a_match_shows_what_recall_finds(open_page: OpenPage, site: Site) -> None:
    with open_memory(site.database, "similar") as memory:
        add_facts(memory, [Fact("The user has a dog named Biscuit.", relation="has dog", value="Biscuit")])
    page = open_page("memory?q=what+is+the+dog+called", "similar")
    page.get_by_role("heading", name="No thought matches").wait_for()
    found = page.locator(".similar")
    found.get_by_text("not by the exact words").wait_for()
    found.get_by_role("button", name="Biscuit").click()
    page.locator(".panel .thought-sentence", has_text="Biscuit").wait_for()
    page.get_by_label("Search thoughts").fill("dog")
    page.get_by_text("1 thought found").wait_for()
    assert found.count() == 0


def test_undo_elsewhere_takes_back_the_offer_to_undo(open_page: OpenPage, site: Site) -> None:
    page = open_page("memory", fresh_user(site, "offers", "The user likes rowing."))
    open_thought(page, "rowing")
    page.locator(".panel").get_by_role("button", name="Forget").click()
    page.locator(".notice", has_text="Forgotten.").wait_for()
    page.locator(".panel").get_by_role("button", name="Undo").click()
    page.locator(".notice", has_text="Undone.").wait_for()
    assert page.locator(".notice", has_text="Forgotten.").count() == 0


def test_row_of_the_thought_in_the_address_is_marked(open_page: OpenPage, site: Site) -> None:
    user = fresh_user(site, "marked", "The user likes tea.", "The user likes chess.")
    page = open_page("memory?thought=1", user)
    marked = page.locator(".virtual-list .row.active")
    marked.get_by_text("The user likes tea.").wait_for()
    page.evaluate("location.hash = '#/memory?thought=2'")
    marked.get_by_text("The user likes chess.").wait_for()
    assert marked.count() == 1


@pytest.mark.parametrize(("language", "wording"), [("en", "not: drinks"), ("zh", "喝（否定）")])
def test_negated_thought_says_so(language: str, wording: str, open_page: OpenPage, site: Site) -> None:
    user = f"negated-{language}"
    with open_memory(site.database, user) as memory:
        memory.remember("I don't drink coffee.")
        memory.post_think()
    page = open_page("memory", user, language=language)
    page.locator(".virtual-list .row .meta", has_text=wording).wait_for()
    page.evaluate("location.hash = '#/timeline?tab=graph'")
    page.locator("tbody tr", has_text="coffee").get_by_role("button", name=wording).wait_for()


def test_failed_change_rolls_back_with_a_message(open_page: OpenPage) -> None:
    page = open_page("memory")

    def refuse(route: Route) -> None:
        if route.request.method == "DELETE":
            route.fulfill(status=503, json={"error": {"message": "the disk is full", "code": "busy"}})
        else:
            route.continue_()

    page.route("**/v1/memory/thoughts/*", refuse)
    page.route("**/v1/memory/thoughts/*?*", refuse)
    open_thought(page, "The user works as a nurse.")
    page.locator(".panel").get_by_role("button", name="Forget").click()
    page.get_by_text("Not changed: the disk is full").wait_for()
    page.locator(".panel .badge", has_text="current").wait_for()
    page.get_by_text("12 thoughts", exact=True).wait_for()


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "The server cannot be reached."),
        (429, "too many requests"),
        (503, "The server is busy"),
    ],
)
def test_failures_of_the_connection_are_told_plainly(status: int, words: str, open_page: OpenPage) -> None:
    page = open_page("memory")
    page.locator(".virtual-list .row").first.wait_for()

    def fail(route: Route) -> None:
        if status == 0:
            route.abort()
        else:
            route.fulfill(
                status=status, headers={"Retry-After": "1"}, json={"error": {"message": "", "code": "x"}}
            )

    page.route("**/v1/**", fail)
    page.get_by_label("Search thoughts").fill("anna")
    page.locator(".banner", has_text=words).wait_for()
    page.unroute("**/v1/**")
    page.get_by_role("button", name="Try again").first.click()
    page.locator(".banner").wait_for(state="detached")
