"""Identifiers as separate types, so that a VMID is never used as a VLAN."""

from __future__ import annotations

from typing import NewType

NodeName = NewType("NodeName", str)
HostName = NewType("HostName", str)
ClassName = NewType("ClassName", str)
GuestName = NewType("GuestName", str)
Datastore = NewType("Datastore", str)
Bridge = NewType("Bridge", str)
Region = NewType("Region", str)
Vmid = NewType("Vmid", int)
Mac = NewType("Mac", str)
"""Lower case, separated by colons."""
SchematicId = NewType("SchematicId", str)
"""64 lower-case hex digits: the SHA-256 of the canonical schematic."""
MachineAddress = NewType("MachineAddress", str)
"""Address of a machine's Talos API: an IP address or a name, without a port."""
