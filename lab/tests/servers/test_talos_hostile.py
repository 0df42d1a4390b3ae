"""Whoever connects and misbehaves does not keep others from being answered."""

from __future__ import annotations

import asyncio
import resource
import ssl
from pathlib import Path

import pytest
from grpclib.client import Channel, StreamUnaryMethod
from grpclib.exceptions import GRPCError, StreamTerminatedError
from h2.config import H2Configuration
from h2.connection import H2Connection
from stockman_lab.core.dice import Dice

from lab.tests.servers.talos_client import RawCodec, Wired, admin, context, served, today
from lab.tests.talos.api.pretended import PretendedApi, PretendedMachine

VERSION = "/machine.MachineService/Version"
RECOVER = "/machine.MachineService/EtcdRecover"
_SPARE = 200


def machine() -> PretendedMachine:
    return PretendedMachine("m1", ["127.0.0.1"], "1.13", today=today())


def headers(path: str) -> list[tuple[str, str]]:
    return [
        (":method", "POST"),
        (":scheme", "https"),
        (":path", path),
        (":authority", "lab"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ]


def test_hundreds_of_half_open_connections_leave_room_for_others(tmp_path: Path) -> None:
    one = machine()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    count = min(2_000, (most - _SPARE) // 2)

    async def steps(wired: Wired) -> bytes:
        place = wired.face.place_of(one, "127.0.0.1")
        assert place is not None
        opened = []
        for number in range(count):
            _, writer = await asyncio.open_connection(*place)
            if number % 2:
                writer.write(b"\x16\x03\x01")  # a greeting that does not go on
            opened.append(writer)
        steps = await wired.ask(one, VERSION, who=admin())
        for writer in opened:
            writer.close()
        return steps

    assert b"v1.13.0" in served(tmp_path, [one], steps)
    assert count > 100


def test_streams_that_end_in_the_middle_of_a_message_are_no_trouble(tmp_path: Path) -> None:
    one, tls = machine(), context(admin(), tmp_path)

    async def broken(wired: Wired, data: bytes, *, end: bool, reset: bool) -> bytes:
        place = wired.face.place_of(one, "127.0.0.1")
        assert place is not None
        http2 = H2Connection(H2Configuration())
        http2.initiate_connection()
        http2.send_headers(1, headers(RECOVER))
        http2.send_data(1, data, end_stream=end)
        if reset:
            http2.reset_stream(1)
        _, writer = await asyncio.open_connection(*place, ssl=tls)
        writer.write(http2.data_to_send())
        await writer.drain()
        writer.close()
        return await wired.ask(one, VERSION, who=admin())

    pieces = [b"", b"\0", b"\0\0\0\0\x09abc", b"\x01\0\0\0\x03abc", b"\0\xff\xff\xff\xffa"]
    for data in pieces:
        for end, reset in ((True, False), (False, True), (False, False)):

            def steps(
                wired: Wired, data: bytes = data, end: bool = end, reset: bool = reset
            ) -> object:
                return broken(wired, data, end=end, reset=reset)

            assert b"v1.13.0" in served(tmp_path, [one], steps)  # type: ignore[arg-type]


def test_any_bytes_after_the_preface_are_no_trouble(tmp_path: Path) -> None:
    one, tls, dice = machine(), context(admin(), tmp_path), Dice(5)

    async def steps(wired: Wired) -> bytes:
        place = wired.face.place_of(one, "127.0.0.1")
        assert place is not None
        for _ in range(40):
            _, writer = await asyncio.open_connection(*place, ssl=tls)
            writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + dice.random_bytes(dice.below(200)))
            await writer.drain()
            writer.close()
        return await wired.ask(one, VERSION, who=admin())

    assert b"v1.13.0" in served(tmp_path, [one], steps)


def test_an_upload_that_is_cancelled_leaves_the_machine_alone(tmp_path: Path) -> None:
    one = machine()

    async def steps(wired: Wired) -> bytes:
        place = wired.face.place_of(one, "127.0.0.1")
        assert place is not None
        channel = Channel(*place, codec=RawCodec(), ssl=context(admin(), tmp_path))
        try:
            async with StreamUnaryMethod(channel, RECOVER, bytes, bytes).open(timeout=20) as stream:
                await stream.send_message(b"\x0a\x04wool")
                await stream.cancel()
        except (GRPCError, StreamTerminatedError):
            pass
        channel.close()
        return await wired.ask(one, VERSION, who=admin())

    assert b"v1.13.0" in served(tmp_path, [one], steps)


class NoAuthority(PretendedApi):
    """An API whose configuration holds something else where its authority should be."""

    @property
    def ca(self) -> str:
        return "wool"


def test_a_machine_without_a_real_authority_lets_nobody_in_and_says_nothing(tmp_path: Path) -> None:
    one = machine()
    one.api = NoAuthority(one)

    with pytest.raises((ConnectionError, ssl.SSLError)):
        served(tmp_path, [one], lambda wired: wired.ask(one, VERSION, who=admin()))
