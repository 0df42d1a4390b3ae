"""The authority of a cluster and the certificates of its hosts."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID
from stockman_lab.authority.making import names_of_host, new_authority, new_certificate
from stockman_lab.authority.state import Authority

from lab.tests.http.serving import dice
from stockman.crypto.certificates import is_issued_by, key_matches_certificate
from stockman.model.secret import Secret

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = names_of_host("pve1", "127.66.0.1", "lab.test")


def authority() -> Authority:
    return new_authority(NOW, dice(3))


def parsed(pem: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem.encode())


def test_an_authority_is_named_as_the_one_of_a_real_cluster() -> None:
    certificate = authority().certificate

    unit = certificate.subject.partition("/OU=")[2].partition("/")[0]
    assert (
        certificate.subject == f"/CN=Proxmox Virtual Environment/OU={unit}/O=PVE Cluster Manager CA"
    )
    assert certificate.issuer == certificate.subject
    assert len(unit) == 36
    assert unit == unit.lower()


def test_an_authority_holds_for_ten_years_from_the_day_before() -> None:
    certificate = authority().certificate

    assert certificate.not_before == int((NOW - timedelta(days=1)).timestamp())
    assert certificate.not_after - certificate.not_before == 3650 * 86_400
    assert parsed(certificate.pem).not_valid_before_utc == NOW - timedelta(days=1)


def test_an_authority_signs_certificates_and_nothing_else() -> None:
    extensions = parsed(authority().certificate.pem).extensions

    usage = extensions.get_extension_for_class(x509.KeyUsage)
    constraints = extensions.get_extension_for_class(x509.BasicConstraints)
    assert usage.critical
    assert usage.value.key_cert_sign
    assert not usage.value.digital_signature
    assert constraints.critical
    assert constraints.value.ca


def test_the_same_time_and_dice_make_the_same_authority() -> None:
    assert authority() == authority()
    assert authority() != new_authority(NOW, dice(4))


def test_a_host_is_certified_for_all_its_names() -> None:
    certificate = new_certificate(authority(), NAMES, NOW, dice(5))

    names = (
        parsed(certificate.pem)
        .extensions.get_extension_for_class(x509.SubjectAlternativeName)
        .value
    )
    assert certificate.names == [
        "127.0.0.1",
        "::1",
        "localhost",
        "127.66.0.1",
        "pve1",
        "pve1.lab.test",
    ]
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "pve1", "pve1.lab.test"]
    assert names.get_values_for_type(x509.IPAddress) == [
        IPv4Address("127.0.0.1"),
        IPv6Address("::1"),
        IPv4Address("127.66.0.1"),
    ]
    assert (
        certificate.subject == "/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN=pve1.lab.test"
    )


def test_a_name_is_certified_once() -> None:
    assert names_of_host("pve1", "127.0.0.1") == ("127.0.0.1", "::1", "localhost", "pve1")


def test_a_certificate_of_a_host_is_signed_by_the_authority_and_fits_its_key() -> None:
    ca = authority()

    certificate = new_certificate(ca, NAMES, NOW, dice(5))

    assert is_issued_by(certificate.pem, ca.certificate.pem)
    assert key_matches_certificate(certificate.pem, Secret(certificate.key))
    assert certificate.issuer == ca.certificate.subject
    assert isinstance(parsed(certificate.pem).public_key(), ec.EllipticCurvePublicKey)


def test_a_certificate_of_a_host_is_for_servers_only() -> None:
    extensions = parsed(new_certificate(authority(), NAMES, NOW, dice(5)).pem).extensions

    usage = extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_serial_numbers_count_from_one() -> None:
    ca = authority()

    rows = [parsed(new_certificate(ca, NAMES, NOW, dice(n)).pem) for n in (5, 6)]

    assert [row.serial_number for row in rows] == [1, 2]
    assert ca.issued == 2


@pytest.mark.parametrize(("years", "days"), [(0, 730), (9, 362)])
def test_a_certificate_of_a_host_ends_before_its_authority(years: int, days: int) -> None:
    later = NOW + timedelta(days=365 * years)

    certificate = new_certificate(authority(), NAMES, later, dice(5))

    assert certificate.not_after - certificate.not_before == days * 86_400
