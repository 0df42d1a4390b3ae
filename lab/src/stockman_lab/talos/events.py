"""What those who follow a machine are told, in order and with identities that grow."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.talos.state import LogLine, MachineEvent, MachineState

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


KEPT = 1000
_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_BITS = 100
"""Twenty digits of five bits: the last four bits of them are always zero."""


def tell(
    state: MachineState, now: float, kind: str, content: Mapping[str, object], actor: str = ""
) -> MachineEvent:
    """Add an event to those that are kept."""
    state.events_made += 1
    event = MachineEvent(_identity(state, now), kind, dict(content), actor, now)
    state.events.append(event)
    if len(state.events) > KEPT:
        del state.events[: len(state.events) - KEPT]
    return event


def _identity(state: MachineState, now: float) -> str:
    """Twelve bytes: the second, the machine, the boot, a counter; in digits that sort alike."""
    raw = (
        int(now).to_bytes(4, "big")
        + (state.vmid & 0xFFFFFF).to_bytes(3, "big")
        + (state.boot & 0xFFFF).to_bytes(2, "big")
        + (state.events_made & 0xFFFFFF).to_bytes(3, "big")
    )
    number = int.from_bytes(raw, "big") << (_BITS - 96)
    return "".join(_DIGITS[number >> shift & 31] for shift in range(_BITS - 5, -5, -5))
