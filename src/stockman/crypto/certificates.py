"""Certificate authorities and certificates in the style of Talos.

Time and the random parts of a certificate (serial number, key identifier) are passed in. Keys come
from `private_keys`; ECDSA signatures use their own random numbers.
"""

from __future__ import annotations

import base64
import hashlib
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256, SHA512
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from stockman.crypto.pem import CertificateAndKey, NotPem, first_block
from stockman.crypto.private_keys import (
    Algorithm,
    PrivateKey,
    algorithm_of,
    generate_key,
    key_pem,
    public_bytes,
    read_key,
)
from stockman.model.record import record
from stockman.model.secret import Secret

RandomBytes = Callable[[int], bytes]
"""Function that returns a number of random bytes, as the `Entropy` port provides."""

_SERIAL_BYTES = 16
_KEY_ID_BYTES = 20
_CERTIFICATE_LABEL = "CERTIFICATE"
_PARSE_ERRORS = (ValueError, UnsupportedAlgorithm, x509.DuplicateExtension, x509.InvalidVersion)
"""Exceptions raised when a part of an invalid certificate is parsed."""


_CLOCK_SKEW = timedelta(minutes=10)
"""How far the clock of a machine may be behind the clock that a certificate is issued by."""


class ValidityPeriod(NamedTuple):
    """Start and end of validity, in whole seconds."""

    start: datetime
    end: datetime

    @classmethod
    def lasting(cls, start: datetime, length: timedelta) -> ValidityPeriod:
        begin = start.astimezone(UTC).replace(microsecond=0)
        return cls(begin, begin + length)

    @classmethod
    def backdated(cls, now: datetime, length: timedelta) -> ValidityPeriod:
        """Return a period that lasts from now, and begins earlier for machines whose clock is late.

        Go rejects a certificate that is not valid yet, so a machine would look like one of another
        cluster.
        """
        return cls.lasting(now - _CLOCK_SKEW, length + _CLOCK_SKEW)


class Purpose(Enum):
    """Which side of a connection a certificate is for."""

    CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH
    SERVER = ExtendedKeyUsageOID.SERVER_AUTH


@record
class CertificateRequest:
    """Content of a certificate that an authority should issue."""

    period: ValidityPeriod
    purposes: tuple[Purpose, ...]
    organizations: tuple[str, ...] = ()
    common_name: str = ""
    """Empty: none."""
    key_encipherment: bool = False
    """Whether the key may also encrypt other keys."""
    dns_names: tuple[str, ...] = ()
    addresses: tuple[IPv4Address | IPv6Address, ...] = ()


@record
class CertificateFacts:
    """Main fields of a certificate."""

    organizations: tuple[str, ...]
    common_name: str
    """Empty: none."""
    period: ValidityPeriod
    is_authority: bool


def create_authority(
    organization: str, algorithm: Algorithm, period: ValidityPeriod, random_bytes: RandomBytes
) -> CertificateAndKey:
    """Create a self-signed authority. Without an organization its subject is empty."""
    key = generate_key(algorithm)
    subject = _build_name((organization,) if organization else (), "")
    builder = _certificate_builder(subject, subject, period, random_bytes)
    builder = builder.public_key(key.public_key())
    builder = builder.add_extension(_key_usage(signs_certificates=True), critical=True)
    builder = builder.add_extension(
        _extended_key_usage((Purpose.SERVER, Purpose.CLIENT)), critical=False
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    identifier = x509.SubjectKeyIdentifier(random_bytes(_KEY_ID_BYTES))
    builder = builder.add_extension(identifier, critical=False)
    return _sign(builder, key, key)


def issue_certificate(
    authority: CertificateAndKey,
    leaf: CertificateRequest,
    random_bytes: RandomBytes,
    key: PrivateKey | None = None,
) -> CertificateAndKey:
    """Issue a certificate; a new key is created with the algorithm of the authority.

    Raises `NotPem` if the authority cannot be parsed.
    """
    parent = read_certificate(authority.crt)
    signer = read_key(authority.key)
    if key is None:
        key = generate_key(algorithm_of(signer))
    subject = _build_name(leaf.organizations, leaf.common_name)
    builder = _certificate_builder(subject, parent.subject, leaf.period, random_bytes)
    builder = builder.public_key(key.public_key())
    usage = _key_usage(encrypts_keys=leaf.key_encipherment)
    builder = builder.add_extension(usage, critical=True)
    builder = builder.add_extension(_extended_key_usage(leaf.purposes), critical=False)
    identifier = _key_identifier(parent)
    if identifier is not None:
        builder = builder.add_extension(identifier, critical=False)
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in leaf.dns_names]
    names += [x509.IPAddress(address) for address in leaf.addresses]
    if names:
        is_nameless = not leaf.organizations and not leaf.common_name
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=is_nameless)
    return _sign(builder, key, signer)


