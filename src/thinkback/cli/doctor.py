"""`config`, `doctor`: what is configured, where it came from, and whether it works."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback.cli.command import CommandCall, register_command

_MODEL_OPTIONS = ("embedder", "preset", "llm", "summary_llm", "think")


def register(app: typer.Typer) -> None:
    register_command(app, *_MODEL_OPTIONS)(config)
    register_command(app, *_MODEL_OPTIONS)(doctor)


def config(call: CommandCall) -> None:
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
    from thinkback import config as configured
    from thinkback.cli import diagnostics, output

    settings = call.settings
    values = {
        name: (diagnostics.display_setting(settings, name), settings.origin(name))
        for name in configured.SETTING_NAMES
    }
    for name in (configured.API_KEY_NAME, *configured.INSTRUCTION_NAMES):
        given = configured.read_config_text(name)
        size = "set" if name == configured.API_KEY_NAME else f"{len(given.text)} characters"
        values[name] = (size if given.text else "", given.origin if given.text else "not set")
    if call.json:
        output.print_json(
            {name: {"value": value, "origin": origin} for name, (value, origin) in values.items()}
        )
        return
    rows = [(name, value or "-", origin) for name, (value, origin) in values.items()]
    output.print_table(("setting", "value", "from"), rows, fold=("value", "from"))


def doctor(
    call: CommandCall,
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

    from thinkback import config as configured
    from thinkback.cli import diagnostics, output

    settings = call.settings
    findings = diagnostics.run_checks(settings, offline=offline)
    broken = any(finding.state == "broken" for finding in findings)
    if call.json:
        values = {
            name: {"value": diagnostics.display_setting(settings, name), "origin": settings.origin(name)}
            for name in configured.SETTING_NAMES
        }
        output.print_json(
            {"ok": not broken, "settings": values, "checks": [asdict(each) for each in findings]}
        )
    else:
        rows = [
            (name, diagnostics.display_setting(settings, name) or "-", settings.origin(name))
            for name in configured.SETTING_NAMES
        ]
        output.print_table(("setting", "value", "from"), rows, fold=("value", "from"))
        output.print_line()
        checks = [(finding.state, finding.what, finding.detail) for finding in findings]
        output.print_table(("state", "check", "detail"), checks, fold=("detail",))
    if broken:
        raise typer.Exit(1)
