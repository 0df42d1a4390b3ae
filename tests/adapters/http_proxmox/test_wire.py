"""How calls travel: connections, repetition, time limits, encoding, endpoints."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from stockman.adapters.proxmox.credentials import ApiToken, Login
from stockman.adapters.proxmox.endpoint import Endpoints
from stockman.adapters.proxmox.transport import HttpProxmox
from stockman.model.errors import Denied, Refused, Rejected, Uncertain, Unreachable
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.secret import Secret
from stockman.ports.environment import Trust
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.pools import DeviceMapping
from stockman.proxmox.storages import Upload
from stockman.proxmox.vms import GuestRef
from tests.adapters.http_proxmox.scripted import (
    NAME,
    Answer,
    Asked,
    ScriptedServer,
    Trouble,
)
from tests.adapters.http_proxmox.talking import (
    CANARY,
    PATIENT,
    QUICK,
    TOKEN,
    SimulatedClock,
    talk,
    trouble,
)
from tests.adapters.loopback import closed_port

SIGNED = ":".join(("root", "canary-9d1f-0c4e-secret"))
AT = GuestRef(host=HostName("pve1"), vmid=Vmid(100))
UPID = "UPID:pve1:00000001:00000001:70DBD880:qmstart:100:root@pam:"
VERSION = Answer({"version": "9.1.4", "release": "9.1"})


def versions(request: Asked) -> Answer:
    """Everything is answered with a version, or with a task."""
    return VERSION if request.method == "GET" else Answer(UPID)


async def twice(pve: ProxmoxClient) -> None:
    await pve.version()
    await pve.version()


def test_one_connection_carries_many_calls() -> None:
    server = ScriptedServer(versions)

    talk(server, twice)

    assert (server.connections, len(server.asked)) == (1, 2)


async def forty(pve: ProxmoxClient) -> None:
    await asyncio.gather(*(pve.version() for _ in range(40)))


def test_calls_side_by_side_have_sixteen_connections_at_most_and_keep_them() -> None:
    server = ScriptedServer(versions)

    async def story(pve: ProxmoxClient) -> None:
        await forty(pve)
        await forty(pve)

    talk(server, story)

    assert (server.connections, len(server.asked)) == (16, 80)


def test_rejected_credentials_are_sent_once_and_not_by_every_parallel_call() -> None:
    server = ScriptedServer(lambda _: Answer(status=401, reason="Authentication failed!"))
    errors: list[BaseException | object] = []

    async def story(pve: ProxmoxClient) -> None:
        errors.extend(
            await asyncio.gather(*(pve.version() for _ in range(40)), return_exceptions=True)
        )

    talk(server, story)

    assert len(server.asked) == 1
    assert [type(error) for error in errors] == [Denied] * 40


def test_credentials_that_were_revoked_are_not_sent_again() -> None:
    server = ScriptedServer(versions)

    async def story(pve: ProxmoxClient) -> None:
        await pve.version()
        server.next.append(Answer(status=401, reason="Authentication failed!"))
        for _ in range(3):
            with pytest.raises(Denied, match=r"proxmox\.authentication"):
                await pve.version()

    talk(server, story)

    assert len(server.asked) == 2


def test_a_read_on_a_dead_connection_is_repeated_once() -> None:
    server = ScriptedServer(versions)
    server.next.append(Trouble.CUT)

    talk(server, lambda pve: pve.version())

    assert server.calls() == ["GET /version"] * 2


def test_a_read_is_not_repeated_twice() -> None:
    server = ScriptedServer(versions)
    server.next.extend([Trouble.CUT] * 2)

    problem = trouble(Unreachable, lambda: talk(server, lambda pve: pve.version()))

    assert problem.code == "proxmox.unreachable"
    assert len(server.asked) == 2


def test_a_change_on_a_dead_connection_is_not_repeated() -> None:
    server = ScriptedServer(versions)
    server.next.append(Trouble.CUT)

    problem = trouble(Uncertain, lambda: talk(server, lambda pve: pve.start_vm(AT)))

    assert problem.code == "proxmox.unknown-outcome"
    assert server.calls() == ["POST /nodes/pve1/qemu/100/status/start"]


def test_a_refused_read_is_not_repeated() -> None:
    server = ScriptedServer(lambda _: Answer(status=500, reason="got timeout"))

    trouble(Unreachable, lambda: talk(server, lambda pve: pve.version()))

    assert len(server.asked) == 1


def test_a_connection_that_was_closed_in_between_is_no_trouble() -> None:
    server = ScriptedServer(versions)
    server.next.append(Answer({"version": "9.1.4", "release": "9.1"}, closes=True))

    talk(server, twice)

    assert server.connections == 2


def test_a_read_without_an_answer_is_given_up() -> None:
    server = ScriptedServer(versions)
    server.next.append(Trouble.HANG)

    problem = trouble(Unreachable, lambda: talk(server, lambda pve: pve.version(), timeouts=QUICK))

    assert "no complete reply within 0.2 s" in problem.why
    assert len(server.asked) == 1


def test_nobody_knows_whether_a_change_without_an_answer_was_made() -> None:
    server = ScriptedServer(versions)
    server.next.append(Trouble.HANG)

    problem = trouble(Uncertain, lambda: talk(server, lambda pve: pve.stop_vm(AT), timeouts=QUICK))

    assert problem.where == "POST /nodes/pve1/qemu/100/status/stop"


def test_reads_and_deletions_carry_their_parameters_in_the_address_and_no_body() -> None:
    server = ScriptedServer(lambda a: Answer(UPID) if a.method == "DELETE" else Answer([]))

    async def story(pve: ProxmoxClient) -> None:
        await pve.volumes(HostName("pve1"), Datastore("local"), content="iso")
        await pve.delete_vm(AT, purge=False)

    talk(server, story)

    assert [one.query for one in server.asked] == [[("content", "iso")], [("purge", "0")]]
    assert [one.body for one in server.asked] == [b"", b""]
    assert "content-length" not in server.asked[1].headers


def test_changes_carry_a_form_with_yes_as_one_and_lists_as_several() -> None:
    server = ScriptedServer(versions)
    mapping = DeviceMapping(name="gpu", kind="pci", entries=("node=a", "node=b"), mediated=True)

    talk(server, lambda pve: pve.create_mapping(mapping))

    asked = server.asked[0]
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert asked.form == [("id", "gpu"), ("map", "node=a"), ("map", "node=b"), ("mdev", "1")]


def test_names_are_quoted_part_by_part() -> None:
    server = ScriptedServer(versions)

    talk(server, lambda pve: pve.delete_volume(HostName("pve1"), "local:iso/a b#ü.iso"))

    target = server.asked[0].target
    assert target == "/api2/json/nodes/pve1/storage/local/content/local:iso%2Fa%20b%23%C3%BC.iso"


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_leads_elsewhere_is_never_sent(name: str) -> None:
    server = ScriptedServer(versions)

    trouble(Rejected, lambda: talk(server, lambda pve: pve.delete_role(name)))

    assert server.asked == []


def test_a_packed_answer_is_unpacked() -> None:
    packed = gzip.compress(json.dumps({"data": {"version": "9.1.4", "release": "9.1"}}).encode())
    server = ScriptedServer(lambda _: Answer(raw=packed, headers=(("Content-Encoding", "gzip"),)))

    assert talk(server, lambda pve: pve.version()).release == "9.1"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(raw=b"<html>"), "not a JSON object"),
        (Answer(raw=b"[]"), "not a JSON object"),
        (Answer(raw=b"[" * 100_000), "not a JSON object"),
        (Answer([]), "expected an object"),
        (Answer({"version": {}, "release": "9"}), "version: expected a text"),
        (Answer({"version": "9.1"}), "release is missing"),
        (Answer(raw=b"x" * 40, headers=(("Content-Encoding", "gzip"),)), "cannot be decompressed"),
        (Answer(status=301, reason="Moved"), "301 Moved"),
        (Answer(status=502, reason="Bad Gateway"), "502 Bad Gateway"),
    ],
)
def test_an_answer_that_is_none_is_told_as_such(answer: Answer, why: str) -> None:
    problem = trouble(
        Rejected, lambda: talk(ScriptedServer(lambda _: answer), lambda pve: pve.version())
    )

    assert problem.code == "proxmox.answer"
    assert why in problem.why


def test_a_task_that_is_not_named_is_an_odd_answer() -> None:
    server = ScriptedServer(lambda _: Answer(None))

    problem = trouble(Rejected, lambda: talk(server, lambda pve: pve.start_vm(AT)))

    assert problem.code == "proxmox.answer"


def test_what_is_dialled_instead_still_shows_the_certificate_of_the_name() -> None:
    server = ScriptedServer(versions)

    async def told() -> None:
        async with server.serving():
            endpoints = Endpoints(
                urls=(f"https://{NAME}:8006",),
                trust=Trust(ca=server.identity.ca.crt.encode()),
                connect={f"{NAME}:8006": f"127.0.0.1:{server.port}"},
                timeouts=PATIENT,
            )
            async with HttpProxmox(endpoints, TOKEN, SimulatedClock()) as pve:
                await pve.version()

    asyncio.run(told())

    assert server.asked[0].headers["host"] == NAME


@pytest.mark.parametrize("instead", ["127.0.0.1", "127.0.0.1:https", ":8006"])
def test_a_place_to_dial_instead_that_is_none_is_refused(instead: str) -> None:
    endpoints = Endpoints(urls=(f"https://{NAME}",), connect={f"{NAME}:8006": instead})

    problem = trouble(Refused, lambda: HttpProxmox(endpoints, TOKEN, SimulatedClock()))

    assert "is not host:port" in problem.why


def test_the_next_endpoint_is_asked_when_nothing_listens_at_the_first() -> None:
    server = ScriptedServer(versions)
    silent = f"https://127.0.0.1:{closed_port('127.0.0.1')}"

    async def told() -> None:
        async with server.serving():
            endpoints = Endpoints(
                urls=(silent, server.url), trust=Trust(ca=server.identity.ca.crt.encode())
            )
            async with HttpProxmox(endpoints, TOKEN, SimulatedClock()) as pve:
                await pve.start_vm(AT)
                await pve.version()

    asyncio.run(told())

    assert [one.method for one in server.asked] == ["POST", "GET"]


def test_an_endpoint_where_nothing_listens_is_unreachable() -> None:
    url = f"https://127.0.0.1:{closed_port('127.0.0.1')}"

    async def told() -> None:
        async with HttpProxmox(Endpoints(urls=(url,)), TOKEN, SimulatedClock()) as pve:
            await pve.start_vm(AT)

    problem = trouble(Unreachable, lambda: asyncio.run(told()))

    assert (problem.where, problem.why) == (url, "connection refused")


@pytest.mark.parametrize(
    ("urls", "why"),
    [
        ((), "no address is configured"),
        (("http://127.0.0.1:8006",), "not https"),
        (("https://127.0.0.1:8006/api2/json",), "must have the form"),
        ((f"https://{SIGNED}@127.0.0.1:8006",), "must have the form"),
        (("https://127.0.0.1:port",), "not a valid URL"),
        (("https:///",), "must have the form"),
    ],
)
def test_an_address_that_is_none_is_refused(urls: tuple[str, ...], why: str) -> None:
    problem = trouble(Refused, lambda: HttpProxmox(Endpoints(urls=urls), TOKEN, SimulatedClock()))

    assert problem.code == "proxmox.address"
    assert why in problem.why


@pytest.mark.parametrize(
    ("identifier", "secret"), [("a@pve!b", ""), ("a@pve!b", "ü"), ("a b", "c")]
)
def test_a_token_that_no_header_can_carry_is_never_sent(identifier: str, secret: str) -> None:
    server = ScriptedServer(versions)
    token = ApiToken(id=identifier, secret=Secret(secret))

    problem = trouble(Denied, lambda: talk(server, lambda pve: pve.version(), credentials=token))

    assert problem.code == "proxmox.authentication"
    assert server.asked == []


def test_who_is_not_let_in_is_named_with_the_place_of_the_secret() -> None:
    server = ScriptedServer(lambda _: Answer(status=401, reason="Authentication failed!"))
    token = replace(TOKEN, source="PROXMOX_VE_API_TOKEN")

    problem = trouble(Denied, lambda: talk(server, lambda pve: pve.version(), credentials=token))

    assert problem.what == "Proxmox VE rejects the token stockman@pve!main"
    assert str(problem.where).startswith("GET /version at https://127.0.0.1:")
    assert "given by PROXMOX_VE_API_TOKEN" in problem.fix


def test_who_lacks_a_privilege_is_named() -> None:
    text = "Permission check failed (/vms/100, VM.Audit)"
    server = ScriptedServer(lambda _: Answer(status=403, reason=text))

    problem = trouble(Denied, lambda: talk(server, lambda pve: pve.version()))

    assert problem.what == "the token stockman@pve!main lacks VM.Audit on /vms/100"


def tickets(request: Asked) -> Answer:
    if request.path == "/access/ticket":
        return Answer({"ticket": "PVE:root@pam:70DB::a+b/c==", "CSRFPreventionToken": "70DB:x"})
    return versions(request)


def test_a_password_is_changed_for_a_ticket_once_an_hour() -> None:
    server = ScriptedServer(tickets)
    clock = SimulatedClock()

    async def story(pve: ProxmoxClient) -> None:
        await asyncio.gather(pve.version(), pve.version())
        await pve.start_vm(AT)
        clock.time += timedelta(minutes=61)
        await pve.version()

    login = Login(user="root@pam", password=Secret(CANARY))
    talk(server, story, credentials=login, clock=clock)

    logins = [one for one in server.asked if one.path == "/access/ticket"]
    rows = [one for one in server.asked if one.path != "/access/ticket"]
    assert [one.form for one in logins] == [[("username", "root@pam"), ("password", CANARY)]] * 2
    assert {row.headers["cookie"] for row in rows} == {
        "PVEAuthCookie=PVE%3Aroot%40pam%3A70DB%3A%3Aa%2Bb%2Fc%3D%3D"
    }
    assert [row.headers.get("csrfpreventiontoken", "") for row in rows] == ["", "", "70DB:x", ""]
    assert all("authorization" not in one.headers for one in server.asked)


def test_a_second_factor_is_told() -> None:
    server = ScriptedServer(lambda _: Answer({"ticket": "PVE:!tfa!x", "NeedTFA": 1}))
    login = Login(user="root@pam", password=Secret(CANARY))

    problem = trouble(Denied, lambda: talk(server, lambda pve: pve.version(), credentials=login))

    assert "second factor" in problem.why


async def pieces(*content: bytes) -> AsyncIterator[bytes]:
    for part in content:
        yield part


def sent(server: ScriptedServer, size: int, *content: bytes, name: str = "seed.iso") -> None:
    file = Upload(content="iso", name=name, size=size, read=lambda: pieces(*content))
    talk(server, lambda pve: pve.upload(HostName("pve1"), Datastore("local"), file))


def test_an_upload_names_its_content_before_the_file_and_its_length_before_all() -> None:
    server = ScriptedServer(versions)

    sent(server, 6, b"abc", b"def", name='se"ed\r\n.iso')

    asked = server.asked[0]
    assert "transfer-encoding" not in asked.headers
    assert asked.body.index(b'name="content"') < asked.body.index(b'name="filename"')
    assert b'filename="seed.iso"' in asked.body
    assert b"\r\n\r\nabcdef\r\n--" in asked.body


@pytest.mark.parametrize(
    ("size", "contents"),
    [
        (7, (b"abcdef",)),
        (3, (b"abcdef",)),
        (60, (b"\r\n--stockman-7f3c1d", b"5a9b2e4860" + b"x" * 32)),
    ],
)
def test_a_file_that_is_not_what_it_was_is_not_taken_for_whole(
    size: int, contents: tuple[bytes, ...]
) -> None:
    server = ScriptedServer(versions)

    problem = trouble(Refused, lambda: sent(server, size, *contents))

    assert problem.code == "proxmox.upload"
    assert server.asked == []
