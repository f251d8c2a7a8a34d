"""Tables of phrases: small patterns, parted by lines and bars; a line may break inside brackets."""

from __future__ import annotations


def split_alternatives(table: str) -> list[str]:
    """The patterns of a table, their blanks standing for any white space."""
    found, depth = [""], 0
    for line in table.splitlines():
        if not depth:
            found.append("")
        for character in line.strip():
            depth += (character == "(") - (character == ")")
            if character == "|" and not depth:
                found.append("")
            else:
                found[-1] += character
    return [pattern.replace(" ", r"\s{1,3}") for pattern in found if pattern]
