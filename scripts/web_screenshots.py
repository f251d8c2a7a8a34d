"""Takes the pictures of docs/web.md: every view of the web page, light and dark, over a demonstration memory.

    python -m scripts.web_screenshots [--only memory] [--out docs/images]

Needs Playwright and Chromium (`make browser`). The pictures are WebP files, encoded by the browser itself.
"""

from __future__ import annotations

import argparse
import base64
import time
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright
from tests.acceptance.server_process import ServerProcess
from tests.lab.finished_runs import make_record, write_finished_run
from tests.web.conftest import CHROMIUM, environment
from tests.web.seeding import Fact, add_facts, open_memory

from thinkback.indexing import Indexer
from thinkback.presets import HYBRID
from thinkback.types import Kind
from thinkback_lab.runs.records import Record
from thinkback_lab.systems.interface import RetrievedMemory

USER = "mara"
QUALITY = 0.82
WIDTH, HEIGHT = 1280, 820
FIRST_DAY = datetime(2023, 1, 9, 9, tzinfo=UTC)

# Day, sentence, subject, relation, value, kind
FACTS: list[tuple[int, str, str, str, str, Kind]] = [
    (0, "Mara lives in Graz.", "user", "lives in", "Graz", "profile"),
    (
        0,
        "Mara is a paediatric nurse at the St. Anna hospital.",
        "user",
        "works at",
        "St. Anna hospital",
        "profile",
    ),
    (8, "Mara plays the cello in an amateur orchestra.", "user", "plays", "cello", "profile"),
    (8, "Jonas is Mara's brother.", "user", "brother", "Jonas", "relationship"),
    (15, "Jonas runs a bakery in Linz.", "Jonas", "runs", "bakery", "profile"),
    (15, "Jonas lives in Linz.", "Jonas", "lives in", "Linz", "profile"),
    (33, "Lena is Mara's daughter.", "user", "daughter", "Lena", "relationship"),
    (33, "Lena is allergic to hazelnuts.", "Lena", "allergic to", "hazelnuts", "profile"),
    (47, "Mara ran the Graz half marathon in 2:04.", "user", "ran", "half marathon", "event"),
    (70, "Lena started school at the Montessori school.", "Lena", "attends", "Montessori school", "event"),
    (90, "Mara and Jonas hiked the Schladming alp.", "user", "hiked with", "Jonas", "event"),
    (120, "Mara read that cello strings last about a year.", "cello strings", "last", "a year", "knowledge"),
    (
        150,
        "Petra is Mara's stand partner.",
        "user",
        "stand partner",
        "Petra",
        "relationship",
    ),
    (150, "Petra teaches mathematics.", "Petra", "teaches", "mathematics", "profile"),
    (182, "Mara promised Petra to arrange a quartet.", "user", "promised", "quartet", "dialogue"),
    (
        205,
        "The orchestra performed the New World Symphony.",
        "orchestra",
        "performed",
        "New World",
        "event",
    ),
    (230, "Mara bought a used cargo bike.", "user", "bought", "cargo bike", "event"),
    (260, "Mara eats no meat.", "user", "diet", "vegetarian", "profile"),
    (300, "Lena learned to swim.", "Lena", "learned", "swimming", "event"),
    (330, "Jonas opened a second shop in Wels.", "Jonas", "opened", "second shop", "event"),
    (365, "Mara is on night shifts every third week.", "user", "works", "night shifts", "profile"),
    (
        400,
        "The St. Anna hospital moved a ward.",
        "St. Anna hospital",
        "moved",
        "ward",
        "knowledge",
    ),
    (430, "Mara takes an Italian course with Petra.", "user", "learns with", "Petra", "event"),
    (470, "Mara visited Jonas in Linz at Easter.", "user", "visited", "Jonas", "event"),
    (520, "Lena has a guinea pig called Momo.", "Lena", "pet", "Momo", "relationship"),
    (560, "Mara asked for recipes without hazelnuts.", "user", "asked for", "recipes", "dialogue"),
    (600, "Mara ran the Vienna half marathon in 1:58.", "user", "ran", "half marathon", "event"),
    (640, "Momo eats cucumber and hay.", "Momo", "eats", "cucumber and hay", "knowledge"),
    (700, "Mara became the deputy head of the ward.", "user", "became", "deputy head", "event"),
    (760, "Petra moved to Salzburg.", "Petra", "lives in", "Salzburg", "event"),
    (800, "Mara is allergic to penicillin.", "user", "allergic to", "penicillin", "profile"),
    (860, "Lena wants to learn the drums.", "Lena", "wants to learn", "drums", "dialogue"),
]
VISITS: list[tuple[int, str, list[tuple[str, str]]]] = [
    (
        0,
        "visit-1",
        [
            (
                "I have headaches. My blood pressure was 158/97 mmHg this morning.",
                "Since when?",
            ),
            (
                "I am allergic to penicillin. My weight is 88 kg.",
                "Noted. I suggest amlodipine 5 mg once a day.",
            ),
            ("I take amlodipine 5 mg since today.", "Please measure every morning."),
        ],
    ),
    (
        35,
        "visit-2",
        [
            ("My blood pressure was 148/92 mmHg. My weight is 86 kg.", "Better. Any swelling of the ankles?"),
            ("No swelling. The headaches are gone.", "Good. We stay with the dose."),
        ],
    ),
    (
        98,
        "visit-3",
        [
            ("My blood pressure was 141/88 mmHg. My weight is 84 kg.", "Well done. Keep walking."),
            ("I take amlodipine 10 mg now.", "Yes, we raised it."),
        ],
    ),
    (180, "visit-4", [("My blood pressure was 132/84 mmHg. My weight is 81 kg.", "Very good.")]),
]


