"""Formats of parameters, of lists of them, and of property strings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.schema.formats import formats_of
from stockman_lab.pve.schema.rule import Check
from stockman_lab.pve.schema.schema import PROFILES, Schema
from stockman_lab.pve.schema.shape import Shape

PIECES = (
    "9" * 5000,
    "a" * 3000,
    "\u0663",
    "keep-last=",
    ",",
    ";",
    "=",
    "/",
    ".",
    ":",
    "-",
    "\0",
    "1",
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)


def _checks(profile: str) -> list[Check]:
    formats = formats_of(profile)
    shapes: dict[object, Shape] = {}
    for operation in Schema.of(profile).operations.values():
        for parameter in operation.parameters.values():
            shapes[parameter.shape.form or id(parameter.shape.keys)] = parameter.shape
    return [check for shape in shapes.values() if (check := formats.check(shape)) is not None]


CHECKS = [check for profile in PROFILES for check in _checks(profile)]


@given(st.sampled_from(CHECKS), st.text() | HOSTILE)
def test_no_text_breaks_a_format(check: Check, text: str) -> None:
    problem = check(text, "key")

    assert problem is None or problem.startswith("invalid format - ")
