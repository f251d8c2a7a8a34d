"""Views: within their bound, in order of use, and whole for whoever still holds one."""

from __future__ import annotations

import numpy as np
from tests.making import entry

from thinkback.index.views import VIEW_BYTES, View, Views
from thinkback.types import Delta, Hashing, ItemKind, Stamp


def filled(view: View, count: int) -> View:
    kinds: tuple[ItemKind, ...] = ("turn", "thought")
    new = tuple(entry(kind, n, f"{kind} {n}") for n in range(1, count + 1) for kind in kinds)
    view.shelf.apply(Delta(Stamp(1, 1), entries=new))
    return view


def test_one_space_of_one_tenant_has_one_view() -> None:
    views = Views()
    assert views.of(("acme", "ann")) is views.of(("acme", "ann"))
    assert views.of(("acme", "ann")) is not views.of(("umbra", "ann"))
    assert views.of(("acme", "ann")) is not views.of(("acme", "bob"))


def test_a_view_weighs_what_is_in_it() -> None:
    empty, few, many = View(), filled(View(), 10), filled(View(), 1000)
    vectors = 2 * 1000 * 16 * 4
    assert 0 < empty.nbytes < few.nbytes < many.nbytes
    assert many.nbytes > vectors
    before = many.nbytes
    matrix = np.zeros((16, 8), np.float32)
    many.hashing = Hashing(matrix, 1, False, 1, 1)
    assert many.nbytes >= before + matrix.nbytes


def test_nobody_is_kept_for_nothing() -> None:
    """Asking for users who are not there must not fill the memory."""
    views = Views(10 * VIEW_BYTES)
    for n in range(1000):
        views.of(("acme", f"stranger {n}"))
    assert len(views) <= 10


def test_what_has_grown_makes_others_go_and_whoever_holds_them_reads_on() -> None:
    views = Views(filled(View(), 100).nbytes * 5 // 2)
    held = [filled(views.of(("", name)), 100) for name in "abc"]
    for name, view in zip("abc", held, strict=True):
        views.weigh(("", name), view)
    assert len(views) == 2
    assert views.of(("", "b")) is held[1]
    assert views.of(("", "c")) is held[2]
    assert views.of(("", "a")) is not held[0]
    assert held[0].shelf.size("turn") == 100
    assert held[0].shelf.vector_of("thought", 7).tolist() == entry("thought", 7, "thought 7").vector.tolist()
