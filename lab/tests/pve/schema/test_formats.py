"""Formats of parameters, of lists of them, and of property strings."""

from __future__ import annotations

import pytest
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


def test_a_value_without_a_format_has_no_check() -> None:
    assert formats_of("9.1").check(Shape("string")) is None


def test_an_unknown_format_takes_every_value() -> None:
    assert formats_of("9.1").check(Shape("string", form="pve-future")) is None
    assert not formats_of("9.1").is_known("pve-future-list")


@pytest.mark.parametrize("form", ["pve-vmid", "pve-vmid-list", "email-opt", "pve-qm-boot"])
def test_a_named_format_is_known_alone_and_as_a_list(form: str) -> None:
    assert formats_of("9.1").is_known(form)


@given(st.sampled_from(CHECKS), st.text() | HOSTILE)
def test_no_text_breaks_a_format(check: Check, text: str) -> None:
    problem = check(text, "key")

    assert problem is None or problem.startswith("invalid format - ")
