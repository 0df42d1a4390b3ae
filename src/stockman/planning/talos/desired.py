"""What is wanted of the machines of a cluster, and what other parts of a plan do to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.model.desired import Cluster, Desired, Node
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.steps.base import Hold
from stockman.steps.secret_ref import SecretRef
from stockman.steps.talos.client_files import KUBECONFIG, TALOSCONFIG, WriteClientFile
from stockman.steps.talos.machine import TalosMachine

_API_PORT = 6443


@record
class DesiredTalos:
    """Everything that the Talos part of a plan is made from, but what was seen."""

    desired: Desired
    configurations: Mapping[str, Secret]
    """Machine configurations by node, as they would be applied."""
    fresh: frozenset[str] = frozenset()
    """Nodes whose VMs this plan makes, or makes anew."""
    leaving: Mapping[str, MachineAddress] = field(default_factory=dict)
    """Machines that are ours and not wanted any more: their VMs are deleted by this plan."""
    rising: frozenset[str] = frozenset()
    """Nodes whose VMs this plan starts, or that were started a moment ago: a machine that does not
    answer may be on its way up, and is waited for unless its cluster knows it already."""
    api_answers: bool = True
    """Whether Kubernetes answers."""
    client_files: tuple[WriteClientFile, ...] = ()
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Steps of other stages, by node, that are finished before it can be talked to."""
    drained_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Steps of other stages, by node, that move everything away from it."""
    holds: Mapping[str, tuple[Hold, ...]] = field(default_factory=dict)
    """What is held while a node is taken down and up again, such as that nothing is put on it."""

    @property
    def cluster(self) -> Cluster:
        if self.desired.cluster is None:
            raise ValueError("machines without a cluster")
        return self.desired.cluster

    @property
    def controllers(self) -> tuple[Node, ...]:
        """By address: the first of them begins etcd."""
        found = [node for node in self.desired.nodes if node.is_controller]
        return tuple(sorted(found, key=lambda node: int(node.address.ip)))

    @property
    def minor(self) -> str:
        return self.cluster.talos.version.minor_text

    @property
    def shared_address(self) -> str:
        """The address that controllers share. Empty: the API has that of a single machine."""
        address = self.cluster.kubernetes.api_addr
        own = {node.address.ip for node in self.desired.nodes}
        return "" if address in own else str(address)


def talos_machine(node: Node) -> TalosMachine:
    """A node as actions mean it."""
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
    """Both files of a cluster, at their places."""
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
