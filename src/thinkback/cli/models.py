"""`pull`, `reembed`: the models on this machine, and the vectors they made."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from thinkback.cli.command import CommandCall, register_command


def register(app: typer.Typer) -> None:
    register_command(app)(pull)
    register_command(app, "embedder", "preset")(reembed)


def pull(
    call: CommandCall,
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
    from thinkback.cli import output
    from thinkback.cli.output import show_progress
    from thinkback.llms.catalogue import list_installed_models, model_name
    from thinkback.llms.pull import pull_model as fetch

    if name is None:
        _print_models(call)
        return
    with show_progress(f"pulling {name}", in_bytes=True) as report:
        path = fetch(name, sha256=sha256, progress=lambda done, total, _: report(done, total))
    if call.json:
        output.print_json({"name": model_name(path), "path": str(path), "size": path.stat().st_size})
        return
    model = next(each for each in list_installed_models() if each.path == path)
    output.print_line(
        f"{model.name} is here: {path} ({model.size / 1e6:,.0f} MB). Use it: --llm local:{model.name}"
    )


def reembed(call: CommandCall) -> None:
    """Convert every vector of the database, of all users, to the embedder chosen now.

    A database remembers which embedder wrote it and refuses another, for their vectors cannot be
    compared. An interrupted conversion goes on where it stopped.

    \b
    Examples:
      thinkback reembed --embedder wordllama
      thinkback reembed --embedder openai:text-embedding-3-small
    """
    from thinkback.cli import output
    from thinkback.cli.output import show_progress
    from thinkback.config import reembed as convert

    settings = call.settings
    with show_progress("converting") as report:
        count = convert(settings, report)
    if call.json:
        output.print_json({"converted": count, "embedder": settings.embedder})
    else:
        output.print_line(f"converted {count} vectors to {settings.embedder}")


def _print_models(call: CommandCall) -> None:
    from thinkback.cli import output
    from thinkback.llms.catalogue import CATALOGUE, list_installed_models

    here = {model.name: model for model in list_installed_models()}
    known = {entry.name: entry for entry in CATALOGUE}
    models: list[dict[str, Any]] = [
        {
            "name": name,
            "here": name in here,
            "size": here[name].size if name in here else known[name].size,
            "path": str(here[name].path) if name in here else None,
            "licence": known[name].licence if name in known else None,
            "languages": list(known[name].languages) if name in known else [],
            "about": known[name].description if name in known else "a file of your own",
        }
        for name in {**known, **here}
    ]
    if call.json:
        output.print_json(models)
        return
    rows = [
        (m["name"], "yes" if m["here"] else "no", f"{m['size'] / 1e6:,.0f} MB", m["about"]) for m in models
    ]
    output.print_table(("name", "here", "size", "about"), rows, fold=("about",))
