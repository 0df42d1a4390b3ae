"""What a machine does because somebody asked for it."""

from __future__ import annotations

from collections.abc import Sequence

from stockman_lab.core.timeline import Arguments
from stockman_lab.talos.disk import TalosDisk
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.sequences import running as sequences
from stockman_lab.talos.sequences.phases import phases
from stockman_lab.talos.services import running as services
from stockman_lab.talos.state import Stage, StoredImage, Trial
from stockman_lab.talos.timings import SECONDS

TRIAL_OVER = "talos.trial.over"


def begin_trial(machine: Machine, before: bytes, seconds: float) -> None:
    """Take a configuration back after so many seconds, unless another one comes."""
    number = machine.state.trial.number + 1 if machine.state.trial is not None else 1
    machine.state.trial = Trial(before, machine.now + seconds, number)
    machine.after(seconds, TRIAL_OVER, number=number)


def cancel_trial(machine: Machine) -> None:
    """Keep what is there."""
    machine.state.trial = None


def new_actor(machine: Machine) -> str:
    """Whose request a sequence belongs to."""
    return machine.land.around.dice.uuid()


def reboot(machine: Machine, mode: str) -> str:
    """Boot again; `mode` is `default`, `powercycle` or `force`. Returns the actor."""
    actor = new_actor(machine)
    options = frozenset({mode}) if mode != "default" else frozenset()
    sequences.begin(machine, "reboot", actor, options)
    machine.land.settle(machine)
    return actor


def shut_down(machine: Machine, *, force: bool) -> str:
    """Switch off in order. Returns the actor."""
    actor = new_actor(machine)
    options = frozenset({"force"}) if force else frozenset()
    sequences.begin(machine, "shutdown", actor, options)
    machine.land.settle(machine)
    return actor


def press_button(machine: Machine) -> float | None:
    """Somebody pressed the power button: seconds until it is off. None: it does not care."""
    state = machine.state
    if state.halted or state.stage is Stage.OFF:
        return None
    if state.sequence is None or state.sequence.name != "shutdown":
        sequences.begin(machine, "shutdown", "", frozenset({"force"}))
    every = phases("shutdown", machine.minor, frozenset({"force"}))
    return sum(SECONDS[one.timing][2] for one in every if one.timing) + 5.0


def roll_back(machine: Machine, disk: TalosDisk) -> bool:
    """Boot the other slot next, and do it now; returns whether there is something in it."""
    if not disk.switch():
        return False
    sequences.begin(machine, "reboot", new_actor(machine))
    machine.land.settle(machine)
    return True


def upgrade(machine: Machine, image: StoredImage, options: frozenset[str]) -> str:
    """Install an image that is in the store, and boot it. Returns the actor."""
    actor = new_actor(machine)
    name = "upgrade"
    if machine.state.stage is Stage.MAINTENANCE:
        name = "maintenanceUpgrade"
    elif "stage" in options:
        name = "stageUpgrade"
    machine.state.installing = True
    sequences.begin(machine, name, actor, options, {"image": image.name})
    machine.land.settle(machine)
    return actor


def reset(
    machine: Machine, options: frozenset[str], labels: Sequence[str], user_disks: Sequence[str]
) -> str:
    """Wipe a machine. Returns the actor."""
    actor = new_actor(machine)
    arguments = {"labels": list(labels), "user_disks": list(user_disks)}
    if machine.is_controlplane:
        options |= {"controlplane"}
    sequences.begin(machine, "reset", actor, options, arguments)
    machine.land.settle(machine)
    return actor


def change_config(machine: Machine, text: bytes, *, keep: bool = True) -> None:
    """Apply a configuration while the machine runs."""
    from stockman_lab.talos import networking
    from stockman_lab.talos.booting import configure, keep_config

    if machine.state.stage is Stage.MAINTENANCE:
        configure(machine, text)
        machine.land.settle(machine)
        return
    before = machine.config
    machine.take_config(text)
    if keep:
        keep_config(machine, text)
    after = machine.config
    if before is not None and after is not None and before.kubelet != after.kubelet:
        _restart_kubelet(machine)
    networking.set_up(machine, networking.ask_platform(machine))
    machine.note("configuration was applied without a reboot")
    machine.land.settle(machine)


def _restart_kubelet(machine: Machine) -> None:
    """The kubelet begins anew; who watches the machine has to see that it was gone."""
    if machine.service("kubelet") is not None:
        services.stop(machine, "kubelet")
        services.start(machine, "kubelet")
        machine.land.let_see()


def stage_config(machine: Machine, text: bytes) -> None:
    """Keep a configuration for the next boot."""
    from stockman_lab.talos.booting import keep_config

    keep_config(machine, text)


def try_config(machine: Machine, text: bytes, seconds: float) -> None:
    """Apply a configuration, and take it back after a time."""
    begin_trial(machine, machine.state.config, seconds)
    change_config(machine, text, keep=False)


def apply_and_reboot(machine: Machine, text: bytes) -> None:
    """Keep a configuration, and boot with it."""
    from stockman_lab.talos.booting import keep_config

    keep_config(machine, text)
    machine.state.applies_after_reboot = True
    sequences.begin(machine, "reboot", new_actor(machine))
    machine.land.settle(machine)


def trial_over(machine: Machine, arguments: Arguments) -> None:
    """The time of a configuration that was tried is over."""
    trial = machine.state.trial
    if trial is None or trial.number != arguments["number"]:
        return
    machine.state.trial = None
    machine.note("configuration was rolled back: try mode timed out")
    if trial.before:
        change_config(machine, trial.before, keep=False)
