"""How a machine asks all nodes of its cluster: through its own API, as any client would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.around import Around
from stockman_lab.talos.api.asked import Asked, single
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.api.registry import all_methods
from stockman_lab.talos.health.outcome import Failing, listed_errors

if TYPE_CHECKING:
    from stockman.talos.wire.values import Dynamic
    from stockman_lab.talos.api.call import ApiLand, ApiMachine, Call

_SERVICE = "machine.MachineService"


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks with the roles of who asked for the check."""

    call: Call

    @property
    def asks_one_by_one(self) -> bool:
        """Since 1.14 every node is asked by itself."""
        return self.call.machine.at_least("1.14")

    async def all_nodes(self, method: str, nodes: Sequence[str]) -> list[tuple[str, Dynamic]]:
        """Replies of all nodes; those that do not answer make the check fail."""
        reply = await self._asked(method, {"nodes": list(nodes)})
        errors, all_nodes = [], []
        for message in reply.messages:
            node = message.metadata.hostname
            if message.metadata.error:
                errors.append(f"{node}: {_rpc_error(message.metadata)}")
            else:
                all_nodes.append((node, message))
        if errors:
            raise Failing(listed_errors(errors))
        return all_nodes

    async def one_node(self, method: str, node: str) -> Dynamic:
        """The reply of one node."""
        reply = await self._asked(method, {"node": [node]})
        return reply.messages[0]

    async def itself(self, method: str) -> Dynamic:
        """What the machine itself answers."""
        reply = await self._asked(method, {})
        return reply.messages[0]

    async def _asked(self, method: str, headers: Mapping[str, Sequence[str]]) -> Dynamic:
        call = self.call
        around = Around(cast("ApiLand", call.land), call.patience, all_methods())
        machine = cast("ApiMachine", call.machine)
        asked = Asked(
            path=f"/{_SERVICE}/{method}",
            pieces=single(b""),
            headers=headers,
            roles=call.roles,
            peer="127.0.0.1",
        )
        response = call.wire.message(call.wire.method(_SERVICE, method).response)
        try:
            pieces = [piece async for piece in perform(around, machine, asked)]
        except Refusal as refusal:
            raise Failing(str(refusal)) from refusal
        return response.FromString(b"".join(pieces))


def _rpc_error(metadata: Dynamic) -> str:
    if metadata.HasField("status"):
        return str(Refusal(GrpcCode(metadata.status.code), metadata.status.message))
    return str(metadata.error)
