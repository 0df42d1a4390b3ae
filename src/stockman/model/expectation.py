"""What gates check on a node after it came up, before it may take work."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import LINK_NAME, QUANTITY, Between, Example, Extension, Vlan


@record
class Expect(Traced):
    """What a node must show. None or empty: not checked beyond what the VM block implies."""

    nic_count: Annotated[int, Between(1, 32)] | None = None
    """Number of network cards. None: as many as `vm.nics` has."""
    link_names: tuple[Annotated[str, LINK_NAME], ...] = ()
    """Links that must exist and be up, as Talos names them."""
    vlans: tuple[Vlan, ...] = ()
    """VLANs that the cards must be in, as Proxmox tags them."""
    devices: tuple[Annotated[str, Example("10de:2571")], ...] = ()
    """PCI devices that the machine must see, `vendor:device`."""
    allocatable: dict[str, Annotated[str, QUANTITY]] = field(default_factory=dict)
    """Least allocatable resources, such as `nvidia.com/gpu: 1`."""
    extensions: tuple[Extension, ...] = ()
    """Extensions that must be running besides those of the schematic."""
