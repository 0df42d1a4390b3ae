"""Roles, users and access rules of Proxmox VE."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Conflict, NotFound
from stockman.model.record import record
from stockman.proxmox.access import AccessRole, AccessRule, Holder, User
from stockman.steps.access.admin import admin_client
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction


@record
class CreateRole(RetryingAction):
    """Create or update a role with exactly these privileges."""

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
        role = await self._find_role(ports)
        return role is not None and role.privileges == frozenset(self.privileges)

    async def attempt(self, ports: Ports) -> None:
        role, pve = await self._find_role(ports), admin_client(ports, self.cluster)
        desired = AccessRole(name=self.role, privileges=frozenset(self.privileges))
        if role is None:
            await pve.create_role(desired)
        elif role.privileges != desired.privileges:
            await pve.update_role(desired)

    async def _find_role(self, ports: Ports) -> AccessRole | None:
        roles = await admin_client(ports, self.cluster).roles()
        return next((role for role in roles if role.name == self.role), None)


@record
class CreateUser(RetryingAction):
    """Create a user without a password, which only has tokens."""

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
        users = await admin_client(ports, self.cluster).users()
        return any(user.id == self.user for user in users)

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await admin_client(ports, self.cluster).create_user(
                User(id=self.user, comment=self.comment)
            )
        except Conflict:
            return


@record
class GrantRole(RetryingAction):
    """Grant a role on a path."""

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
        return self.rule in await admin_client(ports, self.cluster).access_rules()

    async def attempt(self, ports: Ports) -> None:
        await admin_client(ports, self.cluster).grant(self.rule)


@record
class DeleteUser(RetryingAction):
    """Delete a user with its tokens and access rules."""

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
        """Return whether the user does not exist."""
        return all(user.id != self.user for user in await admin_client(ports, self.cluster).users())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await admin_client(ports, self.cluster).delete_user(self.user)
        except NotFound:
            return


@record
class DeleteRole(RetryingAction):
    """Delete a role that is no longer granted."""

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
        """Return whether the role does not exist, or somebody has it."""
        pve = admin_client(ports, self.cluster)
        if all(role.name != self.role for role in await pve.roles()):
            return True
        return any(rule.role == self.role for rule in await pve.access_rules())

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        try:
            await admin_client(ports, self.cluster).delete_role(self.role)
        except NotFound:
            return


@record
class RevokeRole(RetryingAction):
    """Revoke a role on a path."""

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
        return await self._find_rule(ports) is None

    async def attempt(self, ports: Ports) -> None:
        rule = await self._find_rule(ports)
        if rule is not None:
            await admin_client(ports, self.cluster).revoke(rule)

    async def _find_rule(self, ports: Ports) -> AccessRule | None:
        """Return the rule with this path, role and holder. None: there is none."""
        identity = (self.path, self.role, self.holder_kind, self.holder)
        for rule in await admin_client(ports, self.cluster).access_rules():
            if (rule.path, rule.role, rule.kind, rule.holder) == identity:
                return rule
        return None
