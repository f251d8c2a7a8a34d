"""Frames: whatever is said arrives, however its bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.apps.server.proxy.clerks import wire
from thinkback.types import Used

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.lists(values, max_size=5), max_size=5), st.lists(st.integers(1, 40), min_size=1))
def test_what_is_said_arrives_however_it_is_cut(said: list[wire.Words], cuts: list[int]) -> None:
    data = b"".join(wire.frame(words) for words in said)
    frames, heard, at = wire.Frames(), [], 0
    while at < len(data):
        size = cuts[at % len(cuts)]
        heard += list(frames.feed(data[at : at + size]))
        at += size
    assert heard == said


def test_a_lone_surrogate_arrives_too() -> None:
    assert list(wire.Frames().feed(wire.frame(["\ud800"]))) == [["\ud800"]]


def test_a_frame_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(ValueError, match="too long"):
        list(wire.Frames().feed((wire.LONGEST + 1).to_bytes(4) + b"x"))


def test_what_was_used_arrives_as_it_was() -> None:
    used = (Used("thought", 3, 0.5, 0.25, 0.125, 7), Used("turn", 9, 0.1, 0.2, 0.3, 0))
    assert wire.read(wire.told(used)) == used
