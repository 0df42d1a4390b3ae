"""Pools and high availability (HA) of guests."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from stockman.model.errors import Conflict, NotFound, Rejected
from stockman.model.names import HostName
from stockman.model.record import record
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.ha import HaGroup, HaResource, HaRule
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction
from stockman.steps.vm.identity import GuestAction, GuestIdentity, require_guest

NODE_AFFINITY = "node-affinity"
HA_COMMENT = "made by stockman"
"""Comment of objects that stockman created and may delete."""


@record
class CreatePool(RetryingAction):
    """Create a pool."""

    kind: ClassVar[str] = "vm.make-pool"
    cluster: str
    pool: str

    @property
    def summary(self) -> str:
        return f"create pool {self.pool}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"pool/{self.cluster}/{self.pool}",)

    async def done(self, ports: Ports) -> bool:
        return any(pool.name == self.pool for pool in await ports.on(self.cluster).pools())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await ports.on(self.cluster).create_pool(self.pool, HA_COMMENT)
        except Conflict:
            return


@record
class AddToPool(GuestAction):
    """Put a guest into a pool."""

    kind: ClassVar[str] = "vm.join-pool"
    pool: str

    @property
    def summary(self) -> str:
        return f"put {self.vm.label} into pool {self.pool}"

    async def done(self, ports: Ports) -> bool:
        pool = await ports.on(self.vm.cluster).pool(self.pool)
        return f"{self.vm.kind}/{self.vm.vmid}" in {member.id for member in pool.members}

    async def attempt(self, ports: Ports) -> None:
        await require_guest(ports, self.vm, self.host)
        if not await self.done(ports):
            await ports.on(self.vm.cluster).add_to_pool(self.pool, vms=(self.vm.vmid,))


@record
class EnableHa(RetryingAction):
    """Put a guest under HA management."""

    kind: ClassVar[str] = "vm.ha"
    vm: GuestIdentity
    host: HostName
    state: str
    max_restart: int
    max_relocate: int
    group: str = ""
    """Group of Proxmox VE 8. Empty: none, or a rule is used."""

    @property
    def summary(self) -> str:
        where = f" in group {self.group}" if self.group else ""
        return f"let high availability keep {self.vm.label} {self.state}{where}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha/{self.vm.cluster}/{ha_id(self.vm)}",)

    async def done(self, ports: Ports) -> bool:
        resource = await self._find_resource(ports)
        return resource is not None and self.is_true_of(resource)

    async def attempt(self, ports: Ports) -> None:
        await require_guest(ports, self.vm, self.host)
        pve, current = ports.on(self.vm.cluster), await self._find_resource(ports)
        desired = HaResource(
            id=ha_id(self.vm),
            state=self.state,
            max_restart=self.max_restart,
            max_relocate=self.max_relocate,
            group=self.group,
        )
        if current is None:
            await pve.add_ha_resource(desired)
        elif not self.is_true_of(current):
            await pve.update_ha_resource(
                replace(desired, failback=current.failback, comment=current.comment)
            )

    def is_true_of(self, resource: HaResource) -> bool:
        """Return whether the HA settings of a guest match."""
        same = (resource.state, resource.max_restart, resource.max_relocate, resource.group)
        return same == (self.state, self.max_restart, self.max_relocate, self.group)

    async def _find_resource(self, ports: Ports) -> HaResource | None:
        resources = await ports.on(self.vm.cluster).ha_resources()
        return next((resource for resource in resources if resource.id == ha_id(self.vm)), None)


@record
class DisableHa(RetryingAction):
    """Remove a guest from HA management."""

    kind: ClassVar[str] = "vm.no-ha"
    vm: GuestIdentity

    @property
    def summary(self) -> str:
        return f"take {self.vm.label} out of high availability"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha/{self.vm.cluster}/{ha_id(self.vm)}",)

    async def done(self, ports: Ports) -> bool:
        resources = await ports.on(self.vm.cluster).ha_resources()
        return all(resource.id != ha_id(self.vm) for resource in resources)

    async def attempt(self, ports: Ports) -> None:
        try:
            await ports.on(self.vm.cluster).remove_ha_resource(ha_id(self.vm))
        except NotFound:
            return


@record
class CreateHaGroup(RetryingAction):
    """Create an HA group of hosts (Proxmox VE 8)."""

    kind: ClassVar[str] = "vm.ha-group"
    cluster: str
    group: str
    hosts: tuple[HostName, ...]

    @property
    def summary(self) -> str:
        return f"create HA group {self.group} of {', '.join(self.hosts)}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha-group/{self.cluster}/{self.group}",)

    async def done(self, ports: Ports) -> bool:
        return any(group.name == self.group for group in await ports.on(self.cluster).ha_groups())

    async def attempt(self, ports: Ports) -> None:
        if not await self.done(ports):
            group = HaGroup(name=self.group, hosts=dict.fromkeys(self.hosts), comment=HA_COMMENT)
            await ports.on(self.cluster).create_ha_group(group)


@record
class AddToHaRule(RetryingAction):
    """Add guests to an HA rule, which replaces groups in Proxmox VE 9."""

    kind: ClassVar[str] = "vm.ha-rule"
    cluster: str
    rule: str
    hosts: tuple[HostName, ...]
    """Hosts of a new rule."""
    resources: tuple[str, ...]
    """`vm:1030`."""

    @property
    def summary(self) -> str:
        return f"put {', '.join(self.resources)} under HA rule {self.rule}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha-rule/{self.cluster}/{self.rule}",)

    async def done(self, ports: Ports) -> bool:
        rule = await _find_rule(ports.on(self.cluster), self.rule)
        return rule is not None and set(self.resources) <= set(rule.resources)

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.cluster)
        rule = await _find_rule(pve, self.rule)
        if rule is None:
            await pve.create_ha_rule(
                HaRule(
                    name=self.rule,
                    kind=NODE_AFFINITY,
                    resources=self.resources,
                    hosts=dict.fromkeys(self.hosts),
                    comment=HA_COMMENT,
                )
            )
        elif not set(self.resources) <= set(rule.resources):
            joined = tuple(sorted({*rule.resources, *self.resources}))
            await pve.update_ha_rule(replace(rule, resources=joined))


async def _find_rule(pve: ProxmoxClient, name: str) -> HaRule | None:
    """Return the rule with this name, and the guests in it. None: it does not exist."""
    return next((rule for rule in await pve.ha_rules() if rule.name == name), None)


def ha_id(vm: GuestIdentity) -> str:
    """Return the HA id of a guest."""
    return f"{'vm' if vm.kind == 'qemu' else 'ct'}:{vm.vmid}"


@record
class RemoveFromHaRule(RetryingAction):
    """Remove guests from an HA rule of stockman, and delete the rule if no guest is left."""

    kind: ClassVar[str] = "vm.leave-ha-rule"
    cluster: str
    rule: str
    resources: tuple[str, ...]

    @property
    def summary(self) -> str:
        return f"take {', '.join(self.resources)} out of HA rule {self.rule}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha-rule/{self.cluster}/{self.rule}",)

    async def done(self, ports: Ports) -> bool:
        rule = await _find_rule(ports.on(self.cluster), self.rule)
        is_own = rule is not None and rule.comment == HA_COMMENT
        return rule is None or not is_own or not set(rule.resources) & set(self.resources)

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.cluster)
        rule = await _find_rule(pve, self.rule)
        if rule is None or rule.comment != HA_COMMENT:
            return
        remaining = tuple(resource for resource in rule.resources if resource not in self.resources)
        try:
            if remaining and len(remaining) < len(rule.resources):
                await pve.update_ha_rule(replace(rule, resources=remaining))
            elif not remaining:
                # A rule without guests cannot be.
                await pve.delete_ha_rule(self.rule)
        except NotFound:
            return


@record
class DeleteHaGroup(RetryingAction):
    """Delete an HA group that stockman created, unless it contains guests."""

    kind: ClassVar[str] = "vm.drop-ha-group"
    cluster: str
    group: str

    @property
    def summary(self) -> str:
        return f"delete HA group {self.group}, unless guests are in it"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha-group/{self.cluster}/{self.group}",)

    async def done(self, ports: Ports) -> bool:
        """Return whether the group does not exist, is not of stockman, or has guests."""
        pve = ports.on(self.cluster)
        try:
            groups = await pve.ha_groups()
        except Rejected:
            # They became rules.
            return True
        if all((group.name, group.comment) != (self.group, HA_COMMENT) for group in groups):
            return True
        return any(resource.group == self.group for resource in await pve.ha_resources())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await ports.on(self.cluster).delete_ha_group(self.group)
        except NotFound:
            return


@record
class DeletePool(RetryingAction):
    """Delete a pool that stockman created, unless it has members."""

    kind: ClassVar[str] = "vm.drop-pool"
    cluster: str
    pool: str

    @property
    def summary(self) -> str:
        return f"delete pool {self.pool}, unless something is in it"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"pool/{self.cluster}/{self.pool}",)

    async def done(self, ports: Ports) -> bool:
        """Return whether the pool does not exist, is not of stockman, or has members."""
        try:
            pool = await ports.on(self.cluster).pool(self.pool)
        except NotFound:
            return True
        return pool.comment != HA_COMMENT or bool(pool.members)

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await ports.on(self.cluster).delete_pool(self.pool)
        except NotFound:
            return