def read_certificate(text: str) -> x509.Certificate:
    """Parse the first certificate of a PEM text; raises `NotPem` if it is invalid."""
    block = first_block(text)
    if block.label != _CERTIFICATE_LABEL:
        raise NotPem(f"a block {block.label} is not a {_CERTIFICATE_LABEL}")
    try:
        with warnings.catch_warnings():
            # Authorities of kubeadm have the serial number zero, and clusters with them live on.
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            return x509.load_der_x509_certificate(block.der)
    except _PARSE_ERRORS:
        raise NotPem("what stands inside of the block is no certificate") from None


def read_certificate_facts(text: str) -> CertificateFacts:
    """Return the main fields of the first certificate of a PEM text; raises `NotPem` if it is
    invalid."""
    certificate = read_certificate(text)
    try:
        names = _name_attributes(certificate.subject, NameOID.COMMON_NAME)
        return CertificateFacts(
            organizations=_name_attributes(certificate.subject, NameOID.ORGANIZATION_NAME),
            common_name=names[0] if names else "",
            period=ValidityPeriod(
                certificate.not_valid_before_utc, certificate.not_valid_after_utc
            ),
            is_authority=_may_sign(certificate),
        )
    except _PARSE_ERRORS:
        raise NotPem("parts of the certificate cannot be read") from None


def key_matches_certificate(text: str, key: Secret) -> bool:
    """Return whether a private key belongs to a certificate; raises `NotPem` if either is
    invalid."""
    certificate = read_certificate(text)
    try:
        held = certificate.public_key()
    except _PARSE_ERRORS:
        raise NotPem("the key inside of the certificate cannot be read") from None
    spoken_of = held.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return spoken_of == public_bytes(read_key(key))


def is_issued_by(text: str, authority: str) -> bool:
    """Return whether a certificate is signed by an authority; raises `NotPem` if either is
    invalid."""
    child, parent = read_certificate(text), read_certificate(authority)
    try:
        child.verify_directly_issued_by(parent)
    except (InvalidSignature, TypeError, *_PARSE_ERRORS):
        return False
    return True


def _certificate_builder(
    subject: x509.Name, issuer: x509.Name, period: ValidityPeriod, random_bytes: RandomBytes
) -> x509.CertificateBuilder:
    # Zero is no serial number, and certificates count from one.
    serial = int.from_bytes(random_bytes(_SERIAL_BYTES), "big") or 1
    return (
        x509.CertificateBuilder()
        .serial_number(serial)
        .subject_name(subject)
        .issuer_name(issuer)
        .not_valid_before(period.start)
        .not_valid_after(period.end)
    )


def _build_name(organizations: Sequence[str], common_name: str) -> x509.Name:
    """Build a name; several organizations share one RDN, as Go does."""
    names = []
    if organizations:
        names.append(
            x509.RelativeDistinguishedName(
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)
                for organization in organizations
            )
        )
    if common_name:
        attribute = x509.NameAttribute(NameOID.COMMON_NAME, common_name)
        names.append(x509.RelativeDistinguishedName([attribute]))
    return x509.Name(names)


def _extended_key_usage(purposes: Sequence[Purpose]) -> x509.ExtendedKeyUsage:
    return x509.ExtendedKeyUsage([purpose.value for purpose in purposes])


def _key_usage(*, signs_certificates: bool = False, encrypts_keys: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=encrypts_keys,
        key_cert_sign=signs_certificates,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _may_sign(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _key_identifier(parent: x509.Certificate) -> x509.AuthorityKeyIdentifier | None:
    try:
        extension = parent.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    except x509.ExtensionNotFound:
        return None
    except _PARSE_ERRORS:
        raise NotPem("the extensions of the authority cannot be read") from None
    return x509.AuthorityKeyIdentifier(extension.value.digest, None, None)


def _sign(
    builder: x509.CertificateBuilder, key: PrivateKey, signer: PrivateKey
) -> CertificateAndKey:
    signature: SHA256 | SHA512 | None = SHA256()
    if isinstance(signer, Ed25519PrivateKey):
        signature = None
    elif isinstance(signer, RSAPrivateKey):
        signature = SHA512()
    certificate = builder.sign(signer, signature)
    return CertificateAndKey(
        crt=certificate.public_bytes(Encoding.PEM).decode("ascii"), key=key_pem(key)
    )


def _name_attributes(name: x509.Name, kind: x509.ObjectIdentifier) -> tuple[str, ...]:
    values = (attribute.value for attribute in name.get_attributes_for_oid(kind))
    return tuple(value for value in values if isinstance(value, str))


def key_fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 of the public key of a DER certificate in base64, as `talosctl` shows
    it."""
    key = x509.load_der_x509_certificate(certificate).public_key()
    encoded = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(encoded).digest()).decode("ascii")
