"""Hostile text in thoughts, turns and names is only ever text, in every view."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.web.conftest import HOSTILE, OpenPage, Site
from tests.web.seeding import open_memory

from thinkback.language.safety.quarantine import redact_memory

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Elements that exist only if text became markup. The page itself uses none of them.
FOREIGN_ELEMENTS = (
    "iframe, object, embed, frame, frameset, base, marquee, math, video, audio, style, template, "
    "script:not([src]), link[rel=import], meta[http-equiv], img:not([src='/favicon.svg']), "
    "a[href^='javascript' i], [onerror], [onload]"
)
VIEWS = (
    "memory",
    "chat/chat",
    "timeline",
    "timeline?tab=graph",
    "timeline?tab=map",
    "journal",
    "health",
    "clinic",
)


def assert_inert(page: Page) -> None:
    assert page.locator(FOREIGN_ELEMENTS).count() == 0
    assert page.evaluate("window.__calls") == []
    assert page.evaluate("window.__violations") == []


def test_corpus_has_at_least_200_different_strings() -> None:
    assert len(set(HOSTILE)) >= 200


def test_memory_list_shows_every_string_as_text(open_page: OpenPage) -> None:
    page = open_page("memory", "hostile")
    page.locator(".virtual-list .row").first.wait_for()
    seen = page.evaluate(
        """async () => {
          const list = document.querySelector(".virtual-list");
          const seen = new Set();
          for (let top = 0; top <= list.scrollHeight; top += 400) {
            list.scrollTop = top;
            await new Promise((done) => setTimeout(done, 25));
            for (const element of list.querySelectorAll(".sentence")) seen.add(element.textContent);
          }
          return [...seen];
        }"""
    )
    missing = [text for text in HOSTILE if text not in seen]
    assert missing == []
    assert_inert(page)


def test_chat_shows_every_string_as_text(open_page: OpenPage, site: Site) -> None:
    page = open_page("chat/chat", "hostile")
    page.locator(".bubble").first.wait_for()
    shown = page.locator(".bubble").all_text_contents()
    assert len(shown) >= 200  # the newest hundred turns, each with its message and its answer
    with open_memory(site.database, "hostile") as memory:
        turns = memory.turns()
    turns += [replace(turn, findings=None) for turn in turns]  # as before they are thought about
    redacted = [redact_memory(turn) for turn in turns]
    assert set(shown) <= {text for turn in redacted for text in (turn.query, turn.response)}
    assert len(set(shown) & set(HOSTILE)) > len(set(shown)) / 2
    assert_inert(page)


@pytest.mark.parametrize("view", VIEWS)
def test_view_with_hostile_text_runs_and_loads_nothing(view: str, open_page: OpenPage) -> None:
    foreign: list[str] = []
    page = open_page(view, "hostile")
    page.on("request", lambda request: None if "127.0.0.1" in request.url else foreign.append(request.url))
    page.locator("main h1").wait_for()
    page.wait_for_load_state("networkidle")
    page.mouse.move(700, 400)  # tooltips of the drawings
    assert_inert(page)
    assert foreign == []


def test_details_show_the_quote_and_its_source_as_text(open_page: OpenPage) -> None:
    page = open_page("memory?q=onerror&sort=oldest", "hostile")
    for index in range(6):
        page.locator(".virtual-list .row").nth(index).click()
        page.locator(".panel .thought-sentence").wait_for()
        assert page.locator(".panel .thought-sentence").inner_text() != ""
        assert_inert(page)


def test_explanation_of_a_hostile_question_is_text(open_page: OpenPage) -> None:
    page = open_page("why", "hostile")
    question = "<img src=x onerror=alert(1)> <script>alert(1)</script>"
    page.get_by_role("searchbox").fill(question)
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Context").click()
    page.locator("pre").first.wait_for()
    assert question in page.locator("main").inner_text()
    assert_inert(page)


def test_hostile_route_is_harmless(open_page: OpenPage) -> None:
    page = open_page("chat/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E?turn=%22onload%3D", "hostile")
    page.locator("main h1").wait_for()
    assert_inert(page)
