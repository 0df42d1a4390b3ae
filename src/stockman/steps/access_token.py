"""Tokens: Proxmox VE chooses their secrets and tells them once."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import NotFound
from stockman.model.proxmox_token import whole_token
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.proxmox.access import AccessToken
from stockman.steps.access_door import admin
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.vm_patience import PatientAction


@record
class MakeToken(PatientAction):
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
    """Whether token and secret are kept together, because the files name another token."""
    renew: str = ""
    """Something that is in the comment of the new token. Empty: the one that is there is fine."""

    @property
    def summary(self) -> str:
        return f"create token {self.user}!{self.token} and keep its secret in {self.secret}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"token/{self.cluster}/{self.user}!{self.token}",)

    async def done(self, ports: Ports) -> bool:
        found = await self._found(ports)
        return found is not None and self.renew in found.comment and await self._is_kept(ports)

    async def attempt(self, ports: Ports) -> None:
        pve, found = admin(ports, self.cluster), await self._found(ports)
        if await self.done(ports):
            return
        if await self._is_kept(ports):
            await ports.to_secrets().write(self.secret, Secret("", resolved=True))
        if found is not None:
            await pve.delete_token(self.user, self.token)
        comment = f"{self.comment} {self.renew}".rstrip()
        new = await pve.create_token(self.user, AccessToken(name=self.token, comment=comment))
        kept = whole_token(f"{self.user}!{self.token}", new.secret) if self.whole else new.secret
        await ports.to_secrets().write(self.secret, kept)

    async def _found(self, ports: Ports) -> AccessToken | None:
        try:
            tokens = await admin(ports, self.cluster).tokens(self.user)
        except NotFound:
            return None
        return next((one for one in tokens if one.name == self.token), None)

    async def _is_kept(self, ports: Ports) -> bool:
        try:
            return bool((await ports.to_secrets().read(self.secret)).reveal())
        except NotFound:
            return False
