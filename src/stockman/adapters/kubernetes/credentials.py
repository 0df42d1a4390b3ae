"""Who we are: from the kubeconfig, from the files that it names, or from a program."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path

from stockman.adapters.kubernetes import exec_plugin
from stockman.adapters.kubernetes.endpoint import KubernetesEndpoint
from stockman.adapters.kubernetes.exec_plugin import IssuedCredential
from stockman.kubernetes import problems
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.system import Clock


@record
class TlsIdentity:
    """What connections are made with. PEM texts."""

    ca: str
    """Empty: the authorities of the system."""
    crt: str = ""
    """Empty: no client certificate."""
    key: Secret | None = None


class Credentials:
    """Credentials as they are now."""

    def __init__(self, endpoint: KubernetesEndpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._issued: IssuedCredential | None = None
        self._turn = asyncio.Lock()
        self._seen: set[str] = set()
        found = endpoint.context.plugin
        if found is not None and not endpoint.allows_plugins:
            why = f"it wants {found.command!r} to be run, which was not allowed"
            raise Refused(problems.exec_plugin(self._where, why))

    @property
    def _where(self) -> str:
        return f"context {self._endpoint.context.name}"

    async def identity(self) -> TlsIdentity:
        """What connections are made with."""
        context = self._endpoint.context
        ca = context.ca or self._content(context.ca_file)
        issued = await self._current()
        if issued is not None and issued.crt:
            return TlsIdentity(ca=ca, crt=issued.crt, key=issued.key)
        crt = context.crt or self._content(context.crt_file)
        kept = self._content(context.key_file)
        key = context.key or (Secret(kept, resolved=True) if kept else None)
        if bool(crt) != (key is not None):
            raise Refused(
                problems.kubeconfig_failure(self._where, "it has half of a client certificate")
            )
        return TlsIdentity(ca=ca, crt=crt, key=key)

    async def headers(self) -> dict[str, str]:
        """What lets a call in. Empty: the certificate does."""
        context = self._endpoint.context
        issued = await self._current()
        token = context.token.reveal() if context.token is not None else ""
        if context.token_file:
            token = self._content(context.token_file).strip() or token
        if issued is not None and issued.token is not None:
            token = issued.token.reveal()
        if not token:
            return {}
        if not token.isascii() or not token.isprintable():
            raise Refused(
                problems.kubeconfig_failure(self._where, "its token cannot stand in a header")
            )
        self._seen.add(token)
        return {"Authorization": f"Bearer {token}"}

    def secrets(self) -> tuple[str, ...]:
        """Texts that nobody may see."""
        return tuple(self._seen)

    async def _current(self) -> IssuedCredential | None:
        found = self._endpoint.context.plugin
        if found is None:
            return None
        async with self._turn:
            if self._issued is None or _has_expired(self._issued, self._clock.now()):
                self._issued = await exec_plugin.run_plugin(
                    found, self._endpoint.directory, self._where
                )
            return self._issued

    def _content(self, name: str) -> str:
        if not name:
            return ""
        path = self._endpoint.directory / Path(name)
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise Refused(
                problems.kubeconfig_failure(self._where, f"{name} cannot be read")
            ) from None


def _has_expired(issued: IssuedCredential, now: datetime) -> bool:
    return issued.expires is not None and now >= issued.expires
