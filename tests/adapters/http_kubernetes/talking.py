"""An adapter that talks to a scripted server, with a clock that only tests move."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from stockman.adapters.kubernetes.credentials import KubernetesEndpoint, KubernetesTimeouts
from stockman.adapters.kubernetes.transport import HttpKubernetes
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.kubeconfig import KubeconfigContext
from stockman.model.secret import Secret
from tests.adapters.http_proxmox.scripted import Answer, ScriptedServer
from tests.kubernetes.scripted import StandingClock

T = TypeVar("T")
CANARY = "canary-9d1f-0c4e-secret"
QUICK = KubernetesTimeouts(connect=2, longest=0.2)
VERSION = {"gitVersion": "v1.36.3"}
NODES: dict[str, object] = {"metadata": {"resourceVersion": "7"}, "items": []}

Story = Callable[[KubernetesClient], Awaitable[T]]


def said(content: object, status: int = 200, **headers: str) -> Answer:
    """An answer in JSON."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer(raw=json.dumps(content).encode(), status=status, headers=pairs)


@dataclass(frozen=True)
class BrokenOff(Answer):
    """An answer whose connection ends before it does."""

    def wire(self) -> bytes:
        body = self.raw or b""
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        return head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(body), body)


def talk(
    server: ScriptedServer,
    story: Story[T],
    *,
    context: Mapping[str, object] | None = None,
    **endpoint: object,
) -> T:
    """What a story comes to that is told to a server which is up while it lasts."""

    async def told() -> T:
        async with server.serving():
            known: dict[str, object] = {
                "name": "admin@meadow",
                "server": server.url,
                "ca": server.identity.ca.crt,
                "token": Secret(CANARY),
                **(context or {}),
            }
            kubeconfig_context = KubeconfigContext(**known)  # type: ignore[arg-type]  # fields of it
            where = KubernetesEndpoint(context=kubeconfig_context, **endpoint)  # type: ignore[arg-type]  # fields of it
            async with HttpKubernetes(where, StandingClock()) as kubernetes:
                return await story(kubernetes)

    return asyncio.run(told())
