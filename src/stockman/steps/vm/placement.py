"""Pools, high availability and mappings: what stands around guests."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from stockman.model.errors import Conflict, NotFound, Rejected
from stockman.model.names import HostName
from stockman.model.record import record
from stockman.proxmox.ha import HaGroup, HaResource, HaRule
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction
from stockman.steps.vm.identity import GuestIdentity, require_guest

NODE_AFFINITY = "node-affinity"
HA_COMMENT = "made by stockman"
"""Comment of what stockman made, and may delete again."""


@record
class CreatePool(RetryingAction):
    """Make a pool of guests."""

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
        return any(one.name == self.pool for one in await ports.on(self.cluster).pools())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await ports.on(self.cluster).create_pool(self.pool, HA_COMMENT)
        except Conflict:
            return


@record
class AddToPool(RetryingAction):
    """Put a guest into a pool."""

    kind: ClassVar[str] = "vm.join-pool"
    vm: GuestIdentity
    host: HostName
    pool: str

    @property
    def summary(self) -> str:
        return f"put {self.vm.label} into pool {self.pool}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        pool = await ports.on(self.vm.cluster).pool(self.pool)
        return f"{self.vm.kind}/{self.vm.vmid}" in {one.id for one in pool.members}

    async def attempt(self, ports: Ports) -> None:
        await require_guest(ports, self.vm, self.host)
        if not await self.done(ports):
            await ports.on(self.vm.cluster).add_to_pool(self.pool, vms=(self.vm.vmid,))


@record
class EnableHa(RetryingAction):
    """Let high availability look after a guest."""

    kind: ClassVar[str] = "vm.ha"
    vm: GuestIdentity
    host: HostName
    state: str
    max_restart: int
    max_relocate: int
    group: str = ""
    """Of Proxmox VE 8. Empty: none, or a rule says it."""

    @property
    def summary(self) -> str:
        where = f" in group {self.group}" if self.group else ""
        return f"let high availability keep {self.vm.label} {self.state}{where}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha/{self.vm.cluster}/{ha_id(self.vm)}",)

    async def done(self, ports: Ports) -> bool:
        found = await self._found(ports)
        return found is not None and self.is_true_of(found)

    async def attempt(self, ports: Ports) -> None:
        await require_guest(ports, self.vm, self.host)
        pve, found = ports.on(self.vm.cluster), await self._found(ports)
        wanted = HaResource(
            id=ha_id(self.vm),
            state=self.state,
            max_restart=self.max_restart,
            max_relocate=self.max_relocate,
            group=self.group,
        )
        if found is None:
            await pve.add_ha_resource(wanted)
        elif not self.is_true_of(found):
            await pve.update_ha_resource(
                replace(wanted, failback=found.failback, comment=found.comment)
            )

    def is_true_of(self, found: HaResource) -> bool:
        """Whether a guest is looked after in this way."""
        same = (found.state, found.max_restart, found.max_relocate, found.group)
        return same == (self.state, self.max_restart, self.max_relocate, self.group)

    async def _found(self, ports: Ports) -> HaResource | None:
        known = await ports.on(self.vm.cluster).ha_resources()
        return next((one for one in known if one.id == ha_id(self.vm)), None)


@record
class DisableHa(RetryingAction):
    """Let high availability look after a guest no longer."""

    kind: ClassVar[str] = "vm.no-ha"
    vm: GuestIdentity

    @property
    def summary(self) -> str:
        return f"take {self.vm.label} out of high availability"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha/{self.vm.cluster}/{ha_id(self.vm)}",)

    async def done(self, ports: Ports) -> bool:
        known = await ports.on(self.vm.cluster).ha_resources()
        return all(one.id != ha_id(self.vm) for one in known)

    async def attempt(self, ports: Ports) -> None:
        try:
            await ports.on(self.vm.cluster).remove_ha_resource(ha_id(self.vm))
        except NotFound:
            return


@record
class CreateHaGroup(RetryingAction):
    """Make a group of hosts, which Proxmox VE 8 has."""

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
        return any(one.name == self.group for one in await ports.on(self.cluster).ha_groups())

    async def attempt(self, ports: Ports) -> None:
        if not await self.done(ports):
            group = HaGroup(name=self.group, hosts=dict.fromkeys(self.hosts), comment=HA_COMMENT)
            await ports.on(self.cluster).create_ha_group(group)


@record
class AddToHaRule(RetryingAction):
    """Put guests under a rule on hosts, which Proxmox VE 9 has instead of groups."""

    kind: ClassVar[str] = "vm.ha-rule"
    cluster: str
    rule: str
    hosts: tuple[HostName, ...]
    """Of a rule that is not there yet."""
    resources: tuple[str, ...]
    """`vm:1030`."""

    @property
    def summary(self) -> str:
        return f"put {', '.join(self.resources)} under HA rule {self.rule}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha-rule/{self.cluster}/{self.rule}",)

    async def done(self, ports: Ports) -> bool:
        rule = await self._found(ports)
        return rule is not None and set(self.resources) <= set(rule.resources)

    async def attempt(self, ports: Ports) -> None:
        pve, rule = ports.on(self.cluster), await self._found(ports)
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

    async def _found(self, ports: Ports) -> HaRule | None:
        rules = await ports.on(self.cluster).ha_rules()
        return next((one for one in rules if one.name == self.rule), None)


def ha_id(vm: GuestIdentity) -> str:
    """How high availability names a guest."""
    return f"{'vm' if vm.kind == 'qemu' else 'ct'}:{vm.vmid}"


@record
class RemoveFromHaRule(RetryingAction):
    """Take guests out of a rule, and delete it when it was made for them and nobody is left."""

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
        rule = await self._found(ports)
        return rule is None or not set(rule.resources) & set(self.resources)

    async def attempt(self, ports: Ports) -> None:
        pve, rule = ports.on(self.cluster), await self._found(ports)
        if rule is None:
            return
        others = tuple(one for one in rule.resources if one not in self.resources)
        try:
            if others and len(others) < len(rule.resources):
                await pve.update_ha_rule(replace(rule, resources=others))
            elif not others:
                # A rule without guests cannot be.
                await pve.delete_ha_rule(self.rule)
        except NotFound:
            return

    async def _found(self, ports: Ports) -> HaRule | None:
        rules = await ports.on(self.cluster).ha_rules()
        return next((one for one in rules if one.name == self.rule), None)


@record
class DeleteHaGroup(RetryingAction):
    """Delete a group of hosts that stockman made, unless guests are in it."""

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
        pve = ports.on(self.cluster)
        try:
            groups = await pve.ha_groups()
        except Rejected:
            # They became rules.
            return True
        if all((one.name, one.comment) != (self.group, HA_COMMENT) for one in groups):
            return True
        return any(one.group == self.group for one in await pve.ha_resources())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await ports.on(self.cluster).delete_ha_group(self.group)
        except NotFound:
            return


@record
class DeletePool(RetryingAction):
    """Delete a pool that stockman made, unless something is in it."""

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
