"""When a client certificate is made anew, and when it stays."""

from dataclasses import replace
from datetime import timedelta

import pytest

from stockman.crypto.certificates import read_certificate_facts
from stockman.model.version import Version
from stockman.talos.credentials.certificates import (
    CertificateRequirements,
    CertificateState,
    ClientIssuer,
    client_certificate_state,
    is_usable,
)
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.secrets.bundle import new_bundle
from tests.talos.made import NOW, bundle, dice

DAY = timedelta(days=1)
READER = CertificateRequirements(authority=bundle().certs.os.crt, organizations=("os:reader",))


def issuer() -> ClientIssuer:
    return ClientIssuer(bundle=bundle(), talos=Version(1, 14), now=NOW, random_bytes=dice())


@pytest.mark.parametrize(
    ("lifetime", "days", "expected"),
    [
        (365, 334, CertificateState.VALID),
        (365, 336, CertificateState.DUE),
        (365, 366, CertificateState.ENDED),
        (365, -1, CertificateState.EARLY),
        (30, 0, CertificateState.VALID),
        (30, 19, CertificateState.VALID),
        (30, 21, CertificateState.DUE),
        (1, 0.5, CertificateState.VALID),
        (1, 0.7, CertificateState.DUE),
    ],
)
def test_a_short_life_is_renewed_in_its_last_third(
    lifetime: int, days: float, expected: CertificateState
) -> None:
    crt = issuer().talos_client([TalosRole.READER], lifetime * DAY).crt

    assert client_certificate_state(read_certificate_facts(crt), NOW + days * DAY) is expected


def test_a_certificate_of_the_same_authority_and_roles_serves() -> None:
    client = issuer().talos_client([TalosRole.READER])

    assert is_usable(client.crt, client.key, READER, NOW)


def test_another_authority_key_or_role_does_not_serve() -> None:
    client = issuer().talos_client([TalosRole.READER])
    talos_client = issuer().talos_client([TalosRole.READER])
    elsewhere = replace(READER, authority=bundle().certs.k8s.crt)
    admin = replace(READER, organizations=("os:admin",))

    assert not is_usable(client.crt, talos_client.key, READER, NOW)
    assert not is_usable(client.crt, client.key, elsewhere, NOW)
    assert not is_usable(client.crt, client.key, admin, NOW)
    assert not is_usable(client.crt, client.key, replace(READER, common_name="admin"), NOW)
    assert not is_usable(client.crt, None, READER, NOW)
    assert not is_usable("", client.key, READER, NOW)
    assert not is_usable(client.crt, client.key, READER, NOW + 340 * DAY)


def test_certificates_are_valid_for_machines_whose_clock_is_minutes_late() -> None:
    clients = (issuer().talos_client([TalosRole.READER]), issuer().kubernetes_admin())
    certificates = [client.crt for client in clients]
    certificates.append(new_bundle(Version(1, 14), NOW, dice()).certs.os.crt)

    starts = [read_certificate_facts(crt).period.start for crt in certificates]

    assert max(starts) <= NOW - timedelta(minutes=5)
