"""Tokens: Proxmox VE chooses their secrets and tells them once."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Denied, NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.proxmox_values import join_token, split_token
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.access import AccessRule, AccessToken
from stockman.steps.access.admin import admin_client
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction
from stockman.steps.secret_ref import SecretRef


@record
class CreateToken(RetryingAction):
    """Have a token whose secret is kept.

    A secret is emptied before its token is made anew: so whoever goes on after a crash sees that
    what is kept does not belong to the token that is there.
    """

    kind: ClassVar[str] = "access.token"
    cluster: str
    user: str
    token: str
    secret: SecretRef
    comment: str
    whole: bool = False
    """Whether token and secret are stored together, because the files name another token."""
    renew: str = ""
    """Text in the comment of the new token. Empty: an existing token is not replaced."""

    @property
    def summary(self) -> str:
        return f"create token {self.user}!{self.token} and keep its secret in {self.secret}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"token/{self.cluster}/{self.user}!{self.token}",)

    async def done(self, ports: Ports) -> bool:
        token = await find_token(ports, self.cluster, self.user, self.token)
        return token is not None and self.renew in token.comment and await self._is_kept(ports)

    async def attempt(self, ports: Ports) -> None:
        token = await find_token(ports, self.cluster, self.user, self.token)
        if await self.done(ports):
            return
        if await self._is_kept(ports):
            await ports.to_secrets().write(self.secret, Secret("", resolved=True))
        pve = admin_client(ports, self.cluster)
        if token is not None:
            await pve.delete_token(self.user, self.token)
        comment = f"{self.comment} {self.renew}".rstrip()
        new = await pve.create_token(self.user, AccessToken(name=self.token, comment=comment))
        kept = join_token(f"{self.user}!{self.token}", new.secret) if self.whole else new.secret
        await ports.to_secrets().write(self.secret, kept)

    async def _is_kept(self, ports: Ports) -> bool:
        """Return whether the secret of the token is stored."""
        try:
            return bool((await ports.to_secrets().read(self.secret)).reveal())
        except NotFound:
            return False


@record
class TokenGrant:
    """A role of the new token on a path."""

    path: str
    role: str
    privileges: tuple[str, ...]
    propagate: bool = True


@record
class RenewToken(RetryingAction):
    """Create a new token, verify it, and store it in place of the old one.

    The stored value changes last and atomically: it contains token and secret. An interrupted run
    leaves a token with an unknown secret, which is recreated.
    """

    kind: ClassVar[str] = "access.renew-token"
    cluster: str
    user: str
    token: str
    """Name of the new token."""
    secret: SecretRef
    """Where it is stored."""
    comment: str
    grants: tuple[TokenGrant, ...]

    @property
    def summary(self) -> str:
        return f"create token {self.id}, try it, and keep it in {self.secret}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"token/{self.cluster}/{self.id}",)

    @property
    def id(self) -> str:
        return f"{self.user}!{self.token}"

    async def done(self, ports: Ports) -> bool:
        if await read_stored_token_id(ports, self.secret) != self.id:
            return False
        return await find_token(ports, self.cluster, self.user, self.token) is not None

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        pve = admin_client(ports, self.cluster)
        if await find_token(ports, self.cluster, self.user, self.token) is not None:
            await pve.delete_token(self.user, self.token)
        new = await pve.create_token(self.user, AccessToken(name=self.token, comment=self.comment))
        for grant in self.grants:
            rule = AccessRule(
                path=grant.path,
                role=grant.role,
                kind="token",
                holder=self.id,
                propagate=grant.propagate,
            )
            await pve.grant(rule)
        await self._verify(ports, new.secret)
        await ports.to_secrets().write(self.secret, join_token(self.id, new.secret))

    async def _verify(self, ports: Ports, secret: Secret) -> None:
        paths = tuple(dict.fromkeys(grant.path for grant in self.grants))
        try:
            held = await ports.to_trial().privileges(self.cluster, self.id, secret, paths)
        except Denied as error:
            raise Refused(token_verification_failure(self.id, error.problem.why)) from None
        for grant in self.grants:
            if lacked := sorted(set(grant.privileges) - held.get(grant.path, frozenset())):
                why = f"it lacks {', '.join(lacked)} on {grant.path}"
                raise Refused(token_verification_failure(self.id, why))


@record
class DeleteToken(RetryingAction):
    """Delete a token that was replaced."""

    kind: ClassVar[str] = "access.drop-token"
    cluster: str
    user: str
    token: str
    kept: SecretRef
    """Where its replacement is stored."""

    @property
    def summary(self) -> str:
        return f"delete token {self.user}!{self.token}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"token/{self.cluster}/{self.user}!{self.token}",)

    @property
    def destroys(self) -> str:
        return f"token {self.user}!{self.token}: whoever still uses it is turned away"

    async def done(self, ports: Ports) -> bool:
        return await find_token(ports, self.cluster, self.user, self.token) is None

    async def attempt(self, ports: Ports) -> None:
        # A secret without its token belongs to the one that the configuration names: maybe this.
        follower = await read_stored_token_id(ports, self.kept)
        if follower in ("", f"{self.user}!{self.token}"):
            raise Refused(token_still_in_use(f"{self.user}!{self.token}", self.kept.place))
        try:
            await admin_client(ports, self.cluster).delete_token(self.user, self.token)
        except NotFound:
            return


async def read_stored_token_id(ports: Ports, ref: SecretRef) -> str:
    """Return the id of a stored token. Empty: only a secret is stored, or nothing."""
    try:
        kept = await ports.to_secrets().read(ref)
    except NotFound:
        return ""
    return split_token("", kept)[0]


async def find_token(ports: Ports, cluster: str, user: str, name: str) -> AccessToken | None:
    """Return a token of Proxmox VE. None: it does not exist."""
    try:
        tokens = await admin_client(ports, cluster).tokens(user)
    except NotFound:
        return None
    return next((token for token in tokens if token.name == name), None)


def token_verification_failure(token: str, why: str) -> Problem:
    return Problem(
        code="token.unproven",
        what=f"the new token {token} does not do",
        where=token,
        why=f"{why}; the old token is still the one that is kept",
        fix="run `stockman apply --only access` with the token of an administrator, then rotate"
        " again",
    )


def token_still_in_use(token: str, location: str) -> Problem:
    return Problem(
        code="token.still-kept",
        what=f"token {token} is not deleted",
        where=location,
        why="what is kept there does not name another token, so that this one is in use",
        fix="look whether an older version of the file was put back; then rotate again",
    )
