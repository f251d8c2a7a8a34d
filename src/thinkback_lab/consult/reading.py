"""How a doctor without a model reads what is known of an item: from the lines on the desk, and nothing else.

Where several lines tell something of an item, those of the newest day count.
A result that is bound to a time is known only as long as that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal

from thinkback_lab.consult.context import Line
from thinkback_lab.consult.guide import Guide
from thinkback_lab.consult.record import Finding, Lang
from thinkback_lab.consult.words import denies
from thinkback_lab.text import sentences

Verdict = Literal["right", "contradicted", "forgotten"]


def read(
    lines: Iterable[Line], item: str, guide: Guide, lang: Lang, *, today: date, within: int | None
) -> tuple[str, ...]:
    """The sentences that tell what is known of the item; none where nothing is."""
    known: dict[date, list[str]] = {}
    for line in lines:
        on = line.on or date.min
        if within is None or (today - on).days <= within:
            known.setdefault(on, []).extend(
                each for each in line.told(lang) if guide.states(each, item, lang)
            )
    newest = max((on for on, said in known.items() if said), default=None)
    return () if newest is None else tuple(dict.fromkeys(known[newest]))


def judge(stated: Sequence[str], told: Sequence[Finding]) -> Verdict:
    """A doctor's statements of an item against what the patient told of it, the newest last.

    It is contradicted where they say an earlier result, or deny what was told, or tell what was denied (TiM's
    table 5: a value that was high is "reasonable"); where they say none of it, it is forgotten.
    """
    *earlier, now = told
    if any(_says(each, now) for each in stated):
        return "right"
    if stated and now.denied:
        return "contradicted"
    wrong = any(now.held_by(each) or any(_says(each, before) for before in earlier) for each in stated)
    return "contradicted" if wrong else "forgotten"


def alike(one: Sequence[str], other: Sequence[str], told: Sequence[Finding]) -> bool:
    """Whether two recalls of an item tell the same of it; what is not recalled is alike to nothing."""
    return bool(one and other) and (
        set(one) == set(other) or judge(one, told) == judge(other, told) != "forgotten"
    )


def _says(statement: str, finding: Finding) -> bool:
    if finding.denied:
        return denies(statement)
    return finding.held_by(statement) and (_denied(finding) or not denies(statement))


def _denied(finding: Finding) -> bool:
    """Whether the patient's own sentence with the result has a denial ("I can't sleep")."""
    return denies(next((part for part in sentences(finding.says) if finding.held_by(part)), finding.says))
