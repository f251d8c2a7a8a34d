"""Where a setting comes from: flag, environment, file, default, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest

from thinkback import settings as configured
from thinkback.errors import InvalidInput, ModelUnavailable
from thinkback.settings import ENVIRONMENT, Settings, load, open_memory


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*ENVIRONMENT.values(), "THINKBACK_CONFIG", "OPENAI_API_KEY"]:
        monkeypatch.delenv(name, raising=False)
    for name in configured.INSTRUCTIONS:
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
    found = load()
    assert found.db == str(tmp_path / "data" / "memory.db")
    assert (found.user, found.llm, found.embedder, found.preset) == ("default", "auto", "minilm", "hybrid")
    assert found.origin("db") == "default"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", configured.NAMES)
def test_precedence_and_origins(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, f'{name} = "from-file"')
    assert (getattr(load(), name), load().origin(name)) == ("from-file", f"file {path}")
    monkeypatch.setenv(ENVIRONMENT[name], "from-env")
    assert (getattr(load(), name), load().origin(name)) == ("from-env", f"env {ENVIRONMENT[name]}")
    flagged = load(**{name: "from-flag"})
    assert (getattr(flagged, name), flagged.origin(name)) == (
        "from-flag",
        f"flag --{name.replace('_', '-')}",
    )


def test_an_empty_variable_is_not_set_but_an_empty_flag_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_USER", "")
    assert load().origin("user") == "default"
    assert load(user="").user == ""


def test_a_tilde_is_the_home_folder(tmp_path: Path) -> None:
    assert load(db="~/x.db").db == str(tmp_path / "x.db")
    assert load(db="sqlite:///~x.db").db == "sqlite:///~x.db"


def test_the_home_follows_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THINKBACK_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert load().db == str(tmp_path / "share" / "thinkback" / "memory.db")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert configured.config_path() == tmp_path / ".config" / "thinkback" / "config.toml"


def test_a_file_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("THINKBACK_CONFIG", str(path))
    with pytest.raises(InvalidInput, match="THINKBACK_CONFIG"):
        load()
    path.write_text('user = "ann"')
    assert load().user == "ann"


@pytest.mark.parametrize(
    ("text", "message"),
    [("nonsense", "not valid TOML"), ('databse = "x"', "databse"), ("user = 3", "in quotes")],
)
def test_a_file_that_is_wrong_says_what(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InvalidInput, match=message) as error:
        load()
    assert str(path) in str(error.value)


def test_a_switch_is_true_or_false(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().integrate == "false"
    path = write(tmp_path, "integrate = true")
    assert (load().integrate, load().origin("integrate")) == ("true", f"file {path}")
    monkeypatch.setenv("THINKBACK_INTEGRATE", "maybe")
    with pytest.raises(InvalidInput, match=r"integrate = 'maybe' \(env THINKBACK_INTEGRATE\)"):
        open_memory(load(embedder="hashing", llm="none"))
    write(tmp_path, "user = true")
    with pytest.raises(InvalidInput, match="in quotes"):
        load()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path, "").unlink()
    configured.config_path().mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        load()
    configured.config_path().rmdir()
    configured.config_path().write_bytes(b'user = "\xff"')
    with pytest.raises(InvalidInput, match="not valid TOML"):
        load()


def test_a_flag_that_does_not_exist() -> None:
    with pytest.raises(InvalidInput, match="colour"):
        load(colour="red")


def test_the_language_model(tmp_path: Path) -> None:
    assert configured.llm_spec(load()) is None
    assert configured.llm_spec(load(llm="none")) is None
    assert configured.llm(load(llm="none")) is None
    assert configured.llm_spec(load(llm="openai:x")) == "openai:x"
    with pytest.raises(ModelUnavailable):
        configured.llm(load(llm="local:smollm2"))


def test_auto_is_the_local_model_once_it_is_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from thinkback.models.catalogue import SMOLLM2

    file = tmp_path / "data" / "models" / SMOLLM2.file
    file.parent.mkdir(parents=True)
    with file.open("wb") as out:
        out.write(b"GGUF")
        out.truncate(SMOLLM2.size)
    assert configured.llm_spec(load()) == "local:smollm2"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert configured.llm_spec(load()) is None


def test_open_memory_is_what_is_configured(tmp_path: Path) -> None:
    with open_memory(load(embedder="hashing", user="ann", llm="none"), background=False) as memory:
        assert memory.user == "ann"
        assert memory.llm is None
        assert memory.embedder.name.startswith("hashing")
        memory.remember("I live in Paris.")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert (tmp_path / "data" / "memory.db").is_file()


def test_overrides_win_and_load_nothing() -> None:
    from thinkback.models.hashing import Hashing

    settings = Settings(db=":memory:", llm="local:not-here", embedder="not-here")
    with open_memory(settings, llm=None, embedder=Hashing(), background=False, user="bob") as memory:
        assert memory.user == "bob"


def test_only_the_default_folder_is_made(tmp_path: Path) -> None:
    from thinkback.errors import StoreUnavailable

    with pytest.raises(StoreUnavailable):
        open_memory(load(db=str(tmp_path / "no" / "x.db"), embedder="hashing"))


def test_reembed_converts_the_database() -> None:
    with open_memory(load(embedder="hashing"), background=False) as memory:
        memory.remember("I live in Paris.")
        memory.recall("Where?")
    seen: list[tuple[int, int]] = []
    count = configured.reembed(load(embedder="wordllama"), lambda done, total: seen.append((done, total)))
    assert count >= 1
    assert seen[-1] == (count, count)
    with open_memory(load(embedder="wordllama"), background=False) as memory:
        assert memory.recall("Where do I live in Paris?").items


def test_who_thinks() -> None:
    assert configured.generator(load(llm="none")).name == "rules"
    with pytest.raises(InvalidInput):
        configured.generator(load(think="nonsense"))


def test_a_key_comes_from_the_environment_the_working_folder_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert configured.given(configured.KEY).text == ""
    kept = write(tmp_path, "").with_name(configured.KEY)
    kept.write_text("sk-kept\n", "utf-8")
    assert (configured.given(configured.KEY).text, configured.given(configured.KEY).origin) == (
        "sk-kept",
        f"file {kept}",
    )
    near = here / configured.KEY
    near.write_text("sk-near\n", "utf-8")
    assert (configured.given(configured.KEY).text, configured.given(configured.KEY).origin) == (
        "sk-near",
        f"file {near}",
    )
    monkeypatch.setenv(configured.KEY, "sk-env")
    found = configured.given(configured.KEY)
    assert (found.text, found.origin) == ("sk-env", f"env {configured.KEY}")
    assert "sk-env" not in repr(found)


def test_an_empty_file_is_no_value_and_a_folder_of_that_name_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / configured.KEY).write_text(" \n", "utf-8")
    (tmp_path / "INSTRUCTION_SUMMARY").mkdir()
    assert configured.given(configured.KEY).text == ""
    assert configured.given("INSTRUCTION_SUMMARY").text == ""


@pytest.mark.parametrize("content", [b"\xff\xfe secret", b"secret" * 20_000])
def test_a_file_that_cannot_be_used_is_named_and_not_quoted(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "INSTRUCTION_CONVERSATION").write_bytes(content)
    with pytest.raises(InvalidInput, match="INSTRUCTION_CONVERSATION") as told:
        configured.given("INSTRUCTION_CONVERSATION")
    assert "secret" not in str(told.value)


def test_instructions_reach_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "INSTRUCTION_CONVERSATION").write_text("Speak like a sailor.", "utf-8")
    with open_memory(load(embedder="hashing", llm="none"), background=False) as memory:
        assert "Speak like a sailor." in memory.context("Hello").part("instructions")


def test_who_summarises() -> None:
    from thinkback.models.scripted import ScriptedLLM

    able, small = ScriptedLLM([]), ScriptedLLM([], extracts=False)
    assert configured.summary_llm(load(), able) is able
    assert configured.summary_llm(load(), small) is None
    assert configured.summary_llm(load(), None) is None
    assert configured.summary_llm(load(summary_llm="none"), able) is None
    assert configured.summary_llm(load(think="rules"), able) is None
    with pytest.raises(InvalidInput):
        configured.summary_llm(load(summary_llm="nonsense"), able)
