"""High availability: which guests HA keeps running, and on which hosts."""

from __future__ import annotations

from dataclasses import field

from stockman.model.record import record


@record
class HaResource:
    """A guest that is managed by HA."""

    id: str
    """`vm:100`, `ct:200`."""
    state: str = "started"
    max_restart: int = 1
    max_relocate: int = 1
    group: str = ""
    """Proxmox VE 8 only. Empty: none."""
    failback: bool | None = None
    """Proxmox VE 9 only. None: the default of the server."""
    comment: str = ""


@record
class HaRule:
    """A placement rule (Proxmox VE 9)."""

    name: str
    kind: str
    """`node-affinity` or `resource-affinity`."""
    resources: tuple[str, ...]
    hosts: dict[str, int | None] = field(default_factory=dict)
    """For node affinity: hosts with their priority. None: the lowest priority."""
    strict: bool = False
    affinity: str = ""
    """For resource affinity: `positive` or `negative`."""
    disabled: bool = False
    comment: str = ""


@record
class HaGroup:
    """A group of hosts (Proxmox VE 8)."""

    name: str
    hosts: dict[str, int | None] = field(default_factory=dict)
    restricted: bool = False
    no_failback: bool = False
    comment: str = ""
