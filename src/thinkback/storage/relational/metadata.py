"""Metadata of turns: JSON objects that clients send and get back; thinkback does not interpret them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from thinkback.storage.relational import rows
from thinkback.storage.relational.base import RelationalBase


class MetadataMixin(RelationalBase):
    """`MetadataStore`."""

    def set_metadata(self, space: str, turns: Sequence[int], metadata: Mapping[str, Any]) -> None:
        body = json.dumps(metadata, ensure_ascii=False)
        with self._db.write():
            self._db.run("metadata.write", (self._require_space(space), rows.ids_to_json(turns), body))

    def metadata(self, space: str, turns: Sequence[int]) -> dict[int, dict[str, Any]]:
        found = self._db.read("metadata.select", (*self._space_key(space), rows.ids_to_json(turns)))
        return {turn: metadata_from_json(body) for turn, body in found}


@rows.reads_rows_of("turn_metadata")
def metadata_from_json(body: str) -> dict[str, Any]:
    """The metadata of one turn, as it is stored."""
    metadata = json.loads(body)
    if not isinstance(metadata, dict):
        raise ValueError("not an object")
    return metadata
