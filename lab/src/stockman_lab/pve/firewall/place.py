"""Places that have a firewall of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import die


@dataclass(frozen=True, slots=True)
class Place:
    """One kind of place, and how to get at the firewall of the one that a call names."""

    kind: str
    """`cluster`, `group`, `host`, `vm` or `ct`, as rules of it are told apart."""
    path: str
    firewall: Callable[[Call], Firewall]
    lock: Callable[[Call], str]
    """The lock that a change takes."""

    def change(self, call: Call) -> Firewall:
        """The firewall, to change it."""
        call.cluster.require_quorum(self.lock(call))
        call.cluster.changed()
        return self.firewall(call)


def _cluster(call: Call) -> Firewall:
    return call.cluster.state.firewall


def _group(call: Call) -> Firewall:
    name = call.text("group")
    firewall_group = call.cluster.state.firewall_groups.get(name)
    if firewall_group is None:
        raise die(f"no such security group '{name}'")
    return firewall_group


def _host(call: Call) -> Firewall:
    return call.cluster.state.host_firewalls.setdefault(call.node.name, Firewall())


def _guest(call: Call) -> Firewall:
    return call.cluster.state.guest_firewalls.setdefault(call.vmid, Firewall())


def _cluster_lock(call: Call) -> str:
    del call
    return "firewall-cluster"


def _host_lock(call: Call) -> str:
    return f"firewall-host-{call.node.name}"


def _guest_lock(call: Call) -> str:
    return f"firewall-vm-{call.vmid}"


CLUSTER = Place("cluster", "/cluster/firewall", _cluster, _cluster_lock)
GROUP = Place("group", "/cluster/firewall/groups/{group}", _group, _cluster_lock)
HOST = Place("host", "/nodes/{node}/firewall", _host, _host_lock)
MACHINE = Place("vm", "/nodes/{node}/qemu/{vmid}/firewall", _guest, _guest_lock)
CONTAINER = Place("ct", "/nodes/{node}/lxc/{vmid}/firewall", _guest, _guest_lock)
