"""Logs of a machine: the kernel's, and one for each service."""

from __future__ import annotations

from stockman_lab.talos.state import LogLine, MachineState

_KEPT = 400


def note(state: MachineState, now: float, text: str, *, kernel: bool = False) -> None:
    """A line in the log of the kernel, which holds those of machined too."""
    facility, priority = ("kern", "info") if kernel else ("user", "warning")
    prefix = "" if kernel else "[talos] "
    _append(state.kernel_log, LogLine(now, f"{prefix}{text}", facility, priority))


def log(state: MachineState, now: float, service: str, text: str) -> None:
    """A line in the log of a service."""
    _append(state.logs.setdefault(service, []), LogLine(now, text))


def _append(lines: list[LogLine], line: LogLine) -> None:
    lines.append(line)
    if len(lines) > _KEPT:
        del lines[: len(lines) - _KEPT]
