"""The client of Talos reads every recorded answer of a Talos 1.13.9 machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from stockman.model.errors import (
    Conflict,
    Denied,
    Locked,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
    Unsupported,
)
from stockman.model.names import MachineAddress
from stockman.talos.api.calls import decode_reply
from stockman.talos.api.client import TalosClient
from stockman.talos.api.errors import CallFailure, call_error
from stockman.talos.api.transport import GrpcCode, TalosRequest
from stockman.talos.records.machines import ServiceLogRequest
from stockman.talos.wire.schema import load_api_schema
from tests.real.recorded.answers import Answer, read_answers

FILES = (
    "apply", "bootstrap-after", "bootstrap-fast-thrice", "cosi", "maintenance",
    "reads-prebootstrap", "refusals", "roles",
)  # fmt: skip
NODE = MachineAddress("10.82.0.11")
SCHEMA = load_api_schema("1.13")


class RecordedTransport:
    """Answers every call with one recorded answer; of resources, only of its kind."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def unary(self, request: TalosRequest) -> bytes:
        messages = self._messages(request)
        if request.method.endswith("/Get"):
            return self._one(request, messages)
        (message,) = messages
        return message

    async def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        for message in self._messages(request):
            yield message

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        raise AssertionError("nothing is uploaded")

    def _messages(self, request: TalosRequest) -> list[bytes]:
        if self._answer["code"] != "OK":
            raise call_error(request, failure(self._answer))
        return [encoded(self._answer, message) for message in self._answer["answers"]]

    @staticmethod
    def _one(request: TalosRequest, messages: list[bytes]) -> bytes:
        """Return the resource of a list that a request names, as the machine would."""
        response = SCHEMA.message("cosi.resource.GetRequest").FromString(request.message)
        for message in messages:
            row = decode_reply("cosi.resource.State/List", message)
            if row["resource"]["metadata"]["id"] == response.id:  # type: ignore[index,attr-defined]
                return message
        raise call_error(request, CallFailure(code=GrpcCode.NOT_FOUND, message="not in the list"))


def failure(answer: Answer) -> CallFailure:
    return CallFailure(code=GrpcCode[answer["code"]], message=answer.get("message") or "")


def encoded(answer: Answer, message: Mapping[str, Any]) -> bytes:
    method = SCHEMA.method(answer["service"], answer["method"])
    return ParseDict(dict(message), SCHEMA.message(method.response)()).SerializeToString()


def is_usable(answer: Answer) -> bool:
    """Whether the machine ended the call, and the call was for one machine, as ours are."""
    return answer["code"] in GrpcCode.__members__ and "nodes" not in answer["metadata"]


def all_answers() -> list[tuple[str, Answer]]:
    return [
        (f"{file}: {answer['name']}", answer)
        for file in FILES
        for answer in read_answers(f"talos-1.13.9/{file}.jsonl")
        if is_usable(answer)
    ]


async def lines(stream: AsyncIterable[Any]) -> list[Any]:
    return [item async for item in stream]


