"""Talos: version, images, extensions, kernel, patches, registries, settings of machines."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from stockman.model.formats import HTTP_URL, ExtensionName, SchematicText
from stockman.model.machine import (
    Firewall,
    HostDns,
    KernelArgument,
    KubePrism,
    MachineSettings,
    Patch,
    RegistryMirror,
    TalosPatches,
)
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.version import Version


@record
class TalosKeys(Traced):
    """What only the whole cluster can say of Talos."""

    version: Version | None = None
    """Version. None: the newest of the line that talhelper and topf know as well as stockman."""
    contract: Version | None = None
    """Style of machine configurations, `1.12`. Written by `init`, changed only by a plan, so that
    a new version never restyles running nodes. None: the line of the version."""
    platform: Literal["nocloud", "metal"] = "nocloud"
    """Image flavour; a nocloud machine upgraded with a metal installer loses its network."""
    factory_url: Annotated[str, HTTP_URL] = "https://factory.talos.dev"
    """Image Factory."""
    schematic_id: SchematicText | None = None
    """Schematic of nodes that name none. None: made from extensions and kernel arguments."""
    controller_schematic_id: SchematicText | None = None
    """Schematic of controllers that name none."""
    worker_schematic_id: SchematicText | None = None
    """Schematic of workers that name none."""
    schematic: dict[str, object] | None = None
    """Schematic written out as the Image Factory takes it (`customization: {...}`), for nodes that
    name no id. None: made from extensions and kernel arguments."""
    extensions: tuple[ExtensionName, ...] = ()
    """System extensions of every node, in order (the order is part of the schematic's id)."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Kernel arguments of every node."""
    patches: TalosPatches = TalosPatches()
    """Patches of the machine configuration."""
    patch_order: Literal["specific", "talhelper"] = "specific"
    """Which patch wins. `specific`: those of all nodes come first, then role, class and node, and
    the last one wins. `talhelper`: those of all nodes come last, as talhelper does it."""
    registries: dict[str, RegistryMirror] = field(default_factory=dict)
    """Mirrors and credentials by registry host."""
    discovery: bool = True
    """Whether machines find each other through the discovery service."""
    kubespan: bool = False
    """Whether machines talk through WireGuard; Cilium has an encryption of its own."""
    kube_prism: KubePrism = KubePrism()
    """The Kubernetes API on each machine's own loopback address."""
    host_dns: HostDns = HostDns()
    """The caching DNS server on each machine."""
    firewall: Firewall = Firewall()
    """What may reach the machines themselves."""


@record
class TalosSection(MachineSettings, TalosKeys):
    """Talos for the whole cluster."""


@record
class NodeTalosKeys(Traced):
    """What makes the image and the patches of one node or class."""

    schematic: dict[str, object] | None = None
    """Schematic written out, for this node or class alone. None: see the cluster's keys."""
    extensions: tuple[ExtensionName, ...] = ()
    """Further extensions."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Further kernel arguments."""
    patches: tuple[Patch, ...] = ()
    """Patches after those of the cluster and role; those of the class come before the node's."""


@record
class NodeTalos(MachineSettings, NodeTalosKeys):
    """Talos of one node or class; lists add to those of the cluster, and names win."""
