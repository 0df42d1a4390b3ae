"""Sequences under way: phase after phase, each told to those who follow the machine."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from stockman_lab.core.faults import Effect
from stockman_lab.core.timeline import Arguments
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.sequences.phases import Phase, phases
from stockman_lab.talos.state import Running, Stage

PHASE_OVER = "talos.phase.over"
AFTER_FAILURE = "talos.sequence.failed"
_MOST_FAILURES = 12
"""A machine that fails so often in a row waits for somebody; real ones would never give up."""
_PAUSE = 10.0
"""Seconds between a failure and the reboot that follows."""
_STAGES = {
    "initialize": Stage.BOOTING,
    "boot": Stage.BOOTING,
    "install": Stage.INSTALLING,
    "reboot": Stage.REBOOTING,
    "shutdown": Stage.SHUTTING_DOWN,
    "upgrade": Stage.UPGRADING,
    "stageUpgrade": Stage.UPGRADING,
    "maintenanceUpgrade": Stage.UPGRADING,
    "reset": Stage.RESETTING,
}
_START, _STOP = 1, 2
_PART_START, _PART_STOP = 0, 1


def begin(
    machine: Machine,
    name: str,
    actor: str = "",
    options: frozenset[str] = frozenset(),
    arguments: Mapping[str, object] | None = None,
) -> Running:
    """Start a sequence; one that is under way is given up."""
    state = machine.state
    machine.was_followed = machine.followers > 0
    state.sequences_run += 1
    values = dict(arguments or {}) | {"options": sorted(options)}
    running = state.sequence = Running(name, actor, arguments=values, number=state.sequences_run)
    state.stage = _STAGES[name]
    machine.note(f"{name} sequence: {len(_phases(machine, running))} phase(s)")
    machine.tell("SequenceEvent", {"sequence": name, "action": _START}, actor)
    _next(machine, running)
    return running


def _doing() -> ModuleType:
    """What phases do, by name: that begins and ends sequences in turn."""
    return import_module(f"{__package__}.doing")


def _phases(machine: Machine, running: Running) -> list[Phase]:
    options = running.arguments["options"]
    names = frozenset(map(str, options)) if isinstance(options, list) else frozenset()
    return phases(running.name, machine.minor, names)


def current_phase(machine: Machine) -> str:
    """The name of the phase that is under way. Empty: none is."""
    running = machine.state.sequence
    if running is None or running.phase < 0:
        return ""
    return _phases(machine, running)[running.phase].name


def _next(machine: Machine, running: Running) -> None:
    every = _phases(machine, running)
    running.phase += 1
    if running.phase == len(every):
        machine.state.sequence = None
        machine.tell("SequenceEvent", {"sequence": running.name, "action": _STOP}, running.actor)
        machine.note(f"{running.name} sequence: done")
        return
    phase = every[running.phase]
    machine.note(
        f"phase {phase.name} ({running.phase + 1}/{len(every)}): {len(phase.tasks)} tasks(s)"
    )
    machine.tell("PhaseEvent", {"phase": phase.name, "action": _PART_START}, running.actor)
    for task in phase.tasks:
        machine.tell("TaskEvent", {"task": task, "action": _PART_START}, running.actor)
    fault = machine.step_fault(phase.name, sequence=running.name)
    if fault is not None and fault.effect is Effect.HANG:
        return
    if fault is not None and fault.effect is Effect.FAIL:
        fail(machine, fault.message or f"phase {phase.name} failed")
        return
    if not _doing().begun(machine, running, phase.name):
        return
    if phase.timing:
        late = fault.seconds if fault is not None else 0.0
        late += float(str(running.arguments.pop("late", 0.0)))
        machine.after(machine.seconds(phase.timing) + late, PHASE_OVER, number=running.number)


def phase_over(machine: Machine, arguments: Arguments) -> None:
    """A phase has had its time."""
    running = machine.state.sequence
    if running is not None and running.number == arguments["number"]:
        finish_phase(machine, running)


def finish_phase(machine: Machine, running: Running) -> None:
    """End the phase that is under way, and begin the next one."""
    phase = _phases(machine, running)[running.phase]
    for task in phase.tasks:
        machine.tell("TaskEvent", {"task": task, "action": _PART_STOP}, running.actor)
    machine.tell("PhaseEvent", {"phase": phase.name, "action": _PART_STOP}, running.actor)
    if _doing().ended(machine, running, phase.name) and machine.state.sequence is running:
        _next(machine, running)


def fail(machine: Machine, message: str) -> None:
    """A sequence fails: those who follow are told, and the machine starts over a little later."""
    running = machine.state.sequence
    if running is None:
        return
    machine.state.sequence = None
    machine.state.installing = False
    machine.note(f"{running.name} sequence: failed: {message}")
    error = {"code": 0, "message": message}
    content: dict[str, object] = {"sequence": running.name, "action": _STOP, "error": error}
    machine.tell("SequenceEvent", content, running.actor)
    if running.name == "initialize":
        return
    machine.state.failures += 1
    if machine.state.failures > _MOST_FAILURES:
        return
    machine.note(f"rebooting in {_PAUSE:.0f} seconds")
    machine.after(_PAUSE, AFTER_FAILURE)


def after_failure(machine: Machine, arguments: Arguments) -> None:
    """The pause after a failure is over."""
    del arguments
    machine.land.reset(machine)
