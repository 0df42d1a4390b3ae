"""`ports.Proxmox` over HTTPS."""

from __future__ import annotations

from stockman.adapters.closing import Closing
from stockman.adapters.http_proxmox.credentials import ApiToken, LateToken, Login
from stockman.adapters.http_proxmox.endpoint import Endpoints
from stockman.adapters.http_proxmox.wire import HttpWire
from stockman.ports.clock import Timekeeper
from stockman.proxmox.api import ApiProxmox
from stockman.proxmox.tasks import Patience


class HttpProxmox(ApiProxmox, Closing):
    """`ports.Proxmox` over HTTPS, to be closed after use."""

    def __init__(
        self,
        endpoints: Endpoints,
        credentials: ApiToken | LateToken | Login,
        clock: Timekeeper,
        patience: Patience | None = None,
    ) -> None:
        self._http = HttpWire(endpoints, credentials, clock)
        super().__init__(self._http, clock, patience)

    async def close(self) -> None:
        await self._http.close()
