"""Records of a running cluster that is being adopted."""

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
