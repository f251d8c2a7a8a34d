"""Timeline and graph, Why, Journal, Health, Clinic and Laboratory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web.conftest import OpenPage, Site
from tests.web.seeding import open_memory
from tests.web.test_memory_view import fresh_user

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


def test_timeline_lists_the_same_thoughts_and_opens_them(open_page: OpenPage) -> None:
    page = open_page("timeline")
    page.get_by_role("img", name="Timeline of 12 thoughts").wait_for()
    page.locator(".virtual-list .row", has_text="The user lives in Lyon.").click()
    page.locator(".panel .thought-sentence", has_text="The user lives in Lyon.").wait_for()


def test_graph_has_a_table_with_the_same_connections(open_page: OpenPage) -> None:
    page = open_page("timeline?tab=graph")
    page.locator("canvas").wait_for()
    row = page.locator("tbody tr", has_text="Porto").first
    assert "Anna" in row.inner_text()
    row.get_by_role("button").first.click()
    page.get_by_role("heading", name="Connections of Anna").wait_for()


def test_why_shows_kept_and_dropped_candidates_with_parts_and_the_context(open_page: OpenPage) -> None:
    page = open_page("why")
    page.get_by_role("searchbox").fill("Where does Anna live?")
    page.get_by_role("button", name="Explain").click()
    first = page.locator(".candidate").first
    first.locator("table").wait_for()
    assert "Porto" in first.inner_text()
    for word in ["words", "meaning", "Weighted sum"]:
        assert word in first.locator("table").inner_text()
    page.get_by_role("heading", name="Dropped:").wait_for()
    page.get_by_role("tab", name="Context").click()
    assert "Porto" in page.locator("main pre").first.inner_text()
    page.get_by_role("tab", name="How it was understood").click()
    page.get_by_text("In words").wait_for()


def test_journal_is_live_filters_and_undoes(open_page: OpenPage, site: Site) -> None:
    page = open_page("journal", fresh_user(site, "journals", "The user likes tea.", "The user likes chess."))
    entries = page.get_by_role("list", name="Journal").locator("> li")
    entries.nth(1).wait_for()
    page.get_by_text("Everything that was said has been thought over.").wait_for()  # the stream is open
    reply = site.server.request("DELETE", "/v1/memory/thoughts/1?reason=tried", user="journals")
    assert reply.status == 200
    entries.nth(2).wait_for()
    assert "tried" in entries.first.inner_text()
    page.get_by_label("Operation").select_option("forget")
    entries.nth(1).wait_for(state="detached")
    entries.first.get_by_role("button", name="Undo").click()
    page.get_by_text("Undone.").wait_for()
    entries.first.locator(".badge.past").wait_for()


def test_health_shows_queue_models_audit_and_costs(open_page: OpenPage) -> None:
    page = open_page("health")
    for heading in ["Queue", "Models", "Audit", "Costs", "Keys"]:
        page.get_by_role("heading", name=heading, exact=True).wait_for()
    models = page.locator("section", has=page.get_by_role("heading", name="Models")).locator("dt")
    assert models.all_text_contents() == ["Thinks with", "Embedder", "Chat upstream"]
    page.get_by_role("button", name="Think now").click()
    page.get_by_text("Thought over.").wait_for()


def consult(page: Page, message: str) -> None:
    page.get_by_label("What the patient says").fill(message)
    page.get_by_role("button", name="Consult").click()
    page.locator("article.consultation", has_text=message).wait_for()


def test_consultation_with_and_without_memory_record_and_export(open_page: OpenPage) -> None:
    page = open_page("clinic")
    page.get_by_text("Supports and does not replace a clinician.").wait_for()
    page.get_by_role("button", name="Add a patient").click()
    page.get_by_label("Name or number").fill("p-77")
    page.get_by_role("dialog").get_by_role("button", name="Add a patient").click()
    page.get_by_role("heading", level=1, name="p-77").wait_for()
    consult(page, "I am allergic to penicillin.")
    consult(page, "My blood pressure was 150/95 this morning.")
    consult(page, "This evening my blood pressure was 138/88.")
    consult(page, "No, I haven't had a fever.")
    consult(page, "I have an ear infection. Can I take penicillin?")
    newest = page.locator("article.consultation").first
    assert newest.get_by_role("heading", name="With memory").count() == 1
    assert newest.get_by_role("heading", name="Without memory").count() == 1
    newest.get_by_text("This touches a constraint of the patient").wait_for()
    page.get_by_role("tab", name="Record").click()
    page.get_by_role("heading", name="Allergies and constraints").wait_for()
    page.locator("section", has_text="Allergies and constraints").get_by_text("penicillin").first.wait_for()
    plot = page.get_by_role("img", name="Blood pressure")
    assert plot.locator("circle").count() == 4  # two values of each measurement
    denied = page.locator("tbody tr", has_text="No, I haven't had a fever.")
    denied.get_by_text("denied", exact=True).wait_for()
    page.get_by_role("tab", name="Visits").click()
    page.locator("details.visit summary").first.click()
    page.locator(".visit-turn", has_text="I am allergic to penicillin.").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export JSON").click()
    assert b"penicillin" in download.value.path().read_bytes()
    page.evaluate("location.hash = '#/memory'")
    page.get_by_text("12 thoughts", exact=True).wait_for()  # the patient's memory is not the user's


def test_new_patient_is_not_asked_for(open_page: OpenPage) -> None:
    page = open_page("clinic")
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.get_by_role("button", name="Add a patient").click()
    page.get_by_label("Name or number").fill("p tess")
    page.get_by_role("dialog").get_by_role("button", name="Add a patient").click()
    page.get_by_role("heading", level=1, name="p tess").wait_for()
    page.get_by_role("heading", name="Ask once, see two answers").wait_for()
    page.get_by_role("tab", name="Record").click()
    page.get_by_role("heading", name="The record is empty").wait_for()
    assert errors == []


def test_next_visit_is_the_first_unused_one(open_page: OpenPage, site: Site) -> None:
    with open_memory(site.database, "patient:p-78") as memory:
        for session in ["visit-1", "visit-3", "intake"]:
            memory.remember(f"I came for {session}.", "", session=session)
    page = open_page("clinic")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v1/clinic/patients/p-78/visits?*", hold)
    with page.expect_request("**/v1/clinic/patients/p-78/visits?*"):
        page.evaluate("location.hash = '#/clinic/p-78'")
    page.get_by_role("heading", level=1, name="p-78").wait_for()
    page.locator("main").get_by_text("Loading").wait_for()
    assert page.get_by_label("What the patient says").count() == 0  # not before they are known
    held[0].continue_()
    assert page.get_by_label("Visit", exact=True).input_value() == "visit-2"


def test_laboratory_compares_runs_question_by_question(open_page: OpenPage) -> None:
    page = open_page("laboratory")
    boxes = page.get_by_role("checkbox")
    boxes.first.wait_for()
    for index in range(2):
        boxes.nth(index).check()
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("with a difference").wait_for()
    question = page.locator("details.visit").first
    question.locator("summary").click()
    question.get_by_text("Memory").first.wait_for()
    page.get_by_label("Questions", exact=True).select_option("all")
    page.get_by_label("Search questions").fill("Question 3 of case 1")
    page.locator("details.visit", has_text="Question 3 of case 1").wait_for()
