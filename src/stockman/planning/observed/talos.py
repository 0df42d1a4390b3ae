"""The observed state of the machines of a cluster. Unknown is not the same as absent."""

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
    """One machine. Unknown values are None; `unknown` has the reason."""

    node: str
    address: MachineAddress
    seen_at: datetime
    source: str
    """Where it was read: `Talos API of 10.42.0.11`."""
    standing: MachineState
    why: str = ""
    """The error instead of an answer."""
    version: str | None = None
    """`v1.13.9`; before Talos 1.13, machines in maintenance mode do not report it."""
    uuid: UUID | None = None
    macs: tuple[Mac, ...] | None = None
    hostname: str | None = None
    status: MachineStatus | None = None
    schematic: SchematicId | None = None
    boot_id: str | None = None
    configuration: Secret | None = None
    """The whole configuration, with all secrets."""
    digest: str | None = None
    """Digest of the configuration without its secrets."""
    authority: str | None = None
    """SHA-256 of the certificate authority in its configuration."""
    skew: float | None = None
    """Seconds that its clock is ahead of its time server."""
    time_server: str = ""
    kubelet: str | None = None
    """Image of the kubelet."""
    holds: tuple[str, ...] = ()
    """Its addresses, without prefix lengths."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Why a value is unknown, by its name."""

    @property
    def is_configured(self) -> bool:
        return self.standing is MachineState.CONFIGURED


@record
class ObservedTalos:
    """All machines of a cluster, and their etcd."""

    seen_at: datetime
    machines: Mapping[str, ObservedMachine]
    """By node name."""
    etcd: ObservedEtcd
    neighbours: tuple[DiscoveredMember, ...] = ()
    """Members of the discovery service. Empty: unknown."""
    client_files: Mapping[str, str | None] = field(default_factory=dict)
    """What `talosconfig` and `kubeconfig` lack. Empty: nothing. None: unknown."""
    api_taken: str = ""
    """What answers at the address of the API although no controller runs. Empty: nothing."""
    calls: Mapping[str, int] = field(default_factory=dict)
    """Number of calls by name."""

    @property
    def call_count(self) -> int:
        return sum(self.calls.values())

    def machine(self, node: str) -> ObservedMachine | None:
        """Return the observed state of a node. None: not queried."""
        return self.machines.get(node)
