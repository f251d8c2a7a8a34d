"""Working memory as rows: a session's summary as it is now, and the journal of its updates."""

from __future__ import annotations

from thinkback import errors
from thinkback.storage.sqlite import rows
from thinkback.storage.sqlite.base import SqliteBase
from thinkback.types import Summary, SummaryUpdate


class SummariesMixin(SqliteBase):
    def summary(self, space: str, session: str) -> Summary | None:
        found = self._db.read("summaries.find", (*self._space_key(space), session))
        return rows.summary_from_row(found[0]) if found else None

    def summaries(self, space: str) -> list[Summary]:
        number = self._find_space(space)
        return (
            []
            if number is None
            else [rows.summary_from_row(row) for row in self._db.read("summaries.select", (number,))]
        )

    def summaries_behind(self, space: str) -> list[str]:
        number = self._find_space(space)
        return [] if number is None else [row[0] for row in self._db.read("summaries.behind", (number,))]

    def summary_updates(self, space: str, session: str) -> list[SummaryUpdate]:
        found = self._db.read("updates.select", (*self._space_key(space), session))
        return [rows.summary_update_from_row(row) for row in found]

    def save_summary(
        self, space: str, summary: Summary, update: SummaryUpdate | None, expected: Summary
    ) -> None:
        with self._db.write():
            number = self._require_space(space)
            row = self._db.run("summaries.seen", (number, summary.session)).fetchone()
            if (row or (0, 0)) != (expected.version, expected.turn):
                raise errors.ConcurrentUpdate(
                    f"the summary of session {summary.session!r} was changed meanwhile"
                )
            if (
                summary.turn
                and not self._db.run("turns.by_ids", (number, rows.ids_to_json([summary.turn]))).fetchone()
            ):
                raise errors.ConcurrentUpdate(f"a turn of session {summary.session!r} was erased meanwhile")
            self._db.run("summaries.write", rows.summary_to_row(number, summary))
            if update is not None:
                self._db.run("updates.insert", rows.summary_update_to_row(number, update))