# Category, question, expected answer, evidence, and its position in the two runs of the laboratory (from 0).
QUESTIONS: list[tuple[str, str, str, str, int, int]] = [
    ("single-hop", "Where does Mara live?", "Vienna", "Mara lives in Vienna.", 0, 2),
    ("single-hop", "What is Lena allergic to?", "hazelnuts", "Lena is allergic to hazelnuts.", 0, 0),
    ("temporal", "When did Lena start school?", "March 2023", "Lena started school in March.", 1, 5),
    ("multi-hop", "What does Mara's brother do?", "runs a bakery", "Jonas runs a bakery in Linz.", 0, 6),
    ("temporal", "Where did Mara live in 2023?", "Graz", "Mara lives in Graz.", 2, 5),
    ("single-hop", "Which instrument does Mara play?", "cello", "Mara plays the cello.", 0, 0),
    ("multi-hop", "What does Lena's pet eat?", "cucumber", "Momo eats cucumber and hay.", 1, 6),
    ("temporal", "How fast was the second race?", "1:58", "Mara ran the half marathon in 1:58.", 5, 1),
    ("single-hop", "Who is Petra?", "stand partner", "Petra is Mara's stand partner.", 0, 5),
    ("single-hop", "Does Mara eat meat?", "no", "Mara eats no meat.", 0, 1),
]


def run_records(run: int) -> list[Record]:
    """The questions as one of the two runs answered them."""
    evidence = [row[3] for row in QUESTIONS]
    records = []
    for number, (category, question, expected, gold, *positions) in enumerate(QUESTIONS):
        others = [text for text in evidence if text != gold]
        texts = [*others[: positions[run]], gold, *others[positions[run] :]]
        found = tuple(
            RetrievedMemory(text, (f"t{evidence.index(text)}",), 0.9 - 0.07 * place)
            for place, text in enumerate(texts)
        )
        records.append(
            make_record(
                "mara",
                f"q{number}",
                category=category,
                question=question,
                expected=expected,
                anchors=(expected,),
                gold=(f"t{number}",),
                found=found,
            )
        )
    return records


def fill(path: Path) -> None:
    with open_memory(path, USER, embedder="auto") as memory:
        facts = [
            Fact(
                text, subject, relation, value, kind, FIRST_DAY + timedelta(days=day), f"2023-{1 + day // 90}"
            )
            for day, text, subject, relation, value, kind in FACTS
        ]
        moved = FIRST_DAY + timedelta(days=540)
        facts.append(
            Fact(
                "Mara lives in Vienna.", "user", "lives in", "Vienna", "profile", moved, "moving", replaces=1
            )
        )
        add_facts(memory, facts)
        Indexer(memory.store, memory.embedder, HYBRID).regroup(USER)


def add_visits(server: ServerProcess) -> None:
    for day, session, turns in VISITS:
        for number, (said, answer) in enumerate(turns):
            at = datetime(2025, 2, 3, 9, number, tzinfo=UTC) + timedelta(days=day)
            body = {"query": said, "response": answer, "session": session, "at": at.isoformat()}
            assert server.request("POST", "/v1/memory/turns", body, user="patient:p01").status == 201
    wait_for_thinking(server, "patient:p01")


