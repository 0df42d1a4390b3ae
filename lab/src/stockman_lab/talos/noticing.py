"""What machines notice of each other and of themselves, after anything happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos import etcd_member, kubernetes, shared_address
from stockman_lab.talos.sequences import running as sequences
from stockman_lab.talos.services import running as services
from stockman_lab.talos.state import Stage
from stockman_lab.talos.status import tell_status

if TYPE_CHECKING:
    from stockman_lab.talos.land import Land
    from stockman_lab.talos.machine import Machine


def notice(land: Land, machine: Machine) -> None:
    """Let a machine, and the control plane that it belongs to, take notice."""
    controllers = [
        controller for controller in land.controllers(machine) if controller is not machine
    ]
    if machine.is_controlplane or not machine.state.is_on:
        etcd_member.elect(land)
    around = [machine, *controllers] if machine.is_controlplane else [machine]
    for one in around:
        _look(one)
    if machine.is_controlplane or not machine.state.is_on:
        shared_address.settle(land)
        for one in land.waiting_for_kubernetes(machine):
            _look(one)
    if land.kubernetes is not None and (not machine.state.is_on or machine.config is None):
        land.kubernetes.notice(machine)


def _look(machine: Machine) -> None:
    state = machine.state
    if not state.is_on:
        return
    apid = state.services.get("apid")
    if apid is not None and apid.is_running and state.config:
        state.api = "secured"
    services.go_on(machine)
    etcd_member.go_on(machine)
    kubernetes.go_on(machine)
    running = state.sequence
    if (
        running is not None
        and running.name == "boot"
        and sequences.current_phase(machine) == "startEverything"
        and _is_up(machine)
    ):
        sequences.finish_phase(machine, running)
    if state.stage is not Stage.OFF:
        tell_status(machine)


def _is_up(machine: Machine) -> bool:
    """Whether all services that a boot waits for are there."""
    needed = ["apid", "cri", "kubelet"]
    if machine.is_controlplane:
        needed += ["trustd", "etcd"]
    return all(machine.runs(one) and machine.state.services[one].is_healthy for one in needed)
