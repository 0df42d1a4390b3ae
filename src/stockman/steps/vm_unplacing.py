"""Rules, groups and pools that stockman made, taken away when nobody is in them any more."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from stockman.model.errors import NotFound, Rejected
from stockman.model.record import record
from stockman.ports.proxmox.ha import HaRule
from stockman.steps.ports import Ports
from stockman.steps.vm_patience import PatientAction
from stockman.steps.vm_placing import MADE_BY


@record
class LeaveHaRule(PatientAction):
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
class DropHaGroup(PatientAction):
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
        if all((one.name, one.comment) != (self.group, MADE_BY) for one in groups):
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
class DropPool(PatientAction):
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
        return pool.comment != MADE_BY or bool(pool.members)

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await ports.on(self.cluster).delete_pool(self.pool)
        except NotFound:
            return
