"""Outcomes in the words of Go."""

from __future__ import annotations

from stockman_lab.talos.health.outcome import listed_errors, plain, quoted


def test_lists_look_like_those_of_go() -> None:
    assert listed_errors(["x"]) == "1 error occurred:\n\t* x\n\n"
    assert listed_errors(["x", "y"]) == "2 errors occurred:\n\t* x\n\t* y\n\n"
    assert quoted(["a", "b"]) == '["a" "b"]'
    assert plain(["a", "b"]) == "[a b]"
