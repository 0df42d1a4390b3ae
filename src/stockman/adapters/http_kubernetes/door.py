"""`ports.Kubernetes` over HTTPS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stockman.adapters.closing import Closing
from stockman.adapters.http_kubernetes.endpoint import Endpoint
from stockman.adapters.http_kubernetes.wire import HttpWire
from stockman.kubernetes import problems
from stockman.kubernetes.api import ApiKubernetes
from stockman.kubernetes.kubeconfig import read_context
from stockman.model.errors import Refused
from stockman.model.secret import Secret
from stockman.ports.clock import Clock


class HttpKubernetes(ApiKubernetes, Closing):
    """`ports.Kubernetes` over HTTPS, to be closed after use."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._http = HttpWire(endpoint, clock)
        super().__init__(self._http, clock)

    async def close(self) -> None:
        await self._http.close()


def endpoint_of(
    kubeconfig: Path,
    context: str = "",
    *,
    connect: Mapping[str, str] | None = None,
    allows_plugins: bool = False,
) -> Endpoint:
    """The cluster that a kubeconfig names; `Refused` where it cannot be used."""
    try:
        text = kubeconfig.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise Refused(problems.unusable(str(kubeconfig), "it cannot be read")) from None
    return Endpoint(
        context=read_context(str(kubeconfig), Secret(text, resolved=True), context),
        directory=kubeconfig.parent,
        connect=connect or {},
        allows_plugins=allows_plugins,
    )
