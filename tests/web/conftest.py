"""A real server with a real database and a real browser, started once for all tests of the web page.

The tests need Playwright (PyPI) and Chromium: `make browser` installs them. Without them they are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.acceptance.server_process import ServerProcess
from tests.fake_openai import FakeOpenAI, ServedFile
from tests.lab.finished_runs import make_records, write_finished_run
from tests.web.seeding import (
    START,
    Fact,
    add_facts,
    add_many_facts,
    add_turns,
    chat_turn,
    demo_facts,
    open_memory,
)

from thinkback import api_keys
from thinkback.config import ENVIRONMENT_VARIABLES
from thinkback.storage.sqlite import SqliteStore
from thinkback.times import utc_now
from thinkback.types import KEY_SCOPES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

HOSTILE: list[str] = json.loads((Path(__file__).parent / "hostile_strings.json").read_text("utf-8"))
PATIENT = (
    "I am allergic to penicillin. My blood pressure was 150/95 this morning.",
    "I take amlodipine 5 mg. My blood pressure was 138/88. No, I haven't had a fever.",
)
TIMEOUT_MS = 40_000  # generous: the machine may be busy
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("THINKBACK_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
# Collected in every page: violations of the content security policy, and calls that hostile text asks for.
WATCH = """
window.__violations = [];
window.__calls = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.__violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
for (const name of ["alert", "prompt", "confirm", "open"]) {
  window[name] = (...words) => { window.__calls.push(`${name} ${words}`); return null; };
}
"""


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """No configuration of this machine reaches the servers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [*ENVIRONMENT_VARIABLES.values(), "OPENAI_API_KEY", "THINKBACK_CONFIG"]:
            patch.delenv(name, raising=False)
        yield


@dataclass
class Site:
    """A running server and the keys of its tenants."""

    server: ServerProcess
    database: Path
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"


def environment(folder: Path) -> dict[str, str]:
    """Settings of a server with folders of its own."""
    return {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "THINKBACK_HOME": str(folder / "home"),
        "THINKBACK_EMBEDDER": "hashing",
    }


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An open server: a small memory, and one with hostile text everywhere."""
    require_browser()
    folder = tmp_path_factory.mktemp("site")
    with open_memory(folder / "memory.db") as memory:
        add_facts(memory, demo_facts())
        hostile = memory.for_user("hostile")
        facts = [Fact(text, text[:200], text[:100], text, "event") for text in HOSTILE]
        add_many_facts(hostile, facts)
        add_turns(hostile, [chat_turn(text) for text in HOSTILE])
        patient = memory.for_user("patient:p-01")
        for number, text in enumerate(PATIENT):
            at = START + timedelta(days=30 * number)
            patient.remember(text, "Noted.", at=at, session=f"visit-{number + 1}")
        patient.post_think()
    for name, luck, seed in [("first", 0.5, 1), ("second", 0.7, 2)]:
        write_finished_run(folder / "runs" / name, make_records(luck, seed=seed), scheme=name)
    options = ("--runs", str(folder / "runs"), "--recall-ms", "30000")  # a busy machine skips no recall
    with ServerProcess(folder, *options, **environment(folder)) as server:
        yield Site(server, folder / "memory.db")


@pytest.fixture(scope="session")
def keyed_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with keys: the tenants acme and umbra, and a key that may only read."""
    require_browser()
    folder = tmp_path_factory.mktemp("keyed")
    keys = {}
    store = SqliteStore(str(folder / "memory.db"))
    for name, tenant, scopes in [
        ("acme", "acme", KEY_SCOPES),
        ("umbra", "umbra", KEY_SCOPES),
        ("reader", "acme", ("read",)),
    ]:
        keys[name], key = api_keys.create_key(tenant, scopes, utc_now(), label=name)
        store.add_key(key)
    store.close()
    for tenant, city in [("acme", "Lyon"), ("umbra", "Oslo")]:
        with open_memory(folder / "memory.db", tenant=tenant) as memory:
            add_facts(memory, [Fact(f"The user lives in {city}.", relation="lives in", value=city)])
    with ServerProcess(folder, **environment(folder)) as server:
        yield Site(server, folder / "memory.db", keys)


@pytest.fixture(scope="session")
def model_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server in front of a model server with two models, which says that everybody lives in Oslo."""
    require_browser()
    folder = tmp_path_factory.mktemp("model")
    with open_memory(folder / "memory.db") as memory:
        add_facts(memory, demo_facts())
    with FakeOpenAI() as upstream:
        models = {
            "object": "list",
            "data": [{"id": "small", "object": "model"}, {"id": "large", "object": "model"}],
        }
        upstream.files["/v1/models"] = ServedFile(json.dumps(models).encode())
        upstream.reply = lambda body: f"I am {body['model']}. You live in Oslo."
        options = ("--upstream", upstream.url, "--recall-ms", "30000")
        with ServerProcess(folder, *options, **environment(folder)) as server:
            yield Site(server, folder / "memory.db")


def require_browser() -> None:
    pytest.importorskip("playwright", reason="Playwright is not installed: run `make browser`")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: run `make browser`")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    require_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


OpenPage = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: Browser, site: Site) -> Iterator[OpenPage]:
    """Opens a view for a user. When the test ends, no page may have an error or a violation of its policy."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_view(
        route: str = "memory", user: str = "default", url: str | None = None, **options: Any
    ) -> Page:
        language = options.pop("language", "en")
        context = browser.new_context(
            locale="zh-CN" if language == "zh" else "en-GB",
            viewport=options.pop("viewport", {"width": 1280, "height": 800}),
            **options,
        )
        contexts.append(context)
        context.set_default_timeout(TIMEOUT_MS)
        context.add_init_script(WATCH)
        chosen = f"localStorage.getItem('thinkback.user') ?? {json.dumps(user)}"
        context.add_init_script(f"localStorage.setItem('thinkback.user', {chosen})")
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{url or site.url}/#/{route}")
        return page

    yield open_view
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.__violations") == []
            assert page.evaluate("window.__calls") == []
        context.close()
    assert errors == []
