"""Settings of the command line and the server, and the objects created from them.

A setting comes from a flag, an environment variable, the configuration file or its default, in this order.
Secrets and long texts have files of their own (as in llm-dialogue-simulation): OPENAI_API_KEY,
INSTRUCTION_CONVERSATION and INSTRUCTION_SUMMARY are read from the environment variable, from a file of that
name in the working directory, or from one next to the configuration file. Their contents are never printed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.indexing import TextEncoder
    from thinkback.memory import Memory
    from thinkback.protocols import LLM, Embedder, ProgressCallback, Store
    from thinkback.think.contract import TurnReader

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
DEFAULT_LOCAL_MODEL = "qwen-coder-1.5b"
"""The local model that `auto` uses if it is installed. A smaller one answers worse than memory itself."""
BOOLEAN_SETTINGS = ("integrate",)
BOOLEAN_VALUES = {"true": True, "false": False}
API_KEY_NAME = "OPENAI_API_KEY"
INSTRUCTION_NAMES = ("INSTRUCTION_CONVERSATION", "INSTRUCTION_SUMMARY")
MAX_CONFIG_TEXT_CHARS = 64_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings as text.

    Attributes:
        db: file name or URL of the database.
        tenant: tenant in a database shared by several; empty for local use.
        llm: a model such as `openai:gpt-4o-mini`; `auto` is the local model qwen-coder-1.5b if it is
            installed; `none` is no model: answers come from memory.
        summary_llm: the model that summarises sessions; `auto` is `llm` if it is good enough; `none` leaves
            summaries to rules.
        integrate: `true` to combine recalled memories into one thought before answering.
        base_url: base URL of an OpenAI-compatible API.
        origins: where each value came from, unless it is the default.
    """

    db: str
    tenant: str = ""
    user: str = "default"
    llm: str = AUTO
    summary_llm: str = AUTO
    embedder: str = AUTO
    preset: str = "hybrid"
    think: str = AUTO
    integrate: str = "false"
    base_url: str = ""
    origins: Mapping[str, str] = field(default_factory=dict, hash=False)

    def origin(self, name: str) -> str:
        """Where a setting came from: `flag --db`, `env THINKBACK_DB`, `file PATH` or `default`."""
        return self.origins.get(name, "default")


@dataclass(frozen=True, slots=True)
class ConfigText:
    """A secret or long text and where it came from. The text itself must not be shown."""

    text: str = field(repr=False)
    origin: str


def read_config_text(name: str) -> ConfigText:
    """Read $NAME, else the file NAME in the working directory or next to the configuration file."""
    if value := os.environ.get(name, "").strip():
        return ConfigText(value, f"env {name}")
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
            raise InvalidInput(f"{path} is not UTF-8 text") from error
        if len(text) > MAX_CONFIG_TEXT_CHARS:
            raise InvalidInput(f"{path} is too long: at most {MAX_CONFIG_TEXT_CHARS:,} characters")
        if text:
            return ConfigText(text, f"file {path}")
    return ConfigText("", "default")


SETTING_NAMES = tuple(field.name for field in fields(Settings) if field.name != "origins")


def data_folder() -> Path:
    """The data folder: $THINKBACK_HOME, or the platform's default."""
    from thinkback.llms.catalogue import models_folder

    return models_folder().parent


def config_path() -> Path:
    """$THINKBACK_CONFIG, or thinkback/config.toml in the user's configuration folder."""
    if path := os.environ.get("THINKBACK_CONFIG"):
        return Path(path).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".config") / "thinkback" / "config.toml"


def load_settings(**flags: str | None) -> Settings:
    """Settings from flags (None if not given), environment, configuration file and defaults."""
    if unknown := set(flags) - set(SETTING_NAMES):
        raise InvalidInput(f"unknown setting {sorted(unknown)[0]!r}: choose from {', '.join(SETTING_NAMES)}")
    path = config_path()
    from_file = _read_config_file(path)
    values: dict[str, str] = {}
    origins: dict[str, str] = {}
    for name in SETTING_NAMES:
        if (flag := flags.get(name)) is not None:
            values[name], origins[name] = flag, f"flag --{name.replace('_', '-')}"
        elif variable := os.environ.get(ENVIRONMENT_VARIABLES[name]):
            values[name], origins[name] = variable, f"env {ENVIRONMENT_VARIABLES[name]}"
        elif name in from_file:
            values[name], origins[name] = from_file[name], f"file {path}"
    values["db"] = _expand_path(values["db"]) if "db" in values else str(data_folder() / "memory.db")
    return Settings(**values, origins=origins)


def choose_embedder(settings: Settings, stored: str | None) -> str:
    """The specification of the embedder; `auto`: the one whose name is `stored`, or the default."""
    from thinkback.embedders import registry

    return registry.choose_spec(settings.embedder, stored)


def create_embedder(settings: Settings) -> Embedder:
    """The configured embedder; `auto`: the one that wrote the database, the default for a new one."""
    spec = settings.embedder
    if spec == AUTO:
        with closing(open_store(settings)) as store:
            spec = choose_embedder(settings, store.embedder())
    return _create_embedder_from_spec(spec, settings)


