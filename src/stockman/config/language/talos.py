"""Talos: version, images, extensions, kernel, patches, registries."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from stockman.model.machine import KernelArgument, PatchText, RegistryMirror, TalosPatches
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import HTTP_URL, Extension, SchematicText
from stockman.model.version import Version


@record
class TalosSection(Traced):
    """Talos for the whole cluster."""

    version: Version | None = None
    """Version. None: the newest that stockman was tested with."""
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
    extensions: tuple[Extension, ...] = ()
    """System extensions of every node, in order (the order is part of the schematic's id)."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Kernel arguments of every node."""
    patches: TalosPatches = TalosPatches()
    """Patches of the machine configuration."""
    patch_order: Literal["specific", "talhelper"] = "specific"
    """Which patch wins. `specific`: those of all nodes come first, then role, class and node, and
    the last one wins. `talhelper`: those of all nodes come last, as talhelper does it."""
    registries: dict[str, RegistryMirror] = field(default_factory=dict)
    """Mirrors by registry host."""


@record
class NodeTalos(Traced):
    """Talos of one node or class; lists add to those of the cluster."""

    schematic: dict[str, object] | None = None
    """Schematic written out, for this node or class alone. None: see the cluster's keys."""
    extensions: tuple[Extension, ...] = ()
    """Further extensions."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Further kernel arguments."""
    patches: tuple[PatchText, ...] = ()
    """Patches after those of the cluster and role."""
