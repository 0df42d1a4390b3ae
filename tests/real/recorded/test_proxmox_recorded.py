"""The client of Proxmox VE reads every recorded answer of Proxmox VE 9.1.9."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pytest

from stockman.adapters.proxmox.errors import HttpAnswer, ReplyContext, parse_reply
from stockman.engine.observe.proxmox import observe_proxmox
from stockman.model.errors import (
    Conflict,
    Denied,
    Locked,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
)
from stockman.model.names import Datastore, HostName, Vmid
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ProxmoxQuery
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.errors import UNKNOWN_REQUESTER, error_from_text
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Reply, Request
from stockman.proxmox.vms import GuestRef
from tests.real.recorded.answers import Answer, read_answers

FILE = "pve-9.1.9/answers.jsonl"
BASE = "/api2/json/"
HOST = HostName("pve1")
NOBODY = ReplyContext(requester=UNKNOWN_REQUESTER, secrets=())


class StillClock:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 11, 19, tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nothing waits for {seconds} s")


class RecordedTransport:
    """Answers each request with what was recorded for its method, path and parameters."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = {key_of(answer): answer for answer in answers if answer.get("status")}

    async def call(self, request: Request) -> Reply:
        key = (request.method, "/".join(request.segments), tuple(sorted(request.pairs)))
        answer = self._answers.get(key) or self._answers.get((*key[:2], ()))
        if answer is None:
            answer = {"status": 501, "reason": "not recorded", "body": None}
        return parse_reply(request, raw(answer), NOBODY)


