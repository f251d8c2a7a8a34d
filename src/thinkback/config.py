"""The composition root: flags, environment and file -> Settings, each value with its origin -> Memory.

A value is taken from the first that has it: a flag, the environment, the file, the default. What is too long
or too secret for that has a file of its own (seed 003): OPENAI_API_KEY, INSTRUCTION_CONVERSATION and
INSTRUCTION_SUMMARY are looked for in the environment, then as a file of that name in the working folder, then
in the folder of the configuration. What stands in them is never printed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.indexing import ProgressCallback
    from thinkback.memory import Memory
    from thinkback.protocols import LLM, Embedder, Store
    from thinkback.think.generator import ThoughtGenerator

ENVIRONMENT_VARIABLES = {
    "db": "THINKBACK_DB",
    "tenant": "THINKBACK_TENANT",
    "user": "THINKBACK_USER",
    "llm": "THINKBACK_LLM",
    "summary_llm": "THINKBACK_SUMMARY_LLM",
    "embedder": "THINKBACK_EMBEDDER",
    "preset": "THINKBACK_PRESET",
    "think": "THINKBACK_THINK",
    "integrate": "THINKBACK_INTEGRATE",
    "base_url": "OPENAI_BASE_URL",
}
AUTO, NONE = "auto", "none"
DEFAULT_LOCAL_MODEL = "smollm2"
BOOLEAN_SETTINGS = ("integrate",)
BOOLEAN_VALUES = {"true": True, "false": False}
API_KEY_NAME = "OPENAI_API_KEY"
INSTRUCTION_NAMES = ("INSTRUCTION_CONVERSATION", "INSTRUCTION_SUMMARY")
MAX_CONFIG_TEXT_CHARS = 64_000  # characters of a key or of instructions


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is configured; `origins` names where a value came from, if it is not the default.

    `tenant` is whose memories are meant in a database that a server shares out; empty: the library's own.
    `llm` is a spec such as `openai:gpt-4o-mini`, `auto` (the small local model if it is pulled) or `none`.
    `integrate` is `true` where a model is to join what is recalled into one thought before it answers.
    `summary_llm` is the same for the model that summarises sessions; `auto` is the one that answers, if it is
    able enough, and `none` leaves it to the rules.
    """

    db: str
    tenant: str = ""
    user: str = "default"
    llm: str = AUTO
    summary_llm: str = AUTO
    embedder: str = "minilm"
    preset: str = "hybrid"
    think: str = AUTO
    integrate: str = "false"
    base_url: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)

    def origin(self, name: str) -> str:
        """`flag --db`, `env THINKBACK_DB`, `file PATH` or `default`."""
        return self.origins.get(name, "default")


@dataclass(frozen=True, slots=True)
class ConfigText:
    """A text that has a place of its own: where it came from may be shown, the text may not."""

    text: str = field(repr=False)
    origin: str


def read_config_text(name: str) -> ConfigText:
    """What $NAME holds, or the file NAME in the working folder, or beside the configuration; else nothing."""
    if found := os.environ.get(name, "").strip():
        return ConfigText(found, f"env {name}")
    for folder in (Path.cwd(), config_path().parent):
        path = folder / name
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(MAX_CONFIG_TEXT_CHARS + 1).strip()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            continue
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{path} is no text in UTF-8") from error
        if len(text) > MAX_CONFIG_TEXT_CHARS:
            raise InvalidInput(f"{path} is too long: at most {MAX_CONFIG_TEXT_CHARS:,} characters")
        if text:
            return ConfigText(text, f"file {path}")
    return ConfigText("", "default")


SETTING_NAMES = tuple(each.name for each in fields(Settings) if each.name != "origins")


def data_folder() -> Path:
    """Where thinkback keeps its data: $THINKBACK_HOME, or the platform's place for it."""
    from thinkback.llms.catalogue import models_folder

    return models_folder().parent


def config_path() -> Path:
    """$THINKBACK_CONFIG, or thinkback/config.toml in the place for configuration."""
    if named := os.environ.get("THINKBACK_CONFIG"):
        return Path(named).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".config") / "thinkback" / "config.toml"


def load_settings(**flags: str | None) -> Settings:
    """Settings from the flags given (None: not given), the environment, the file and the defaults."""
    if unknown := set(flags) - set(SETTING_NAMES):
        raise InvalidInput(
            f"no setting is called {sorted(unknown)[0]!r}: there are {', '.join(SETTING_NAMES)}"
        )
    path = config_path()
    from_file = _read_config_file(path)
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    for name in SETTING_NAMES:
        if (given := flags.get(name)) is not None:
            values[name], origins[name] = given, f"flag --{name.replace('_', '-')}"
        elif found := os.environ.get(ENVIRONMENT_VARIABLES[name]):
            values[name], origins[name] = found, f"env {ENVIRONMENT_VARIABLES[name]}"
        elif name in from_file:
            values[name], origins[name] = from_file[name], f"file {path}"
    values["db"] = _expand_path(values["db"]) if "db" in values else str(data_folder() / "memory.db")
    return Settings(**values, origins=origins)


