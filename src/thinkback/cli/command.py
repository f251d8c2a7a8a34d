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

from thinkback.errors import ThinkbackError

if TYPE_CHECKING:
    from thinkback.config import Settings
    from thinkback.memory import Memory


_Params = ParamSpec("_Params")
EXIT_CODE_INTERRUPTED = 130

_COMMON_OPTIONS: Mapping[str, Any] = {
    "db": Annotated[
        str | None,
        typer.Option("--db", metavar="FILE", help="The database. [env: THINKBACK_DB]", show_default=False),
    ],
    "tenant": Annotated[
        str | None,
        typer.Option("--tenant", metavar="NAME", help="Of which tenant of a server. [env: THINKBACK_TENANT]"),
    ],
    "user": Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="Whose memory it is. [env: THINKBACK_USER]"),
    ],
    "embedder": Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="SPEC",
            help="minilm, wordllama, hashing or openai:MODEL. [env: THINKBACK_EMBEDDER]",
        ),
    ],
    "preset": Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="How to search: hybrid, fading, tim, fuzzy, perltqa, bm25 or dense. [env: THINKBACK_PRESET]",
        ),
    ],
    "llm": Annotated[
        str | None,
        typer.Option(
            "--llm",
            metavar="SPEC",
            help="openai:MODEL, local:NAME_OR_PATH, auto or none. [env: THINKBACK_LLM]",
        ),
    ],
    "summary_llm": Annotated[
        str | None,
        typer.Option(
            "--summary-llm",
            metavar="SPEC",
            help="Who summarises sessions: as --llm; auto: the same. [env: THINKBACK_SUMMARY_LLM]",
        ),
    ],
    "think": Annotated[
        str | None,
        typer.Option("--think", metavar="HOW", help="Who thinks: auto, rules or llm. [env: THINKBACK_THINK]"),
    ],
    "json": Annotated[
        bool,
        typer.Option("--json", help="The result as JSON on standard output, all else on standard error."),
    ],
}


@dataclass(frozen=True, slots=True)
class CommandCall:
    """One run of a command: what was asked for by its common options."""

    flags: Mapping[str, str | None]
    json: bool

    @property
    def settings(self) -> Settings:
        from thinkback.config import load_settings

        return load_settings(**self.flags)

    def open_memory(self, *, with_llm: bool = False, background: bool = False) -> Memory:
        """The configured memory. Where nothing is to be thought or said, no language model is loaded."""
        from thinkback.config import open_memory

        if with_llm:
            return open_memory(self.settings, background=background)
        return open_memory(self.settings, background=False, llm=None, think="rules")

    def with_flags(self, **flags: str | None) -> CommandCall:
        return replace(self, flags={**self.flags, **flags})


def register_command(
    app: typer.Typer, *options: str, name: str | None = None, per_user: bool = True
) -> Callable[
    [Callable[Concatenate[CommandCall, _Params], None]], Callable[Concatenate[CommandCall, _Params], None]
]:
    """Register `function(call, ...)`: --db, --json and the common `options` it names.

    Where it is about one memory, `whose`: --tenant and --user.
    """
    common = ("db", *(("tenant", "user") if per_user else ()), *options, "json")

    def register(
        function: Callable[Concatenate[CommandCall, _Params], None],
    ) -> Callable[Concatenate[CommandCall, _Params], None]:
        def run(ctx: typer.Context, **given: Any) -> None:
            flags = {each: given.pop(each) for each in common if each != "json"}
            with report_errors(debug=bool(ctx.obj)):
                function(CommandCall(flags, given.pop("json")), **given)  # type: ignore[call-arg]

        run.__doc__ = function.__doc__
        run.__name__ = name or function.__name__
        run.__signature__ = _command_signature(run, function, common)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in run.__signature__.parameters.values()}  # type: ignore[attr-defined]
        app.command(name, short_help=_short_help(run.__doc__ or ""))(run)
        return function

    return register


@contextmanager
def report_errors(*, debug: bool = False) -> Iterator[None]:
    """Errors as one line on standard error and exit code 1; Ctrl-C quietly as 130. `debug` raises."""
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
        if debug or error.errno == errno.EPIPE:  # a closed pipe is the reader's wish
            raise
        exit_with_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if debug:
            raise
        exit_with_error(
            f"{type(error).__name__}: {error}. This is a bug: `thinkback --debug COMMAND` shows where"
        )


def print_error(message: str) -> None:
    """`error: ...`, one line on standard error."""
    from thinkback.cli.output import one_line

    sys.stderr.write(f"error: {one_line(message, limit=1000)}\n")


def exit_with_error(message: str) -> NoReturn:
    print_error(message)
    raise typer.Exit(1)


def _short_help(doc: str) -> str:
    """The first clause: what the list of commands shows."""
    return re.split(r"[:;.(]", doc, maxsplit=1)[0].strip() + "."


def _command_signature(
    run: Callable[..., None], function: Callable[..., None], common: tuple[str, ...]
) -> inspect.Signature:
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(
            each,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if each == "json" else None,
            annotation=_COMMON_OPTIONS[each],
        )
        for each in common
    ]
    keyword_only = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    return inspect.Signature([context, *keyword_only, *shared])


STDIO_MARKER = "-"


def parse_time(text: str) -> datetime:
    """ISO 8601 -> UTC; without a zone it is the local time of this machine."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(f"{text!r} is no time: write 2024-05-31 or 2024-05-31T18:30+02:00") from None


AsOfOption = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        parser=parse_time,
        metavar="TIME",
        help="What held at that time (ISO 8601; without a zone: local time).",
    ),
]
KnownAtOption = Annotated[
    datetime | None,
    typer.Option(
        "--known-at",
        parser=parse_time,
        metavar="TIME",
        help="What this memory knew at that time, whatever it learned since.",
    ),
]
AtOption = Annotated[
    datetime | None,
    typer.Option(
        "--at",
        parser=parse_time,
        metavar="TIME",
        help="When it was said (ISO 8601; without a zone: local time). A time to come is taken as it is.",
    ),
]
LimitOption = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The newest so many.")]
LaterOption = Annotated[
    bool, typer.Option("--later", help="Do not think it over now; `thinkback think` will.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def read_stdin() -> str:
    """All of standard input as UTF-8; bytes that are no UTF-8 become U+FFFD."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person; a script has to say --yes. Ends the command where the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"{question} There is nobody to ask: say --yes", param_hint="--yes")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        sys.stderr.write("Nothing was done.\n")
        raise typer.Exit(1)
