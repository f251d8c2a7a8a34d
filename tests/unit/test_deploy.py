"""Dockerfile and systemd unit, checked by their linters if these are installed."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
UNIT = DEPLOY / "thinkback.service"
EXPOSED = 2.0  # of 10; systemd-analyze calls this OK


def tool(name: str) -> str | None:
    """A program next to this Python, or on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text("utf-8"))
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, " ".join(rest.split())) for word, rest in lines]


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(UNIT.read_text("utf-8"))
    return parser


@pytest.mark.skipif(tool("hadolint") is None, reason="hadolint is not installed")
def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    done = subprocess.run(
        [str(tool("hadolint")), str(DOCKERFILE)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_image_is_slim_and_not_root() -> None:
    found = instructions()
    images = [rest.split()[0] for word, rest in found if word == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+-slim", image) for image in images)
    last = max(number for number, (word, _) in enumerate(found) if word == "FROM")
    final = found[last:]
    (user,) = [rest for word, rest in final if word == "USER"]
    assert int(user) > 1000
    words = [word for word, _ in final]
    assert {"VOLUME", "HEALTHCHECK", "STOPSIGNAL", "EXPOSE"} <= set(words)
    assert all(rest.startswith("[") for word, rest in final if word in ("ENTRYPOINT", "CMD"))
    assert words.index("USER") < words.index("ENTRYPOINT")


def test_image_contains_only_the_source() -> None:
    copied = [rest for word, rest in instructions() if word in ("COPY", "ADD")]
    assert copied == [
        "pyproject.toml README.md LICENSE ./",
        "src src",
        "--from=build /opt/thinkback /opt/thinkback",
    ]
    for word, rest in instructions():
        if word in ("ENV", "ARG"):
            assert not re.search(r"key|token|secret|password", rest, re.IGNORECASE)


def test_image_and_unit_run_existing_commands() -> None:
    from thinkback.cli.serve import serve

    assert serve.__name__ == "serve"
    entry = dict(instructions())
    assert (entry["ENTRYPOINT"], entry["CMD"]) == ('["thinkback"]', '["serve", "--host", "0.0.0.0"]')
    assert unit()["Service"]["ExecStart"].split()[-2:] == ["/opt/thinkback/bin/thinkback", "serve"]


def test_systemd_unit_is_hardened() -> None:
    service = unit()["Service"]
    for name in (
        "NoNewPrivileges",
        "DynamicUser",
        "ProtectHome",
        "PrivateTmp",
        "PrivateDevices",
        "ProtectKernelModules",
        "ProtectKernelTunables",
        "RestrictNamespaces",
        "RestrictSUIDSGID",
        "LockPersonality",
    ):
        assert service[name] == "yes", name
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert service["UMask"] == "0077"


def test_the_unit_waits_longer_than_the_server_gives_its_processes() -> None:
    from thinkback.server.processes.supervisor import KILL_MARGIN_SECONDS
    from thinkback.server.services import Options

    service = unit()["Service"]
    assert float(service["TimeoutStopSec"]) > Options().grace_seconds + KILL_MARGIN_SECONDS
    assert service["KillMode"] == "mixed"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_analyze_accepts_the_unit(tmp_path: Path) -> None:
    here = tmp_path / UNIT.name
    here.write_text(UNIT.read_text("utf-8").replace("/opt/thinkback/bin/thinkback", sys.executable), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(here)], capture_output=True, text=True, check=False
    )
    assert (done.stdout + done.stderr, done.returncode) == ("", 0)
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(here)]
    rated = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(r"exposure level for thinkback.service: ([0-9.]+)", rated)
    assert found is not None, rated
    assert float(found[1]) <= EXPOSED
