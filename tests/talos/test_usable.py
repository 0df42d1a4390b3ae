"""When a client certificate is made anew, and when it stays."""

from dataclasses import replace
from datetime import timedelta

import pytest

from stockman.crypto.certificates import facts
from stockman.model.version import Version
from stockman.talos.clients import Issuer
from stockman.talos.lifetimes import Standing
from stockman.talos.roles import TalosRole
from stockman.talos.usable import Wanted, standing, still_serves
from tests.talos.made import NOW, bundle, dice

DAY = timedelta(days=1)
READER = Wanted(authority=bundle().certs.os.crt, organizations=("os:reader",))


def issuer() -> Issuer:
    return Issuer(bundle=bundle(), talos=Version(1, 14), now=NOW, random_bytes=dice())


@pytest.mark.parametrize(
    ("lifetime", "days", "expected"),
    [
        (365, 334, Standing.VALID),
        (365, 336, Standing.DUE),
        (365, 366, Standing.ENDED),
        (365, -1, Standing.EARLY),
        (30, 0, Standing.VALID),
        (30, 19, Standing.VALID),
        (30, 21, Standing.DUE),
        (1, 0.5, Standing.VALID),
        (1, 0.7, Standing.DUE),
    ],
)
def test_a_short_life_is_renewed_in_its_last_third(
    lifetime: int, days: float, expected: Standing
) -> None:
    crt = issuer().talos_client([TalosRole.READER], lifetime * DAY).crt

    assert standing(facts(crt), NOW + days * DAY) is expected


def test_a_certificate_of_the_same_authority_and_roles_serves() -> None:
    client = issuer().talos_client([TalosRole.READER])

    assert still_serves(client.crt, client.key, READER, NOW)


def test_another_authority_key_or_role_does_not_serve() -> None:
    client = issuer().talos_client([TalosRole.READER])
    other = issuer().talos_client([TalosRole.READER])
    elsewhere = replace(READER, authority=bundle().certs.k8s.crt)
    admin = replace(READER, organizations=("os:admin",))

    assert not still_serves(client.crt, other.key, READER, NOW)
    assert not still_serves(client.crt, client.key, elsewhere, NOW)
    assert not still_serves(client.crt, client.key, admin, NOW)
    assert not still_serves(client.crt, client.key, replace(READER, common_name="admin"), NOW)
    assert not still_serves(client.crt, None, READER, NOW)
    assert not still_serves("", client.key, READER, NOW)
    assert not still_serves(client.crt, client.key, READER, NOW + 340 * DAY)