def _create_embedder_from_spec(spec: str, settings: Settings) -> Embedder:
    from thinkback.embedders import registry

    return registry.create_embedder(
        spec,
        base_url=settings.base_url or None,
        api_key=read_config_text(API_KEY_NAME).text or None,
    )


def llm_spec(settings: Settings) -> str | None:
    """The name of the model to use on this machine; None if there is none and rules answer."""
    if settings.llm == NONE:
        return None
    return settings.llm if settings.llm != AUTO else _installed_local_model()


def create_llm(settings: Settings) -> LLM | None:
    """The configured language model."""
    spec = llm_spec(settings)
    return None if spec is None else _create_llm_from_spec(spec, settings)


def create_summary_llm(settings: Settings, chat: LLM | None) -> LLM | None:
    """The model that summarises sessions; `auto`: the chat model unless it is too small or does not think."""
    if settings.summary_llm == NONE:
        return None
    if settings.summary_llm != AUTO:
        return _create_llm_from_spec(settings.summary_llm, settings)
    return chat if chat is not None and chat.extracts and settings.think != "extractive" else None


def _create_llm_from_spec(spec: str, settings: Settings) -> LLM:
    from thinkback.llms import registry

    return registry.create_llm(
        spec, base_url=settings.base_url or None, api_key=read_config_text(API_KEY_NAME).text or None
    )


def create_reader(settings: Settings) -> TurnReader:
    """The configured reader of turns."""
    from thinkback.embedders.registry import sentence_encoder
    from thinkback.think import readers

    return readers.create_reader(
        settings.think,  # type: ignore[arg-type]  # create_reader validates it
        create_llm(settings),
        sentence_encoder(create_embedder(settings)),
    )


def open_store(settings: Settings) -> Store:
    """Open the database without models. The default folder is created if needed, for its owner only."""
    from thinkback import storage

    _make_database_folder(settings)
    return storage.connect(settings.db)


def database_name(settings: Settings) -> str:
    """The database without user and password, to be shown."""
    from thinkback import storage

    return storage.display_name(settings.db)


def is_shared_database(settings: Settings) -> bool:
    """Whether processes on other machines may use the database."""
    from thinkback import storage

    return storage.is_postgres(settings.db)


def restore_database(settings: Settings, backup: str) -> str | None:
    """Put a backup in the place of the configured database; see `storage.restore`."""
    from thinkback import storage

    _make_database_folder(settings)
    return storage.restore(backup, settings.db)


def open_memory(settings: Settings, **overrides: Any) -> Memory:
    """Open the configured memory; `overrides` are options of `Memory`."""
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
    memory = Memory(settings.db, **{**options, **overrides})
    models = (options.get(name) for name in ("embedder", "llm", "summary_llm"))
    return memory.own(*dict.fromkeys(model for model in models if model is not None))


def reembed(
    settings: Settings, progress: ProgressCallback | None = None, *, encoder: TextEncoder | None = None
) -> int:
    """Convert the whole database to the configured embedder, `auto` being the default of new databases.

    Returns the number of converted vectors.
    """
    from thinkback.memory import Memory

    _make_database_folder(settings)
    embedder = _create_embedder_from_spec(settings.embedder, settings)
    return Memory.reembed(settings.db, embedder, preset=settings.preset, progress=progress, encoder=encoder)


def _installed_local_model() -> str | None:
    from importlib.util import find_spec

    from thinkback.llms.catalogue import list_installed_models

    installed = any(model.name == DEFAULT_LOCAL_MODEL for model in list_installed_models())
    return f"local:{DEFAULT_LOCAL_MODEL}" if installed and find_spec("xllamacpp") else None


def _parse_boolean(settings: Settings, name: str) -> bool:
    value = getattr(settings, name)
    if value not in BOOLEAN_VALUES:
        raise InvalidInput(f"{name} = {value!r} ({settings.origin(name)}): use true or false")
    return BOOLEAN_VALUES[value]


def _expand_path(db: str) -> str:
    return db if "://" in db else os.path.expanduser(db)


def _make_database_folder(settings: Settings) -> None:
    if settings.origin("db") == "default":
        Path(settings.db).parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def _read_config_file(path: Path) -> dict[str, str]:
    """The values of the configuration file. A missing file is an error only if $THINKBACK_CONFIG names it."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if os.environ.get("THINKBACK_CONFIG"):
            raise InvalidInput(f"{path}, named by THINKBACK_CONFIG, does not exist") from None
        return {}
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise InvalidInput(f"{path} is not valid TOML: {error}") from error
    for key, value in data.items():
        if key not in SETTING_NAMES:
            raise InvalidInput(f"{path}: unknown setting {key!r}: choose from {', '.join(SETTING_NAMES)}")
        if isinstance(value, bool) and key in BOOLEAN_SETTINGS:
            data[key] = str(value).lower()
        elif not isinstance(value, str):
            raise InvalidInput(f"{path}: {key} must be a quoted string, not {value!r}")
    return {key: str(value) for key, value in data.items() if value}
