"""Every event that modules plan is known by its name."""

from __future__ import annotations

from importlib import import_module

import pytest
from stockman_lab.pve import ha_manager, host_power, workers
from stockman_lab.pve.happenings import TARGETS
from stockman_lab.pve.qemu import power
from stockman_lab.pve.storages import replication

PLANNED = (
    workers.FINISH,
    workers.POWER_LOST,
    host_power.GO_ON,
    ha_manager.ACT,
    ha_manager.FENCE,
    ha_manager.LOOK,
    host_power.COMES_UP,
    host_power.GOES_DOWN,
    host_power.IS_UP,
    power.OFF,
    power.UP,
    replication.TURN,
)


def test_what_is_planned_is_known() -> None:
    assert set(PLANNED) == set(TARGETS)


@pytest.mark.parametrize("target", TARGETS.values())
def test_what_is_known_exists(target: str) -> None:
    module, _, function = target.partition(":")
    assert callable(getattr(import_module(f"stockman_lab.pve.{module}"), function))
