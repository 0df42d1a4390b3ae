"""Real servers on loopback addresses, each in a thread, for as long as a `with` lasts."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ADDRESS = "127.66.0.4"
NAME = "pve.test"
START = datetime(2020, 1, 1, tzinfo=UTC)
END = datetime(2120, 1, 1, tzinfo=UTC)

Serve = Callable[[socket.socket], None]
Reply = Callable[[bytes], bytes]


class Pem(NamedTuple):
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def text(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def fingerprint(self) -> str:
        return self.certificate.fingerprint(hashes.SHA256()).hex(":").upper()

    def context(self, directory: Path) -> ssl.SSLContext:
        """The TLS of a server that shows this certificate."""
        path = directory / "server.pem"
        path.write_bytes(
            self.text
            + self.key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def authority() -> Pem:
    """A new CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Pem(_signed("a CA", key, key, "a CA", is_ca=True), key)


def issued(ca: Pem, *, start: datetime = START, end: datetime = END) -> Pem:
    """A new certificate for `ADDRESS` and `NAME`."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Pem(_signed(NAME, key, ca.key, "a CA", start=start, end=end), key)


@contextmanager
def listening(serve: Serve, address: str = ADDRESS) -> Iterator[int]:
    """A TCP server on a port of its own."""
    with socket.create_server((address, 0)) as listener:
        thread = Thread(target=_accept, args=(listener, serve))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextmanager
def hanging(address: str = ADDRESS) -> Iterator[int]:
    """A TCP port that takes connections and says nothing."""
    with socket.create_server((address, 0)) as listener:
        yield listener.getsockname()[1]


@contextmanager
def answering(reply: Reply, address: str = ADDRESS) -> Iterator[int]:
    """A UDP server on a port of its own; an empty reply is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.bind((address, 0))
        thread = Thread(target=_answer, args=(door, reply))
        thread.start()
        try:
            yield door.getsockname()[1]
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stop:
                stop.sendto(b"", door.getsockname())
            thread.join()


def closed_port(address: str = ADDRESS) -> int:
    """A port that nothing listens on."""
    with socket.create_server((address, 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def web(
    date: str, context: ssl.SSLContext | None = None, heard: list[bytes] | None = None
) -> Serve:
    """A web server that answers one request with a date, and tells what it heard."""

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) if context else connection as talk:
            request = talk.recv(4096)
            if heard is not None:
                heard.append(request)
            talk.sendall(f"HTTP/1.1 403 No\r\nServer: x\r\ndate: {date}\r\n\r\n".encode())

    return serve


def handshaking(context: ssl.SSLContext) -> Serve:
    """A server that shows its certificate and hears what follows."""

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as talk:
            talk.recv(1)

    return serve


def _accept(listener: socket.socket, serve: Serve) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        # A client that does not trust us leaves in the middle of the handshake.
        with connection, suppress(OSError):
            connection.settimeout(5)
            serve(connection)


def _answer(socket: socket.socket, reply: Reply) -> None:
    while True:
        packet, sender = socket.recvfrom(4096)
        if not packet:
            return
        if answer := reply(packet):
            socket.sendto(answer, sender)


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    ca_key: ec.EllipticCurvePrivateKey,
    ca_name: str,
    *,
    is_ca: bool = False,
    start: datetime = START,
    end: datetime = END,
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, ca_name)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(NAME), x509.IPAddress(IPv4Address(ADDRESS))]),
            critical=False,
        )
    )
    return builder.sign(ca_key, hashes.SHA256())
