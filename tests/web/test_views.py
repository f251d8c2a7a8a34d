"""Every view in both languages, both colour schemes and at 320 px, without serious accessibility findings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.web.conftest import OpenPage, Site
from tests.web.seeding import Fact, add_facts, open_memory

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
ROUTES = {
    "chat": "chat/s1",
    "memory": "memory",
    "details": "memory?thought=5",
    "timeline": "timeline",
    "graph": "timeline?tab=graph",
    "map": "timeline?tab=map",
    "why": "why?q=Where%20does%20Anna%20live%3F",
    "journal": "journal",
    "health": "health",
    "clinic": "clinic",
    "consultation": "clinic/p-01",
    "record": "clinic/p-01?tab=record",
    "visits": "clinic/p-01?tab=visits",
    "laboratory": "laboratory",
    "comparison": "laboratory/second/first",
}
HEADINGS = {
    "en": ("Chat", "Memory", "Timeline and map", "Why", "Journal", "Health", "Clinic", "Laboratory"),
    "zh": ("对话", "记忆", "时间线与地图", "为什么", "日志", "状态", "门诊", "实验室"),
}
VIEWS = ("chat", "memory", "timeline", "why", "journal", "health", "clinic", "laboratory")


def visit(page: Page, route: str) -> None:
    page.evaluate("(hash) => { location.hash = hash; }", f"#/{route}")
    page.locator("main h1").first.wait_for()
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_view_has_its_heading_in_the_language(language: str, open_page: OpenPage) -> None:
    page = open_page("chat", language=language)
    for view, heading in zip(VIEWS, HEADINGS[language], strict=True):
        page.evaluate("(hash) => { location.hash = hash; }", f"#/{view}")
        page.get_by_role("heading", level=1, name=heading, exact=True).wait_for()
        assert page.title().startswith(heading)
    assert page.locator("html").get_attribute("lang") == ("zh-Hans" if language == "zh" else "en")


def test_language_and_colours_can_be_switched_and_are_kept(open_page: OpenPage) -> None:
    page = open_page("memory", color_scheme="light")
    page.get_by_role("button", name="切换到中文").click()
    page.get_by_role("heading", level=1, name="记忆").wait_for()
    page.get_by_role("button", name="深色").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.reload()
    page.get_by_role("heading", level=1, name="记忆").wait_for()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_colours_follow_the_system(open_page: OpenPage) -> None:
    page = open_page("memory", color_scheme="dark")
    page.locator("main h1").wait_for()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.emulate_media(color_scheme="light")
    page.locator("html[data-theme=light]").wait_for(state="attached")


@pytest.mark.parametrize("user", ["default", "hostile", "nobody"])
def test_nothing_is_wider_than_a_screen_of_320_pixels(user: str, open_page: OpenPage) -> None:
    page = open_page("chat", user, viewport={"width": 320, "height": 640})
    for route in ROUTES.values():
        visit(page, route)
        width = page.evaluate("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")
        assert width <= 320, route
        assert page.evaluate("document.querySelector('main').scrollWidth") <= 320, route


def test_menu_of_a_phone_opens_every_view(open_page: OpenPage) -> None:
    page = open_page("chat", viewport={"width": 320, "height": 640})
    page.get_by_role("button", name="Open the menu").click()
    page.get_by_role("link", name="Journal").click()
    page.get_by_role("heading", level=1, name="Journal").wait_for()
    assert not page.get_by_role("link", name="Memory").is_visible()


@pytest.mark.parametrize(
    ("scheme", "language", "actions"),
    [("light", "en", ("Edit", "Correct", "Erase")), ("dark", "zh", ("编辑", "纠正", "彻底删除"))],
    ids=["light-en", "dark-zh"],
)
def test_axe_finds_nothing_serious(
    scheme: str, language: str, actions: tuple[str, ...], open_page: OpenPage
) -> None:
    require_axe()
    page = open_page("chat", color_scheme=scheme, language=language)
    found = []
    for name, route in ROUTES.items():
        visit(page, route)
        found += [f"{name}: {line}" for line in axe_findings(page)]
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    found += [f"shortcuts: {line}" for line in axe_findings(page)]
    page.keyboard.press("Escape")
    visit(page, ROUTES["details"])
    for action in actions:
        page.locator(".panel").get_by_role("button", name=action, exact=True).click()
        page.get_by_role("dialog").wait_for()
        found += [f"{action}: {line}" for line in axe_findings(page)]
        page.keyboard.press("Escape")
    print(f"\naxe, {scheme}, {language}: {len(ROUTES) + 4} views and dialogs, {len(found)} serious findings")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sign_in_fits_a_phone_and_has_no_serious_finding(
    scheme: str, open_page: OpenPage, keyed_site: Site
) -> None:
    require_axe()
    phone = {"width": 320, "height": 640}
    page = open_page("chat", url=keyed_site.url, viewport=phone, color_scheme=scheme)
    page.get_by_label("Key", exact=True).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert axe_findings(page) == []


def require_axe() -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: run `make browser`")


def axe_findings(page: Page) -> list[str]:
    """Serious and critical findings, each with the element concerned."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(AXE.read_text("utf-8"))
    result: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']} {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"][:3]
    ]


