"""Session summaries and the journal of their updates."""

from __future__ import annotations

from thinkback import errors
from thinkback.storage.relational import rows
from thinkback.storage.relational.base import RelationalBase
from thinkback.types import Summary, SummaryUpdate


class SummariesMixin(RelationalBase):
    """`SummaryStore`."""

    def summary(self, space: str, session: str) -> Summary | None:
        records = self._db.read("summaries.find", (*self._space_key(space), session))
        return rows.summary_from_row(records[0]) if records else None

    def summaries(self, space: str) -> list[Summary]:
        space_id = self._find_space(space)
        return (
            []
            if space_id is None
            else [rows.summary_from_row(row) for row in self._db.read("summaries.select", (space_id,))]
        )

    def summaries_behind(self, space: str) -> list[str]:
        return [row[0] for row in self._db.read("summaries.behind", self._space_key(space))]

    def summary_updates(self, space: str, session: str) -> list[SummaryUpdate]:
        records = self._db.read("updates.select", (*self._space_key(space), session))
        return [rows.summary_update_from_row(row) for row in records]

    def save_summary(
        self, space: str, summary: Summary, update: SummaryUpdate | None, expected: Summary
    ) -> None:
        with self._db.write():
            space_id = self._require_space(space)
            row = self._db.run("summaries.seen", (space_id, summary.session)).fetchone()
            if (row or (0, 0)) != (expected.version, expected.turn):
                raise errors.ConcurrentUpdate(
                    f"the summary of session {summary.session!r} was changed meanwhile"
                )
            if (
                summary.turn
                and not self._db.run("turns.by_ids", (space_id, rows.ids_to_json([summary.turn]))).fetchone()
            ):
                raise errors.ConcurrentUpdate(f"a turn of session {summary.session!r} was erased meanwhile")
            self._db.run("summaries.write", rows.summary_to_row(space_id, summary))
            if update is not None:
                self._db.run("updates.insert", rows.summary_update_to_row(space_id, update))
