"""Time: whether it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.registry import kind

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


@kind("TimeStatuses.v1alpha1.talos.dev", "time.SyncController")
def time_statuses(machine: Machine) -> Contents:
    config, synced = machine.config, machine.state.is_time_synced
    disabled = config is not None and config.time_disabled
    epoch = 1 if synced and not disabled else 0
    return {"node": {"synced": synced, "epoch": epoch, "syncDisabled": disabled}}


@kind("NTPStatuses.v1alpha1.talos.dev", "time.SyncController")
def ntp_statuses(machine: Machine) -> Contents:
    del machine
    return {"node": {}}


@kind("AdjtimeStatuses.v1alpha1.talos.dev", "time.AdjtimeStatusController")
def adjtime_statuses(machine: Machine) -> Contents:
    synced = machine.state.is_time_synced
    return {
        "node": {
            "offset": "0s",
            "frequencyAdjustmentRatio": 1,
            "maxError": "16ms" if synced else "16s",
            "estError": "0s",
            "status": "PLL | NANO" if synced else "UNSYNC | NANO",
            "constant": 7,
            "syncStatus": synced,
            "state": "OK" if synced else "ERROR",
        }
    }
