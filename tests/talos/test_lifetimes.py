"""Remaining validity of certificates."""

from datetime import timedelta

import pytest

from stockman.crypto.certificates import read_certificate_facts
from stockman.model.version import Version
from stockman.talos.credentials.certificates import CertificateState, ClientIssuer, lifetime
from stockman.talos.credentials.roles import TalosRole
from tests.talos.made import NOW, bundle, dice

ISSUER = ClientIssuer(bundle=bundle(), talos=Version(1, 12), now=NOW, random_bytes=dice())
CLIENT = read_certificate_facts(ISSUER.talos_client([TalosRole.ADMIN]).crt)
DAY = timedelta(days=1)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


@pytest.mark.parametrize(
    ("after", "days", "state"),
    [
        (-10 * MINUTE - SECOND, 365, CertificateState.EARLY),
        (-9 * MINUTE, 365, CertificateState.VALID),
        (0 * DAY, 365, CertificateState.VALID),
        (SECOND, 364, CertificateState.VALID),
        (335 * DAY, 30, CertificateState.VALID),
        (335 * DAY + SECOND, 29, CertificateState.DUE),
        (365 * DAY - SECOND, 0, CertificateState.DUE),
        (365 * DAY + SECOND, -1, CertificateState.ENDED),
    ],
)
def test_remaining_days_determine_the_state(
    after: timedelta, days: int, state: CertificateState
) -> None:
    remaining = lifetime("client", CLIENT, NOW + after)

    assert (remaining.days_left, remaining.state) == (days, state)


def test_the_renewal_margin_can_be_chosen() -> None:
    early = lifetime("client", CLIENT, NOW + DAY, due=365 * DAY)
    late = lifetime("client", CLIENT, NOW + 364 * DAY, due=timedelta(hours=1))

    assert (early.state, late.state) == (CertificateState.DUE, CertificateState.VALID)