def create_embedder(settings: Settings) -> Embedder:
    from thinkback.embedders.registry import create_embedder

    return create_embedder(
        settings.embedder,
        base_url=settings.base_url or None,
        api_key=read_config_text(API_KEY_NAME).text or None,
    )


def llm_spec(settings: Settings) -> str | None:
    """The language model that `llm` means on this machine; None: there is none, memory itself answers."""
    if settings.llm == NONE:
        return None
    return settings.llm if settings.llm != AUTO else _installed_local_model()


def create_llm(settings: Settings) -> LLM | None:
    spec = llm_spec(settings)
    return None if spec is None else _create_llm_from_spec(spec, settings)


def create_summary_llm(settings: Settings, chat: LLM | None) -> LLM | None:
    """The model that summarises; `auto` is the one that chats, unless it is too small or rules think."""
    if settings.summary_llm == NONE:
        return None
    if settings.summary_llm != AUTO:
        return _create_llm_from_spec(settings.summary_llm, settings)
    return chat if chat is not None and chat.extracts and settings.think != "rules" else None


def _create_llm_from_spec(spec: str, settings: Settings) -> LLM:
    from thinkback.llms.registry import create_llm

    return create_llm(
        spec, base_url=settings.base_url or None, api_key=read_config_text(API_KEY_NAME).text or None
    )


def create_generator(settings: Settings) -> ThoughtGenerator:
    """Who draws thoughts from turns."""
    from thinkback.think.factory import create_generator

    return create_generator(settings.think, create_llm(settings))  # type: ignore[arg-type]  # it checks the word itself


def open_store(settings: Settings) -> Store:
    """The database alone, of all tenants. The default one's folder is made on demand, for its owner only."""
    from thinkback import storage

    _make_database_folder(settings)
    return storage.connect(settings.db)


def open_memory(settings: Settings, **overrides: Any) -> Memory:
    """The memory that is configured; `overrides` are those of `Memory.open`."""
    from thinkback.memory import Memory

    _make_database_folder(settings)
    options: dict[str, Any] = {
        name: getattr(settings, name) for name in ("tenant", "user", "preset", "think")
    }
    options["integrate"] = _parse_boolean(settings, "integrate")
    if "embedder" not in overrides:
        options["embedder"] = create_embedder(settings)
    if "llm" not in overrides:
        options["llm"] = create_llm(settings)
        options["summary_llm"] = create_summary_llm(settings, options["llm"])
    options["instructions"], options["summary_instructions"] = (
        read_config_text(name).text for name in INSTRUCTION_NAMES
    )
    memory = Memory.open(settings.db, **{**options, **overrides})
    made = (options.get(name) for name in ("embedder", "llm", "summary_llm"))
    return memory.own(*dict.fromkeys(model for model in made if model is not None))


def reembed(settings: Settings, progress: ProgressCallback | None = None) -> int:
    """Convert the whole database to the embedder that is configured; how many vectors that were."""
    from thinkback.memory import Memory

    _make_database_folder(settings)
    return Memory.reembed(settings.db, create_embedder(settings), preset=settings.preset, progress=progress)


def _installed_local_model() -> str | None:
    from importlib.util import find_spec

    from thinkback.llms.catalogue import list_installed_models

    pulled = any(model.name == DEFAULT_LOCAL_MODEL for model in list_installed_models())
    return f"local:{DEFAULT_LOCAL_MODEL}" if pulled and find_spec("xllamacpp") else None


def _parse_boolean(settings: Settings, name: str) -> bool:
    value = getattr(settings, name)
    if value not in BOOLEAN_VALUES:
        raise InvalidInput(f"{name} = {value!r} ({settings.origin(name)}): say true or false")
    return BOOLEAN_VALUES[value]


def _expand_path(db: str) -> str:
    return db if "://" in db else os.path.expanduser(db)


def _make_database_folder(settings: Settings) -> None:
    if settings.origin("db") == "default":
        Path(settings.db).parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def _read_config_file(path: Path) -> dict[str, str]:
    """The file's values; no file is no value, unless it was asked for by name."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if os.environ.get("THINKBACK_CONFIG"):
            raise InvalidInput(f"{path}, named by THINKBACK_CONFIG, is not there") from None
        return {}
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise InvalidInput(f"{path} is not valid TOML: {error}") from error
    for key, value in data.items():
        if key not in SETTING_NAMES:
            raise InvalidInput(f"{path}: no setting is called {key!r}: there are {', '.join(SETTING_NAMES)}")
        if isinstance(value, bool) and key in BOOLEAN_SETTINGS:
            data[key] = str(value).lower()
        elif not isinstance(value, str):
            raise InvalidInput(f"{path}: {key} must be text in quotes, not {value!r}")
    return {key: str(value) for key, value in data.items() if value}
