"""Clusters of Proxmox VE hosts: how to reach them, what they have."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.shapes import (
    DNS_LABEL,
    FINGERPRINT,
    HOST_OR_ADDRESS,
    ORIGIN_URL,
    TOKEN_ID,
    Between,
    BridgeText,
    DatastoreText,
    HostNameText,
    NodeNameText,
    RegionText,
)
from stockman.model.version import Version


@record
class Tls(Traced):
    """How the certificate of Proxmox is checked; never switched off."""

    ca_file: str | None = None
    """CA certificate, a file in the repository. None: public CAs, or the fingerprint."""
    fingerprint: Annotated[str, FINGERPRINT] | None = None
    """SHA-256 fingerprint of the certificate. None: by CA."""


@record
class HostLimits(Traced):
    """What one host has and how much of it may be used."""

    address: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Where the host answers. None: through the cluster's endpoints."""
    cores: Annotated[int, Between(1, 1024)] | None = None
    """CPU threads. None: asked from the host."""
    memory: Annotated[int, Between(256, 33_554_432, "MiB")] | None = None
    """Memory in MiB. None: asked from the host."""
    reserve_memory: Annotated[int, Between(0, 33_554_432, "MiB")] = 2048
    """Memory kept for the host itself."""
    max_vms: Annotated[int, Between(0, 1000)] | None = None
    """VMs that stockman may place there. None: no limit."""


@record
class VmTemplate(Traced):
    """A VM that others are made from, kept at the version and schematic of a node.

    When these change, a new one is made first; the old one goes unless disks depend on it.
    """

    name: Annotated[str, DNS_LABEL]
    """How its name begins; version and schematic follow."""
    like: NodeNameText
    """Node whose image and hardware it has, without the devices that are passed through."""
    hosts: tuple[HostNameText, ...] = ()
    """Hosts that have one each. Empty: the host of that node."""
    datastore: DatastoreText | None = None
    """Storage of its disk. None: that of the node."""
    first_vmid: Annotated[int, Between(100, 999_000_000)] = 9000
    """Numbers from here on are taken, the lowest that are free."""


@record
class ProxmoxCluster(Traced):
    """One Proxmox cluster (or a single host); its region is the Kubernetes region of its nodes."""

    region: RegionText = "pve"  # type: ignore[assignment]  # a literal of the NewType
    """Name of the cluster, unique; becomes `topology.kubernetes.io/region`."""
    endpoint: Annotated[str, ORIGIN_URL] | None = None
    """API address without a path; components append their own."""
    endpoints: tuple[Annotated[str, ORIGIN_URL], ...] = ()
    """Further API addresses, tried when the first does not answer."""
    version: Version | None = None
    """Proxmox VE version. None: asked from the API."""
    tls: Tls = Tls()
    """How the certificate is checked."""
    token_id: Annotated[str, TOKEN_ID] | None = None
    """API token of stockman."""
    token_secret: Secret | None = None
    """Its secret, a UUID; or token and secret in one, `user@realm!name=UUID`, as rotation keeps
    them."""
    image_storage: DatastoreText | None = None
    """Storage for downloaded images. None: the storage of the VM's system disk."""
    snippet_storage: DatastoreText | None = None
    """Storage for snippets. None: configurations are given over the Talos API."""
    storages: tuple[DatastoreText, ...] = ()
    """Storages that VMs may use. Empty: any."""
    bridges: tuple[BridgeText, ...] = ()
    """Bridges that VMs may use. Empty: any."""
    hosts: dict[str, HostLimits] = field(default_factory=dict)
    """Hosts by name with their limits. Empty: any host the API knows."""
    templates: tuple[VmTemplate, ...] = ()
    """Templates that others make VMs from, such as Karpenter."""
