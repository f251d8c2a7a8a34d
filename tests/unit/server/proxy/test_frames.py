"""Frames between proxy and recall worker, independent of chunk boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.server.proxy import ipc_client
from thinkback.types import RecalledItem

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.lists(values, max_size=5), max_size=5), st.lists(st.integers(1, 40), min_size=1))
def test_frames_are_independent_of_chunks(said: list[ipc_client.FrameFields], cuts: list[int]) -> None:
    data = b"".join(ipc_client.encode_frame(words) for words in said)
    frames, response, at = ipc_client.FrameDecoder(), [], 0
    while at < len(data):
        size = cuts[at % len(cuts)]
        response += list(frames.feed(data[at : at + size]))
        at += size
    assert response == said


def test_lone_surrogate_is_transmitted() -> None:
    assert list(ipc_client.FrameDecoder().feed(ipc_client.encode_frame(["\ud800"]))) == [["\ud800"]]


def test_long_frame_is_refused_before_reading() -> None:
    with pytest.raises(ValueError, match="too long"):
        list(ipc_client.FrameDecoder().feed((ipc_client.MAX_FRAME_BYTES + 1).to_bytes(4) + b"x"))


def test_recalled_items_round_trip() -> None:
    used = (RecalledItem("thought", 3, 0.5, 0.25, 0.125, 7), RecalledItem("turn", 9, 0.1, 0.2, 0.3, 0))
    assert ipc_client.decode_used(ipc_client.encode_used(used)) == used
