"""Models that are read with transformers: how they are named."""

from __future__ import annotations

import pytest

from thinkback_lab.errors import LabError
from thinkback_lab.llms import resolve_llm


def test_a_model_without_an_adapter_is_refused_with_the_right_form() -> None:
    with pytest.raises(LabError, match=r"transformers:BASE\+ADAPTER"):
        resolve_llm("transformers:base.gguf")


def test_other_specs_stay_names() -> None:
    assert resolve_llm("local:smollm2") == "local:smollm2"
    assert resolve_llm(None) is None
