"""Formats that are not checked are few, and each has a reason."""

from __future__ import annotations

from stockman_lab.pve.schema.formats import UNCHECKED
from stockman_lab.pve.schema.unchecked import unchecked_formats


def test_every_format_is_checked_or_has_a_reason_why_not() -> None:
    assert unchecked_formats() == UNCHECKED.keys()
    assert all(UNCHECKED.values())
