"""New authorities and certificates, made as `pvecm updatecerts` makes them but for the key type.

Keys are ECDSA on P-256 instead of RSA, which takes a thousandth of the time. Everything follows
from the time and the bytes that are given: the same ones make the same certificates.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from stockman_lab.authority.state import Authority, Certificate

RandomBytes = Callable[[int], bytes]

_CURVE = ec.SECP256R1()
_KEYS = 2**256 - 2**224  # fewer than the curve has, and nobody can tell
_DAY = timedelta(days=1)
_AUTHORITY_DAYS = 3650
_HOST_DAYS = 730
_SHORTER_THAN_AUTHORITY_DAYS = 2
_SHORT = {
    NameOID.COMMON_NAME: "CN",
    NameOID.ORGANIZATION_NAME: "O",
    NameOID.ORGANIZATIONAL_UNIT_NAME: "OU",
}


def new_authority(now: datetime, random_bytes: RandomBytes) -> Authority:
    """The authority of a new cluster, valid for ten years from the day before."""
    key = _key(random_bytes)
    unit = str(UUID(bytes=random_bytes(16), version=4))
    name = _name(
        (NameOID.COMMON_NAME, "Proxmox Virtual Environment"),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, unit),
        (NameOID.ORGANIZATION_NAME, "PVE Cluster Manager CA"),
    )
    start = _yesterday(now)
    builder = _begun(name, name, start, start + _AUTHORITY_DAYS * _DAY)
    builder = builder.serial_number(int.from_bytes(random_bytes(16), "big") or 1)
    builder = _add_identifiers(builder, key, key)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_signs_certificates(), critical=True)
    return Authority(_sign_certificate(builder, key, key))


def new_certificate(
    authority: Authority, names: Sequence[str], now: datetime, random_bytes: RandomBytes
) -> Certificate:
    """A certificate of a host, valid for two years from the day before.

    The last name is the one it is known by. Addresses among the names are certified as such.
    """
    signer = load_pem_private_key(authority.certificate.key.encode("ascii"), password=None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise TypeError("the key of the authority is of another kind")
    parent = x509.load_pem_x509_certificate(authority.certificate.pem.encode("ascii"))
    key = _key(random_bytes)
    subject = _name(
        (NameOID.ORGANIZATIONAL_UNIT_NAME, "PVE Cluster Node"),
        (NameOID.ORGANIZATION_NAME, "Proxmox Virtual Environment"),
        (NameOID.COMMON_NAME, names[-1]),
    )
    left = (parent.not_valid_after_utc - now).days - _SHORTER_THAN_AUTHORITY_DAYS
    start = _yesterday(now)
    builder = _begun(subject, parent.subject, start, start + min(left, _HOST_DAYS) * _DAY)
    authority.issued += 1
    builder = builder.serial_number(authority.issued)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=False
    )
    purpose = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = builder.add_extension(purpose, critical=False)
    alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
    builder = builder.add_extension(alternatives, critical=False)
    certificate = _sign_certificate(_add_identifiers(builder, key, signer), key, signer)
    certificate.names = list(names)
    return certificate


def names_of_host(host: str, address: str, domain: str = "") -> tuple[str, ...]:
    """For what the certificate of a host holds, in the order of the real one."""
    names = ["127.0.0.1", "::1", "localhost", address, host]
    if domain:
        names.append(f"{host}.{domain}")
    return tuple(dict.fromkeys(names))


def _key(random_bytes: RandomBytes) -> ec.EllipticCurvePrivateKey:
    number = int.from_bytes(random_bytes(40), "big") % _KEYS + 1
    return ec.derive_private_key(number, _CURVE)


def _yesterday(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(microsecond=0) - _DAY


def _begun(
    subject: x509.Name, issuer: x509.Name, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
    return builder.not_valid_before(start).not_valid_after(end)


def _add_identifiers(
    builder: x509.CertificateBuilder,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
) -> x509.CertificateBuilder:
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    above = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    builder = builder.public_key(key.public_key()).add_extension(own, critical=False)
    return builder.add_extension(above, critical=False)


def _signs_certificates() -> x509.KeyUsage:
    return x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _sign_certificate(
    builder: x509.CertificateBuilder,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
) -> Certificate:
    metadata = builder.sign(signer, SHA256(), ecdsa_deterministic=True)
    return Certificate(
        pem=metadata.public_bytes(Encoding.PEM).decode("ascii"),
        key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii"),
        subject=_subject_text(metadata.subject),
        issuer=_subject_text(metadata.issuer),
        not_before=int(metadata.not_valid_before_utc.timestamp()),
        not_after=int(metadata.not_valid_after_utc.timestamp()),
    )


def _name(*rows: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(kind, text) for kind, text in rows])


def _subject_text(name: x509.Name) -> str:
    return "".join(f"/{_SHORT[part.oid]}={part.value!s}" for part in name)


def _alternative(name: str) -> x509.DNSName | x509.IPAddress:
    try:
        address: IPv4Address | IPv6Address = ip_address(name)
    except ValueError:
        return x509.DNSName(name)
    return x509.IPAddress(address)


_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES"


def server_context(certificate: Certificate, directory: Path) -> ssl.SSLContext:
    """TLS 1.2 and 1.3 under a certificate.

    OpenSSL takes keys from files only: one lies in the directory for as long as that takes.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    path = directory / f"{fingerprint(certificate.pem).replace(':', '')[:16]}.pem"
    path.touch(mode=0o600)
    try:
        path.write_text(certificate.key + certificate.pem, "ascii")
        context.load_cert_chain(path)
    finally:
        path.unlink()
    return context


def fingerprint(pem: str) -> str:
    """The SHA-256 of a certificate, in pairs of capital digits with colons."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).digest().hex(":").upper()
