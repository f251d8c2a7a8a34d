"""`pull`, `reembed`: the models on this machine, and the vectors they made."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from thinkback.apps.cli.command import Call, command


def register(app: typer.Typer) -> None:
    command(app)(pull)
    command(app, "embedder", "preset")(reembed)


def pull(
    call: Call,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A name of the list, a GGUF file, its URL, or hf:owner/repo/file.gguf."
        ),
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="DIGEST", help="What the file must hash to.")
    ] = None,
) -> None:
    """Fetch a language model onto this machine; without a name, list those known and those here.

    An interrupted pull goes on where it stopped. Afterwards `--llm local:NAME` uses it;
    smollm2, once pulled, is used by itself.

    \b
    Examples:
      thinkback pull
      thinkback pull smollm2
      thinkback pull hf:owner/repo/model.gguf --sha256 0123...
    """
    from thinkback.apps.cli import printing
    from thinkback.apps.cli.progress import progress
    from thinkback.models.folder import installed, label
    from thinkback.models.pull import pull as fetch

    if name is None:
        _list(call)
        return
    with progress(f"pulling {name}", size=True) as report:
        path = fetch(name, sha256=sha256, progress=lambda done, total, _: report(done, total))
    if call.json:
        printing.print_json({"name": label(path), "path": str(path), "size": path.stat().st_size})
        return
    model = next(each for each in installed() if each.path == path)
    printing.say(
        f"{model.name} is here: {path} ({model.size / 1e6:,.0f} MB). Use it: --llm local:{model.name}"
    )


def reembed(call: Call) -> None:
    """Convert every vector of the database, of all users, to the embedder chosen now.

    A database remembers which embedder wrote it and refuses another, for their vectors cannot be
    compared. An interrupted conversion goes on where it stopped.

    \b
    Examples:
      thinkback reembed --embedder wordllama
      thinkback reembed --embedder openai:text-embedding-3-small
    """
    from thinkback.apps.cli import printing
    from thinkback.apps.cli.progress import progress
    from thinkback.settings import reembed as convert

    settings = call.settings
    with progress("converting") as report:
        count = convert(settings, report)
    if call.json:
        printing.print_json({"converted": count, "embedder": settings.embedder})
    else:
        printing.say(f"converted {count} vectors to {settings.embedder}")


def _list(call: Call) -> None:
    from thinkback.apps.cli import printing
    from thinkback.models.catalogue import CATALOGUE
    from thinkback.models.folder import installed

    here = {model.name: model for model in installed()}
    known = {entry.name: entry for entry in CATALOGUE}
    models: list[dict[str, Any]] = [
        {
            "name": name,
            "here": name in here,
            "size": here[name].size if name in here else known[name].size,
            "path": str(here[name].path) if name in here else None,
            "licence": known[name].licence if name in known else None,
            "languages": list(known[name].languages) if name in known else [],
            "about": known[name].about if name in known else "a file of your own",
        }
        for name in {**known, **here}
    ]
    if call.json:
        printing.print_json(models)
        return
    rows = [
        (m["name"], "yes" if m["here"] else "no", f"{m['size'] / 1e6:,.0f} MB", m["about"]) for m in models
    ]
    printing.table(("name", "here", "size", "about"), rows, wide=("about",))
