"""`ports.Talos` over gRPC."""

from __future__ import annotations

from stockman.adapters.closing import Closing
from stockman.adapters.grpc_talos.endpoint import Endpoints
from stockman.adapters.grpc_talos.wire import GrpcWire
from stockman.talos.api.api import ApiTalos


class GrpcTalos(ApiTalos, Closing):
    """`ports.Talos` over gRPC, to be closed after use."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._grpc = GrpcWire(endpoints)
        super().__init__(self._grpc)

    async def close(self) -> None:
        await self._grpc.close()
