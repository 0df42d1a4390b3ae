"""High availability: which guests are kept running, and where."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, Protocol

from stockman.model.names import HostName
from stockman.model.record import record

HaRequestedState = Literal["started", "stopped", "enabled", "disabled", "ignored"]


@record
class HaResource:
    """A guest that is looked after."""

    id: str
    """`vm:100`, `ct:200`."""
    state: str = "started"
    max_restart: int = 1
    max_relocate: int = 1
    group: str = ""
    """Proxmox VE 8 only. Empty: none."""
    failback: bool | None = None
    """Proxmox VE 9 only. None: the server's default."""
    comment: str = ""


@record
class HaRule:
    """A rule of Proxmox VE 9 on where guests run."""

    name: str
    kind: str
    """`node-affinity` or `resource-affinity`."""
    resources: tuple[str, ...]
    hosts: dict[str, int | None] = field(default_factory=dict)
    """Of a node affinity: hosts with their priority. None: the lowest."""
    strict: bool = False
    affinity: str = ""
    """Of a resource affinity: `positive` or `negative`."""
    disabled: bool = False
    comment: str = ""


@record
class HaGroup:
    """A group of hosts of Proxmox VE 8."""

    name: str
    hosts: dict[str, int | None] = field(default_factory=dict)
    restricted: bool = False
    no_failback: bool = False
    comment: str = ""


@record
class HaStatusEntry:
    """A line of the status of high availability."""

    id: str
    kind: str
    """`quorum`, `master`, `lrm` or `service`."""
    status: str = ""
    host: str = ""
    state: str = ""
    """Of a service: `started`, `error`, `fence`."""


class HighAvailability(Protocol):
    """High availability of the cluster."""

    async def ha_resources(self) -> tuple[HaResource, ...]:
        """Guests that are looked after."""
        ...

    async def add_ha_resource(self, resource: HaResource) -> None:
        """Look after a guest. `Conflict` where it is already."""
        ...

    async def update_ha_resource(self, resource: HaResource) -> None:
        """Change how a guest is looked after."""
        ...

    async def remove_ha_resource(self, id: str) -> None:  # noqa: A002  # its name in the API
        """Look after a guest no longer. `NotFound` where it is not."""
        ...

    async def ha_rules(self) -> tuple[HaRule, ...]:
        """Rules; `Rejected` before Proxmox VE 9."""
        ...

    async def create_ha_rule(self, rule: HaRule) -> None:
        """Make a rule. `Conflict` where its name is taken."""
        ...

    async def update_ha_rule(self, rule: HaRule) -> None:
        """Change a rule."""
        ...

    async def delete_ha_rule(self, name: str) -> None:
        """Delete a rule."""
        ...

    async def ha_groups(self) -> tuple[HaGroup, ...]:
        """Groups; none where they became rules."""
        ...

    async def create_ha_group(self, group: HaGroup) -> None:
        """Make a group; `Rejected` where they became rules."""
        ...

    async def update_ha_group(self, group: HaGroup) -> None:
        """Change a group."""
        ...

    async def delete_ha_group(self, name: str) -> None:
        """Delete a group."""
        ...

    async def ha_status(self) -> tuple[HaStatusEntry, ...]:
        """What high availability sees now."""
        ...

    async def ha_migrate(self, id: str, host: HostName) -> None:  # noqa: A002
        """Ask high availability to move a guest; it does so later."""
        ...
