"""The desired state of the machines of a cluster, and what other stages do to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.model.desired import Cluster, Desired, Node
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.vm.seeds import NewMachine
from stockman.steps.base import Hold
from stockman.steps.secret_ref import SecretRef
from stockman.steps.talos.client_files import KUBECONFIG, TALOSCONFIG, WriteClientFile
from stockman.steps.talos.machine import TalosMachine

_API_PORT = 6443


@record
class DesiredTalos:
    """The input of the Talos stage besides the observed state."""

    desired: Desired
    configurations: Mapping[str, Secret]
    """Rendered machine configurations by node."""
    fresh: frozenset[str] = frozenset()
    """Nodes whose VMs this plan creates or recreates."""
    leaving: Mapping[str, MachineAddress] = field(default_factory=dict)
    """Managed machines that are no longer configured; this plan deletes their VMs."""
    rising: frozenset[str] = frozenset()
    """Nodes whose VMs this plan starts, or that started recently: a machine that does not answer
    may be booting, and is waited for unless its cluster knows it already."""
    api_answers: bool = True
    """Whether Kubernetes answers."""
    client_files: tuple[WriteClientFile, ...] = ()
    new: Mapping[str, NewMachine] = field(default_factory=dict)
    """Machines that were never configured, by node: they get their configuration from an image."""
    confirmed: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of the certificates of machines in maintenance mode that the user confirmed, by
    node."""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Steps of other stages that precede the first contact, by node."""
    drained_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Steps of other stages that drain the node, by node."""
    holds: Mapping[str, tuple[Hold, ...]] = field(default_factory=dict)
    """Holds while a node restarts, such as a cordon."""

    @property
    def cluster(self) -> Cluster:
        if self.desired.cluster is None:
            raise ValueError("machines without a cluster")
        return self.desired.cluster

    @property
    def controllers(self) -> tuple[Node, ...]:
        """Controllers by address; the first one bootstraps etcd."""
        controllers = [node for node in self.desired.nodes if node.is_controller]
        return tuple(sorted(controllers, key=lambda node: int(node.address.ip)))

    @property
    def minor(self) -> str:
        return self.cluster.talos.version.minor_text

    @property
    def shared_address(self) -> str:
        """The address that controllers share. Empty: the API uses that of a single machine."""
        address = self.cluster.kubernetes.api_addr
        own = {node.address.ip for node in self.desired.nodes}
        return "" if address in own else str(address)


def talos_machine(node: Node) -> TalosMachine:
    """Return the machine of a node as actions refer to it."""
    vm = node.vm
    macs = tuple(nic.mac_addr for nic in vm.nics if nic.mac_addr) if vm else (node.mac_addr,)
    return TalosMachine(
        node=str(node.name),
        address=MachineAddress(str(node.address.ip)),
        uuid=vm.uuid if vm is not None else None,
        macs=macs,
    )


def client_files(
    desired: Desired, talosconfig: SecretRef, kubeconfig: SecretRef
) -> tuple[WriteClientFile, ...]:
    """Return both client files of a cluster, at their locations."""
    cluster = desired.cluster
    if cluster is None:
        return ()
    controllers = tuple(str(node.address.ip) for node in desired.nodes if node.is_controller)
    nodes = tuple(str(node.address.ip) for node in desired.nodes)
    api = f"https://{cluster.kubernetes.api_addr}:{_API_PORT}"
    return tuple(
        WriteClientFile(
            cluster=cluster.name,
            file=file,
            place=place,
            contract=str(cluster.talos.contract.bare),
            endpoints=controllers,
            nodes=nodes,
            api=api,
        )
        for file, place in ((TALOSCONFIG, talosconfig), (KUBECONFIG, kubeconfig))
    )
