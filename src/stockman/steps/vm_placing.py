"""Pools, high availability and mappings: what stands around guests."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from stockman.model.errors import Conflict, NotFound
from stockman.model.names import HostName
from stockman.model.record import record
from stockman.ports.proxmox.ha import HaGroup, HaResource, HaRule
from stockman.steps.ports import Ports
from stockman.steps.vm_identity import Identity, present
from stockman.steps.vm_patience import PatientAction

NODE_AFFINITY = "node-affinity"
MADE_BY = "made by stockman"
"""Comment of what stockman made, and may delete again."""


@record
class MakePool(PatientAction):
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
            await ports.on(self.cluster).create_pool(self.pool, MADE_BY)
        except Conflict:
            return


@record
class JoinPool(PatientAction):
    """Put a guest into a pool."""

    kind: ClassVar[str] = "vm.join-pool"
    vm: Identity
    host: HostName
    pool: str

    @property
    def summary(self) -> str:
        return f"put {self.vm.called} into pool {self.pool}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        pool = await ports.on(self.vm.cluster).pool(self.pool)
        return f"{self.vm.kind}/{self.vm.vmid}" in {one.id for one in pool.members}

    async def attempt(self, ports: Ports) -> None:
        await present(ports, self.vm, self.host)
        if not await self.done(ports):
            await ports.on(self.vm.cluster).add_to_pool(self.pool, vms=(self.vm.vmid,))


@record
class LookAfterVm(PatientAction):
    """Let high availability look after a guest."""

    kind: ClassVar[str] = "vm.ha"
    vm: Identity
    host: HostName
    state: str
    max_restart: int
    max_relocate: int
    group: str = ""
    """Of Proxmox VE 8. Empty: none, or a rule says it."""

    @property
    def summary(self) -> str:
        where = f" in group {self.group}" if self.group else ""
        return f"let high availability keep {self.vm.called} {self.state}{where}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"ha/{self.vm.cluster}/{ha_id(self.vm)}",)

    async def done(self, ports: Ports) -> bool:
        found = await self._found(ports)
        return found is not None and self.is_true_of(found)

    async def attempt(self, ports: Ports) -> None:
        await present(ports, self.vm, self.host)
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
class LeaveVm(PatientAction):
    """Let high availability look after a guest no longer."""

    kind: ClassVar[str] = "vm.no-ha"
    vm: Identity

    @property
    def summary(self) -> str:
        return f"take {self.vm.called} out of high availability"

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
class MakeHaGroup(PatientAction):
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
            group = HaGroup(name=self.group, hosts=dict.fromkeys(self.hosts), comment=MADE_BY)
            await ports.on(self.cluster).create_ha_group(group)


@record
class JoinHaRule(PatientAction):
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
                    comment=MADE_BY,
                )
            )
        elif not set(self.resources) <= set(rule.resources):
            joined = tuple(sorted({*rule.resources, *self.resources}))
            await pve.update_ha_rule(replace(rule, resources=joined))

    async def _found(self, ports: Ports) -> HaRule | None:
        rules = await ports.on(self.cluster).ha_rules()
        return next((one for one in rules if one.name == self.rule), None)


def ha_id(vm: Identity) -> str:
    """How high availability names a guest."""
    return f"{'vm' if vm.kind == 'qemu' else 'ct'}:{vm.vmid}"
