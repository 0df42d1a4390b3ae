"""Credentials from the kubeconfig, its files, or a credential plugin."""

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
    """CA and client certificate of connections. PEM texts."""

    ca: str
    """Empty: the CAs of the system."""
    crt: str = ""
    """Empty: no client certificate."""
    key: Secret | None = None


class Credentials:
    """Provides the current credentials."""

    def __init__(self, endpoint: KubernetesEndpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._credential: IssuedCredential | None = None
        self._turn = asyncio.Lock()
        self._used_tokens: set[str] = set()
        plugin = endpoint.context.plugin
        if plugin is not None and not endpoint.allows_plugins:
            why = f"the plugin {plugin.command!r} is not allowed"
            raise Refused(problems.exec_plugin(self._where, why))

    @property
    def _where(self) -> str:
        return f"context {self._endpoint.context.name}"

    async def identity(self) -> TlsIdentity:
        """Return CA and client certificate."""
        context = self._endpoint.context
        ca = context.ca or self._content(context.ca_file)
        credential = await self._current()
        if credential is not None and credential.crt:
            return TlsIdentity(ca=ca, crt=credential.crt, key=credential.key)
        crt = context.crt or self._content(context.crt_file)
        key_text = self._content(context.key_file)
        key = context.key or (Secret(key_text, resolved=True) if key_text else None)
        if bool(crt) != (key is not None):
            raise Refused(
                problems.kubeconfig_failure(
                    self._where, "its client certificate or its key is missing"
                )
            )
        return TlsIdentity(ca=ca, crt=crt, key=key)

    async def headers(self) -> dict[str, str]:
        """Return the authentication headers. Empty: the client certificate is used."""
        context = self._endpoint.context
        credential = await self._current()
        token = context.token.reveal() if context.token is not None else ""
        if context.token_file:
            token = self._content(context.token_file).strip() or token
        if credential is not None and credential.token is not None:
            token = credential.token.reveal()
        if not token:
            return {}
        if not token.isascii() or not token.isprintable():
            raise Refused(
                problems.kubeconfig_failure(self._where, "its token contains invalid characters")
            )
        self._used_tokens.add(token)
        return {"Authorization": f"Bearer {token}"}

    def secrets(self) -> tuple[str, ...]:
        """Return the secret texts to mask."""
        return tuple(self._used_tokens)

    async def _current(self) -> IssuedCredential | None:
        plugin = self._endpoint.context.plugin
        if plugin is None:
            return None
        async with self._turn:
            if self._credential is None or _has_expired(self._credential, self._clock.now()):
                self._credential = await exec_plugin.run_plugin(
                    plugin, self._endpoint.directory, self._where
                )
            return self._credential

    def _content(self, name: str) -> str:
        if not name:
            return ""
        path = self._endpoint.directory / Path(name)
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise Refused(problems.kubeconfig_failure(self._where, f"cannot read {name}")) from None


def _has_expired(credential: IssuedCredential, now: datetime) -> bool:
    return credential.expires is not None and now >= credential.expires
