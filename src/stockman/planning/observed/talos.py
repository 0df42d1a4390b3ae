"""What was seen of the machines of a cluster, when, and from where. Unknown is not absent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from uuid import UUID

from stockman.model.names import Mac, MachineAddress, SchematicId
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.steps.etcd.view import ObservedEtcd
from stockman.steps.talos.machine import MachineState
from stockman.talos.records.machines import DiscoveredMember, MachineStatus


@record
class ObservedMachine:
    """One machine. What nobody could tell is None, and `unknown` says why."""

    node: str
    address: MachineAddress
    seen_at: datetime
    source: str
    """Who was asked: `Talos API of 10.42.0.11`."""
    standing: MachineState
    why: str = ""
    """What was said instead of an answer."""
    version: str | None = None
    """`v1.13.9`; machines in maintenance do not tell before Talos 1.13."""
    uuid: UUID | None = None
    macs: tuple[Mac, ...] | None = None
    hostname: str | None = None
    status: MachineStatus | None = None
    schematic: SchematicId | None = None
    boot_id: str | None = None
    configuration: Secret | None = None
    """All of it, with every secret."""
    digest: str | None = None
    """Of the configuration, without its secrets."""
    authority: str | None = None
    """Whose certificates it believes: SHA-256 of the authority in its configuration."""
    skew: float | None = None
    """Seconds that its clock is ahead of its time server."""
    time_server: str = ""
    kubelet: str | None = None
    """Image of the kubelet."""
    holds: tuple[str, ...] = ()
    """Its addresses, without lengths of prefixes."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Why a fact is not there, by its name."""

    @property
    def is_configured(self) -> bool:
        return self.standing is MachineState.CONFIGURED


@record
class ObservedTalos:
    """All machines of a cluster, and their etcd."""

    seen_at: datetime
    machines: Mapping[str, ObservedMachine]
    """By the name of their node."""
    etcd: ObservedEtcd
    neighbours: tuple[DiscoveredMember, ...] = ()
    """Machines that know each other by discovery. Empty: nobody told."""
    client_files: Mapping[str, str | None] = field(default_factory=dict)
    """What `talosconfig` and `kubeconfig` lack. Empty: nothing. None: not known."""
    api_taken: str = ""
    """What answers at the address of the API though no controller runs. Empty: nothing."""
    calls: Mapping[str, int] = field(default_factory=dict)
    """How often which call was made."""

    @property
    def call_count(self) -> int:
        return sum(self.calls.values())

    def machine(self, node: str) -> ObservedMachine | None:
        """What was seen of a node. None: nobody looked."""
        return self.machines.get(node)
