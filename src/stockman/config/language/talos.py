"""Talos settings of the cluster, of classes and of nodes."""

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
    """Talos settings that only apply to the whole cluster."""

    version: Version | None = None
    """Talos version. None: the newest release that stockman, talhelper and topf support."""
    contract: Version | None = None
    """Style of machine configurations, `1.12`. `stockman init` sets it. It is not changed by
    upgrades, so that a new version does not rewrite the configuration of running nodes. None: the
    release line of the version."""
    platform: Literal["nocloud", "metal"] = "nocloud"
    """Platform of the image. A nocloud machine that is upgraded with a metal installer loses its
    network."""
    factory_url: Annotated[str, HTTP_URL] = "https://factory.talos.dev"
    """URL of the Image Factory."""
    schematic_id: SchematicText | None = None
    """Schematic of nodes without their own. None: created from extensions and kernel arguments."""
    controller_schematic_id: SchematicText | None = None
    """Schematic of controllers without their own."""
    worker_schematic_id: SchematicText | None = None
    """Schematic of workers without their own."""
    schematic: dict[str, object] | None = None
    """Schematic in the format of the Image Factory (`customization: {...}`), for nodes without a
    schematic id. None: created from extensions and kernel arguments."""
    extensions: tuple[ExtensionName, ...] = ()
    """System extensions of every node. The order is part of the schematic id."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Kernel arguments of every node."""
    patches: TalosPatches = TalosPatches()
    """Patches of the machine configuration."""
    patch_order: Literal["specific", "talhelper"] = "specific"
    """Order in which patches are applied; the last one wins. `specific`: all nodes, role, class,
    node. `talhelper`: role, node, all nodes, as talhelper does."""
    registries: dict[str, RegistryMirror] = field(default_factory=dict)
    """Mirrors and credentials, by registry host."""
    discovery: bool = True
    """Whether machines find each other through the discovery service."""
    kubespan: bool = False
    """Whether machines communicate through WireGuard (KubeSpan). Cilium has its own encryption."""
    kube_prism: KubePrism = KubePrism()
    """Load balancer for the Kubernetes API on each machine."""
    host_dns: HostDns = HostDns()
    """Caching DNS server on each machine."""
    firewall: Firewall = Firewall()
    """Ingress firewall of the machines."""


@record
class TalosSection(MachineSettings, TalosKeys):
    """Talos settings for the whole cluster."""


@record
class NodeTalosKeys(Traced):
    """Image and patches of one node or class."""

    schematic: dict[str, object] | None = None
    """Schematic in the format of the Image Factory, for this node or class only. None: the
    schematic of the cluster."""
    extensions: tuple[ExtensionName, ...] = ()
    """Additional extensions."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Additional kernel arguments."""
    patches: tuple[Patch, ...] = ()
    """Patches that are applied after those of the cluster and role. Patches of the class come
    before those of the node."""


@record
class NodeTalos(MachineSettings, NodeTalosKeys):
    """Talos settings of one node or class. Lists are appended to those of the cluster; named
    entries override those of the cluster."""
