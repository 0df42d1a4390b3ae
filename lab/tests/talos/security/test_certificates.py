"""Machines show certificates as the real ones do, and look at those of their callers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding
from stockman_lab.core.dice import Dice
from stockman_lab.talos.security.tls import (
    Names,
    NotForClients,
    maintenance_certificate,
    roles_in,
    server_certificate,
)

from lab.tests.talos.api.pretended import TODAY, client, cluster_authority
from stockman.crypto.certificates import (
    Purpose,
    is_issued_by,
    key_matches_certificate,
    read_certificate,
    read_certificate_facts,
)

NAMES = Names("cp-1.example.org", ("cp-1", "cp-1.example.org"), ("10.42.0.11", "127.0.0.1", "::1"))


def der(pem: str) -> bytes:
    return read_certificate(pem).public_bytes(Encoding.DER)


def test_a_server_certificate_names_all_addresses_and_lasts_a_day() -> None:
    certificate_and_key = server_certificate(
        cluster_authority(), NAMES, TODAY, Dice(3).random_bytes
    )
    certificate = read_certificate(certificate_and_key.crt)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    assert is_issued_by(certificate_and_key.crt, cluster_authority().crt)
    assert key_matches_certificate(certificate_and_key.crt, certificate_and_key.key)
    assert [str(value) for value in names.get_values_for_type(x509.IPAddress)] == list(
        NAMES.addresses
    )
    assert names.get_values_for_type(x509.DNSName) == list(NAMES.dns)
    assert certificate.not_valid_after_utc - TODAY == timedelta(hours=24)
    assert isinstance(certificate.public_key(), Ed25519PublicKey)


def test_the_same_bytes_make_the_same_certificate() -> None:
    crts = [
        server_certificate(cluster_authority(), NAMES, TODAY, Dice(3).random_bytes).crt
        for _ in range(2)
    ]

    assert crts[0] == crts[1]


def test_a_machine_without_a_configuration_shows_one_that_nobody_knows() -> None:
    certificate_and_key = maintenance_certificate(["10.42.0.11"], TODAY, Dice(3).random_bytes)

    assert (
        read_certificate_facts(certificate_and_key.crt).common_name
        == "maintenance-service.talos.dev"
    )
    assert not is_issued_by(certificate_and_key.crt, cluster_authority().crt)


def test_roles_are_the_organizations_of_a_caller() -> None:
    who = client(TODAY, "os:operator", "os:etcd:backup", "what:ever")

    assert roles_in(der(who.crt)) == {"os:operator", "os:etcd:backup", "what:ever"}


@pytest.mark.parametrize(
    "purposes", [(), (Purpose.SERVER,), (Purpose.CLIENT, Purpose.SERVER)], ids=str
)
def test_a_certificate_for_anything_but_clients_gives_no_role(
    purposes: tuple[Purpose, ...],
) -> None:
    who = client(TODAY, "os:admin", purposes=purposes)

    with pytest.raises(NotForClients):
        roles_in(der(who.crt))