def wait_for_thinking(server: ServerProcess, user: str) -> None:
    for _ in range(240):
        stats: dict[str, Any] = server.request("GET", f"/v1/memory/stats?user={quote(user)}").json
        if not stats["pending"]:
            return
        time.sleep(0.5)


def chat(page: Page) -> None:
    for text in ["I bought a tandem with Petra last week.", "What is Lena allergic to?"]:
        page.get_by_label("Write a message").fill(text)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Send").wait_for()
        page.wait_for_timeout(600)
    page.locator(".learned li").first.wait_for()
    page.locator("details.recalled summary").last.click()


def consult(page: Page) -> None:
    page.get_by_label("What the patient says").fill("I have an ear infection. Can I take penicillin?")
    page.get_by_label("Remember this").uncheck()
    page.get_by_role("button", name="Consult").click()
    page.locator("article.consultation").wait_for()


VIEWS: dict[str, tuple[str, Any]] = {
    "chat": ("chat/today", chat),
    "memory": ("memory?thought=33", None),
    "list": ("memory", None),
    "timeline": ("timeline", None),
    "graph": ("timeline?tab=graph", None),
    "map": ("timeline?tab=map", None),
    "why": ("why?q=What%20is%20Lena%20allergic%20to%3F", None),
    "journal": ("journal", None),
    "health": ("health", None),
    "clinic": ("clinic/p01", consult),
    "record": ("clinic/p01?tab=record", None),
    "laboratory": ("laboratory/thoughts/turns", None),
}


def take(
    browser: Browser,
    url: str,
    scheme: str,
    language: str,
    names: list[str],
    out: Path,
    suffix: str,
    width: int,
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT if width > 400 else 700},
        color_scheme="dark" if scheme == "dark" else "light",
        locale="zh-CN" if language == "zh" else "en-GB",
    )
    context.add_init_script(f"localStorage.setItem('thinkback.user', '{USER}')")
    page = context.new_page()
    for name in names:
        route, act = VIEWS[name]
        if name == "chat":  # a conversation for each picture
            route = f"chat/web-2026-11-16-0914-{zlib.crc32((scheme + suffix).encode()) % 65536:04x}"
        page.goto(f"{url}/#/{route}")
        page.reload()
        page.locator("main h1").first.wait_for()
        page.wait_for_timeout(1500)
        if name == "map":
            page.get_by_text("Placed by").wait_for()
        if act and language == "en":
            act(page)
            page.wait_for_timeout(700)
        save_webp(browser, page.screenshot(), out / f"web-{name}-{scheme}{suffix}.webp")
        print(out / f"web-{name}-{scheme}{suffix}.webp")
    context.close()


def save_webp(browser: Browser, png: bytes, path: Path) -> None:
    """Encode a PNG as WebP with the browser's own encoder."""
    page = browser.new_page()
    encoded: str = page.evaluate(
        """async ([data, quality]) => {
          const image = new Image();
          image.src = data;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height);
          canvas.getContext("2d").drawImage(image, 0, 0);
          const blob = await canvas.convertToBlob({ type: "image/webp", quality });
          const bytes = new Uint8Array(await blob.arrayBuffer());
          return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
        }""",
        ["data:image/png;base64," + base64.b64encode(png).decode(), QUALITY],
    )
    path.write_bytes(base64.b64decode(encoded))
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=sorted(VIEWS))
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    names = options.only or [name for name in VIEWS if name != "list"]
    with TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        fill(folder / "memory.db")
        for number, run in enumerate(["thoughts", "turns"]):
            write_finished_run(folder / "runs" / run, run_records(number), scheme=run)
        settings = environment(folder) | {"THINKBACK_EMBEDDER": "auto"}
        with ServerProcess(
            folder, "--runs", str(folder / "runs"), "--recall-ms", "30000", **settings
        ) as server:
            add_visits(server)
            url = f"http://127.0.0.1:{server.port}"
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for scheme in ["light", "dark"]:
                take(browser, url, scheme, "en", names, options.out, "", WIDTH)
            if not options.only:
                take(browser, url, "light", "zh", ["memory"], options.out, "-zh", WIDTH)
                take(browser, url, "light", "en", ["list", "chat"], options.out, "-phone", 360)
            browser.close()


if __name__ == "__main__":
    main()
