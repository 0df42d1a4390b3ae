"""Identifiers as types of their own, so that a VMID is never taken for a VLAN."""

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
"""Lower-case, colon-separated."""
SchematicId = NewType("SchematicId", str)
"""64 lower-case hex digits: the SHA-256 of the canonical schematic."""
MachineAddress = NewType("MachineAddress", str)
"""Where the API of a Talos machine answers: an IP address or a name, without a port."""
