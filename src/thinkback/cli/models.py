"""Commands `pull` (download a local language model) and `reembed` (convert all vectors)."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Annotated, Any

import typer

from thinkback.cli import output
from thinkback.cli.cluster import RayOption, create_encoder, open_cluster
from thinkback.cli.command import CommandCall, register_command
from thinkback.errors import ModelUnavailable


def register(app: typer.Typer) -> None:
    register_command(app)(pull)
    register_command(app, "embedder", "preset")(reembed)


def pull(
    call: CommandCall,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A listed name, a GGUF file, its URL, or hf:owner/repo/file.gguf."
        ),
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="DIGEST", help="Expected SHA-256 of the file.")
    ] = None,
) -> None:
    """Download a model; without a name, list the known and the installed models.

    An interrupted download resumes where it stopped. Use a language model with `--llm local:NAME`;
    qwen-coder-1.5b is used by default once it is installed. bge-small-zh is an embedding model for
    Chinese: use it with `--embedder bilingual`.

    \b
    Examples:
      thinkback pull
      thinkback pull qwen-coder-1.5b
      thinkback pull hf:owner/repo/model.gguf --sha256 0123...
    """
    from thinkback.llms.catalogue import EMBEDDERS, list_installed_models, model_name
    from thinkback.llms.pull import pull_model

    if name is None:
        _print_models(call)
        return
    with output.show_progress(f"pulling {name}", in_bytes=True) as report:
        path = pull_model(name, sha256=sha256, progress=lambda done, total, _: report(done, total))
    embedder = next((model for model in EMBEDDERS if model.name == name), None)
    if embedder is not None:
        if call.json:
            output.print_json({"name": embedder.name, "path": str(path), "size": embedder.size})
        else:
            output.print_line(f"{embedder.name} is installed: {path}. Use it: --embedder bilingual")
        return
    if call.json:
        output.print_json({"name": model_name(path), "path": str(path), "size": path.stat().st_size})
        return
    model = next(installed for installed in list_installed_models() if installed.path == path)
    output.print_line(
        f"{model.name} is installed: {path} ({model.size / 1e6:,.0f} MB). Use it: --llm local:{model.name}"
    )


def reembed(call: CommandCall, ray: RayOption = None) -> None:
    """Recompute all vectors of the database, of all users, with the chosen embedder.

    A database is bound to the embedder that wrote it, because vectors of different embedders cannot be
    compared. An interrupted conversion resumes where it stopped. With --ray, a cluster computes the vectors.

    \b
    Examples:
      thinkback reembed --embedder wordllama
      thinkback reembed --embedder openai:text-embedding-3-small
      thinkback reembed --embedder minilm+use --ray 10.0.0.1:6379
    """
    from thinkback.config import reembed as convert

    settings = call.settings
    with ExitStack() as stack:
        encoder = None
        if ray is not None:
            encoder = create_encoder(stack.enter_context(open_cluster(ray)), settings, stored=None)
        report = stack.enter_context(output.show_progress("converting"))
        count = convert(settings, report, encoder=encoder)
    if call.json:
        output.print_json({"converted": count, "embedder": settings.embedder})
    else:
        output.print_line(f"converted {count} vectors to {settings.embedder}")


def _print_models(call: CommandCall) -> None:
    from thinkback.llms.catalogue import CATALOGUE, EMBEDDERS, find_embedder_folder, list_installed_models

    installed = {model.name: model for model in list_installed_models()}
    known = {model.name: model for model in CATALOGUE}
    models: list[dict[str, Any]] = [
        {
            "name": name,
            "here": name in installed,
            "size": installed[name].size if name in installed else known[name].size,
            "path": str(installed[name].path) if name in installed else None,
            "licence": known[name].licence if name in known else None,
            "languages": list(known[name].languages) if name in known else [],
            "about": known[name].description if name in known else "your own file",
        }
        for name in {**known, **installed}
    ]
    for embedder in EMBEDDERS:
        folder: str | None = None
        with suppress(ModelUnavailable):
            folder = str(find_embedder_folder(embedder))
        models.append(
            {
                "name": embedder.name,
                "here": folder is not None,
                "size": embedder.size,
                "path": folder,
                "licence": embedder.licence,
                "languages": list(embedder.languages),
                "about": embedder.description,
            }
        )
    if call.json:
        output.print_json(models)
        return
    rows = [
        (model["name"], "yes" if model["here"] else "no", f"{model['size'] / 1e6:,.0f} MB", model["about"])
        for model in models
    ]
    output.print_table(("name", "installed", "size", "description"), rows, fold=("description",))
