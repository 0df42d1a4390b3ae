"""Looking at other machines over real sockets, on loopback."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path
from struct import pack, unpack_from
from threading import Event

import pytest

from stockman.adapters.network import SocketNetwork
from stockman.adapters.system import SystemClock
from stockman.ports.environment import Certificate, NoAddress, NoAnswer, ServerAddress, Trust
from tests.adapters import loopback
from tests.adapters.loopback import ADDRESS, NAME, Pem

NETWORK = SocketNetwork(patience=5)
HASTY = SocketNetwork(patience=0.1)
UNIX_EPOCH = 2_208_988_800


@pytest.fixture(scope="module")
def ca() -> Pem:
    return loopback.authority()


@pytest.fixture(scope="module")
def server(ca: Pem) -> Pem:
    return loopback.issued(ca)


@pytest.fixture
def port(server: Pem, tmp_path: Path) -> Iterator[int]:
    with loopback.listening(loopback.handshaking(server.context(tmp_path))) as port:
        yield port


@pytest.fixture
def stuck() -> Iterator[Callable[[str], tuple[str, ...]]]:
    """A resolver that answers only when the test is over."""
    over = Event()

    def lookup(host: str) -> tuple[str, ...]:
        over.wait(60)
        return (host,)

    yield lookup
    over.set()


def shown(server_address: ServerAddress, trust: Trust) -> Certificate:
    return asyncio.run(NETWORK.certificate(server_address, trust))


def no_such_host(host: str) -> tuple[str, ...]:
    raise OSError(-2, "Name or service not known")


def test_an_address_is_its_own() -> None:
    assert asyncio.run(HASTY.resolve("127.66.0.9")) == ("127.66.0.9",)
    assert asyncio.run(HASTY.resolve("::1")) == ("::1",)


def test_a_name_has_the_addresses_that_the_system_knows() -> None:
    assert "127.0.0.1" in asyncio.run(NETWORK.resolve("localhost"))


def test_a_name_that_nobody_knows_has_no_address() -> None:
    network = SocketNetwork(lookup=no_such_host)

    with pytest.raises(NoAddress, match=r"^name or service not known$"):
        asyncio.run(network.resolve("pve.test"))


def test_a_resolver_that_hangs_is_left_behind(stuck: Callable[[str], tuple[str, ...]]) -> None:
    network = SocketNetwork(patience=0.1, lookup=stuck)

    with pytest.raises(NoAddress, match=r"^no response within 0\.1 s$"):
        asyncio.run(network.connect(ServerAddress(host="pve.test", port=8006)))


def test_a_listening_port_takes_a_connection() -> None:
    with loopback.hanging() as port:
        asyncio.run(NETWORK.connect(ServerAddress(host=ADDRESS, port=port)))


def test_nothing_listens_on_a_closed_port() -> None:
    server_address = ServerAddress(host=ADDRESS, port=loopback.closed_port())

    with pytest.raises(NoAnswer, match=r"^connection refused$"):
        asyncio.run(NETWORK.connect(server_address))


def test_the_second_address_of_a_name_is_tried_too() -> None:
    with loopback.hanging() as port:
        network = SocketNetwork(lookup=lambda host: ("127.66.0.250", ADDRESS))
        asyncio.run(network.connect(ServerAddress(host="pve.test", port=port)))


def test_a_certificate_of_the_ca_is_trusted(ca: Pem, server: Pem, port: int) -> None:
    seen = shown(ServerAddress(host=ADDRESS, port=port), Trust(ca=ca.text))

    assert seen == Certificate(fingerprint=server.fingerprint, expires=loopback.END, flaw="")


def test_comments_around_a_ca_do_not_matter(ca: Pem, port: int) -> None:
    content = "# für die Züge\n".encode() + ca.text + b"# end\n"

    assert shown(ServerAddress(host=ADDRESS, port=port), Trust(ca=content)).flaw == ""


def test_the_name_counts_and_not_the_address_that_is_dialled(ca: Pem, port: int) -> None:
    good = shown(ServerAddress(host=ADDRESS, port=port, name=NAME), Trust(ca=ca.text))
    bad = shown(ServerAddress(host=ADDRESS, port=port, name="other.test"), Trust(ca=ca.text))

    assert good.flaw == ""
    assert "other.test" in bad.flaw


@pytest.mark.parametrize("trust", [Trust(), Trust(ca=loopback.authority().text)])
def test_a_certificate_of_a_strange_ca_is_shown_and_not_trusted(
    server: Pem, port: int, trust: Trust
) -> None:
    seen = shown(ServerAddress(host=ADDRESS, port=port), trust)

    assert seen.fingerprint == server.fingerprint
    assert seen.flaw


def test_a_certificate_that_ended_is_not_trusted(ca: Pem, tmp_path: Path) -> None:
    old = loopback.issued(ca, end=loopback.START + timedelta(days=1))
    with loopback.listening(loopback.handshaking(old.context(tmp_path))) as port:
        seen = shown(ServerAddress(host=ADDRESS, port=port), Trust(ca=ca.text))

    assert seen.flaw == "certificate has expired"


@pytest.mark.parametrize(
    "content", [b"", b"no certificate", b"\xff\xfe", b"-----BEGIN CERTIFICATE-----"]
)
def test_a_ca_file_without_a_certificate_trusts_nothing(port: int, content: bytes) -> None:
    seen = shown(ServerAddress(host=ADDRESS, port=port), Trust(ca=content))

    assert seen.flaw.startswith("its CA is invalid: ")


def test_a_fingerprint_is_compared_without_colons_and_case(server: Pem, port: int) -> None:
    pinned = server.fingerprint.replace(":", "").lower()

    assert shown(ServerAddress(host=ADDRESS, port=port), Trust(fingerprint=pinned)).flaw == ""


def test_another_fingerprint_is_told_with_both_values(server: Pem, port: int) -> None:
    seen = shown(ServerAddress(host=ADDRESS, port=port), Trust(fingerprint="ab" * 32))

    pinned = ":".join(["AB"] * 32)
    assert seen.flaw == f"its fingerprint is {server.fingerprint}, not the pinned {pinned}"


def test_a_handshake_that_hangs_is_given_up() -> None:
    with (
        loopback.hanging() as port,
        pytest.raises(NoAnswer, match=r"^no response within 0\.1 s$"),
    ):
        asyncio.run(HASTY.certificate(ServerAddress(host=ADDRESS, port=port), Trust()))


def test_a_server_without_tls_is_told_so() -> None:
    with (
        loopback.listening(lambda talk: talk.sendall(b"SSH-2.0-x\r\n")) as port,
        pytest.raises(NoAnswer, match=r"TLS|cut"),
    ):
        asyncio.run(NETWORK.certificate(ServerAddress(host=ADDRESS, port=port), Trust()))


@pytest.mark.parametrize("hours", [-30, 0, 5])
def test_the_clock_of_a_web_server_is_its_date(hours: int) -> None:
    date = format_datetime(SystemClock().now() + timedelta(hours=hours), usegmt=True)
    with loopback.listening(loopback.web(date)) as port:
        ahead = asyncio.run(NETWORK.http_clock(ServerAddress(host=ADDRESS, port=port), tls=False))

    assert ahead == pytest.approx(hours * 3600, abs=5)


def test_a_certificate_that_nobody_trusts_tells_the_time_too(server: Pem, tmp_path: Path) -> None:
    heard: list[bytes] = []
    date = format_datetime(SystemClock().now(), usegmt=True)
    with loopback.listening(loopback.web(date, server.context(tmp_path), heard)) as port:
        ahead = asyncio.run(
            NETWORK.http_clock(ServerAddress(host=ADDRESS, port=port, name=NAME), tls=True)
        )

    assert ahead == pytest.approx(0, abs=5)
    assert heard[0].split(b"\r\n")[:2] == [b"HEAD / HTTP/1.1", b"Host: pve.test"]
    assert b"uthoriz" not in heard[0]
    assert b"ookie" not in heard[0]


@pytest.mark.parametrize("date", ["", "yesterday", "Sun, 32 Nov 2026 10:00:00 GMT"])
def test_a_web_server_without_a_date_tells_no_time(date: str) -> None:
    with (
        loopback.listening(loopback.web(date)) as port,
        pytest.raises(NoAnswer, match=r"^its reply has no date$"),
    ):
        asyncio.run(NETWORK.http_clock(ServerAddress(host=ADDRESS, port=port), tls=False))


@pytest.mark.parametrize("seconds", [-86400.0, -0.25, 0.0, 3600.5])
def test_a_time_server_tells_how_far_ahead_it_is(seconds: float) -> None:
    def reply(packet: bytes) -> bytes:
        (cookie,) = unpack_from("!Q", packet, 40)
        now = int((SystemClock().now().timestamp() + UNIX_EPOCH + seconds) * 2**32)
        return pack("!BB22xQQQ", 0b00_100_100, 2, cookie, now, now)

    with loopback.answering(reply) as port:
        ahead = asyncio.run(NETWORK.ntp_clock(ADDRESS, port))

    assert ahead == pytest.approx(seconds, abs=1)


def test_a_time_server_that_says_nothing_is_given_up() -> None:
    with (
        loopback.answering(lambda packet: b"") as port,
        pytest.raises(NoAnswer, match=r"^no response within 0\.1 s$"),
    ):
        asyncio.run(HASTY.ntp_clock(ADDRESS, port))


def test_a_time_server_that_is_not_there_is_told_at_once() -> None:
    with loopback.answering(lambda packet: b"") as port:
        pass

    with pytest.raises(NoAnswer, match=r"^connection refused$"):
        asyncio.run(NETWORK.ntp_clock(ADDRESS, port))


def test_a_name_server_answers_a_plain_question() -> None:
    packets: list[bytes] = []

    def reply(packet: bytes) -> bytes:
        packets.append(packet[2:])
        return packet[:2] + b"\x81\x80" + packet[4:]

    with loopback.answering(reply) as port:
        asyncio.run(NETWORK.name_server(ADDRESS, port))

    assert packets == [b"\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01"]


def test_a_name_server_that_refuses_is_told_so() -> None:
    with (
        loopback.answering(lambda packet: packet[:2] + b"\x81\x85" + packet[4:]) as port,
        pytest.raises(NoAnswer, match=r"^it refuses the query$"),
    ):
        asyncio.run(NETWORK.name_server(ADDRESS, port))
