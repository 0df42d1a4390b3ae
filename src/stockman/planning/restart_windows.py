"""Machines are taken down in the windows of the configuration, where it has any."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from stockman.model.upgrade import Window
from stockman.planning.talos_outside import rejoin_id
from stockman.steps.step import Step
from stockman.steps.talos_reboot_into import RebootIntoConfiguration
from stockman.steps.vm_configure import MoveVm
from stockman.steps.vm_power import RestartVm
from stockman.steps.window import OpenTime, WindowOpen, closes, opens_next


def open_times(windows: Collection[Window]) -> tuple[OpenTime, ...]:
    """Windows, as plans have them."""
    return tuple(
        OpenTime(start=one.start, duration=one.duration, timezone=one.timezone) for one in windows
    )


def in_windows(steps: Mapping[str, Step], windows: tuple[OpenTime, ...]) -> dict[str, Step]:
    """All steps, with those gated that take down what runs well. Repairs never wait."""
    if not windows:
        return dict(steps)
    gate, names = WindowOpen(windows=windows), taken_down(steps)
    drains = {f"nodes/drain/{name}" for name in names}
    return {
        step_id: replace(step, gates=(gate, *step.gates))
        if step_id in drains or (step.node in names and _takes_down(step))
        else step
        for step_id, step in steps.items()
    }


def taken_down(steps: Mapping[str, Step]) -> tuple[str, ...]:
    """Machines and guests that run well, and are restarted for something new."""
    names = dict.fromkeys(step.node for step in steps.values() if _takes_down(step))
    return tuple(name for name in names if rejoin_id(name) not in steps)


def next_opening(windows: tuple[OpenTime, ...], now: datetime) -> str:
    """When the next window opens, in words. Empty: one is open, or there is none at all."""
    return "" if closes(windows, now) else opens_next(windows, now)


def _takes_down(step: Step) -> bool:
    match step.action:
        case MoveVm(vm=vm, down=down):
            return down or vm.kind == "lxc"
        case RestartVm() | RebootIntoConfiguration():
            return True
        case _:
            return False
