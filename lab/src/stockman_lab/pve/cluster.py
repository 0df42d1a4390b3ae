"""A cluster at work: its state together with the world around it."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.core.faults import Fault, Point
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.environment import Environment
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host


class Cluster:
    """Looks things up in one Proxmox cluster, and says no the way it does."""

    def __init__(self, state: ClusterState, environment: Environment) -> None:
        self.state = state
        self.around = environment

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def now(self) -> float:
        return self.around.now

    @property
    def is_nine(self) -> bool:
        """Whether it is Proxmox VE 9 rather than 8."""
        return self.state.profile.startswith("9")

    # -- hosts ---------------------------------------------------------------------------------

    def host(self, name: str) -> Host:
        """A host by name; refused as a name that nobody can look up."""
        host = self.state.hosts.get(name)
        if host is None:
            raise die(
                f"hostname lookup '{name}' failed - failed to get address info for: {name}:"
                " Name or service not known"
            )
        return host

    def hosts_with_power(self) -> list[Host]:
        return [host for host in self.state.hosts.values() if host.has_power]

    @property
    def is_quorate(self) -> bool:
        """Whether more than half of the hosts agree."""
        if self.fault_lasts(Point.QUORUM, {}) is not None:
            return False
        return 2 * len(self.hosts_with_power()) > len(self.state.hosts)

    def require_quorum(self, what: str = "") -> None:
        """Refuse a change while hosts do not agree; `what` names the file it is about."""
        if not self.is_quorate:
            text = f"cfs-lock '{what}' error: no quorum!" if what else ""
            raise die(text or "cluster not ready - no quorum?")

    def changed(self) -> None:
        """A file that all hosts share was changed."""
        self.state.cfs_version += 1

    # -- guests --------------------------------------------------------------------------------

    def guest(self, node: str, vmid: int, kind: str) -> Guest:
        """A guest on a host; refused as a configuration file that is not there."""
        guest = self.state.guests.get(vmid)
        if guest is None or guest.node != node or guest.kind != kind:
            folder = "qemu-server" if kind == "qemu" else "lxc"
            raise die(f"Configuration file 'nodes/{node}/{folder}/{vmid}.conf' does not exist")
        return guest

    def guests_on(self, node: str, kind: str | None = None) -> Iterator[Guest]:
        """Guests of a host in the order of their ids."""
        for _, guest in sorted(self.state.guests.items()):
            if guest.node == node and kind in (None, guest.kind):
                yield guest

    def pool_of(self, vmid: int) -> str:
        """The resource pool that a guest is in. Empty: none."""
        for pool in self.state.resource_pools.values():
            if vmid in pool.guests:
                return pool.id
        return ""

    def refuse_locked(self, guest: Guest) -> None:
        """Refuse to touch a guest that another task works on."""
        if guest.lock:
            kind = "VM" if guest.kind == "qemu" else "CT"
            raise die(f"{kind} is locked ({guest.lock})")

    # -- faults --------------------------------------------------------------------------------

    def fault(self, point: Point, facts: dict[str, object]) -> Fault | None:
        """A fault that strikes here and now."""
        if not self.around.faults.listed:
            return None
        return self.around.faults.due(point, self.now, {"cluster": self.name, **facts})

    def fault_lasts(self, point: Point, facts: dict[str, object]) -> Fault | None:
        """A fault that lasts and is not used up by looking."""
        if not self.around.faults.listed:
            return None
        return self.around.faults.holds(point, self.now, {"cluster": self.name, **facts})

    def raise_fault(self, fault: Fault, text: str) -> ApiError:
        """The error that a fault answers with; its own text where it has one."""
        return ApiError(fault.status or 500, fault.message or text)
