"""Configurations that are tried: taken back when their time is over."""

from __future__ import annotations

from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Trial

OVER = "talos.trial.over"


def begin(machine: Machine, before: bytes, seconds: float) -> None:
    """Take a configuration back after so many seconds, unless another one comes."""
    number = machine.state.trial.number + 1 if machine.state.trial is not None else 1
    machine.state.trial = Trial(before, machine.now + seconds, number)
    machine.after(seconds, OVER, number=number)


def cancel(machine: Machine) -> None:
    """Keep what is there."""
    machine.state.trial = None
