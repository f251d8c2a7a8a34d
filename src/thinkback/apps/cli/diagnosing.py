"""`doctor`: what is configured, where it came from, and whether it works."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback.apps.cli.command import Call, command


def register(app: typer.Typer) -> None:
    command(app, "embedder", "preset", "llm", "think")(doctor)


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
