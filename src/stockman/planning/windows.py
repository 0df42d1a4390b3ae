"""Restricts restarts of machines to the configured maintenance windows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from stockman.model.policies import Window
from stockman.planning.talos.rejoin import rejoin_step_id
from stockman.steps.step import Step
from stockman.steps.talos.configuration import RebootIntoConfiguration
from stockman.steps.vm.configure import MoveVm
from stockman.steps.vm.power import RestartVm
from stockman.steps.window import MaintenanceWindow, WindowOpen, next_window_start, window_end


def maintenance_windows(windows: Collection[Window]) -> tuple[MaintenanceWindow, ...]:
    """Return the windows as plans store them."""
    return tuple(
        MaintenanceWindow(start=window.start, duration=window.duration, timezone=window.timezone)
        for window in windows
    )


def gate_restarts(
    steps: Mapping[str, Step], windows: tuple[MaintenanceWindow, ...]
) -> dict[str, Step]:
    """Add the window gate to steps that shut down healthy machines. Repairs never wait."""
    if not windows:
        return dict(steps)
    gate, names = WindowOpen(windows=windows), nodes_to_restart(steps)
    drains = {f"nodes/drain/{name}" for name in names}
    return {
        step_id: replace(step, gates=(gate, *step.gates))
        if step_id in drains or (step.node in names and _is_shutdown(step))
        else step
        for step_id, step in steps.items()
    }


def nodes_to_restart(steps: Mapping[str, Step]) -> tuple[str, ...]:
    """Return healthy machines and guests that restart because of a change."""
    names = dict.fromkeys(step.node for step in steps.values() if _is_shutdown(step))
    return tuple(name for name in names if rejoin_step_id(name) not in steps)


def next_opening(windows: tuple[MaintenanceWindow, ...], now: datetime) -> str:
    """Return when the next window opens, as text. Empty: one is open, or there are none."""
    return "" if window_end(windows, now) else next_window_start(windows, now)


def _is_shutdown(step: Step) -> bool:
    match step.action:
        case MoveVm(vm=vm, down=down):
            return down or vm.kind == "lxc"
        case RestartVm() | RebootIntoConfiguration():
            return True
        case _:
            return False
