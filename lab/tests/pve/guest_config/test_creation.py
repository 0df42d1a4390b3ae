"""Configurations of guests that are just being made."""

from __future__ import annotations

from stockman_lab.pve.guest_config.creation import Maker

from lab.tests.pve.throws import Counting

FIRST = "00000000-0000-0000-0000-000000000001"
SECOND = "00000000-0000-0000-0000-000000000002"


def maker() -> Maker:
    """A maker whose dice count."""
    return Maker(Counting(), now=1712345678)
