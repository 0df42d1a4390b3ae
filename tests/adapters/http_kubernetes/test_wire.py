"""How calls are carried over HTTPS."""

import asyncio
from contextlib import aclosing

import pytest

from stockman.adapters.kubernetes.credentials import KubernetesEndpoint
from stockman.adapters.kubernetes.transport import HttpKubernetes
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.kubeconfig import KubeconfigContext
from stockman.kubernetes.objects import CONFIG_MAPS
from stockman.kubernetes.pods import PodLogRequest
from stockman.model.errors import Rejected, Uncertain, Unreachable
from tests.adapters.http_kubernetes.talking import (
    CANARY,
    NODES,
    QUICK,
    VERSION,
    BrokenOff,
    said,
    talk,
)
from tests.adapters.http_proxmox.scripted import ADDRESS, NAME, Answer, ScriptedServer, Trouble
from tests.kubernetes.scripted import StandingClock

MAP = {"metadata": {"name": "wool", "namespace": "web"}}
_POURED = 64 << 20
LOG = PodLogRequest(namespace="web", pod="web-1")


async def asked_twice(kubernetes: KubernetesClient) -> None:
    await kubernetes.server_version()
    await kubernetes.server_version()


async def made(kubernetes: KubernetesClient) -> None:
    await kubernetes.create(CONFIG_MAPS, MAP)


async def log_of(kubernetes: KubernetesClient) -> list[str]:
    return [line async for line in kubernetes.log(LOG)]


def test_a_connection_is_used_again() -> None:
    server = ScriptedServer(lambda _: said(VERSION))

    talk(server, asked_twice)

    assert (len(server.asked), server.connections) == (2, 1)


def test_a_read_is_repeated_once_on_a_dead_connection() -> None:
    server = ScriptedServer(lambda _: said(VERSION))
    server.next.append(Trouble.CUT)

    talk(server, lambda one: one.server_version())

    assert server.calls() == ["GET /version", "GET /version"]


def test_a_read_is_not_repeated_a_second_time() -> None:
    server = ScriptedServer(lambda _: Trouble.CUT)

    with pytest.raises(Unreachable) as caught:
        talk(server, lambda one: one.server_version())

    assert caught.value.problem.code == "kubernetes.silent"
    assert len(server.asked) == 2


def test_a_change_is_not_repeated_and_its_outcome_is_unknown() -> None:
    server = ScriptedServer(lambda _: Trouble.CUT)

    with pytest.raises(Uncertain) as caught:
        talk(server, made)

    assert caught.value.problem.code == "kubernetes.unknown-outcome"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"), [(500, Uncertain), (504, Uncertain), (429, Unreachable)]
)
def test_an_answer_is_not_asked_for_again(status: int, kind: type[Exception]) -> None:
    server = ScriptedServer(lambda _: said({"message": "no"}, status))

    with pytest.raises(kind):
        talk(server, made)

    assert len(server.asked) == 1


def test_a_server_that_hangs_is_left() -> None:
    with pytest.raises(Unreachable) as caught:
        talk(
            ScriptedServer(lambda _: Trouble.HANG),
            lambda one: one.server_version(),
            timeouts=QUICK,
        )
    assert caught.value.problem.why == "no complete reply within 0.2 s"

    with pytest.raises(Uncertain):
        talk(ScriptedServer(lambda _: Trouble.HANG), made, timeouts=QUICK)


def test_a_log_that_falls_silent_is_given_up() -> None:
    with pytest.raises(Unreachable):
        talk(ScriptedServer(lambda _: Trouble.HANG), log_of, timeouts=QUICK)


def test_a_log_comes_line_by_line() -> None:
    server = ScriptedServer(lambda _: Answer(raw="one\ntwö\nthree".encode()))

    assert talk(server, log_of) == ["one", "twö", "three"]


def test_a_log_that_breaks_off_is_told_and_not_begun_again() -> None:
    server = ScriptedServer(lambda _: BrokenOff(raw=b"one\n", closes=True))

    with pytest.raises(Unreachable):
        talk(server, log_of)

    assert len(server.asked) == 1


def test_a_watch_that_breaks_off_goes_on() -> None:
    server = ScriptedServer(lambda _: said({"metadata": {"resourceVersion": "5"}, "items": []}))
    first = b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"6"}}}\n'
    server.next.extend(
        [
            said(NODES),
            BrokenOff(raw=first, closes=True),
            BrokenOff(raw=first.replace(b'"6"', b'"8"'), closes=True),
        ]
    )

    async def followed(kubernetes: KubernetesClient) -> list[str]:
        async with aclosing(kubernetes.watch(CONFIG_MAPS)) as watch:
            return [(await anext(watch)).version for _ in range(3)]

    assert talk(server, followed) == ["7", "6", "8"]
    versions = [dict(one.query).get("resourceVersion") for one in server.asked]
    assert versions == [None, "7", "6"]


def test_a_stream_that_is_refused_says_why() -> None:
    server = ScriptedServer(lambda _: said({"message": "choose a container"}, 400))

    with pytest.raises(Rejected) as caught:
        talk(server, log_of)

    assert caught.value.problem.why == "choose a container"


def test_redirects_are_not_followed() -> None:
    server = ScriptedServer(lambda _: said({}, 302, Location="https://127.0.0.1:1/version"))

    with pytest.raises(Rejected) as caught:
        talk(server, lambda one: one.server_version())

    assert caught.value.problem.code == "kubernetes.answer"
    assert len(server.asked) == 1


def test_the_map_of_connections_leads_elsewhere_and_the_name_is_kept() -> None:
    server = ScriptedServer(lambda _: said(VERSION))

    class Mapped(dict[str, str]):
        """Leads wherever the server listens by then."""

        def get(self, key: str, default: object = None) -> str:
            del default
            assert key == f"{NAME}:6443"
            return f"127.0.0.1:{server.port}"

    context = {"server": f"https://{NAME}:6443"}
    talk(server, lambda one: one.server_version(), context=context, connect=Mapped())

    assert server.asked[0].headers["host"] == f"{NAME}:6443"


def test_a_token_stands_in_the_header_and_nowhere_else() -> None:
    server = ScriptedServer(lambda _: said(VERSION))

    talk(server, lambda one: one.server_version())

    (asked,) = server.asked
    assert asked.headers["authorization"] == f"Bearer {CANARY}"
    assert asked.headers["user-agent"].startswith("stockman/")
    assert CANARY not in asked.target


def test_a_log_is_read_no_faster_than_it_is_taken() -> None:
    server = ScriptedServer()
    sent = 0

    async def pours(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"w" * 65535 + b"\n"
        try:
            while sent < _POURED:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
                sent += len(piece)
        except OSError:
            writer.transport.abort()

    async def told() -> None:
        listener = await asyncio.start_server(pours, ADDRESS, 0, ssl=server._context())
        port = listener.sockets[0].getsockname()[1]
        context = KubeconfigContext(server=f"https://{ADDRESS}:{port}", ca=server.identity.ca.crt)
        async with (
            listener,
            HttpKubernetes(KubernetesEndpoint(context=context), StandingClock()) as kubernetes,
            aclosing(kubernetes.log(LOG)) as log,
        ):
            assert len(await anext(log)) == 65535
            before = -1
            while before != sent:
                before = sent
                for _ in range(200):
                    await asyncio.to_thread(int)
            assert sent < _POURED

    asyncio.run(told())
