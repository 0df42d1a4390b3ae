"""Roles, users and the list of who has which role where."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Conflict
from stockman.model.record import record
from stockman.ports.proxmox.access import AccessRole, AccessRule, Holder, User
from stockman.steps.access_door import admin
from stockman.steps.ports import Ports
from stockman.steps.vm_patience import PatientAction


@record
class MakeRole(PatientAction):
    """Have a role with exactly these privileges."""

    kind: ClassVar[str] = "access.role"
    cluster: str
    role: str
    privileges: tuple[str, ...]

    @property
    def summary(self) -> str:
        return f"role {self.role} has {', '.join(self.privileges)}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"role/{self.cluster}/{self.role}",)

    async def done(self, ports: Ports) -> bool:
        found = await self._found(ports)
        return found is not None and found.privileges == frozenset(self.privileges)

    async def attempt(self, ports: Ports) -> None:
        found, pve = await self._found(ports), admin(ports, self.cluster)
        wanted = AccessRole(name=self.role, privileges=frozenset(self.privileges))
        if found is None:
            await pve.create_role(wanted)
        elif found.privileges != wanted.privileges:
            await pve.update_role(wanted)

    async def _found(self, ports: Ports) -> AccessRole | None:
        roles = await admin(ports, self.cluster).roles()
        return next((one for one in roles if one.name == self.role), None)


@record
class MakeUser(PatientAction):
    """Have a user without a password, which only its tokens act for."""

    kind: ClassVar[str] = "access.user"
    cluster: str
    user: str
    comment: str

    @property
    def summary(self) -> str:
        return f"create user {self.user}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"user/{self.cluster}/{self.user}",)

    async def done(self, ports: Ports) -> bool:
        users = await admin(ports, self.cluster).users()
        return any(one.id == self.user for one in users)

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await admin(ports, self.cluster).create_user(User(id=self.user, comment=self.comment))
        except Conflict:
            return


@record
class GrantRole(PatientAction):
    """Give somebody a role on a path."""

    kind: ClassVar[str] = "access.grant"
    cluster: str
    path: str
    role: str
    holder: str
    """User, or `user!token`."""
    holder_kind: Holder
    propagate: bool = True

    @property
    def summary(self) -> str:
        below = "" if self.propagate else ", not below"
        return f"give {self.holder} the role {self.role} on {self.path}{below}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"grant/{self.cluster}{self.path} {self.holder} {self.role}",)

    @property
    def rule(self) -> AccessRule:
        return AccessRule(
            path=self.path,
            role=self.role,
            kind=self.holder_kind,
            holder=self.holder,
            propagate=self.propagate,
        )

    async def done(self, ports: Ports) -> bool:
        return self.rule in await admin(ports, self.cluster).access_rules()

    async def attempt(self, ports: Ports) -> None:
        await admin(ports, self.cluster).grant(self.rule)
