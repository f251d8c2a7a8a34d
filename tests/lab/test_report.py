"""Reports: self-contained, true to the run, and safe with hostile text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean

import pytest
from tests.lab.finished_runs import (
    SETTINGS,
    embed_letters,
    make_record,
    make_records,
    write_finished_run,
)

from thinkback_lab.errors import LabError
from thinkback_lab.metrics.statistics import bootstrap_interval
from thinkback_lab.report.plots import MAX_POINTS, recalled_texts, top_k_curves, turn_bands
from thinkback_lab.report.single_run import hardest_failures, is_failed
from thinkback_lab.report.writer import write_report
from thinkback_lab.runs.finished_runs import FinishedRun
from thinkback_lab.systems.interface import RetrievedMemory

HOSTILE = "</script></style></svg><img src=x onerror=alert(1)> & \"a\" 'b' \u202e \x00\x1b[31m \ud83d 😀 你好"


class Page(HTMLParser):
    """The tags of a page with their attributes, its text, and whether every tag is closed in its order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def written(tmp_path: Path, *folders: Path, embedded: bool = True) -> str:
    out = tmp_path / "report.html"
    write_report(folders, out, embed_letters if embedded else None)
    return out.read_text("utf-8")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run in which everything that can be hostile is."""
    nasty = make_record(
        HOSTILE,
        HOSTILE,
        category=HOSTILE,
        question=HOSTILE,
        gold=(HOSTILE,),
        gold_texts=(HOSTILE, HOSTILE),
        expected=HOSTILE,
        answer=HOSTILE * 40,
        found=tuple(
            RetrievedMemory(f"{HOSTILE} {number} {'long' * 900}", (HOSTILE,)) for number in range(12)
        ),
        read=12,
        scores={"mrr": 0.0, "hit@1": 0.0, "hit@5": 0.0, HOSTILE: 1.0},
    )
    settings = {**SETTINGS, "lang": HOSTILE}
    return write_finished_run(
        tmp_path / "hostile", [nasty, *make_records(0.5)], scheme=HOSTILE, settings=settings
    )


@pytest.mark.parametrize("many", [False, True])
def test_page_loads_and_runs_nothing(tmp_path: Path, hostile: Path, many: bool) -> None:
    other = write_finished_run(tmp_path / "other", make_records(0.7), scheme="bm25")
    page = Page(source := written(tmp_path, *([hostile, other] if many else [hostile])))
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use"}
    for tag, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on") or key in ("src", "style", "srcset")], (
            tag
        )
        if "href" in attributes:
            assert (attributes["href"] or "").startswith("#")
    style = source[source.index("<style>") : source.index("</style>")]
    assert not re.search(r"url\(|@import|https?:", style)
    assert "default-src 'none'" in source


def test_hostile_text_is_escaped(tmp_path: Path, hostile: Path) -> None:
    source = written(tmp_path, hostile)
    assert "<img src=x onerror=alert(1)>" in Page(source).text
    assert not set(source) & {"\x00", "\x1b", "\u202e", "\ud83d"}
    assert "long" * 300 not in source  # cut, and said so
    assert "…" in source


def test_failed_question_shows_text_of_gold_items(tmp_path: Path) -> None:
    missed = make_record(
        found=(RetrievedMemory("The cat sleeps.", ("t9",)),), gold_texts=("Ann: I moved to Lyon.",)
    )
    page = Page(written(tmp_path, write_finished_run(tmp_path / "a", [missed, make_record(id="q2")])))
    assert "1 of 2 questions failed" in page.text
    assert "Gold items: t1 : Ann: I moved to Lyon." in page.text
    assert "Recalled instead: The cat sleeps. from t9" in page.text


def test_links_of_contents_exist(tmp_path: Path) -> None:
    page = Page(written(tmp_path, write_finished_run(tmp_path / "a", make_records(0.5))))
    targets = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    ids = [f"#{attributes['id']}" for _, attributes in page.tags if "id" in attributes]
    assert targets == ids
    assert len(ids) == len(set(ids)) == 7


def test_single_run_shows_its_scores(tmp_path: Path) -> None:
    source = written(tmp_path, write_finished_run(tmp_path / "a", make_records(0.5)))
    page = Page(source)
    assert "gvd en · thinkback" in page.text
    assert "thinkback-lab eval gvd --scheme thinkback" in page.text
    rows = re.findall(
        r'<tr><th scope="row">hit@1</th><td class="n">([^<]+)</td><td class="n">([^<]+)</td>', source
    )
    told = [each.scores["hit@1"] for each in make_records(0.5)]
    low, high = bootstrap_interval(told)
    assert rows == [(f"{fmean(told):.3f}", f"{low:.3f} – {high:.3f}")]
    assert "多跳推理 (n=16)" in page.text
    assert "the first recalled memory counts as the answer" in page.text
    assert [tag for tag, _ in page.tags].count("svg") == 4  # bars, curve, thoughts, times
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert len(attributes["aria-label"] or "") > 20


def test_same_runs_give_same_bytes(tmp_path: Path) -> None:
    folder = write_finished_run(tmp_path / "a", make_records(0.4))
    assert written(tmp_path, folder) == written(tmp_path, folder)


def test_missing_charts_are_explained(tmp_path: Path) -> None:
    empty = [make_record(id=f"q{number}", found=(), read=0, category="", gold=()) for number in range(3)]
    page = Page(written(tmp_path, write_finished_run(tmp_path / "a", empty)))
    assert "have no categories" in page.text
    assert "nothing was recalled" in page.text
    assert "Omitted: 0 different texts" in page.text
    without = Page(written(tmp_path, tmp_path / "a", embedded=False))
    assert "without an embedder" in without.text


def test_several_runs_share_one_table_per_metric(tmp_path: Path) -> None:
    luck = {"raw": 0.2, "bm25": 0.5, "thinkback": 0.9}
    folders = [
        write_finished_run(tmp_path / name, make_records(share), scheme=name) for name, share in luck.items()
    ]
    other = write_finished_run(
        tmp_path / "cn", make_records(0.5), scheme="raw", settings={**SETTINGS, "lang": "cn"}
    )
    source = written(tmp_path, *folders, other)
    page = Page(source)
    assert "2 data sets, 3 memory systems" in page.text
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>(.*?)</tr>", source)]
    first = next(row for row in rows if row[:2] == ["gvd", "en"])
    hits = {
        share: f"{fmean(each.scores['hit@1'] for each in make_records(share)):.3f}" for share in luck.values()
    }
    assert first[2:] == ["48", hits[0.2], hits[0.5], hits[0.9], "★"]
    alone = next(row for row in rows if row[:2] == ["gvd", "cn"])
    assert alone[2:] == ["48", hits[0.5], "-", "-"]  # the only one is not the best


def test_schemes_with_different_settings_have_different_labels(tmp_path: Path) -> None:
    settings = [{**SETTINGS, "embedder": name} for name in ("minilm", "hashing")]
    folders = [
        write_finished_run(tmp_path / f"{at}", make_records(0.5), settings=each)
        for at, each in enumerate(settings)
    ]
    assert "thinkback, embedder minilm" in written(tmp_path, *folders)


def test_unfinished_run_and_other_folder_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="not the folder of a run"):
        written(tmp_path, tmp_path)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "run.json").write_text("{}")
    with pytest.raises(LabError, match="not finished"):
        written(tmp_path, tmp_path / "half")
    with pytest.raises(LabError, match="no run given"):
        write_report([], tmp_path / "report.html")


def test_curve_equals_metrics() -> None:
    made = make_records(0.5)
    run = FinishedRun("a", {"dataset": "gvd", "scheme": "raw", "settings": {}}, tuple(made))
    told = top_k_curves(run)
    assert told is not None
    hit, recall = told
    assert len(hit.points) == len(recall.points) == 10
    for k in (1, 3, 5, 10):
        assert dict(hit.points)[k] == pytest.approx(sum(each.scores[f"hit@{k}"] for each in made) / len(made))
        assert dict(recall.points)[k] == pytest.approx(
            sum(each.scores[f"recall@{k}"] for each in made) / len(made)
        )


def test_curve_ends_at_last_scored_rank() -> None:
    found = tuple(
        RetrievedMemory(f"{place}", (f"t{place}",)) for place in range(40)
    )  # a memory that is read whole
    for settings, deepest in (({"k": [1, 5]}, 5), ({}, 20)):
        results = {"dataset": "gvd", "scheme": "full", "settings": settings}
        told = top_k_curves(FinishedRun("a", results, (make_record(found=found),)))
        assert told is not None
        assert [k for k, _ in told[0].points] == list(range(1, deepest + 1))


def test_recalled_texts_are_those_read_and_turns_count_per_case() -> None:
    made = [make_record("a", "1"), make_record("a", "2"), make_record("b", "1", read=1)]
    assert [(each.turn, each.text[:3]) for each in recalled_texts(made)] == [
        (1, "The"), (1, "Ann"), (2, "The"), (2, "Ann"), (1, "The"),
    ]  # fmt: skip
    assert len(recalled_texts(make_records(0.5, cases=10, questions=20))) == MAX_POINTS


def test_bands_cover_every_turn_once() -> None:
    assert turn_bands([1, 2, 2, 5]) == [(1, 1), (2, 2), (5, 5)]
    spans = turn_bands([1] * 50 + list(range(1, 40)))
    covered = [turn for first, last in spans for turn in range(first, last + 1)]
    assert len(spans) <= 6
    assert sorted(set(covered)) == covered
    assert set(covered) >= set(range(1, 40))


def test_hardest_questions_come_from_every_category() -> None:
    missed = {"mrr": 0.0}
    made = [make_record("a", f"{number:02}", category="easy", scores=missed) for number in range(30)]
    made += [make_record("b", "1", category="hard", scores=missed), make_record("b", "2", category="fine")]
    chosen = hardest_failures(made, limit=4)
    assert [each.category for each in chosen] == ["easy", "hard", "easy", "easy"]
    assert not is_failed(make_record())
    assert is_failed(make_record(answerable=False, gold=()))
    assert is_failed(make_record(answer="Paris", scores={"mrr": 1.0, "correctness": 0.0}))
