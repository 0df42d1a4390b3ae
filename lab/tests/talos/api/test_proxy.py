"""Machines of the control plane carry calls on, workers do not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.api.call import Refusal

from lab.tests.talos.api.pretended import READER, Asking, PretendedLand, PretendedMachine
from stockman.talos.api.transport import GrpcCode

VERSION = "/machine.MachineService/Version"
READ = "/machine.MachineService/Read"
GET = "/cosi.resource.State/Get"

FIRST, SECOND, WORKER = "127.0.0.1", "127.0.0.2", "127.0.0.3"


class Three:
    """Two machines of the control plane and a worker."""

    def __init__(self) -> None:
        self.first = PretendedMachine("cp-1", [FIRST])
        self.second = PretendedMachine("cp-2", [SECOND], "1.14")
        self.worker = PretendedMachine("work-1", [WORKER], is_controlplane=False)
        self.land = PretendedLand(self.first, self.second, self.worker)
        self.asking = Asking(self.land)

    def ask(self, machine: PretendedMachine, path: str, **headers: list[str]) -> Any:
        return asyncio.run(self.asking.all(machine, path, headers=headers))

    def refusal(self, machine: PretendedMachine, path: str, **headers: list[str]) -> Refusal:
        with pytest.raises(Refusal) as raised:
            self.ask(machine, path, **headers)
        return raised.value


def test_one_node_answers_as_if_it_was_asked_itself() -> None:
    three = Three()

    assert three.ask(three.first, VERSION, node=[SECOND]) == three.ask(three.second, VERSION)


def test_nodes_are_found_by_name_too() -> None:
    three = Three()

    assert three.ask(three.first, VERSION, node=["cp-2"]) == three.ask(three.second, VERSION)


def test_many_answers_become_one_that_says_whose_they_are() -> None:
    three = Three()

    (found,) = three.ask(three.first, VERSION, nodes=[SECOND, "cp-1", WORKER])

    assert [
        (message["metadata"]["hostname"], message["version"]["tag"])
        for message in found["messages"]
    ] == [
        (SECOND, "v1.14.0"),
        ("cp-1", "v1.13.0"),
        (WORKER, "v1.13.0"),
    ]


def test_a_node_that_refuses_does_not_spoil_the_others() -> None:
    three = Three()
    three.second.api = None

    (found,) = three.ask(three.first, VERSION, nodes=[FIRST, SECOND])

    assert found["messages"][0]["version"]["tag"] == "v1.13.0"
    assert found["messages"][1]["metadata"] == {
        "hostname": SECOND,
        "error": "rpc error: code = Unavailable desc = connection error: desc = "
        '"transport: Error while dialing: dial tcp 127.0.0.2:50000: connect: connection refused"',
        "status": {
            "code": 14,
            "message": 'connection error: desc = "transport: Error while dialing: '
            'dial tcp 127.0.0.2:50000: connect: connection refused"',
        },
    }


def test_streams_of_many_are_one_stream() -> None:
    three = Three()
    asking = three.asking.all(
        three.first, READ, {"path": "x"}, headers={"nodes": [FIRST, SECOND, "127.0.0.8"]}
    )

    result = asyncio.run(asking)

    assert [one for one in result if "bytes" in one] == [
        {"metadata": {"hostname": FIRST}, "bytes": b"x"},
        {"metadata": {"hostname": SECOND}, "bytes": b"x"},
    ]
    (failed,) = [one["metadata"] for one in result if "bytes" not in one]
    assert "no route to host" in str(failed)


def test_roles_are_those_of_who_asked_first() -> None:
    three = Three()
    path = "/machine.MachineService/Reboot"

    with pytest.raises(Refusal, match="not authorized"):
        asyncio.run(three.asking.one(three.first, path, roles=READER, headers={"node": [SECOND]}))
    assert three.ask(three.first, path, node=[SECOND]) == [{"messages": [{"actor_id": "os:admin"}]}]


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"node": [FIRST]}, "no request forwarding"),
        ({"nodes": [FIRST]}, "no request forwarding"),
        ({"nodes": [WORKER, FIRST]}, "no request forwarding"),
    ],
)
def test_a_worker_carries_nothing_on(headers: dict[str, list[str]], message: str) -> None:
    three = Three()

    refusal = three.refusal(three.worker, VERSION, **headers)

    assert (refusal.code, refusal.message) == (GrpcCode.PERMISSION_DENIED, message)


@pytest.mark.parametrize("headers", [{"node": [WORKER]}, {"nodes": ["work-1"]}])
def test_a_worker_answers_for_itself_whatever_it_is_called(headers: dict[str, list[str]]) -> None:
    three = Three()

    assert three.ask(three.worker, VERSION, **headers) == three.ask(three.worker, VERSION)


@pytest.mark.parametrize(
    ("path", "headers", "code", "message"),
    [
        (
            VERSION,
            {"node": [FIRST, SECOND]},
            GrpcCode.INVALID_ARGUMENT,
            "node metadata must be single-valued",
        ),
        (
            GET,
            {"nodes": [SECOND]},
            GrpcCode.INVALID_ARGUMENT,
            "one-2-many proxying is not supported for method /cosi.resource.State/Get",
        ),
        (VERSION, {"node": [""]}, GrpcCode.INTERNAL, 'invalid target ""'),
        (
            VERSION,
            {"node": ["127.0.0.2:50000"]},
            GrpcCode.INTERNAL,
            'invalid target "127.0.0.2:50000"',
        ),
        (
            VERSION,
            {"node": ["nobody"]},
            GrpcCode.UNAVAILABLE,
            "dns: A record lookup error: lookup nobody: no such host",
        ),
    ],
)
def test_headers_that_make_no_sense_are_refused(
    path: str, headers: dict[str, list[str]], code: GrpcCode, message: str
) -> None:
    three = Three()

    refusal = three.refusal(three.first, path, **headers)

    assert (refusal.code, refusal.message) == (code, message)


def test_a_machine_that_is_off_is_waited_for_in_vain() -> None:
    three = Three()
    three.second.is_on = False

    refusal = three.refusal(three.first, VERSION, node=[SECOND])

    assert "connect: no route to host" in refusal.message
    assert three.asking.patience.slept == pytest.approx(3.0)


def test_a_call_that_was_carried_on_goes_no_further() -> None:
    three = Three()

    result = three.ask(three.first, VERSION, proxyfrom=["x"], node=[SECOND])

    assert result == three.ask(three.first, VERSION)


def test_machines_of_another_cluster_are_not_trusted() -> None:
    three = Three()
    three.land.machines.append(PretendedMachine("foreign", ["127.0.0.7"], seed=2))

    refusal = three.refusal(three.first, VERSION, node=["127.0.0.7"])

    assert "certificate signed by unknown authority (possibly because of" in refusal.message


def test_machines_without_a_configuration_are_not_trusted() -> None:
    three = Three()
    three.second.enter_maintenance()

    refusal = three.refusal(three.first, VERSION, node=[SECOND])

    assert refusal.message.endswith('x509: certificate signed by unknown authority"')


def test_a_connection_that_breaks_behind_the_proxy_is_told() -> None:
    three = Three()
    three.land.faults.add(Fault(Point.TALOS_CALL, Effect.CUT, {"machine": "cp-2"}))

    refusal = three.refusal(three.first, VERSION, node=[SECOND])

    assert (refusal.code, refusal.message) == (
        GrpcCode.UNAVAILABLE,
        "error reading from server: EOF",
    )
