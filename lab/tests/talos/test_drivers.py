"""Drivers come with extensions, and stay where there is something to drive."""

from __future__ import annotations

import pytest
from stockman_lab.guest.view import PciView
from stockman_lab.talos.extensions import can_load, driver_of

from lab.tests.talos.staged import machine, staged

CARD = PciView(slot=0, vendor="0x10de", device="0x2571", device_class="0x030000")


@pytest.mark.parametrize(
    ("module", "loads"),
    [("br_netfilter", True), ("nvidia", False), ("zfs", False), ("i915", False)],
)
def test_modules_of_extensions_need_them(module: str, loads: bool) -> None:
    assert can_load(machine(staged()), module) is loads


def test_a_card_without_its_extension_has_no_driver() -> None:
    assert driver_of(machine(staged()), CARD) == ""
