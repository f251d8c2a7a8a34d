"""Print the versions installed in this environment as a pip constraints file.

    python scripts/lock.py > constraints.txt

All installed distributions are listed, except this project's own and pip itself.
"""

from __future__ import annotations

from importlib.metadata import distributions

OWN = {"thinkback", "thinkback-lab", "pip", "setuptools"}


def main() -> None:
    versions = {dist.metadata["Name"].lower().replace("_", "-"): dist.version for dist in distributions()}
    print("# Versions used for development and CI. Written by `make lock`.")
    for name, version in sorted(versions.items()):
        if name not in OWN:
            print(f"{name}=={version}")


if __name__ == "__main__":
    main()