def test_scores_fit_a_phone(open_page: OpenPage) -> None:
    page = open_page("why?q=Where+does+Anna+live%3F", viewport={"width": 390, "height": 844})
    page.locator(".candidate table").first.wait_for()
    assert page.evaluate("document.querySelector('main').scrollWidth") <= 390
    for part in [".candidate table", ".candidate th:last-child", "[role=tab]:last-child"]:
        box = page.locator(part).first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390 - 16, part
    first_column = page.locator(".candidate tbody th").first.bounding_box()
    assert first_column is not None
    assert first_column["width"] > 80


def test_order_is_beside_the_search(open_page: OpenPage) -> None:
    page = open_page("memory?q=Anna")
    search, order = page.get_by_role("searchbox").bounding_box(), page.get_by_label("Order").bounding_box()
    assert search is not None
    assert order is not None
    assert abs(search["y"] - order["y"]) < 10


def test_unknown_address_says_so(open_page: OpenPage) -> None:
    page = open_page("nonsense")
    page.get_by_role("heading", name="There is no such page").wait_for()
    page.get_by_role("main").get_by_role("link", name="Memory").click()
    page.get_by_role("heading", level=1, name="Memory").wait_for()
    page.evaluate("location.hash = '#/constructor'")
    page.get_by_role("heading", name="There is no such page").wait_for()


def test_reasons_and_names_are_chinese_in_the_chinese_interface(open_page: OpenPage, site: Site) -> None:
    user = "translated"
    with open_memory(site.database, user) as memory:
        memory.remember("My locker password is Kestrel-4711.")
        memory.remember("I am allergic to peanuts.")
        add_facts(memory, [Fact("The user's mother lives in Faro.", "user's mother", "lives in", "Faro")])
        memory.post_think()
    page = open_page("timeline?tab=graph", user, language="zh")
    page.locator("tbody tr", has_text="用户的母亲").wait_for()
    page.evaluate("location.hash = '#/health'")
    finding = page.locator(".findings li").first
    finding.get_by_text("密码", exact=True).wait_for()
    assert "[已隐去：密码]" in finding.inner_text()
    page.evaluate("location.hash = '#/why?q=what%20am%20i%20allergic%20to'")
    page.get_by_role("tab", name="如何理解").click()
    page.get_by_text("什么", exact=True).wait_for()
    page.evaluate("location.hash = '#/chat/eats'")
    page.get_by_label("输入消息").fill("晚饭我能吃什么？")
    page.keyboard.press("Enter")
    page.locator(".callout", has_text="消息涉及食物").wait_for()
