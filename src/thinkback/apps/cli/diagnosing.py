"""`config`, `doctor`: what is configured, where it came from, and whether it works."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback.apps.cli.command import Call, command

_SHOWN = ("embedder", "preset", "llm", "summary_llm", "think")


def register(app: typer.Typer) -> None:
    command(app, *_SHOWN)(config)
    command(app, *_SHOWN)(doctor)


def config(call: Call) -> None:
    """Show every setting, and where its value came from.

    Settings come from flags, then the environment, then the configuration file, then defaults. The key
    OPENAI_API_KEY and the texts INSTRUCTION_CONVERSATION and INSTRUCTION_SUMMARY come from the environment,
    then from a file of that name in the working folder, then from one beside the configuration file. What
    stands in them is not shown.

    \b
    Examples:
      thinkback config
      thinkback config --llm openai:gpt-4o-mini --json
    """
    from thinkback import settings as configured
    from thinkback.apps.cli import checkup, printing

    settings = call.settings
    values = {name: (checkup.shown(settings, name), settings.origin(name)) for name in configured.NAMES}
    for name in (configured.KEY, *configured.INSTRUCTIONS):
        given = configured.given(name)
        size = "set" if name == configured.KEY else f"{len(given.text)} characters"
        values[name] = (size if given.text else "", given.origin if given.text else "not set")
    if call.json:
        printing.print_json(
            {name: {"value": value, "origin": origin} for name, (value, origin) in values.items()}
        )
        return
    rows = [(name, value or "-", origin) for name, (value, origin) in values.items()]
    printing.table(("setting", "value", "from"), rows, wide=("value", "from"))


def doctor(
    call: Call,
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not ask the language model anything.")
    ] = False,
) -> None:
    """Say what is configured, where each value came from, and whether it works.

    Settings come from flags, then the environment, then the file $THINKBACK_CONFIG (by default
    thinkback/config.toml in the configuration folder), then defaults. Exit code 1 if something is broken.

    \b
    Examples:
      thinkback doctor
      thinkback doctor --offline --json
    """
    from dataclasses import asdict

    from thinkback import settings as configured
    from thinkback.apps.cli import checkup, printing

    settings = call.settings
    findings = checkup.examine(settings, offline=offline)
    broken = any(finding.state == "broken" for finding in findings)
    if call.json:
        values = {
            name: {"value": checkup.shown(settings, name), "origin": settings.origin(name)}
            for name in configured.NAMES
        }
        printing.print_json(
            {"ok": not broken, "settings": values, "checks": [asdict(each) for each in findings]}
        )
    else:
        rows = [
            (name, checkup.shown(settings, name) or "-", settings.origin(name)) for name in configured.NAMES
        ]
        printing.table(("setting", "value", "from"), rows, wide=("value", "from"))
        printing.say()
        checks = [(finding.state, finding.what, finding.detail) for finding in findings]
        printing.table(("state", "check", "detail"), checks, wide=("detail",))
    if broken:
        raise typer.Exit(1)
