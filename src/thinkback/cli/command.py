"""Shared parts of every command: common options, error reporting, exit codes and confirmation."""

from __future__ import annotations

import errno
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, NoReturn, ParamSpec

import typer

from thinkback.cli import output
from thinkback.cli.cluster import ClusterCommand
from thinkback.errors import ThinkbackError

if TYPE_CHECKING:
    from thinkback.config import Settings
    from thinkback.memory import Memory


_Params = ParamSpec("_Params")
EXIT_CODE_INTERRUPTED = 130

_COMMON_OPTIONS: Mapping[str, Any] = {
    "db": Annotated[
        str | None,
        typer.Option(
            "--db", metavar="FILE", help="Path of the database. [env: THINKBACK_DB]", show_default=False
        ),
    ],
    "tenant": Annotated[
        str | None,
        typer.Option("--tenant", metavar="NAME", help="Tenant of a server. [env: THINKBACK_TENANT]"),
    ],
    "user": Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="The user whose memory is used. [env: THINKBACK_USER]"),
    ],
    "embedder": Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="SPEC",
            help="Embedder: auto, minilm, minilm+use, bilingual, use, wordllama, hashing or openai:MODEL. "
            "[env: THINKBACK_EMBEDDER]",
        ),
    ],
    "preset": Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="Search preset: hybrid, careful, fading, tim, fuzzy, perltqa, bm25 or dense."
            " [env: THINKBACK_PRESET]",
        ),
    ],
    "llm": Annotated[
        str | None,
        typer.Option(
            "--llm",
            metavar="SPEC",
            help="Language model: openai:MODEL, local:NAME_OR_PATH, auto or none. [env: THINKBACK_LLM]",
        ),
    ],
    "summary_llm": Annotated[
        str | None,
        typer.Option(
            "--summary-llm",
            metavar="SPEC",
            help="Language model for summaries; auto uses that of --llm. [env: THINKBACK_SUMMARY_LLM]",
        ),
    ],
    "think": Annotated[
        str | None,
        typer.Option(
            "--think",
            metavar="HOW",
            help="How thoughts are extracted: auto, extractive or llm. [env: THINKBACK_THINK]",
        ),
    ],
    "json": Annotated[
        bool,
        typer.Option("--json", help="Print the result as JSON; everything else goes to standard error."),
    ],
}


@dataclass(frozen=True, slots=True)
class CommandCall:
    """The common options of one command call. Every command function takes it as its first parameter."""

    flags: Mapping[str, str | None]
    json: bool

    @property
    def settings(self) -> Settings:
        from thinkback.config import load_settings

        return load_settings(**self.flags)

    def open_memory(self, *, with_llm: bool = False, background: bool = False) -> Memory:
        """Open the configured memory; without `with_llm` no language model is loaded (faster start)."""
        from thinkback.config import open_memory

        if with_llm:
            return open_memory(self.settings, background=background)
        return open_memory(self.settings, background=False, llm=None, think="extractive")

    def with_flags(self, **flags: str | None) -> CommandCall:
        return replace(self, flags={**self.flags, **flags})


def register_command(
    app: typer.Typer, *options: str, name: str | None = None, per_user: bool = True
) -> Callable[
    [Callable[Concatenate[CommandCall, _Params], None]], Callable[Concatenate[CommandCall, _Params], None]
]:
    """Decorator that adds `function(call, ...)` to the app as a command.

    Args:
        app: The Typer application or command group.
        options: Names of common options the command takes, besides --db and --json.
        name: The command's name; by default that of the function.
        per_user: Whether the command works on one user's memory and so takes --tenant and --user.
    """
    common = ("db", *(("tenant", "user") if per_user else ()), *options, "json")

    def register(
        function: Callable[Concatenate[CommandCall, _Params], None],
    ) -> Callable[Concatenate[CommandCall, _Params], None]:
        def run(ctx: typer.Context, **arguments: Any) -> None:
            flags = {option: arguments.pop(option) for option in common if option != "json"}
            with report_errors(debug=bool(ctx.obj)):
                function(CommandCall(flags, arguments.pop("json")), **arguments)  # type: ignore[call-arg]

        run.__doc__ = function.__doc__
        run.__name__ = name or function.__name__
        run.__signature__ = _command_signature(run, function, common)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in run.__signature__.parameters.values()}  # type: ignore[attr-defined]
        command_class = ClusterCommand if "ray" in run.__annotations__ else None
        app.command(name, cls=command_class, short_help=_short_help(run.__doc__ or ""))(run)
        return function

    return register


@contextmanager
def report_errors(*, debug: bool = False) -> Iterator[None]:
    """Turn an error into one line on standard error and exit code 1, Ctrl-C into exit code 130.

    With `debug` the error is raised unchanged.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("\n" if sys.stderr.isatty() else "")
        raise typer.Exit(EXIT_CODE_INTERRUPTED) from None
    except ThinkbackError as error:
        if debug:
            raise
        exit_with_error(str(error))
    except OSError as error:
        if debug or error.errno == errno.EPIPE:  # the reader closed the pipe, as `head` does: no error
            raise
        exit_with_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if debug:
            raise
        exit_with_error(
            f"{type(error).__name__}: {error}. This is a bug: `thinkback --debug COMMAND` shows the traceback"
        )


def print_error(message: str) -> None:
    """Print `error: MESSAGE` as one line on standard error."""
    sys.stderr.write(f"error: {output.one_line(message, limit=1000)}\n")


def exit_with_error(message: str) -> NoReturn:
    print_error(message)
    raise typer.Exit(1)


def _short_help(doc: str) -> str:
    """The first clause of a docstring, shown in the list of commands."""
    return re.split(r"[:;.(]", doc, maxsplit=1)[0].strip() + "."


def _command_signature(
    run: Callable[..., None], function: Callable[..., None], common: tuple[str, ...]
) -> inspect.Signature:
    """The signature Typer reads: the function's own options followed by the common ones."""
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(
            option,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if option == "json" else None,
            annotation=_COMMON_OPTIONS[option],
        )
        for option in common
    ]
    keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    return inspect.Signature([context, *keyword_only, *shared])


STDIO_MARKER = "-"
"""As a file or text argument: read standard input, or write standard output."""


def parse_time(text: str) -> datetime:
    """Parse ISO 8601 into UTC; a time without a zone is local time."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{text!r} is not a time. Write 2024-05-31 or 2024-05-31T18:30+02:00"
        ) from None


AsOfOption = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        parser=parse_time,
        metavar="TIME",
        help="Only what was true at that time (ISO 8601, local time if it has no zone).",
    ),
]
KnownAtOption = Annotated[
    datetime | None,
    typer.Option(
        "--known-at",
        parser=parse_time,
        metavar="TIME",
        help="Only what had been stored by that time.",
    ),
]
AtOption = Annotated[
    datetime | None,
    typer.Option(
        "--at",
        parser=parse_time,
        metavar="TIME",
        help="When it was said (ISO 8601, local time if it has no zone). Future times are accepted.",
    ),
]
LimitOption = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Show only the newest N.")]
LaterOption = Annotated[
    bool, typer.Option("--later", help="Only store; `thinkback think` extracts the thoughts later.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def read_stdin() -> str:
    """All of standard input decoded as UTF-8; invalid bytes become U+FFFD."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation and exit with code 1 if it is refused.

    Raises:
        typer.BadParameter: Standard input is not a terminal and --yes was not given.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            f"{question} Standard input is not a terminal: confirm with --yes", param_hint="--yes"
        )
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        sys.stderr.write("Cancelled, nothing was changed.\n")
        raise typer.Exit(1)
