"""Connections: used again, given up in time, and never held up by one slow reader."""

import asyncio
from asyncio import sslproto
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from grpclib.server import Stream
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, Methods
from stockman_lab.world.world import World

from lab.tests.talos.staged import staged
from stockman.adapters.talos.endpoint import TalosEndpoints
from stockman.adapters.talos.transport import GrpcTalos, GrpcTransport
from stockman.model.errors import Rejected, Uncertain, Unreachable
from stockman.model.names import MachineAddress
from stockman.talos.api.calls import encode_request
from stockman.talos.api.transport import TalosRequest
from tests.adapters.grpc_talos.raw_server import raw_server
from tests.adapters.grpc_talos.served import endpoints, identity, served

VERSION, REBOOT = "machine.MachineService/Version", "machine.MachineService/Reboot"
SNAPSHOT = "machine.MachineService/EtcdSnapshot"
PIECE = 64 << 10


def node(world: World) -> MachineAddress:
    return MachineAddress(world.talos.machines[0].address)


def request(world: World, method: str, seconds: float, *, is_read: bool = True) -> TalosRequest:
    message = encode_request(method, {})
    return TalosRequest(
        method=method, node=node(world), message=message, seconds=seconds, is_read=is_read
    )


def at(world: World, text: str) -> TalosEndpoints:
    """A machine that is somewhere else."""
    address = world.talos.machines[0].address
    return TalosEndpoints(
        hosts=(address,), identity=identity(world), connect={f"{address}:50000": text}
    )


def test_calls_share_one_connection(tmp_path: Path) -> None:
    world = staged()

    async def story() -> int:
        async with served(world, tmp_path) as face, GrpcTalos(endpoints(world, face)) as talos:
            async with asyncio.TaskGroup() as group:
                for _ in range(30):
                    group.create_task(talos.hostname(node(world)))
            return sum(door.lines for found in face._open.values() for door in found.doors.values())

    assert asyncio.run(story()) == 1


def test_closing_a_connection_works_where_asyncio_forgets_closed_transports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = staged()

    def abort(transport: sslproto._SSLProtocolTransport) -> None:
        """Raise where Python 3.11.2 does: newer versions ignore a transport that was closed."""
        raise AttributeError(transport)

    async def story() -> int:
        async with served(world, tmp_path) as face, GrpcTalos(endpoints(world, face)) as talos:
            await talos.hostname(node(world))
            monkeypatch.setattr(sslproto._SSLProtocolTransport, "abort", abort)
        return len(asyncio.all_tasks())

    assert asyncio.run(story()) == 1


def test_a_slow_reader_is_not_overrun_and_holds_nobody_up(tmp_path: Path) -> None:
    world, methods = staged(), Methods()
    rows = [0]

    @methods.streamed("machine.MachineService", "EtcdSnapshot")
    async def endless(call: Call) -> AsyncIterator[Fields]:
        del call
        while True:
            rows[0] += 1
            yield {"bytes": bytes(PIECE)}

    @methods.method("machine.MachineService", "Version")
    def version(call: Call) -> Fields:
        del call
        return {
            "version": {"tag": "v1.13.9"},
            "platform": {"name": "nocloud", "mode": "cloud"},
        }

    async def story() -> tuple[str, int]:
        async with (
            served(world, tmp_path, methods) as face,
            GrpcTalos(endpoints(world, face)) as talos,
            aclosing(talos.etcd_snapshot(node(world))) as pieces,
        ):
            await anext(pieces)
            for _ in range(20):
                version = await talos.version(node(world))
            return version.tag, rows[0]

    tag, sent = asyncio.run(story())

    assert tag == "v1.13.9"
    assert sent * PIECE < 4 << 20


def test_a_stream_that_breaks_off_in_the_middle_says_so(tmp_path: Path) -> None:
    world, methods = staged(), Methods()
    going_on = asyncio.Event()

    @methods.streamed("machine.MachineService", "EtcdSnapshot")
    async def halting(call: Call) -> AsyncIterator[Fields]:
        del call
        yield {"bytes": bytes(PIECE)}
        await going_on.wait()

    async def story() -> None:
        async with (
            served(world, tmp_path, methods) as face,
            GrpcTalos(endpoints(world, face)) as talos,
            aclosing(talos.etcd_snapshot(node(world))) as pieces,
        ):
            await anext(pieces)
            world.talos.power_off(world.talos.machines[0])
            face.happened()
            await anext(pieces)

    with pytest.raises(Unreachable) as caught:
        asyncio.run(story())

    assert caught.value.problem.code == "talos.silent"


