"""The page over memories told in plain words, in English and in Chinese, without a language model."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.web.conftest import OpenPage, Site
from tests.web.seeding import open_memory

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

ENGLISH = (
    "Answered forty letters at the office today, my wrists are tired.",
    "My son Gil and his wife Kristin come for soup every other Sunday.",
    "How's the weather over there? In March I sold the boat to Mrs Tavares next door.",
    "Gil can't drive me to Boston on Tuesday because he works at the harbour now.",
    "Our old cat Bolota died in July, and Kristin cried more than I did.",
    "I take a thyroid pill every morning before breakfast.",
)
CHINESE = (
    "女儿周敏带着豆豆从西安回来住了六天。",
    "老周的白内障手术定在三月，医生说拖不得了。",
    "豆豆今年升四年级了，作文得了全校二等奖。",
    "周敏在西安的医院做护士已经八年了。",
    "我每天早上吃二甲双胍。",
)
START = datetime(2025, 1, 6, 9, tzinfo=UTC)


@pytest.fixture(scope="module", params=[("en", ENGLISH), ("zh", CHINESE)], ids=["en", "zh"])
def life(request: pytest.FixtureRequest, site: Site) -> tuple[str, str]:
    """The language, and a user who told these sentences over a year."""
    language, sentences = request.param
    user = f"life-{language}"
    with open_memory(site.database, user) as memory:
        for number, text in enumerate(sentences):
            memory.remember(text, "", at=START + timedelta(days=40 * number), session=f"s{number // 3}")
        memory.post_think()
    return language, user


def names_in_table(page: Page) -> set[str]:
    page.locator("tbody tr").first.wait_for()
    cells = page.locator("tbody tr td:nth-child(1), tbody tr td:nth-child(3)")
    return set(cells.all_text_contents())


def test_graph_has_the_people_and_places_and_no_other_words(
    life: tuple[str, str], open_page: OpenPage
) -> None:
    language, user = life
    page = open_page("timeline?tab=graph", user, language=language)
    names = names_in_table(page)
    if language == "en":
        assert {"Gil", "Kristin", "Mrs Tavares", "Bolota", "Boston", "user"} <= names
        assert not names & {"Answered", "How's", "How", "March", "Sunday", "Tuesday", "July", "In", "Our"}
    else:
        assert {"周敏", "豆豆", "老周", "西安", "用户"} <= names
        assert "user" not in names


def test_person_filter_finds_sentences_that_name_somebody(life: tuple[str, str], open_page: OpenPage) -> None:
    language, user = life
    page = open_page("memory", user, language=language)
    page.locator(".virtual-list .row").first.wait_for()
    person = "Gil" if language == "en" else "周敏"
    page.get_by_label("Person" if language == "en" else "人物").select_option(person)
    page.get_by_text("2 thoughts found" if language == "en" else "找到 2 条").first.wait_for()
    shown = page.locator(".virtual-list .sentence").all_text_contents()
    assert len(shown) == 2
    assert all(person in sentence for sentence in shown)


def test_topic_filter_and_order(life: tuple[str, str], open_page: OpenPage) -> None:
    language, user = life
    page = open_page("memory?sort=topic", user, language=language)
    page.locator(".virtual-list .row").first.wait_for()
    topics = page.get_by_label("Topic" if language == "en" else "主题")
    topics.locator("option").nth(1).wait_for(state="attached")
    label = topics.locator("option").nth(1).inner_text()
    topics.select_option(index=1)
    count = label.rpartition("(")[2].rstrip(")")
    found = rf"^{count} thoughts? found$" if language == "en" else rf"^找到 {count} 条想法$"
    page.get_by_role("status").get_by_text(re.compile(found)).wait_for()
    assert page.locator(".virtual-list .row").count() == int(count)


def test_details_and_journal_speak_the_language(life: tuple[str, str], open_page: OpenPage) -> None:
    language, user = life
    page = open_page("journal", user, language=language)
    entry = page.locator(".journal > li").first
    entry.wait_for()
    words = entry.inner_text()
    assert ("new: turn" in words) == (language == "en")
    assert ("轮新说的" in words) == (language == "zh")
    entry.locator(".link").first.click()
    panel = page.locator(".panel .panel-body")
    panel.locator("mark").first.wait_for()
    assert ("用户" in panel.inner_text()) == (language == "zh")


def test_scores_are_explained_in_the_language(life: tuple[str, str], open_page: OpenPage) -> None:
    language, user = life
    page = open_page("why", user, language=language)
    page.get_by_role("searchbox").fill("Who is Gil?" if language == "en" else "周敏在哪里？")
    page.locator("form button[type=submit]").click()
    table = page.locator(".candidate table").first
    table.wait_for()
    assert ("same words" if language == "en" else "相同的词语") in table.inner_text()
    reason = page.locator(".candidate .reason").first.inner_text()
    assert ("meaning" in reason) == (language == "en")


def test_map_highlights_a_group_and_says_how_points_were_placed(
    life: tuple[str, str], open_page: OpenPage
) -> None:
    language, user = life
    page = open_page("timeline?tab=map", user, language=language)
    page.locator("canvas").wait_for()
    page.get_by_text("PCA").or_(page.get_by_text("t-SNE")).first.wait_for()
    highlight = page.locator("tbody button").first
    highlight.click()
    assert highlight.get_attribute("aria-pressed") == "true"


def test_past_thoughts_are_listed_apart(open_page: OpenPage, site: Site) -> None:
    with open_memory(site.database, "moved") as memory:
        memory.remember("I live in Paris.", "", at=START)
        memory.remember("I live in Lyon now.", "", at=START + timedelta(days=90))
        memory.post_think()
    page = open_page("memory", "moved")
    page.locator(".virtual-list .row", has_text="Lyon").wait_for()
    assert page.locator(".virtual-list .row", has_text="Paris").count() == 0
    page.get_by_label("Current or past").select_option("past")
    page.locator(".virtual-list .row", has_text="Paris").click()
    panel = page.locator(".panel")
    replaced = panel.locator("section", has=page.get_by_role("heading", name="Replaced by"))
    replaced.get_by_role("button", name="The user lives in Lyon").click()
    page.locator(".panel .thought-sentence", has_text="Lyon").wait_for()
    history = panel.locator("section", has=page.get_by_role("heading", name="History"))
    versions = history.locator(".versions > li")
    assert versions.count() == 2
    for version in versions.all():  # both axes of time for each
        assert version.locator(".times dt").all_inner_texts() == ["True", "Known"]


def test_filters_of_a_phone_are_behind_a_button(open_page: OpenPage) -> None:
    page = open_page("memory", viewport={"width": 320, "height": 640})
    page.locator(".virtual-list .row").first.wait_for()
    kind = page.get_by_label("Kind", exact=True)
    assert not kind.is_visible()
    page.get_by_role("button", name="Filters").click()
    kind.select_option("knowledge")
    page.get_by_text("1 thought found").wait_for()


def test_undo_that_is_refused_is_taken_back(open_page: OpenPage, site: Site) -> None:
    with open_memory(site.database, "undoes") as memory:
        memory.remember("I like chess.", "", at=START)
        memory.post_think()
    page = open_page("journal", "undoes")

    def refuse(route: Route) -> None:
        route.fulfill(status=429, headers={"Retry-After": "3"}, json={"error": {"message": "", "code": "x"}})

    page.route("**/undo*", refuse)
    entry = page.locator(".journal > li").first
    entry.get_by_role("button", name="Undo").click()
    page.get_by_text("Not changed: Too many requests; try again in 3 s.").wait_for()
    entry.get_by_role("button", name="Undo").wait_for()


def test_failed_turns_are_shown_and_tried_again(open_page: OpenPage, site: Site) -> None:
    page = open_page("health")

    health = site.server.request("GET", "/v1/memory/health").json

    def with_failure(route: Route) -> None:
        failures = [{"turn": 3, "attempts": 5, "reason": "the model refused"}]
        route.fulfill(json=health | {"queue": health["queue"] | {"failed": 1, "failures": failures}})

    page.route("**/v1/memory/health*", with_failure)
    page.get_by_role("button", name="Refresh").click()
    page.get_by_text("the model refused").wait_for()
    with page.expect_request("**/v1/memory/failures/retry*") as request:
        page.get_by_role("button", name="Retry failures").click()
    assert request.value.method == "POST"
    page.get_by_text("The failed turns are tried again.").wait_for()
