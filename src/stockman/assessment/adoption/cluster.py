"""Records of a running cluster that is being adopted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from ipaddress import IPv4Interface
from uuid import UUID

from stockman.assessment.adoption import problems as trouble
from stockman.model.names import MachineAddress
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.fact import Unknown
from stockman.planning.observed.kubernetes import ObservedKubernetes, ObservedNode
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.checks import guest_macs
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.talos.machine.masking import ConfigurationValues


@record
class RunningMachine:
    """One Talos machine of the running cluster."""

    hostname: str
    address: MachineAddress
    interface: IPv4Interface
    """The address with its prefix length."""
    version: Version
    platform: str
    """For example `nocloud` or `metal`."""
    uuid: UUID
    macs: tuple[str, ...]
    """MAC addresses of all network cards, in lower case."""
    mac: str
    """MAC address of the card that has the node's address. Empty: unknown."""
    schematic: str
    """Empty: the image does not come from an Image Factory."""
    system_disk: str
    """For example `/dev/sda`. Empty: unknown."""
    configuration: Secret
    values: ConfigurationValues = field(repr=False)

    @property
    def is_controller(self) -> bool:
        return self.values.role == "controlplane"


@record
class GitOpsSource:
    """The repository that Flux follows, and the addresses of the cluster's gateways."""

    url: str = ""
    """Empty: the cluster follows no repository."""
    branch: str = ""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Gateway addresses by their key in cluster.yaml."""
    pools: tuple[str, ...] = ()
    """Addresses, ranges and networks of Cilium for LoadBalancer services."""
    values: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Values of Helm releases by name, as Flux installs them."""
    keys: Mapping[str, Secret] = field(default_factory=dict)
    """Private keys found in the cluster, by the name of the file that holds them."""


@record
class RunningCluster:
    """Everything that was observed of the running cluster."""

    proxmox: ObservedProxmox
    machines: tuple[RunningMachine, ...]
    kubernetes: ObservedKubernetes
    gitops: GitOpsSource = GitOpsSource()
    authority: str = ""
    """CA certificate of the kubeconfig as PEM text. Empty: unknown."""

    @property
    def version(self) -> Version:
        """The Talos version, which is the same on all machines."""
        return self.machines[0].version

    @property
    def minor(self) -> str:
        return self.version.minor_text


@record
class MatchedMachine:
    """A machine together with its VM and its Kubernetes node."""

    machine: RunningMachine
    guest: GuestSummary
    config: VmConfig
    node: ObservedNode | None
    """None: the machine is not registered in Kubernetes."""


_Vm = tuple[GuestSummary, VmConfig]


def match_machines(cluster: RunningCluster, problems: Problems) -> tuple[MatchedMachine, ...]:
    """Return every machine with its VM and node; report machines without a VM."""
    machines: list[MatchedMachine] = []
    for machine in cluster.machines:
        vm = _vm_of(machine, cluster.proxmox, problems)
        if vm is None:
            continue
        guest, config = vm
        if config.name != machine.hostname:
            problems.add(trouble.vm_name(guest_label(guest, config), guest.vmid, machine.hostname))
        node = _node_of(machine, cluster.kubernetes.nodes or ())
        machines.append(MatchedMachine(machine=machine, guest=guest, config=config, node=node))
    _check_once(machines, problems)
    return tuple(machines)


def guest_label(guest: GuestSummary, config: VmConfig | None = None) -> str:
    """Return the name of a guest for messages."""
    name = (config.name if config is not None else "") or guest.name or "no name"
    return f"{'VM' if guest.kind == 'qemu' else 'container'} {guest.vmid} ({name})"


def _vm_of(machine: RunningMachine, observed: ObservedProxmox, problems: Problems) -> _Vm | None:
    """Find a machine's VM by UUID, or by MAC address if no VM has that UUID."""
    vms = list(_list_vms(observed))
    by_uuid = [vm for vm in vms if vm[1].uuid == machine.uuid]
    by_card = [vm for vm in vms if set(guest_macs(vm[1])) & set(machine.macs)]
    for candidates, why in ((by_uuid, f"UUID {machine.uuid}"), (by_card, "a card of it")):
        if len(candidates) > 1:
            names = [guest_label(*vm) for vm in candidates]
            problems.add(trouble.vm_twice(machine.hostname, why, names))
            return None
        if candidates:
            return candidates[0]
    _warn_hidden_vms(observed, problems)
    problems.add(trouble.no_vm(machine.hostname, str(machine.uuid), machine.macs))
    return None


def _list_vms(observed: ObservedProxmox) -> Iterator[_Vm]:
    for guest in observed.guests():
        config = observed.config(guest.vmid)
        if config is not None and guest.kind == "qemu" and not guest.is_template:
            yield guest, config


def _warn_hidden_vms(observed: ObservedProxmox, problems: Problems) -> None:
    known = {problem.where for problem in problems}
    for guest in observed.guests():
        fact = observed.configs.get(guest.vmid)
        if isinstance(fact, Unknown) and guest_label(guest) not in known:
            why = f"{fact.problem.what}: {fact.problem.why}"
            problems.add(trouble.vm_unreadable(guest_label(guest), why))


def _node_of(machine: RunningMachine, nodes: tuple[ObservedNode, ...]) -> ObservedNode | None:
    by_name = (node for node in nodes if node.name == machine.hostname)
    by_address = (node for node in nodes if str(machine.address) in node.addresses)
    return next(by_name, None) or next(by_address, None)


def _check_once(machines: list[MatchedMachine], problems: Problems) -> None:
    by_vm: dict[int, list[MatchedMachine]] = {}
    for machine in machines:
        by_vm.setdefault(machine.guest.vmid, []).append(machine)
    for several in by_vm.values():
        if len(several) > 1:
            vm = guest_label(several[0].guest, several[0].config)
            problems.add(
                trouble.machine_twice(vm, [machine.machine.hostname for machine in several])
            )