@pytest.mark.parametrize(("method", "kind"), [(VERSION, Unreachable), (REBOOT, Uncertain)])
def test_a_call_that_is_not_answered_is_given_up(
    tmp_path: Path, method: str, kind: type[Exception]
) -> None:
    world = staged()
    world.faults.add(Fault(Point.TALOS_CALL, Effect.HANG, times=None))

    async def story() -> None:
        async with served(world, tmp_path) as face:
            wire = GrpcTransport(endpoints(world, face))
            try:
                await wire.unary(request(world, method, 0.2, is_read=method == VERSION))
            finally:
                await wire.close()

    with pytest.raises(kind):
        asyncio.run(story())


def test_a_stream_that_falls_silent_is_given_up(tmp_path: Path) -> None:
    world = staged()
    world.faults.add(Fault(Point.TALOS_CALL, Effect.HANG, times=None))

    async def story() -> None:
        async with served(world, tmp_path) as face:
            wire = GrpcTransport(endpoints(world, face))
            try:
                async for _ in wire.stream(request(world, SNAPSHOT, 0.2)):
                    pass
            finally:
                await wire.close()

    with pytest.raises(Unreachable, match=r"talos\.silent"):
        asyncio.run(story())


def test_a_dead_connection_leaves_limits_around_it_alone(tmp_path: Path) -> None:
    """The library wakes up who waits by cancelling them."""
    world = staged()
    world.faults.add(Fault(Point.TALOS_CALL, Effect.CUT, {"method": "Version"}, times=None))

    async def story() -> int:
        async with served(world, tmp_path) as face, GrpcTalos(endpoints(world, face)) as talos:
            with pytest.raises(Unreachable):
                await talos.version(node(world))
            task = asyncio.current_task()
            assert task is not None
            return task.cancelling()

    assert asyncio.run(story()) == 0


@pytest.mark.parametrize(
    ("method", "times", "kind"), [(VERSION, 2, Unreachable), (REBOOT, 1, Uncertain)]
)
def test_a_read_is_repeated_once_and_a_change_never(
    tmp_path: Path, method: str, times: int, kind: type[Exception]
) -> None:
    world, heard = staged(), list[str]()
    machine = world.talos.machines[0]

    async def answering(stream: Stream[bytes, bytes]) -> None:
        await stream.recv_message()
        heard.append(method)
        stream._stream._transport.abort()

    async def story() -> None:
        async with (
            served(world, tmp_path),
            raw_server(machine, tmp_path, f"/{method}", answering) as place,
        ):
            wire = GrpcTransport(at(world, place))
            try:
                await wire.unary(request(world, method, 5.0, is_read=times > 1))
            finally:
                await wire.close()

    with pytest.raises(kind):
        asyncio.run(story())

    assert heard == [method] * times


@pytest.mark.parametrize("size", [33 << 20, 0])
def test_an_answer_that_is_too_large_or_none_is_not_taken(tmp_path: Path, size: int) -> None:
    world = staged()
    machine = world.talos.machines[0]

    async def answering(stream: Stream[bytes, bytes]) -> None:
        await stream.recv_message()
        if size:
            await stream.send_message(bytes(size))

    async def story() -> None:
        async with (
            served(world, tmp_path),
            raw_server(machine, tmp_path, f"/{VERSION}", answering) as place,
            GrpcTalos(at(world, place)) as talos,
        ):
            await talos.version(node(world))

    with pytest.raises((Rejected, Unreachable)) as caught:
        asyncio.run(story())

    assert caught.value.problem.code == ("talos.answer" if size else "talos.silent")


def test_a_file_that_cannot_be_read_is_not_taken_for_a_dead_connection(tmp_path: Path) -> None:
    world = staged()

    async def unreadable() -> AsyncIterator[bytes]:
        yield bytes(PIECE)
        raise OSError("the disk is gone")

    async def story() -> str:
        async with served(world, tmp_path) as face, GrpcTalos(endpoints(world, face)) as talos:
            with pytest.raises(OSError, match="the disk is gone"):
                await talos.send_etcd_snapshot(node(world), unreadable())
            return (await talos.version(node(world))).tag

    assert asyncio.run(story()) == "v1.13.9"
