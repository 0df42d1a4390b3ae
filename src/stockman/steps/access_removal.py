"""Users, roles and rights that stockman made, taken away again."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import NotFound
from stockman.model.record import record
from stockman.ports.proxmox.access import AccessRule, Holder
from stockman.steps.access_door import admin
from stockman.steps.ports import Ports
from stockman.steps.vm_patience import PatientAction


@record
class DropUser(PatientAction):
    """Delete a user with its tokens and rights."""

    kind: ClassVar[str] = "access.drop-user"
    cluster: str
    user: str

    @property
    def summary(self) -> str:
        return f"delete user {self.user} with its tokens and rights"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"user/{self.cluster}/{self.user}",)

    @property
    def destroys(self) -> str:
        return f"user {self.user} with its tokens: whoever still uses them is turned away"

    async def done(self, ports: Ports) -> bool:
        return all(one.id != self.user for one in await admin(ports, self.cluster).users())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await admin(ports, self.cluster).delete_user(self.user)
        except NotFound:
            return


@record
class DropRole(PatientAction):
    """Delete a role that nobody has any more."""

    kind: ClassVar[str] = "access.drop-role"
    cluster: str
    role: str

    @property
    def summary(self) -> str:
        return f"delete role {self.role}, unless somebody has it"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"role/{self.cluster}/{self.role}",)

    async def done(self, ports: Ports) -> bool:
        pve = admin(ports, self.cluster)
        if all(one.name != self.role for one in await pve.roles()):
            return True
        return any(one.role == self.role for one in await pve.access_rules())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await admin(ports, self.cluster).delete_role(self.role)
        except NotFound:
            return


@record
class RevokeRole(PatientAction):
    """Take a role on a path away from somebody."""

    kind: ClassVar[str] = "access.revoke"
    cluster: str
    path: str
    role: str
    holder: str
    """User, or `user!token`."""
    holder_kind: Holder

    @property
    def summary(self) -> str:
        return f"take the role {self.role} on {self.path} away from {self.holder}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"grant/{self.cluster}{self.path} {self.holder} {self.role}",)

    async def done(self, ports: Ports) -> bool:
        return await self._rule(ports) is None

    async def attempt(self, ports: Ports) -> None:
        rule = await self._rule(ports)
        if rule is not None:
            await admin(ports, self.cluster).revoke(rule)

    async def _rule(self, ports: Ports) -> AccessRule | None:
        wanted = (self.path, self.role, self.holder_kind, self.holder)
        for one in await admin(ports, self.cluster).access_rules():
            if (one.path, one.role, one.kind, one.holder) == wanted:
                return one
        return None
