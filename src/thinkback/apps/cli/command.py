"""What every command shares: its common options, and how an error becomes one line and an exit code."""

from __future__ import annotations

import errno
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, NoReturn, ParamSpec

import typer

from thinkback.errors import ThinkbackError

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.settings import Settings

_Params = ParamSpec("_Params")
INTERRUPTED = 130

_OPTIONS: Mapping[str, Any] = {
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
class Call:
    """One run of a command: what was asked for by its common options."""

    flags: Mapping[str, str | None]
    json: bool

    @property
    def settings(self) -> Settings:
        from thinkback.settings import load

        return load(**self.flags)

    def memory(self, *, thinks: bool = False, background: bool = False) -> Memory:
        """The configured memory. Where nothing is to be thought or said, no language model is loaded."""
        from thinkback.settings import open_memory

        if thinks:
            return open_memory(self.settings, background=background)
        return open_memory(self.settings, background=False, llm=None, think="rules")

    def with_flags(self, **flags: str | None) -> Call:
        return replace(self, flags={**self.flags, **flags})


def command(
    app: typer.Typer, *options: str, name: str | None = None, whose: bool = True
) -> Callable[[Callable[Concatenate[Call, _Params], None]], Callable[Concatenate[Call, _Params], None]]:
    """Register `function(call, ...)`: --db, --json and the common `options` it names.

    Where it is about one memory, `whose`: --tenant and --user.
    """
    common = ("db", *(("tenant", "user") if whose else ()), *options, "json")

    def register(
        function: Callable[Concatenate[Call, _Params], None],
    ) -> Callable[Concatenate[Call, _Params], None]:
        def run(ctx: typer.Context, **given: Any) -> None:
            flags = {each: given.pop(each) for each in common if each != "json"}
            with reported(debug=bool(ctx.obj)):
                function(Call(flags, given.pop("json")), **given)  # type: ignore[call-arg]

        run.__doc__ = function.__doc__
        run.__name__ = name or function.__name__
        run.__signature__ = _signature(run, function, common)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in run.__signature__.parameters.values()}  # type: ignore[attr-defined]
        app.command(name, short_help=_short(run.__doc__ or ""))(run)
        return function

    return register


@contextmanager
def reported(*, debug: bool = False) -> Iterator[None]:
    """Errors as one line on standard error and exit code 1; Ctrl-C quietly as 130. `debug` raises."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("\n" if sys.stderr.isatty() else "")
        raise typer.Exit(INTERRUPTED) from None
    except ThinkbackError as error:
        if debug:
            raise
        fail(str(error))
    except OSError as error:
        if debug or error.errno == errno.EPIPE:  # a closed pipe is the reader's wish
            raise
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if debug:
            raise
        fail(f"{type(error).__name__}: {error}. This is a bug: `thinkback --debug COMMAND` shows where")


def complain(message: str) -> None:
    """`error: ...`, one line on standard error."""
    from thinkback.apps.cli.printing import one_line

    sys.stderr.write(f"error: {one_line(message, limit=1000)}\n")


def fail(message: str) -> NoReturn:
    complain(message)
    raise typer.Exit(1)


def _short(doc: str) -> str:
    """The first clause: what the list of commands shows."""
    return re.split(r"[:;.(]", doc, maxsplit=1)[0].strip() + "."


def _signature(
    run: Callable[..., None], function: Callable[..., None], common: tuple[str, ...]
) -> inspect.Signature:
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(
            each,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if each == "json" else None,
            annotation=_OPTIONS[each],
        )
        for each in common
    ]
    keyword_only = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    return inspect.Signature([context, *keyword_only, *shared])
