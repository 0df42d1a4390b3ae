"""Keys and configurations go over the wire, and nowhere else."""

import asyncio
import logging
import traceback
from pathlib import Path

import pytest
from stockman_lab.core.faults import Effect, Fault, Point

from lab.tests.talos.staged import staged
from stockman.adapters.talos.transport import GrpcTalos
from stockman.model.errors import StockmanError
from stockman.model.names import MachineAddress
from stockman.model.secret import Secret
from stockman.talos.api.client import TalosClient
from stockman.talos.records.operations import ApplyConfigurationRequest, ApplyMode
from tests.adapters.grpc_talos.served import endpoints, identity, served

CANARY = "c4n4ry0123456789abcdef"
CONFIG = f"version: v1alpha1\nmachine:\n  type: worker\n  token: {CANARY}\n"


async def apply(talos: TalosClient, node: MachineAddress) -> None:
    application = ApplyConfigurationRequest(text=Secret(CONFIG), mode=ApplyMode.AUTO)
    await talos.apply_configuration(node, application)


async def write(talos: TalosClient, node: MachineAddress) -> None:
    await talos.write_meta(node, 12, Secret(CANARY))


@pytest.mark.parametrize("act", [apply, write])
@pytest.mark.parametrize("effect", [Effect.FAIL, Effect.CUT, Effect.DO_THEN_FAIL])
def test_no_secret_turns_up_in_logs_errors_and_traces(
    act: object, effect: Effect, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    world = staged()
    echo = Fault(Point.TALOS_CALL, effect, times=None, status=2, message=f"bad {CANARY}\n{CONFIG}")
    world.faults.add(echo)
    key = identity(world).key.reveal().splitlines()[1]

    async def story() -> None:
        node = MachineAddress(world.talos.machines[0].address)
        async with served(world, tmp_path) as face, GrpcTalos(endpoints(world, face)) as talos:
            await act(talos, node)  # type: ignore[operator]  # one of those above

    with pytest.raises(StockmanError) as caught:
        asyncio.run(story())

    error = caught.value
    shown = [caplog.text, str(error.problem), repr(error.__cause__), repr(error.__context__)]
    shown += traceback.format_exception(error)
    assert echo.struck > 0
    assert [text for text in shown if CANARY in text or key in text] == []


def test_what_holds_a_secret_does_not_show_it(tmp_path: Path) -> None:
    world = staged()
    known = identity(world)
    key = known.key.reveal().splitlines()[1]

    async def story() -> str:
        async with served(world, tmp_path) as face:
            talos = GrpcTalos(endpoints(world, face))
            return f"{known!r} {talos!r} {vars(talos)!r} {vars(talos._grpc)!r}"

    assert key not in asyncio.run(story())
