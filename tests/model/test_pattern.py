"""Patterns compile late and match alike."""

from __future__ import annotations

import re

import pytest

from stockman.model.pattern import pattern

TEXTS = ("", "ewe", "ewe 12", "EWE\n13")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("method", ["match", "fullmatch", "search"])
def test_it_matches_as_the_compiled_one_does(text: str, method: str) -> None:
    late, compiled = pattern(r"ewe\s*(\d*)", re.IGNORECASE), re.compile(r"(?i)ewe\s*(\d*)")
    ours, theirs = getattr(late, method)(text), getattr(compiled, method)(text)
    assert (ours and ours.groups()) == (theirs and theirs.groups())


def test_it_replaces_and_lists_as_the_compiled_one_does() -> None:
    late = pattern(r"\d")
    assert late.sub("x", "a1b2") == "axbx"
    assert late.findall("a1b2") == ["1", "2"]
    assert [found[0] for found in late.finditer("a1b2")] == ["1", "2"]
    assert late.pattern == r"\d"


def test_a_broken_one_complains_when_it_is_used() -> None:
    late = pattern("(")
    with pytest.raises(re.error):
        late.match("x")
