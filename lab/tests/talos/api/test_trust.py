"""Workers get certificates for what they are, and for nothing else."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from stockman_lab.talos.api.call import Asked, Refusal, single
from stockman_lab.talos.api.trust import certified

from lab.tests.talos.api.pretended import TOKEN, PretendedLand, PretendedMachine, cluster_authority
from stockman.crypto.certificates import is_issued_by, read_certificate_facts
from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import message_values, new_message

PATH = "/securityapi.SecurityService/Certificate"


def request(organization: str = "") -> bytes:
    names = [x509.NameAttribute(NameOID.COMMON_NAME, "work-1")]
    if organization:
        names.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(names))
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.9"))])
    builder = builder.add_extension(address, critical=False)
    return builder.sign(Ed25519PrivateKey.generate(), None).public_bytes(Encoding.PEM)


def ask(csr: bytes, path: str = PATH, token: str | None = TOKEN) -> Any:
    machine, wire = PretendedMachine("cp-1", ["127.0.0.2"]), load_api_schema("1.13")
    raw = new_message(wire, "securityapi.CertificateRequest", {"csr": csr}).SerializeToString()

    async def call() -> list[bytes]:
        asked = Asked(path, single(raw), {} if token is None else {"token": [token]})
        return [piece async for piece in certified(PretendedLand(machine), machine, asked)]

    (piece,) = asyncio.run(call())
    return message_values(wire, wire.message("securityapi.CertificateResponse").FromString(piece))


def test_a_certificate_is_for_servers_and_has_no_roles() -> None:
    found = ask(request("os:admin"))
    text = found["crt"].decode()

    assert is_issued_by(text, cluster_authority().crt)
    assert read_certificate_facts(text).organizations == ()
    assert read_certificate_facts(text).common_name == "work-1"
    usage = x509.load_pem_x509_certificate(found["crt"]).extensions.get_extension_for_class(
        x509.ExtendedKeyUsage
    )
    assert list(usage.value) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert found["ca"].decode() == cluster_authority().crt


@pytest.mark.parametrize(
    ("token", "message"), [(None, "missing token"), ("wrong", "invalid token")]
)
def test_nobody_gets_one_without_the_token(token: str | None, message: str) -> None:
    with pytest.raises(Refusal) as raised:
        ask(request(), token=token)

    assert (raised.value.code, raised.value.message) == (GrpcCode.UNAUTHENTICATED, message)


@pytest.mark.parametrize(
    ("csr", "message"),
    [
        (b"nothing", "failed to decode CSR"),
        (
            b"-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n",
            "failed to parse CSR: ",
        ),
    ],
)
def test_what_is_no_request_is_refused(csr: bytes, message: str) -> None:
    with pytest.raises(Refusal, match=message) as raised:
        ask(csr)

    assert raised.value.code is GrpcCode.INVALID_ARGUMENT


def test_nothing_else_is_answered_there() -> None:
    with pytest.raises(Refusal, match=r"unknown service machine\.MachineService"):
        ask(b"", "/machine.MachineService/Version")
