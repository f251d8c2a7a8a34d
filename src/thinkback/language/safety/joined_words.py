"""English words written together, as in a chosen password: "copperlantern", "trainsonsunday"."""

from __future__ import annotations

import json
import re
from functools import cache

from thinkback.package_files import MINILM_TOKENIZER, find_package_file

_MIN_PART_LETTERS, _MAX_PART_LETTERS = 3, 12
_MAX_PARTS = 4
_WHOLE_WORD = re.compile("[a-z]{3,}")
_MIN_LONG_PART_LETTERS, _MIN_REST_LETTERS = 5, 4
_LINKS = frozenset(("a", "i", "in", "on", "at", "my", "is", "to", "of", "we", "no", "go"))
_AFFIXES = frozenset(  # "interactively" is no chosen password
    """aero anti auto bio cardio counter cross eco electro ever extra geo half hydro hyper infra inter
    intra macro mega micro mid mini multi neo neuro non out over photo post pre pro pseudo
    psycho radio retro self semi sub super techno tele thermo trans ultra under uni able ally
    ant ate ation ative ful hood ism ist ity less like ment ness ship ships ward wards wise""".split()  # noqa: SIM905
)


@cache
def _words() -> frozenset[str]:
    """The whole words of three letters or more that the tokenizer of the default embedder knows."""
    tokenizer = json.loads(find_package_file(*MINILM_TOKENIZER).read_text("utf-8"))
    return frozenset(word for word in tokenizer["model"]["vocab"] if _WHOLE_WORD.fullmatch(word))


def is_joined_words(word: str) -> bool:
    """Whether a lower-case word is no word of the list but two to four of them in one."""
    return not _is_word(word) and _splits(word, 0, _MAX_PARTS, after_link=True)


def contains_joined_word(word: str) -> bool:
    """Whether a lower-case word is not in the list but begins or ends with a long one: "zebusonfriday"."""
    return not _is_word(word) and any(
        _is_word(part) and part not in _AFFIXES
        for size in range(_MIN_LONG_PART_LETTERS, len(word) - _MIN_REST_LETTERS + 1)
        for part in (word[:size], word[-size:])
    )


def _is_word(part: str) -> bool:
    return part in _words() or (
        len(part) > _MIN_PART_LETTERS and part.endswith("s") and part[:-1] in _words()
    )


def _splits(word: str, start: int, parts: int, *, after_link: bool) -> bool:
    """Whether `word[start:]` is at most so many words, with short words between them only."""
    if start == len(word):
        return not after_link
    if not after_link and any(
        word.startswith(link, start) and _splits(word, start + len(link), parts, after_link=True)
        for link in _LINKS
    ):
        return True
    return parts > 0 and any(
        _is_word(part)
        and part not in _AFFIXES
        and _splits(word, start + len(part), parts - 1, after_link=False)
        for part in (
            word[start:end]
            for end in range(start + _MIN_PART_LETTERS, min(len(word), start + _MAX_PART_LETTERS) + 1)
        )
    )
