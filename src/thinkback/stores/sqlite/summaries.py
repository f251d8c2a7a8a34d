"""Working memory as rows: a session's summary as it is now, and the journal of its updates."""

from __future__ import annotations

from thinkback import errors
from thinkback.stores.sqlite import rows
from thinkback.stores.sqlite.base import Part
from thinkback.types import Summary, SummaryUpdate


class Summaries(Part):
    def summary(self, space: str, session: str) -> Summary | None:
        found = self._db.read("summaries.find", (*self._place(space), session))
        return rows.summary(found[0]) if found else None

    def summaries(self, space: str) -> list[Summary]:
        number = self._find(space)
        return (
            []
            if number is None
            else [rows.summary(row) for row in self._db.read("summaries.select", (number,))]
        )

    def summaries_behind(self, space: str) -> list[str]:
        number = self._find(space)
        return [] if number is None else [row[0] for row in self._db.read("summaries.behind", (number,))]

    def summary_updates(self, space: str, session: str) -> list[SummaryUpdate]:
        found = self._db.read("updates.select", (*self._place(space), session))
        return [rows.update(row) for row in found]

    def save_summary(self, space: str, summary: Summary, update: SummaryUpdate | None, seen: Summary) -> None:
        with self._db.write():
            number = self._require(space)
            row = self._db.run("summaries.seen", (number, summary.session)).fetchone()
            if (row or (0, 0)) != (seen.version, seen.turn):
                raise errors.Outdated(f"the summary of session {summary.session!r} was changed meanwhile")
            if (
                summary.turn
                and not self._db.run("turns.by_ids", (number, rows.ids_json([summary.turn]))).fetchone()
            ):
                raise errors.Outdated(f"a turn of session {summary.session!r} was erased meanwhile")
            self._db.run("summaries.write", rows.summary_row(number, summary))
            if update is not None:
                self._db.run("updates.insert", rows.update_row(number, update))
