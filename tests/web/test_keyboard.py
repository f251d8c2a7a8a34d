"""The page without a pointer: navigation, lists, dialogs and drawings by keys alone."""

from __future__ import annotations

from tests.web.conftest import OpenPage, Site
from tests.web.test_memory_view import fresh_user


def test_shortcuts_open_views_and_help(open_page: OpenPage) -> None:
    page = open_page("memory")
    page.locator(".virtual-list .row").first.wait_for()
    for key, heading in [("j", "Journal"), ("w", "Why"), ("t", "Timeline and map"), ("m", "Memory")]:
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.get_by_role("heading", level=1, name=heading).wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("Zoom a drawing").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"


def test_skip_link_is_first_and_moves_to_the_content(open_page: OpenPage) -> None:
    page = open_page("journal")
    page.locator("main h1").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_find_edit_and_forget_a_thought_by_keys(open_page: OpenPage, site: Site) -> None:
    page = open_page("memory", fresh_user(site, "keys", "The user likes tea.", "The user likes chess."))
    page.locator(".virtual-list .row").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("chess")
    page.get_by_text("1 thought found").wait_for()
    page.locator(".virtual-list").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.locator(".panel .thought-sentence", has_text="The user likes chess.").wait_for()
    page.keyboard.press("Escape")
    page.locator(".panel").wait_for(state="detached")
    page.locator(".virtual-list").focus()
    page.keyboard.press("e")
    page.get_by_label("Sentence").fill("The user likes blitz chess.")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    page.locator(".panel .thought-sentence", has_text="blitz chess").wait_for()
    page.keyboard.press("Escape")
    page.locator(".virtual-list").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    page.get_by_text("Forgotten.").wait_for()


def test_every_control_of_the_memory_view_can_be_reached_and_shows_its_focus(open_page: OpenPage) -> None:
    page = open_page("memory")
    page.locator(".virtual-list .row").first.wait_for()
    expected = page.evaluate(
        """[...document.querySelectorAll("a[href], button, input, select, [tabindex='0']")]
             .filter((element) => element.offsetParent !== null).length"""
    )
    reached = set()
    for _ in range(expected * 4):  # a date has several stops
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => {
              const all = [...document.querySelectorAll("a[href], button, input, select, [tabindex='0']")];
              const style = getComputedStyle(document.activeElement);
              const html = document.activeElement.outerHTML;
              return [all.indexOf(document.activeElement), style.outlineStyle, html];
            }"""
        )
        if found[0] >= 0:
            assert found[1] != "none", found[2]
            reached.add(found[0])
    assert len(reached) >= expected


def test_drawing_is_moved_and_zoomed_by_keys(open_page: OpenPage) -> None:
    page = open_page("timeline?tab=map")
    page.locator("canvas").focus()
    drawing = "document.querySelector('canvas').toDataURL()"
    page.wait_for_function("document.querySelector('canvas').width > 300")  # larger than before it is drawn
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(200)
    before = page.evaluate(drawing)
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"(before) => {drawing} !== before", arg=before)
    page.keyboard.press("0")
    page.wait_for_function(f"(before) => {drawing} === before", arg=before)


def test_tabs_move_by_arrow_keys(open_page: OpenPage) -> None:
    page = open_page("timeline")
    page.get_by_role("tab", name="Timeline").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("tab", name="People and things", selected=True).wait_for()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("tab", name="Timeline", selected=True).wait_for()
