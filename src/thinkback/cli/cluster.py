"""The option `--ray [ADDRESS]` of commands that can spread their work over a Ray cluster."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from thinkback.bulk.cluster import LOCAL, Cluster, is_address
from thinkback.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thinkback.bulk.encoding import ClusterEncoder
    from thinkback.bulk.thinking import BulkThinkResult
    from thinkback.config import Settings

RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Spread the work over a Ray cluster, HOST:PORT; without ADDRESS over the cores of this machine. "
        "Needs thinkback[ray].",
    ),
]
RateOption = Annotated[
    int | None,
    typer.Option(
        "--requests-per-minute",
        metavar="N",
        min=1,
        help="With --ray: at most N requests per minute to the language model, by all nodes together.",
    ),
]


class ClusterCommand(TyperCommand):
    """A command whose option `--ray` may stand without a value; Typer has no such options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, complete_ray_options(args))


def complete_ray_options(arguments: Sequence[str]) -> list[str]:
    """Insert `local` after each `--ray` that no address follows."""
    options = list(arguments)
    end = options.index("--") if "--" in options else len(options)  # what follows are no options
    for position in reversed(range(end)):
        following = options[position + 1 : position + 2]
        if options[position] == "--ray" and not (following and is_address(following[0])):
            options.insert(position + 1, LOCAL)
    return options


@contextmanager
def open_cluster(address: str) -> Iterator[Cluster]:
    with Cluster(address) as cluster:
        output.print_note(f"Ray: {cluster.capacity()} cores")
        yield cluster


def create_encoder(cluster: Cluster, settings: Settings, stored: str | None) -> ClusterEncoder:
    """An encoder with the configured embedder; `auto` is the one whose name is `stored` in the database."""
    from thinkback.bulk.encoding import ClusterEncoder
    from thinkback.config import choose_embedder, create_embedder

    spec = choose_embedder(settings, stored)
    name = create_embedder(replace(settings, embedder=spec)).name
    return ClusterEncoder(cluster, settings, embedder=spec, name=name)


def think_on_cluster(
    cluster: Cluster, settings: Settings, users: Sequence[str] | None, rate: int | None
) -> BulkThinkResult:
    """Think about the pending turns of users (None: of all users of the tenant), with a progress bar."""
    from thinkback.bulk.thinking import think_users

    with output.show_progress("thinking") as report:
        return think_users(cluster, settings, users, requests_per_minute=rate, progress=report)
