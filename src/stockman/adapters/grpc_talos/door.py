"""`ports.Talos` over gRPC."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from stockman.adapters.grpc_talos.endpoint import Endpoints
from stockman.adapters.grpc_talos.wire import GrpcWire
from stockman.talos.api.api import ApiTalos


class GrpcTalos(ApiTalos):
    """`ports.Talos` over gRPC, to be closed after use."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._grpc = GrpcWire(endpoints)
        super().__init__(self._grpc)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._grpc.close()
