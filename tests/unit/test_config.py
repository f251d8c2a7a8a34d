"""Settings from flag, environment, file and default, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest

from thinkback import config as configured
from thinkback.config import ENVIRONMENT_VARIABLES, Settings, load_settings, open_memory
from thinkback.errors import InvalidInput, ModelUnavailable
from thinkback.llms.catalogue import QWEN_CODER, SMOLLM2, CatalogueModel
from thinkback.think.readers import WithoutModelReader


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*ENVIRONMENT_VARIABLES.values(), "THINKBACK_CONFIG", "OPENAI_API_KEY"]:
        monkeypatch.delenv(name, raising=False)
    for name in configured.INSTRUCTION_NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("THINKBACK_HOME", str(tmp_path / "data"))


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config" / "thinkback" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults(tmp_path: Path) -> None:
    found = load_settings()
    assert found.db == str(tmp_path / "data" / "memory.db")
    assert (found.user, found.llm, found.embedder, found.preset) == ("default", "auto", "auto", "hybrid")
    assert found.origin("db") == "default"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", configured.SETTING_NAMES)
def test_precedence_and_origins(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, f'{name} = "from-file"')
    assert (getattr(load_settings(), name), load_settings().origin(name)) == ("from-file", f"file {path}")
    monkeypatch.setenv(ENVIRONMENT_VARIABLES[name], "from-env")
    assert (getattr(load_settings(), name), load_settings().origin(name)) == (
        "from-env",
        f"env {ENVIRONMENT_VARIABLES[name]}",
    )
    flagged = load_settings(**{name: "from-flag"})
    assert (getattr(flagged, name), flagged.origin(name)) == (
        "from-flag",
        f"flag --{name.replace('_', '-')}",
    )


def test_empty_variable_is_ignored_but_empty_flag_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_USER", "")
    assert load_settings().origin("user") == "default"
    assert load_settings(user="").user == ""


def test_tilde_is_expanded(tmp_path: Path) -> None:
    assert load_settings(db="~/x.db").db == str(tmp_path / "x.db")
    assert load_settings(db="sqlite:///~x.db").db == "sqlite:///~x.db"


def test_data_folder_depends_on_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THINKBACK_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert load_settings().db == str(tmp_path / "share" / "thinkback" / "memory.db")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert configured.config_path() == tmp_path / ".config" / "thinkback" / "config.toml"


def test_config_file_by_environment_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("THINKBACK_CONFIG", str(path))
    with pytest.raises(InvalidInput, match="THINKBACK_CONFIG"):
        load_settings()
    path.write_text('user = "ann"')
    assert load_settings().user == "ann"


@pytest.mark.parametrize(
    ("text", "message"),
    [("nonsense", "not valid TOML"), ('databse = "x"', "databse"), ("user = 3", "a quoted string")],
)
def test_invalid_config_file_is_reported(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InvalidInput, match=message) as error:
        load_settings()
    assert str(path) in str(error.value)


def test_boolean_setting_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().integrate == "false"
    path = write(tmp_path, "integrate = true")
    assert (load_settings().integrate, load_settings().origin("integrate")) == ("true", f"file {path}")
    monkeypatch.setenv("THINKBACK_INTEGRATE", "maybe")
    with pytest.raises(InvalidInput, match=r"integrate = 'maybe' \(env THINKBACK_INTEGRATE\)"):
        open_memory(load_settings(embedder="hashing", llm="none"))
    write(tmp_path, "user = true")
    with pytest.raises(InvalidInput, match="a quoted string"):
        load_settings()


def test_unreadable_config_file_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "").unlink()
    configured.config_path().mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_settings()
    configured.config_path().rmdir()
    configured.config_path().write_bytes(b'user = "\xff"')
    with pytest.raises(InvalidInput, match="not valid TOML"):
        load_settings()


def test_unknown_flag_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="colour"):
        load_settings(colour="red")


def test_llm_setting(tmp_path: Path) -> None:
    assert configured.llm_spec(load_settings()) is None
    assert configured.llm_spec(load_settings(llm="none")) is None
    assert configured.create_llm(load_settings(llm="none")) is None
    assert configured.llm_spec(load_settings(llm="openai:x")) == "openai:x"
    with pytest.raises(ModelUnavailable):
        configured.create_llm(load_settings(llm="local:smollm2"))


def install(folder: Path, model: CatalogueModel) -> None:
    file = folder / "data" / "models" / model.file
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        out.write(b"GGUF")
        out.truncate(model.size)


def test_auto_llm_is_the_installed_local_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, QWEN_CODER)
    assert configured.llm_spec(load_settings()) == "local:qwen-coder-1.5b"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert configured.llm_spec(load_settings()) is None


def test_a_model_that_answers_worse_than_memory_is_used_only_by_name(tmp_path: Path) -> None:
    install(tmp_path, SMOLLM2)
    assert configured.llm_spec(load_settings()) is None
    assert configured.llm_spec(load_settings(llm="local:smollm2")) == "local:smollm2"


def test_open_memory_uses_the_settings(tmp_path: Path) -> None:
    with open_memory(load_settings(embedder="hashing", user="ann", llm="none"), background=False) as memory:
        assert memory.user == "ann"
        assert memory.llm is None
        assert memory.embedder.name.startswith("hashing")
        memory.remember("I live in Paris.")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert (tmp_path / "data" / "memory.db").is_file()


def test_open_memory_overrides_replace_settings() -> None:
    from thinkback.embedders.hashing import HashingEmbedder

    settings = Settings(db=":memory:", llm="local:not-here", embedder="not-here")
    with open_memory(settings, llm=None, embedder=HashingEmbedder(), background=False, user="bob") as memory:
        assert memory.user == "bob"


def test_only_the_default_folder_is_created(tmp_path: Path) -> None:
    from thinkback.errors import StoreUnavailable

    with pytest.raises(StoreUnavailable):
        open_memory(load_settings(db=str(tmp_path / "no" / "x.db"), embedder="hashing"))


def test_reembed_converts_the_database() -> None:
    with open_memory(load_settings(embedder="hashing"), background=False) as memory:
        memory.remember("I live in Paris.")
        memory.recall("Where?")
    seen: list[tuple[int, int]] = []
    count = configured.reembed(
        load_settings(embedder="wordllama"), lambda done, total: seen.append((done, total))
    )
    assert count >= 1
    assert seen[-1] == (count, count)
    with open_memory(load_settings(embedder="wordllama"), background=False) as memory:
        assert memory.recall("Where do I live in Paris?").items


def test_think_setting() -> None:
    reader = configured.create_reader(load_settings(llm="none", embedder="hashing"))
    assert isinstance(reader, WithoutModelReader)
    with pytest.raises(InvalidInput, match="auto, extractive or llm"):
        configured.create_reader(load_settings(think="nonsense"))


def test_api_key_lookup_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert configured.read_config_text(configured.API_KEY_NAME).text == ""
    kept = write(tmp_path, "").with_name(configured.API_KEY_NAME)
    kept.write_text("sk-kept\n", "utf-8")
    assert (
        configured.read_config_text(configured.API_KEY_NAME).text,
        configured.read_config_text(configured.API_KEY_NAME).origin,
    ) == (
        "sk-kept",
        f"file {kept}",
    )
    near = here / configured.API_KEY_NAME
    near.write_text("sk-near\n", "utf-8")
    assert (
        configured.read_config_text(configured.API_KEY_NAME).text,
        configured.read_config_text(configured.API_KEY_NAME).origin,
    ) == (
        "sk-near",
        f"file {near}",
    )
    monkeypatch.setenv(configured.API_KEY_NAME, "sk-env")
    found = configured.read_config_text(configured.API_KEY_NAME)
    assert (found.text, found.origin) == ("sk-env", f"env {configured.API_KEY_NAME}")
    assert "sk-env" not in repr(found)


def test_empty_files_and_folders_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / configured.API_KEY_NAME).write_text(" \n", "utf-8")
    (tmp_path / "INSTRUCTION_SUMMARY").mkdir()
    assert configured.read_config_text(configured.API_KEY_NAME).text == ""
    assert configured.read_config_text("INSTRUCTION_SUMMARY").text == ""


@pytest.mark.parametrize("content", [b"\xff\xfe secret", b"secret" * 20_000])
def test_unusable_instruction_file_is_named_but_not_quoted(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "INSTRUCTION_CONVERSATION").write_bytes(content)
    with pytest.raises(InvalidInput, match="INSTRUCTION_CONVERSATION") as told:
        configured.read_config_text("INSTRUCTION_CONVERSATION")
    assert "secret" not in str(told.value)


def test_instructions_reach_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "INSTRUCTION_CONVERSATION").write_text("Speak like a sailor.", "utf-8")
    with open_memory(load_settings(embedder="hashing", llm="none"), background=False) as memory:
        assert "Speak like a sailor." in memory.context("Hello").part("instructions")


def test_summary_llm_setting() -> None:
    from thinkback.llms.scripted import ScriptedLLM

    able, small = ScriptedLLM([]), ScriptedLLM([], extracts=False)
    assert configured.create_summary_llm(load_settings(), able) is able
    assert configured.create_summary_llm(load_settings(), small) is None
    assert configured.create_summary_llm(load_settings(), None) is None
    assert configured.create_summary_llm(load_settings(summary_llm="none"), able) is None
    assert configured.create_summary_llm(load_settings(think="extractive"), able) is None
    with pytest.raises(InvalidInput):
        configured.create_summary_llm(load_settings(summary_llm="nonsense"), able)
