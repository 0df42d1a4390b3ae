"""Authorities and what they issue, held against the template of Talos."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID as Usage

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    create_authority,
    is_issued_by,
    issue_certificate,
    key_matches_certificate,
    read_certificate,
    read_certificate_facts,
)
from stockman.crypto.pem import CertificateAndKey, NotPem, encode_pem, first_block
from stockman.crypto.private_keys import Algorithm, algorithm_of, read_key

NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)
YEAR = ValidityPeriod.lasting(NOW, timedelta(days=365))
CLIENT = CertificateRequest(period=YEAR, purposes=(Purpose.CLIENT,), organizations=("os:admin",))


def counted(count: int) -> bytes:
    return bytes(range(1, count + 1))


def authority(algorithm: Algorithm = Algorithm.ED25519, name: str = "talos") -> CertificateAndKey:
    return create_authority(name, algorithm, YEAR, counted)


def extensions(text: str) -> dict[str, tuple[bool, object]]:
    found = read_certificate(text).extensions
    return {one.oid._name: (one.critical, one.value) for one in found}


def test_an_authority_has_the_extensions_of_talos_in_its_order() -> None:
    found = extensions(authority().crt)

    usage = found["keyUsage"][1]
    assert isinstance(usage, x509.KeyUsage)
    assert (usage.digital_signature, usage.key_cert_sign, usage.crl_sign) == (True, True, False)
    assert list(found) == [
        "keyUsage",
        "extendedKeyUsage",
        "basicConstraints",
        "subjectKeyIdentifier",
    ]
    assert [critical for critical, _ in found.values()] == [True, False, True, False]
    assert found["basicConstraints"][1] == x509.BasicConstraints(ca=True, path_length=None)
    assert found["subjectKeyIdentifier"][1] == x509.SubjectKeyIdentifier(counted(20))
    assert found["extendedKeyUsage"][1] == x509.ExtendedKeyUsage(
        [Usage.SERVER_AUTH, Usage.CLIENT_AUTH]
    )


def test_time_and_serial_number_are_those_given() -> None:
    certificate_facts = read_certificate_facts(authority().crt)

    serial = read_certificate(authority().crt).serial_number
    assert serial == int.from_bytes(counted(16), "big")
    assert certificate_facts.period.start == NOW.replace(microsecond=0)
    assert certificate_facts.period.end - certificate_facts.period.start == timedelta(days=365)
    assert certificate_facts.is_authority


def test_a_serial_number_is_never_zero() -> None:
    zeros = create_authority("talos", Algorithm.ED25519, YEAR, bytes)

    assert read_certificate(zeros.crt).serial_number == 1


def test_a_serial_number_of_zero_is_read_without_a_word() -> None:
    der = first_block(create_authority("kubernetes", Algorithm.ECDSA, YEAR, bytes).crt).der

    zero = der.replace(b"\x02\x01\x02\x02\x01\x01", b"\x02\x01\x02\x02\x01\x00", 1)

    assert read_certificate_facts(encode_pem("CERTIFICATE", zero)).organizations == ("kubernetes",)


def test_without_an_organization_the_subject_is_empty() -> None:
    certificate = read_certificate(authority(Algorithm.ECDSA, "").crt)

    assert list(certificate.subject) == list(certificate.issuer) == []


def test_a_client_certificate_has_the_extensions_of_talos() -> None:
    parent = authority()

    found = extensions(issue_certificate(parent, CLIENT, counted).crt)

    assert list(found) == ["keyUsage", "extendedKeyUsage", "authorityKeyIdentifier"]
    assert found["extendedKeyUsage"] == (False, x509.ExtendedKeyUsage([Usage.CLIENT_AUTH]))
    identifier = found["authorityKeyIdentifier"][1]
    assert isinstance(identifier, x509.AuthorityKeyIdentifier)
    assert identifier.key_identifier == counted(20)


@pytest.mark.parametrize("algorithm", [Algorithm.ED25519, Algorithm.ECDSA])
def test_a_leaf_uses_the_kind_of_key_of_its_authority(algorithm: Algorithm) -> None:
    parent = authority(algorithm)

    leaf = issue_certificate(parent, CLIENT, counted)

    assert algorithm_of(read_key(leaf.key)) is algorithm
    assert is_issued_by(leaf.crt, parent.crt)
    assert key_matches_certificate(leaf.crt, leaf.key)
    assert not read_certificate_facts(leaf.crt).is_authority


def test_a_certificate_of_another_authority_is_told_apart() -> None:
    leaf = issue_certificate(authority(), CLIENT, counted)
    other = authority()

    assert not is_issued_by(leaf.crt, other.crt)
    assert not is_issued_by(leaf.crt, authority(Algorithm.ECDSA).crt)
    assert not key_matches_certificate(leaf.crt, other.key)


def test_several_organizations_share_one_place_in_the_name() -> None:
    leaf = CertificateRequest(
        period=YEAR, purposes=(Purpose.CLIENT,), organizations=("b", "a"), common_name="x"
    )

    crt = issue_certificate(authority(), leaf, counted).crt

    assert [len(list(rdn)) for rdn in read_certificate(crt).subject.rdns] == [2, 1]
    assert sorted(read_certificate_facts(crt).organizations) == ["a", "b"]
    assert read_certificate_facts(crt).common_name == "x"


def test_a_server_certificate_names_its_addresses() -> None:
    leaf = CertificateRequest(
        period=YEAR,
        purposes=(Purpose.SERVER,),
        dns_names=("talos",),
        addresses=(ip_address("127.0.0.1"), ip_address("::1")),
    )

    critical, names = extensions(issue_certificate(authority(), leaf, counted).crt)[
        "subjectAltName"
    ]

    assert critical, "because the subject is empty"
    assert isinstance(names, x509.SubjectAlternativeName)
    assert names.get_values_for_type(x509.DNSName) == ["talos"]
    assert names.get_values_for_type(x509.IPAddress) == [ip_address("127.0.0.1"), ip_address("::1")]


def test_keys_stay_out_of_everything_that_is_printed() -> None:
    assert "PRIVATE" not in repr(authority())


@pytest.mark.parametrize(
    "text", ["", encode_pem("CERTIFICATE", b"abc"), encode_pem("PUBLIC KEY", b"abc")]
)
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(NotPem):
        read_certificate_facts(text)
