"""The address that control planes share: one of them holds it, elected through etcd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos import etcd_member
from stockman_lab.talos.state import AddressState

if TYPE_CHECKING:
    from stockman_lab.talos.land import Land
    from stockman_lab.talos.machine import Machine


def settle(land: Land) -> None:
    """Give every shared address to one machine that may hold it, and take it from all others."""
    wanted: dict[str, list[Machine]] = {}
    for machine in land.all_controllers():
        if machine.state.network.vip:
            wanted.setdefault(machine.state.network.vip, []).append(machine)
    for address, machines in wanted.items():
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
