"""What was seen of a cluster that is to be adopted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from ipaddress import IPv4Interface
from uuid import UUID

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.observed.kubernetes import ObservedKubernetes, ObservedNode
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.talos.machine.values import ConfigurationValues


@record
class RunningMachine:
    """One Talos machine."""

    hostname: str
    address: MachineAddress
    interface: IPv4Interface
    """Its address with the length of the prefix."""
    version: Version
    platform: str
    """`nocloud`, `metal`."""
    uuid: UUID
    macs: tuple[str, ...]
    """Of all cards, lower-case."""
    mac: str
    """Of the card that has the address. Empty: it is not told."""
    schematic: str
    """Empty: its image does not come from an Image Factory."""
    system_disk: str
    """`/dev/sda`. Empty: it is not told."""
    configuration: Secret
    values: ConfigurationValues = field(repr=False)

    @property
    def is_controller(self) -> bool:
        return self.values.role == "controlplane"


@record
class GitOpsSource:
    """The repository that a cluster follows, and addresses that its services have."""

    url: str = ""
    """Empty: it follows none."""
    branch: str = ""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Of gateways, by the key that they have in files."""
    keys: Mapping[str, Secret] = field(default_factory=dict)
    """Keys that the cluster has, by the file that they are kept in."""


@record
class RunningCluster:
    """Everything that was seen."""

    proxmox: ObservedProxmox
    machines: tuple[RunningMachine, ...]
    kubernetes: ObservedKubernetes
    follows: GitOpsSource = GitOpsSource()
    authority: str = ""
    """PEM text of whom the kubeconfig believes. Empty: not known."""

    @property
    def version(self) -> Version:
        """The version of Talos; all machines have the same."""
        return self.machines[0].version

    @property
    def minor(self) -> str:
        return self.version.minor_text


@record
class MatchedMachine:
    """A machine together with its VM and its Node."""

    machine: RunningMachine
    guest: GuestSummary
    config: VmConfig
    node: ObservedNode | None
    """None: it is not registered in Kubernetes."""