Call = Callable[[TalosClient], Awaitable[Any]]
METHODS: dict[str, Call] = {
    "MachineService/Version": lambda talos: talos.version(NODE),
    "MachineService/ServiceList": lambda talos: talos.services(NODE),
    "MachineService/EtcdMemberList": lambda talos: talos.etcd_members(NODE),
    "MachineService/EtcdStatus": lambda talos: talos.etcd_status(NODE),
    "MachineService/EtcdAlarmList": lambda talos: talos.etcd_alarms(NODE),
    "MachineService/Kubeconfig": lambda talos: talos.kubeconfig(NODE),
    "MachineService/Read": lambda talos: talos.read_file(NODE, "/x"),
    "MachineService/Events": lambda talos: lines(talos.events(NODE)),
    "MachineService/Logs": lambda talos: lines(
        talos.service_log(NODE, ServiceLogRequest(service="etcd"))
    ),
    "MachineService/Dmesg": lambda talos: lines(talos.kernel_log(NODE)),
    "TimeService/Time": lambda talos: talos.clock_reading(NODE),
}
RESOURCES: dict[str, tuple[Call, ...]] = {
    "MachineStatuses.runtime.talos.dev": (lambda talos: talos.machine_status(NODE),),
    "SystemInformations.hardware.talos.dev": (lambda talos: talos.system_uuid(NODE),),
    "ExtensionStatuses.runtime.talos.dev": (
        lambda talos: talos.extensions(NODE),
        lambda talos: talos.schematic(NODE),
    ),
    "TimeStatuses.v1alpha1.talos.dev": (lambda talos: talos.time_sync(NODE),),
    "Members.cluster.talos.dev": (lambda talos: talos.neighbours(NODE),),
    "HostnameStatuses.net.talos.dev": (lambda talos: talos.hostname(NODE),),
    "AddressStatuses.net.talos.dev": (lambda talos: talos.addresses(NODE),),
    "LinkStatuses.net.talos.dev": (lambda talos: talos.links(NODE),),
    "Disks.block.talos.dev": (lambda talos: talos.disks(NODE),),
    "SystemDisks.block.talos.dev": (lambda talos: talos.system_disk(NODE),),
    "StaticPodStatuses.kubernetes.talos.dev": (lambda talos: talos.static_pods(NODE),),
    "KubeletSpecs.kubernetes.talos.dev": (lambda talos: talos.kubelet(NODE),),
    "MachineConfigs.config.talos.dev": (lambda talos: talos.machine_configuration(NODE),),
}
ERRORS: dict[str, tuple[type[StockmanError], ...]] = {
    "ABORTED": (Conflict,),
    "ALREADY_EXISTS": (Conflict,),
    "DEADLINE_EXCEEDED": (Unreachable, Uncertain),
    "FAILED_PRECONDITION": (Conflict,),
    "INTERNAL": (Rejected, Uncertain),
    "INVALID_ARGUMENT": (Rejected,),
    "NOT_FOUND": (NotFound,),
    "PERMISSION_DENIED": (Denied, Unsupported),
    "UNAVAILABLE": (Unreachable, Uncertain),
    "UNIMPLEMENTED": (Unsupported,),
    "UNKNOWN": (Rejected, Locked),
}


def calls_for(answer: Answer) -> tuple[Call, ...]:
    if answer["service"] == "cosi.resource.State":
        kind = answer["request"].get("type", "")
        return RESOURCES.get(kind, ()) if answer["method"] == "List" else ()
    name = f"{answer['service'].rpartition('.')[2]}/{answer['method']}"
    return (METHODS[name],) if name in METHODS else ()


async def test_every_recorded_answer_to_a_read_is_read() -> None:
    wrong: list[str] = []
    seen: set[str] = set()

    for where, answer in all_answers():
        for call in calls_for(answer):
            talos = TalosClient(RecordedTransport(answer))
            try:
                await call(talos)
            except NotFound:
                is_empty = answer["code"] == "OK" and answer["method"] == "List"
                if not is_empty and answer["code"] != "NOT_FOUND":
                    wrong.append(f"{where}: not found")
            except StockmanError as error:
                if answer["code"] == "OK" or not isinstance(error, ERRORS[answer["code"]]):
                    wrong.append(f"{where}: {error!r} {error.problem.why}")
            except Exception as error:  # noqa: BLE001  # that is what is looked for
                wrong.append(f"{where}: {error!r}")
            else:
                if answer["code"] != "OK":
                    wrong.append(f"{where}: {answer['code']} is no error")
                seen.add(answer["request"].get("type", answer["method"]))

    assert wrong == []
    assert len(seen) > 15


def test_every_recorded_message_can_be_decoded() -> None:
    wrong: list[str] = []

    for where, answer in all_answers():
        method = f"{answer['service']}/{answer['method']}"
        for message in answer["answers"]:
            content = encoded(answer, message)
            if content and not decode_reply(method, content):
                wrong.append(where)

    assert wrong == []


def test_every_recorded_error_is_an_error_of_its_kind() -> None:
    wrong: list[str] = []

    for where, answer in all_answers():
        if answer["code"] == "OK":
            continue
        method = f"{answer['service']}/{answer['method']}"
        for is_read in (True, False):
            request = TalosRequest(method=method, node=NODE, is_read=is_read)
            error = call_error(request, failure(answer))
            if not isinstance(error, ERRORS[answer["code"]]):
                wrong.append(f"{where}: {answer['code']} {answer.get('message')} is {error!r}")

    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "call", "expected"),
    [
        ("MachineStatuses.runtime.talos.dev", "machine_status", ("running", False)),
        ("HostnameStatuses.net.talos.dev", "hostname", "talos-1"),
    ],
)
async def test_values_are_those_of_the_machine(kind: str, call: str, expected: object) -> None:
    answers = [answer for where, answer in all_answers() if where.startswith("cosi:")]
    answer = next(row for row in answers if row["request"].get("type") == kind)

    result = await getattr(TalosClient(RecordedTransport(answer)), call)(NODE)

    shown = (result.stage, result.ready) if call == "machine_status" else result
    assert shown == expected