class SingleTransport:
    """Answers every request with one recorded answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def call(self, request: Request) -> Reply:
        return parse_reply(request, raw(self._answer), NOBODY)


def raw(answer: Answer) -> HttpAnswer:
    body = answer["body"]
    text = body if isinstance(body, str) else json.dumps(body)
    return HttpAnswer(status=answer["status"], reason=answer["reason"] or "", body=text.encode())


def key_of(answer: Answer) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    parameters = answer["params"] or {}
    path = "/".join(unquote(part) for part in answer["path"].removeprefix(BASE).split("/"))
    pairs = tuple(sorted((name, str(value)) for name, value in parameters.items()))
    return answer["method"], path, pairs


def client(answer: Answer) -> ProxmoxClient:
    return ProxmoxClient(SingleTransport(answer), StillClock())


@dataclass(frozen=True)
class Reader:
    """A call of the client, and how its result is compared with the recorded data."""

    path: str
    call: Callable[[ProxmoxClient, re.Match[str]], Awaitable[Any]]
    expected: Callable[[Any], object] | None = None
    """Returns from the recorded data what `actual` returns from the result. None: not compared."""
    actual: Callable[[Any], object] = len


def guest(match: re.Match[str]) -> GuestRef:
    return GuestRef(host=HOST, vmid=Vmid(int(match["vmid"])))


def texts(data: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in data.items() if key != "digest"}


GUEST = r"nodes/pve1/qemu/(?P<vmid>\d+)"
STORAGE = r"nodes/pve1/storage/(?P<storage>[a-z0-9]+)"
READERS = (
    Reader("version", lambda pve, _: pve.version(),
           lambda data: (data["version"], data["release"]), lambda v: (v.version, v.release)),
    Reader("cluster/status", lambda pve, _: pve.cluster_state(),
           lambda data: [row["name"] for row in data if row["type"] == "node"],
           lambda state: [member.name for member in state.members]),
    Reader("cluster/resources", lambda pve, _: pve.resources(),
           lambda data: [(row["vmid"], row["status"], row.get("name", ""), row.get("hastate", ""))
                         for row in data if row["type"] in ("qemu", "lxc")],
           lambda read: [(row.vmid, row.status, row.name, row.ha_state) for row in read.guests]),
    Reader("cluster/nextid", lambda pve, _: pve.next_vmid(), int, int),
    Reader("cluster/ha/resources", lambda pve, _: pve.ha_resources(), len),
    Reader("cluster/ha/rules", lambda pve, _: pve.ha_rules(),
           lambda data: [row["rule"] for row in data], lambda rules: [rule.name for rule in rules]),
    Reader("cluster/mapping/pci", lambda pve, _: pve.mappings("pci"), len),
    Reader("cluster/mapping/usb", lambda pve, _: pve.mappings("usb"), len),
    Reader("pools", lambda pve, _: pve.pools(), len),
    Reader(r"pools/(?P<pool>\w+)", lambda pve, match: pve.pool(match["pool"]),
           lambda data: len(data["members"]), lambda pool: len(pool.members)),
    Reader("access/users", lambda pve, _: pve.users(),
           lambda data: {row["userid"] for row in data}, lambda users: {user.id for user in users}),
    Reader("access/roles", lambda pve, _: pve.roles(),
           lambda data: {row["roleid"] for row in data},
           lambda roles: {role.name for role in roles}),
    Reader("access/acl", lambda pve, _: pve.access_rules(), len),
    Reader(r"access/users/(?P<user>[^/]+)/token", lambda pve, match: pve.tokens(match["user"]),
           len),
    Reader("access/permissions", lambda pve, _: pve.permissions(),
           lambda data: {path: {name for name, is_on in row.items() if is_on is not None}
                         for path, row in data.items()},
           lambda held: {path: set(names) for path, names in held.items()}),
    Reader("nodes/pve1/storage", lambda pve, _: pve.storages(HOST),
           lambda data: [(row["storage"], row["avail"]) for row in data],
           lambda states: [(state.storage, state.free) for state in states]),
    Reader(f"{STORAGE}/status",
           lambda pve, match: pve.storage_state(HOST, Datastore(match["storage"])),
           lambda data: (data["total"], data["used"], data["avail"]),
           lambda state: (state.size, state.used, state.free)),
    Reader(f"{STORAGE}/content",
           lambda pve, match: pve.volumes(HOST, Datastore(match["storage"])),
           lambda data: [(row["volid"], row["format"], row.get("size"), row.get("vmid"))
                         for row in data],
           lambda volumes: [(item.id, item.format, item.size, item.vmid) for item in volumes]),
    Reader("nodes/pve1/query-url-metadata", lambda pve, _: pve.url_facts(HOST, "http://a/b")),
    Reader("nodes/pve1/network", lambda pve, _: pve.host_network(HOST),
           lambda data: {row["iface"] for row in data},
           lambda network: {item.name for item in network.interfaces}),
    Reader("nodes/pve1/hardware/pci", lambda pve, _: pve.pci_devices(HOST), len),
    Reader("nodes/pve1/hardware/usb", lambda pve, _: pve.usb_devices(HOST), len),
    Reader("nodes/pve1/certificates/info", lambda pve, _: pve.host_certificates(HOST),
           lambda data: [row["fingerprint"] for row in data],
           lambda certificates: [item.fingerprint for item in certificates]),
    Reader("nodes/pve1/time", lambda pve, _: pve.host_time(HOST),
           lambda data: data["time"], lambda time: int(time.timestamp())),
    Reader("nodes/pve1/tasks", lambda pve, _: pve.past_tasks(HOST),
           lambda data: [(row["upid"], row["id"], row.get("endtime")) for row in data],
           lambda tasks: [(task.upid, task.subject, task.ended) for task in tasks]),
    Reader(f"{GUEST}/config", lambda pve, match: pve.vm_config(guest(match)), texts,
           lambda config: config.values),
    Reader(f"{GUEST}/pending", lambda pve, match: pve.vm_pending(guest(match)),
           lambda data: {(row["key"], bool(row.get("delete"))) for row in data},
           lambda keys: {(key.key, key.is_deleted) for key in keys}),
    Reader(f"{GUEST}/status/current", lambda pve, match: pve.vm_status(guest(match)),
           lambda data: (data["status"], data["qmpstatus"], data["uptime"]),
           lambda status: (status.status, status.qmp_status, status.uptime)),
    Reader(f"{GUEST}/migrate", lambda pve, match: pve.check_migration(guest(match))),
    Reader(f"{GUEST}/agent/network-get-interfaces",
           lambda pve, match: pve.agent_interfaces(guest(match))),
    Reader(r"nodes/pve1/tasks/(?P<upid>UPID:[^/]+)/status",
           lambda pve, match: pve.task_state(TaskRef(upid=match["upid"])),
           lambda data: data["exitstatus"], lambda state: state.exit_status),
)  # fmt: skip
MIGRATED = "cluster/ha/groups"
"""Proxmox VE 9 refuses this list, because groups became rules; for the client there are none."""
ERRORS: dict[int, tuple[type[StockmanError], ...]] = {
    400: (Rejected, Conflict, NotFound),
    401: (Denied,),
    403: (Denied,),
    500: (Rejected, Conflict, Locked, NotFound, Unreachable, Uncertain),
    501: (Rejected,),
}
"""What an error answer may become, by its status."""


def reads() -> list[tuple[Answer, Reader, re.Match[str]]]:
    """Return the recorded answers to requests that the client sends, with the reader of each."""
    answers = [row for row in read_answers(FILE) if row["method"] == "GET" and row.get("status")]
    return [
        (answer, reader, match)
        for answer in answers
        for reader in READERS
        if (match := re.fullmatch(reader.path, unquote(answer["path"].removeprefix(BASE))))
    ]


async def test_every_recorded_answer_to_a_read_is_read_as_it_was_sent() -> None:
    """Nothing but an error of stockman is raised, and nothing is read as something else."""
    wrong: list[str] = []
    seen: set[str] = set()

    for answer, reader, match in reads():
        where = f"{answer['n']} {answer['name']}: GET {answer['path']}"
        try:
            result = await reader.call(client(answer), match)
        except StockmanError as error:
            if answer["status"] == 200 or not isinstance(error, ERRORS[answer["status"]]):
                wrong.append(f"{where}: {error!r}")
            continue
        except Exception as error:  # noqa: BLE001  # that is what is looked for
            wrong.append(f"{where}: {error!r}")
            continue
        seen.add(reader.path)
        if answer["status"] != 200:
            wrong.append(f"{where}: {answer['status']} was read as {result!r}")
        elif reader.expected is not None:
            expected = reader.expected(answer["body"]["data"])
            if (actual := reader.actual(result)) != expected:
                wrong.append(f"{where}: {actual!r} is not {expected!r}")

    assert wrong == []
    assert len(seen) > 20


def test_every_recorded_error_is_an_error_of_its_kind() -> None:
    wrong: list[str] = []

    for answer in read_answers(FILE):
        method, path, _ = key_of(answer)
        if not answer.get("status") or answer["status"] == 200 or method == "HEAD":
            continue
        request = Request(method=answer["method"], segments=tuple(path.split("/")))
        with pytest.raises(StockmanError) as caught:
            parse_reply(request, raw(answer), NOBODY)
        if not isinstance(caught.value, ERRORS[answer["status"]]):
            wrong.append(f"{answer['n']} {answer['name']}: {caught.value!r}")
        if not caught.value.problem.why:
            wrong.append(f"{answer['n']} {answer['name']}: no reason")

    assert wrong == []


def test_every_recorded_task_is_known_and_ends_as_it_says() -> None:
    tasks = [answer for answer in read_answers(FILE) if answer.get("task")]

    for answer in tasks:
        upid, status = answer["body"]["data"], answer["task"]["status"]
        assert TaskRef.parse(upid).host == "pve1", answer["name"]
        ended = status.get("exitstatus", "")
        if ended and ended != "OK" and not ended.startswith("WARNINGS"):
            assert isinstance(error_from_text(ended, where=upid), ERRORS[500]), answer["name"]

    assert len(tasks) > 20


async def test_migrated_groups_are_no_groups() -> None:
    (answer,) = [row for row in read_answers(FILE) if row["path"].endswith(MIGRATED)][:1]

    assert answer["status"] == 500
    assert await client(answer).ha_groups() == ()


async def test_the_whole_observation_of_a_cluster_reads_recorded_answers() -> None:
    answers = [row for row in read_answers(FILE) if row["who"] == "root"]
    pve = ProxmoxClient(RecordedTransport(answers), StillClock())
    query = ProxmoxQuery(every_guest=True, image_storages=frozenset({"corpus"}))

    observed = await observe_proxmox("pve", pve, StillClock(), query)

    facts = (observed.version, observed.state, observed.resources, observed.pools, observed.ha)
    for fact in (*facts, *observed.configs.values()):
        assert isinstance(fact, Fact | Unknown)
        if isinstance(fact, Unknown):
            assert fact.problem.code in {"proxmox.no-such-call", "proxmox.denied"}
