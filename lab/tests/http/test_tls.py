"""Encrypted connections, with clients that mean well and others."""

import socket
import ssl

import pytest
from stockman_lab.authority.making import fingerprint
from stockman_lab.http.messages import Cut, Outcome, Request, Response

from lab.tests.http.serving import certificate, encrypted, one_answer, rest, running, trusting

GET = b"GET / HTTP/1.1\r\nHost: pve1\r\n\r\n"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "pve1", "127.66.0.1"])
def test_a_client_that_knows_the_authority_is_served(version: ssl.TLSVersion, name: str) -> None:
    context = trusting()
    context.minimum_version = context.maximum_version = version

    with (
        running(context=encrypted()) as lab,
        lab.connect() as raw,
        context.wrap_socket(raw, server_hostname=name) as line,
    ):
        line.sendall(GET)
        heard = one_answer(line)
        shown = line.getpeercert(binary_form=True)

    assert heard.startswith(b"HTTP/1.1 200 OK")
    assert ssl.DER_cert_to_PEM_cert(shown or b"").strip() == certificate().pem.strip()
    assert fingerprint(ssl.DER_cert_to_PEM_cert(shown or b"")) == fingerprint(certificate().pem)


def test_old_versions_are_refused() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")

    with running(context=encrypted()) as lab, lab.connect() as raw, pytest.raises(ssl.SSLError):
        context.wrap_socket(raw)


def test_a_large_body_and_a_large_answer_pass() -> None:
    def echo(request: Request) -> Response:
        return Response(body=request.body * 10)

    head = b"POST / HTTP/1.1\r\nHost: pve1\r\nContent-Length: 500000\r\n\r\n"
    with (
        running(echo, context=encrypted()) as lab,
        lab.connect() as raw,
        trusting().wrap_socket(raw, server_hostname="pve1") as line,
    ):
        line.sendall(head + b"x" * 500_000)
        heard = one_answer(line)

    assert heard.endswith(b"\r\n\r\n" + b"x" * 5_000_000)


def test_an_answer_that_ends_a_connection_says_goodbye() -> None:
    with (
        running(context=encrypted()) as lab,
        lab.connect() as raw,
        trusting().wrap_socket(raw, server_hostname="pve1", suppress_ragged_eofs=False) as line,
    ):
        line.sendall(GET.replace(b"GET", b"HEAD"))
        heard = rest(line)

    assert heard.startswith(b"HTTP/1.1 501 method 'HEAD' not available\r\n")


def test_a_cut_connection_does_not_say_goodbye() -> None:
    def cutting(request: Request) -> Outcome:
        return Cut(5)

    context = trusting()
    # Python 3.11.2 ignores by default that a connection ends without a TLS alert.
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF

    with (
        running(cutting, context=encrypted()) as lab,
        lab.connect() as raw,
        context.wrap_socket(raw, server_hostname="pve1", suppress_ragged_eofs=False) as line,
    ):
        line.sendall(GET)
        heard = line.recv(100)

        with pytest.raises((ssl.SSLError, ConnectionError)):
            line.recv(100)
    assert heard == b"HTTP/"


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x00\x05hello",
        b"\x16" * 1000,
        b"\x16\x03\x03\xff\xff" + b"x" * 70_000,
    ],
)
def test_what_only_looks_like_tls_is_cut_off(garbage: bytes) -> None:
    with running(context=encrypted()) as lab, lab.connect() as line:
        line.sendall(garbage)
        line.shutdown(socket.SHUT_WR)

        heard = rest(line)

        assert heard[:1] in (b"", b"\x15")
        lab.wait_until(lambda server: server.connections == 0)


def test_half_a_handshake_does_not_wait_for_ever() -> None:
    with running(context=encrypted()) as lab, lab.connect() as line:
        line.sendall(b"\x16\x03\x01\x02\x00")
        lab.wait_until(lambda server: server.connections == 1)
        lab.pass_time(5)

        assert rest(line) == b""


def test_garbage_after_the_handshake_is_cut_off() -> None:
    with running(context=encrypted()) as lab:
        with lab.connect() as raw, trusting().wrap_socket(raw, server_hostname="pve1") as line:
            line.sendall(GET)
            one_answer(line)
            with socket.socket(fileno=line.detach()) as bare:
                bare.settimeout(20)
                bare.sendall(b"garbage that is no record" * 10)
                rest(bare)
        lab.wait_until(lambda server: server.connections == 0)

        assert lab.troubles == []
