"""A call finds its function, or the words of the real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from stockman_lab.talos.api.call import IncomingCall, Refusal, single
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import CallContext

from lab.tests.talos.api.pretended import (
    ADMIN,
    READER,
    Asking,
    PretendedLand,
    PretendedMachine,
    PretendedPatience,
    few_methods,
)
from stockman.talos.api.transport import GrpcCode

VERSION = "/machine.MachineService/Version"


def asking(*machines: PretendedMachine) -> Asking:
    return Asking(PretendedLand(*machines))


def machine(minor: str = "1.13") -> PretendedMachine:
    return PretendedMachine("m1", ["127.0.0.2"], minor)


def refused(pretended_machine: PretendedMachine, path: str, raw: bytes = b"") -> Refusal:
    """How a call ends that is written by hand."""
    return refused_pieces(pretended_machine, path, single(raw))


def refused_pieces(
    pretended_machine: PretendedMachine, path: str, pieces: AsyncIterator[bytes]
) -> Refusal:
    context = CallContext(PretendedLand(pretended_machine), PretendedPatience(), few_methods())

    async def call() -> None:
        async for _ in perform(context, pretended_machine, IncomingCall(path, pieces, roles=ADMIN)):
            pass

    with pytest.raises(Refusal) as raised:
        asyncio.run(call())
    return raised.value


def test_a_reply_comes_in_its_envelope() -> None:
    one = machine()
    result = asyncio.run(asking(one).one(one, VERSION))

    assert list(result) == ["messages"]
    assert "'tag': 'v1.13.0'" in str(result["messages"])


def test_services_without_an_envelope_answer_plainly() -> None:
    one = machine()
    result = asyncio.run(asking(one).one(one, "/cosi.resource.State/Get", {"id": "x"}))

    assert result == {"resource": {"metadata": {"id": "x"}}}


def test_a_stream_is_its_messages() -> None:
    one = machine()
    result = asyncio.run(asking(one).all(one, "/machine.MachineService/Read", {"path": "a/b"}))

    assert result == [{"bytes": b"a"}, {"bytes": b"b"}]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/machine.MachineService/Nothing", "unknown method Nothing for service machine.MachineSe"),
        ("/nowhere.Service/X", "unknown service nowhere.Service"),
        ("/securityapi.SecurityService/Certificate", "unknown service securityapi.SecurityServ"),
        ("nothing", 'malformed method name: "nothing"'),
        ("/nothing", 'malformed method name: "/nothing"'),
        ("/machine.MachineService/Dmesg", "method Dmesg not implemented"),
    ],
)
def test_what_is_not_there_is_unimplemented(path: str, message: str) -> None:
    result = refused(machine(), path)

    assert result.code is GrpcCode.UNIMPLEMENTED
    assert result.message.startswith(message)


def test_what_came_later_is_unknown_to_older_machines() -> None:
    result = refused(machine("1.12"), "/machine.LifecycleService/Upgrade")

    assert str(result) == (
        "rpc error: code = Unimplemented desc = unknown service machine.LifecycleService"
    )


def test_a_request_that_is_no_message_is_told_as_the_real_one_does() -> None:
    result = refused(machine(), "/machine.MachineService/Read", b"\xff\xff")

    assert result.code is GrpcCode.INTERNAL
    assert result.message.startswith("grpc: error unmarshalling request: proto: ")


def test_a_caller_who_sends_nothing_is_refused() -> None:
    async def nothing() -> AsyncIterator[bytes]:
        for piece in list[bytes]():
            yield piece

    assert refused_pieces(machine(), VERSION, nothing()).code is GrpcCode.INTERNAL


def test_a_reader_may_not_reboot() -> None:
    one = machine()

    with pytest.raises(Refusal) as raised:
        asyncio.run(asking(one).one(one, "/machine.MachineService/Reboot", roles=READER))
    assert (raised.value.code, raised.value.message) == (
        GrpcCode.PERMISSION_DENIED,
        "not authorized",
    )


def test_who_has_no_role_may_do_nothing() -> None:
    one = machine()

    with pytest.raises(Refusal, match="not authorized"):
        asyncio.run(asking(one).one(one, VERSION, roles=frozenset()))


def test_roles_in_headers_count_only_with_those_who_may_speak_for_others() -> None:
    one, path = machine(), "/machine.MachineService/Reboot"
    headers = {"talos-role": ["os:operator"]}

    async def asked(*roles: str) -> object:
        return await asking(one).one(one, path, roles=frozenset(roles), headers=headers)

    assert asyncio.run(asked("os:impersonator")) == {"messages": [{"actor_id": "os:operator"}]}
    with pytest.raises(Refusal, match="not authorized"):
        asyncio.run(asked("os:reader"))


@pytest.mark.parametrize("minor", ["1.11", "1.12", "1.13", "1.14"])
def test_readers_configure_no_machine_that_has_a_configuration(minor: str) -> None:
    one = machine(minor)

    with pytest.raises(Refusal, match="not authorized"):
        asyncio.run(
            asking(one).one(one, "/machine.MachineService/ApplyConfiguration", roles=READER)
        )


def test_a_worker_refuses_what_is_for_the_control_plane() -> None:
    worker = PretendedMachine("w1", ["127.0.0.9"], is_controlplane=False)

    result = refused(worker, "/machine.MachineService/Kubeconfig")

    assert result.message == "kubeconfig is only available on control plane nodes"


def test_a_machine_that_is_down_answers_nothing() -> None:
    one = machine()
    one.api = None

    assert refused(one, VERSION).code is GrpcCode.UNAVAILABLE


def test_a_call_ends_with_the_boot_that_it_began_in() -> None:
    one = machine()
    context = CallContext(PretendedLand(one), PretendedPatience(), few_methods())
    incoming = IncomingCall("/machine.MachineService/Events", single(b""), roles=ADMIN)
    seen = []

    async def follow() -> None:
        async for piece in perform(context, one, incoming):
            seen.append(piece)
            if len(seen) == 3 and one.api is not None:
                one.api.boot += 1

    with pytest.raises(Refusal, match="error reading from server: EOF"):
        asyncio.run(follow())
    assert len(seen) == 3
