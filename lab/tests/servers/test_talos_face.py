"""Machines answer over TLS while they are up, to whom they know, and never get stuck."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from grpclib.client import UnaryStreamMethod, UnaryUnaryMethod
from grpclib.const import Status
from grpclib.exceptions import GRPCError, StreamTerminatedError
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ResponseReceived, StreamEnded, StreamReset, TrailersReceived
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.core.timeline import Timeline, TimelineState
from stockman_lab.servers.listener import PortTaken
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.talos_servers import Keeping, TalosServers
from stockman_lab.talos.api.call import Call
from stockman_lab.world.world import World

from lab.tests.servers.talos_client import Wired, admin, context, served, today
from lab.tests.talos.api.pretended import PretendedLand, PretendedMachine, client, few_methods
from stockman.crypto.certificates import Purpose
from stockman.crypto.pem import CertificateAndKey
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import Fields, new_message

VERSION = "/machine.MachineService/Version"
READ = "/machine.MachineService/Read"
EVENTS = "/machine.MachineService/Events"
APPLY = "/machine.MachineService/ApplyConfiguration"
BROKEN = (ConnectionError, StreamTerminatedError, ssl.SSLError)


def machine(address: str = "127.0.0.1", minor: str = "1.13") -> PretendedMachine:
    return PretendedMachine(f"at-{address}", [address], minor, today=today())


def test_who_is_known_is_answered(tmp_path: Path) -> None:
    one = machine()

    result = served(tmp_path, [one], lambda wired: wired.ask(one, VERSION, who=admin()))

    assert b"v1.13.0" in result


def test_a_stream_arrives_whole(tmp_path: Path) -> None:
    one = machine()
    raw = new_message(load_api_schema("1.13"), "machine.ReadRequest", {"path": "a/b/c"})

    result = served(
        tmp_path, [one], lambda wired: wired.stream(one, READ, raw.SerializeToString(), admin())
    )

    assert result == [b"\x12\x01a", b"\x12\x01b", b"\x12\x01c"]


def test_in_maintenance_anybody_is_answered(tmp_path: Path) -> None:
    one = machine()
    one.enter_maintenance()

    assert b"v1.13.0" in served(tmp_path, [one], lambda wired: wired.ask(one, VERSION))


def test_roles_are_those_of_the_certificate(tmp_path: Path) -> None:
    one = machine()

    with pytest.raises(GRPCError) as raised:
        served(tmp_path, [one], lambda wired: wired.ask(one, READ, who=admin("os:reader")))

    assert (raised.value.status, raised.value.message) == (
        Status.PERMISSION_DENIED,
        "not authorized",
    )


@pytest.mark.parametrize("kind", ["nobody", "expired", "foreign", "a server", "both"])
def test_who_is_not_known_is_not_let_in(tmp_path: Path, kind: str) -> None:
    one, start = machine(), today() - timedelta(hours=1)
    certificate_and_keys: dict[str, CertificateAndKey | None] = {
        "nobody": None,
        "expired": client(start - timedelta(days=2), "os:admin"),
        "foreign": client(start, "os:admin", seed=2),
        "a server": client(start, "os:admin", purposes=(Purpose.SERVER,)),
        "both": client(start, "os:admin", purposes=(Purpose.CLIENT, Purpose.SERVER)),
    }

    with pytest.raises(BROKEN):
        served(
            tmp_path, [one], lambda wired: wired.ask(one, VERSION, who=certificate_and_keys[kind])
        )


def test_a_certificate_ends_by_the_clock_of_the_machine(tmp_path: Path) -> None:
    one = machine()
    one.clock = (today() + timedelta(days=1)).timestamp()

    with pytest.raises(BROKEN):
        served(tmp_path, [one], lambda wired: wired.ask(one, VERSION, who=admin()))


def test_metadata_leads_to_other_machines(tmp_path: Path) -> None:
    first, second = machine("127.0.0.1"), machine("127.0.0.2", "1.14")

    result = served(
        tmp_path,
        [first, second],
        lambda wired: wired.ask(first, VERSION, who=admin(), node="127.0.0.2"),
    )

    assert b"v1.14.0" in result


def test_refusals_keep_their_words(tmp_path: Path) -> None:
    one = machine()

    with pytest.raises(GRPCError) as raised:
        served(tmp_path, [one], lambda wired: wired.ask(one, "/machine.X/Y", who=admin()))

    assert raised.value.status is Status.UNIMPLEMENTED
    assert raised.value.message == "unknown service machine.X"


@pytest.mark.parametrize(
    ("minor", "in_maintenance", "status", "begin"),
    [
        (
            "1.13",
            False,
            Status.INTERNAL,
            "failed proxying s2c: rpc error: code = ResourceExhausted",
        ),
        ("1.12", True, Status.RESOURCE_EXHAUSTED, "grpc: received message larger than max (335"),
    ],
)
def test_a_message_that_is_too_large_is_refused(
    tmp_path: Path, minor: str, in_maintenance: bool, status: Status, begin: str
) -> None:
    one = machine(minor=minor)
    if in_maintenance:
        one.enter_maintenance()

    with pytest.raises(GRPCError) as raised:
        served(
            tmp_path,
            [one],
            lambda wired: wired.ask(
                one, APPLY, bytes(33_554_433), None if in_maintenance else admin()
            ),
        )

    assert raised.value.status is status
    assert str(raised.value.message).startswith(begin)


def test_a_large_message_passes(tmp_path: Path) -> None:
    one = machine()
    raw = new_message(
        load_api_schema("1.13"), "machine.ApplyConfigurationRequest", {"data": bytes(8 << 20)}
    )

    result = served(
        tmp_path, [one], lambda wired: wired.ask(one, APPLY, raw.SerializeToString(), admin())
    )

    assert str(8 << 20).encode() in result


def test_a_cut_connection_answers_nothing(tmp_path: Path) -> None:
    one = machine()

    async def steps(wired: Wired) -> None:
        wired.land.faults.add(Fault(Point.TALOS_CALL, Effect.CUT))
        await wired.ask(one, VERSION, who=admin())

    with pytest.raises(BROKEN):
        served(tmp_path, [one], steps)


def test_a_machine_that_goes_down_lets_nobody_in(tmp_path: Path) -> None:
    one = machine()

    async def steps(wired: Wired) -> None:
        place = wired.face.place_of(one, "127.0.0.1")
        assert place is not None
        one.api = None
        wired.face.reconcile()
        assert wired.face.place_of(one, "127.0.0.1") is None
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*place)

    served(tmp_path, [one], steps)


def test_a_reboot_breaks_connections_and_the_door_opens_again(tmp_path: Path) -> None:
    one = machine()
    seen: list[bytes] = []

    async def follow(wired: Wired) -> None:
        async with (
            wired.channel(one, admin()) as channel,
            UnaryStreamMethod(channel, EVENTS, bytes, bytes).open() as stream,
        ):
            await stream.send_message(b"", end=True)
            while (message := await stream.recv_message()) is not None:
                seen.append(message)
                if len(seen) == 1 and one.api is not None:
                    one.api.boot += 1
                    wired.face.happened()

    async def steps(wired: Wired) -> bytes:
        with pytest.raises((GRPCError, *BROKEN)):
            await follow(wired)
        return await wired.ask(one, VERSION, who=admin())

    assert b"v1.13.0" in served(tmp_path, [one], steps)
    assert len(seen) == 2


def test_who_is_connected_when_a_machine_goes_down_is_cut_off(tmp_path: Path) -> None:
    one = machine()

    async def steps(wired: Wired) -> bool:
        place = wired.face.place_of(one, "127.0.0.1")
        assert place is not None
        reader, writer = await asyncio.open_connection(*place, ssl=context(admin(), tmp_path))
        await reader.read(1)
        one.api = None
        wired.face.happened()
        await reader.read()
        writer.close()
        return reader.at_eof()

    assert served(tmp_path, [one], steps)


def test_a_machine_that_is_as_it_was_is_left_alone(tmp_path: Path) -> None:
    one = machine()

    async def steps(wired: Wired) -> tuple[object, object]:
        before = wired.face.place_of(one, "127.0.0.1")
        wired.face.happened()
        return before, wired.face.place_of(one, "127.0.0.1")

    before, after = served(tmp_path, [one], steps)

    assert before == after


def test_an_address_moves_from_one_machine_to_another(tmp_path: Path) -> None:
    first, second = machine("127.0.0.1"), machine("127.0.0.2")
    first.addresses.append("127.0.0.3")

    async def steps(wired: Wired) -> list[bool]:
        first.addresses.remove("127.0.0.3")
        second.addresses.append("127.0.0.3")
        wired.face.reconcile()
        return [wired.face.place_of(one, "127.0.0.3") is None for one in (first, second)]

    assert served(tmp_path, [first, second], steps) == [True, False]


def test_machines_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    one = machine()

    async def steps(wired: Wired) -> object:
        wired.land.machines.clear()
        wired.face.reconcile()
        return wired.face.place_of(one, "127.0.0.1")

    assert served(tmp_path, [one], steps) is None


SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
UNKNOWN = b"\x00\x00\x04\x5f\x00\x00\x00\x00\x00abcd"
HEADERS = b"\x00\x00\x05\x01\x05\x00\x00\x00\x01"


async def after(
    wired: Wired, pretended_machine: PretendedMachine, data: bytes, tls: ssl.SSLContext | None
) -> bytes:
    """What is answered after somebody else sent something."""
    place = wired.face.place_of(pretended_machine, "127.0.0.1")
    assert place is not None
    _, writer = await asyncio.open_connection(*place, ssl=tls)
    writer.write(data)
    await writer.drain()
    result = await wired.ask(pretended_machine, VERSION, who=admin())
    writer.close()
    return result


async def spoken(
    wired: Wired, pretended_machine: PretendedMachine, headers: list[tuple[str, str]], body: bytes
) -> dict[str, str]:
    """The headers that are answered to a request written by hand."""
    place = wired.face.place_of(pretended_machine, "127.0.0.1")
    assert place is not None
    reader, writer = await asyncio.open_connection(*place, ssl=context(admin(), wired.scratch))
    http2 = H2Connection(H2Configuration(header_encoding="utf-8"))
    http2.initiate_connection()
    http2.send_headers(1, headers)
    http2.send_data(1, body, end_stream=True)
    writer.write(http2.data_to_send())
    values: dict[str, str] = {}
    ended = False
    while not ended:
        events = http2.receive_data(await reader.read(65536))
        for event in events:
            if isinstance(event, ResponseReceived | TrailersReceived):
                values |= {str(name): str(value) for name, value in event.headers}
            ended = ended or isinstance(event, StreamEnded | StreamReset)
    writer.close()
    return values


CALL = [
    (":method", "POST"),
    (":scheme", "https"),
    (":path", VERSION),
    (":authority", "lab"),
    ("content-type", "application/grpc"),
    ("te", "trailers"),
]


def test_a_deadline_ends_a_call(tmp_path: Path) -> None:
    one = machine()

    async def steps(wired: Wired) -> dict[str, str]:
        wired.land.faults.add(Fault(Point.TALOS_CALL, Effect.HANG))
        return await spoken(wired, one, [*CALL, ("grpc-timeout", "10m")], b"\x00\x00\x00\x00\x00")

    result = served(tmp_path, [one], steps)

    assert (result["grpc-status"], result["grpc-message"]) == ("4", "context deadline exceeded")


def test_a_client_that_takes_nothing_more_slows_the_machine_down(tmp_path: Path) -> None:
    one, methods, made = machine(), few_methods(), [0]

    @methods.streamed("machine.MachineService", "Dmesg")
    async def dmesg(call: Call) -> AsyncIterator[Fields]:
        del call
        for _ in range(400):
            made[0] += 1
            yield {"bytes": bytes(65_536)}

    async def steps(wired: Wired) -> tuple[int, int]:
        async with wired.channel(one, admin()) as channel:
            path = "/machine.MachineService/Dmesg"
            async with UnaryStreamMethod(channel, path, bytes, bytes).open() as stream:
                await stream.send_message(b"", end=True)
                await stream.recv_message()
                await wired.ask(one, VERSION, who=admin())
                early, count = made[0], 1
                while await stream.recv_message() is not None:
                    count += 1
        return early, count

    early, count = served(tmp_path, [one], steps, methods)

    assert early < 200
    assert count == 400


def test_a_mistake_of_the_lab_breaks_one_call_alone(tmp_path: Path) -> None:
    one, methods, names = machine(), few_methods(), list[str]()

    @methods.method("machine.MachineService", "Hostname")
    def hostname(call: Call) -> Fields:
        raise ZeroDivisionError

    async def steps(wired: Wired) -> bytes:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, about: names.append(type(about["exception"]).__name__))
        with pytest.raises((GRPCError, *BROKEN)):
            await wired.ask(one, "/machine.MachineService/Hostname", who=admin())
        return await wired.ask(one, VERSION, who=admin())

    assert b"v1.13.0" in served(tmp_path, [one], steps, methods)
    assert names == ["ZeroDivisionError"]


def test_many_calls_wait_side_by_side_on_one_connection(tmp_path: Path) -> None:
    one, methods, waiting = machine(), few_methods(), list[str]()

    @methods.method("machine.MachineService", "Hostname")
    async def hostname(call: Call) -> Fields:
        waiting.append(call.peer)
        while len(waiting) < 300:
            await call.changed()
        return {}

    async def steps(wired: Wired) -> int:
        async with wired.channel(one, admin()) as channel:
            await UnaryUnaryMethod(channel, VERSION, bytes, bytes)(b"")
            method = UnaryUnaryMethod(channel, "/machine.MachineService/Hostname", bytes, bytes)
            calls = [asyncio.ensure_future(method(b"")) for _ in range(300)]
            while len(waiting) < 300:
                await UnaryUnaryMethod(channel, VERSION, bytes, bytes)(b"")
            wired.face.happened()
            return len(await asyncio.gather(*calls))

    assert served(tmp_path, [one], steps, methods) == 300


def test_a_port_that_somebody_else_has_is_told_and_tried_again(tmp_path: Path) -> None:
    one = machine("127.0.0.4")
    one.is_controlplane = False
    texts: list[str] = []

    async def run() -> tuple[int, int]:
        with socket.socket() as other:
            other.bind(("127.0.0.4", 0))
            other.listen()
            port = other.getsockname()[1]
            keeping = Keeping(lambda machine, address, _: (address, port), texts.append)
            pace = Pace(World.new(), None)
            face = TalosServers(PretendedLand(one), pace, tmp_path, keeping, few_methods())
            with pytest.raises(PortTaken):
                face.reconcile()
            face.happened()
        face.happened()
        place = face.place_of(one, "127.0.0.4")
        face.stop()
        assert place is not None
        return port, place[1]

    wanted, got = asyncio.run(run())

    assert wanted == got
    assert texts == [f"somebody else listens at 127.0.0.4:{wanted}"]


def test_what_a_call_began_is_not_over_before_somebody_can_watch_it(tmp_path: Path) -> None:
    one, methods, world = machine(), few_methods(), World.new()
    happened: list[str] = []
    world.timeline = Timeline(
        TimelineState(now=world.now), lambda name, arguments: happened.append(name)
    )

    @methods.method("machine.MachineService", "Shutdown")
    def shutdown(call: Call) -> Fields:
        del call
        world.timeline.after(30.0, "down", {})
        return {"actor_id": "x"}

    async def steps(wired: Wired) -> list[str]:
        await wired.ask(one, "/machine.MachineService/Shutdown", who=admin())
        await wired.ask(one, VERSION, who=admin())
        before = list(happened)
        while not happened:
            await wired.face.patience.changed()
        return before

    assert served(tmp_path, [one], steps, methods, world) == []
    assert happened == ["down"]
