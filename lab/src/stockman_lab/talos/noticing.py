"""What machines notice of each other and of themselves, after anything happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos import etcd_member, kubernetes
from stockman_lab.talos.sequences import running as sequences
from stockman_lab.talos.services import running as services
from stockman_lab.talos.state import AddressState, Stage
from stockman_lab.talos.status import tell_status

if TYPE_CHECKING:
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine


def settle_shared_addresses(fleet: Fleet) -> None:
    """Give every shared address to one machine that may hold it, and take it from all others."""
    claimants: dict[str, list[Machine]] = {}
    for machine in fleet.all_controllers():
        if machine.state.network.vip:
            claimants.setdefault(machine.state.network.vip, []).append(machine)
    for address, machines in claimants.items():
        able = [one for one in machines if _may_hold(one)]
        holders = [one for one in able if holds(one)]
        holder = next(iter(holders or able), None)
        for machine in machines:
            if machine is not holder:
                _release(machine)
        if holder is not None and not holds(holder):
            network = holder.state.network
            network.addresses.append(
                AddressState(f"{address}/32", network.vip_link, "operator", is_vip=True)
            )
            holder.note(f"enabled shared IP {address} on {network.vip_link}")


def holds(machine: Machine) -> bool:
    """Whether a machine has the shared address now."""
    return any(address.is_vip for address in machine.state.network.addresses)


def _may_hold(machine: Machine) -> bool:
    return (
        machine.is_controlplane
        and machine.runs("etcd")
        and machine.is_reachable
        and etcd_member.has_quorum(machine)
    )


def _release(machine: Machine) -> None:
    network = machine.state.network
    if holds(machine):
        network.addresses = [address for address in network.addresses if not address.is_vip]
        machine.note(f"removing shared IP {network.vip} from {network.vip_link}")


def notice(fleet: Fleet, machine: Machine) -> None:
    """Let a machine, and the control plane that it belongs to, take notice."""
    controllers = [
        controller for controller in fleet.controllers(machine) if controller is not machine
    ]
    if machine.is_controlplane or not machine.state.is_on:
        etcd_member.elect(fleet)
    around = [machine, *controllers] if machine.is_controlplane else [machine]
    for one in around:
        _look(one)
    if machine.is_controlplane or not machine.state.is_on:
        settle_shared_addresses(fleet)
        for one in fleet.waiting_for_kubernetes(machine):
            _look(one)
    if fleet.kubernetes is not None and (not machine.state.is_on or machine.config is None):
        fleet.kubernetes.notice(machine)


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
