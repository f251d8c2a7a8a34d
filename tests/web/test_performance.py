"""Speed with 10,000 thoughts, as figures and as ratios to the empty page. Run with `-s` to see them.

The limits hold on an idle machine. A busy one is slower in everything, so the assertions compare with the
same steps for an empty memory, measured in the same run.
"""

from __future__ import annotations

import gzip
import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.web.conftest import OpenPage, Site
from tests.web.seeding import add_many_facts, many_facts, open_memory

import thinkback

if TYPE_CHECKING:
    from playwright.sync_api import Page

MANY_THOUGHTS = 10_000
MAX_BUNDLE_BYTES = 250_000
FIRST_VIEW_MS = 1000
SEARCH_MS = 100
SEARCHES = (
    "boat",
    "anna boat",
    "number 77",
    "porto",
    "greta",
    "loom",
    "in lyon",
    "telescope",
    "osaka",
    "novel 9",
)
MEASURE_FIRST_VIEW = """() => new Promise((done) => {
  const check = () => document.querySelector(".virtual-list .row .meta, .empty")
    ? done(performance.now()) : requestAnimationFrame(check);
  check();
})"""
# With an empty memory, a search is done when the page says that nothing matches.
MEASURE_SEARCH = """async ([words, empty]) => {
  const input = document.querySelector("input[type=search]");
  const found = () => {
    if (empty) return document.querySelector(".empty h2")?.textContent === "No thought matches";
    const elements = [...document.querySelectorAll(".virtual-list .sentence")];
    const rows = elements.map((element) => element.textContent.toLowerCase());
    return rows.length > 0 && rows.every((row) => words.split(" ").every((word) => row.includes(word)));
  };
  const started = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, words);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  while (!found()) {
    if (performance.now() - started > 20000) throw new Error(`nothing was found for ${words}`);
    await new Promise((done) => requestAnimationFrame(done));
  }
  return performance.now() - started;
}"""
MEASURE_SCROLL = """async () => {
  const list = document.querySelector(".virtual-list");
  const frames = [];
  let last = performance.now();
  for (let step = 0; step < 60; step++) {
    list.scrollTop = (list.scrollHeight * step) / 60;
    await new Promise((done) => requestAnimationFrame(done));
    frames.push(performance.now() - last);
    last = performance.now();
  }
  return frames;
}"""


@pytest.fixture(scope="session")
def many_thoughts(site: Site) -> str:
    """A user with 10,000 thoughts."""
    with open_memory(site.database, "many") as memory:
        add_many_facts(memory, many_facts(MANY_THOUGHTS))
    return "many"


def first_view_ms(open_page: OpenPage, user: str) -> float:
    """Milliseconds from the start of the navigation to the first rows (median of three)."""
    page = open_page("memory", user)
    times: list[float] = []
    for _ in range(3):
        page.reload()
        times.append(page.evaluate(MEASURE_FIRST_VIEW))
    return statistics.median(times)


def search_times_ms(page: Page, *, empty: bool) -> list[float]:
    """Milliseconds from a change of the search words to the result on the screen, in order of size."""
    times: list[float] = []
    for words in ("garden", *SEARCHES):
        times.append(page.evaluate(MEASURE_SEARCH, [words, empty]))
        if empty:  # back to the first view, so that the next result is a change
            page.get_by_label("Search thoughts").fill("")
            page.get_by_role("heading", name="Nothing is remembered yet").wait_for()
    return sorted(times[1:])


def test_bundle_is_small() -> None:
    assets = Path(thinkback.__file__).parent / "web" / "dist" / "assets"
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in sorted(assets.iterdir())}
    print(f"\nbundle, gzipped: {json.dumps(sizes)}, {sum(sizes.values()):,} bytes")
    assert sizes
    assert sum(sizes.values()) < MAX_BUNDLE_BYTES


def test_first_view_and_search_with_10_000_thoughts(open_page: OpenPage, many_thoughts: str) -> None:
    empty = first_view_ms(open_page, "nobody")
    many = first_view_ms(open_page, many_thoughts)
    page = open_page("memory", many_thoughts)
    page.get_by_text(f"{MANY_THOUGHTS:,} thoughts").wait_for()
    times = search_times_ms(page, empty=False)
    nothing = open_page("memory", "nobody")
    nothing.get_by_role("heading", name="Nothing is remembered yet").wait_for()
    empty_search = statistics.median(search_times_ms(nothing, empty=True))
    frames = page.evaluate(MEASURE_SCROLL)
    median, slowest = statistics.median(times), times[-1]
    print(f"\nfirst view: {many:.0f} ms with {MANY_THOUGHTS:,} thoughts, {empty:.0f} ms empty")
    print(f"first view, ratio to the empty page: {many / empty:.2f}")
    print(f"search as you type: median {median:.0f} ms, slowest {slowest:.0f} ms of {len(times)}")
    print(f"search, ratio to the empty page: {median / empty_search:.2f} ({empty_search:.0f} ms empty)")
    print(f"scrolling: median frame {statistics.median(frames):.1f} ms, slowest {max(frames):.1f} ms")
    assert many < max(FIRST_VIEW_MS, 4 * empty)
    assert median < max(SEARCH_MS, 6 * empty_search)
    assert page.locator(".virtual-list .row").count() < 60


def test_map_and_timeline_with_10_000_thoughts(open_page: OpenPage, many_thoughts: str) -> None:
    page = open_page("timeline?tab=map", many_thoughts)
    page.set_default_timeout(60_000)
    page.locator("canvas").wait_for()
    page.get_by_text("Placed by").wait_for()
    print(f"\n{page.get_by_text('Placed by').inner_text()}")
    print(f"map: median frame {median_frame(page):.1f} ms")
    page.get_by_role("tab", name="Timeline").click()
    page.get_by_role("img", name=f"Timeline of {MANY_THOUGHTS:,} thoughts").wait_for()
    print(f"timeline: median frame {median_frame(page):.1f} ms")


def median_frame(page: Page) -> float:
    """Milliseconds per frame while the drawing is zoomed with the keyboard."""
    page.locator("canvas").focus()
    frames: list[float] = page.evaluate(
        """async () => {
          const canvas = document.querySelector("canvas");
          const frames = [];
          let last = performance.now();
          for (let step = 0; step < 40; step++) {
            canvas.dispatchEvent(new KeyboardEvent("keydown", { key: step % 2 ? "-" : "+", bubbles: true }));
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            frames.push((performance.now() - last) / 2);
            last = performance.now();
          }
          return frames;
        }"""
    )
    return statistics.median(frames)
