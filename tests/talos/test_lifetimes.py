"""How long certificates hold."""

from datetime import timedelta

import pytest

from stockman.crypto.certificates import read_certificate_facts
from stockman.model.problem import Problems
from stockman.model.version import Version
from stockman.talos.credentials.certificates import (
    CertificateState,
    ClientIssuer,
    bundle_lifetimes,
    lifetime,
    needs_renewal,
    talosconfig_lifetimes,
)
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.credentials.talosconfig import Talosconfig, TalosContext
from tests.talos.made import NOW, bundle, dice

ISSUER = ClientIssuer(bundle=bundle(), talos=Version(1, 12), now=NOW, random_bytes=dice())
CLIENT = ISSUER.talos_client([TalosRole.ADMIN]).crt
DAY = timedelta(days=1)
MOMENT = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("after", "days", "standing", "renew"),
    [
        (-MOMENT, 365, CertificateState.EARLY, False),
        (0 * DAY, 365, CertificateState.VALID, False),
        (MOMENT, 364, CertificateState.VALID, False),
        (335 * DAY, 30, CertificateState.VALID, False),
        (335 * DAY + MOMENT, 29, CertificateState.DUE, True),
        (365 * DAY - MOMENT, 0, CertificateState.DUE, True),
        (365 * DAY + MOMENT, -1, CertificateState.ENDED, True),
    ],
)
def test_days_left_decide_what_is_made_anew(
    after: timedelta, days: int, standing: CertificateState, renew: bool
) -> None:
    found = lifetime("client", read_certificate_facts(CLIENT), NOW + after)

    assert (found.days_left, found.standing) == (days, standing)
    assert needs_renewal(CLIENT, NOW + after) is renew


def test_what_is_no_certificate_is_made_anew() -> None:
    assert needs_renewal("", NOW)


def test_how_early_can_be_chosen() -> None:
    assert needs_renewal(CLIENT, NOW + DAY, due=365 * DAY)
    assert not needs_renewal(CLIENT, NOW + 364 * DAY, due=timedelta(hours=1))


def test_all_authorities_of_a_bundle_are_listed() -> None:
    found = bundle_lifetimes(bundle(), NOW)

    assert [(one.name, one.subject, one.days_left) for one in found] == [
        ("certs.etcd", "O=etcd", 3650),
        ("certs.k8s", "O=kubernetes", 3650),
        ("certs.k8saggregator", "", 3650),
        ("certs.os", "O=talos", 3650),
    ]


def test_client_certificates_of_a_talosconfig_are_listed_and_broken_ones_named() -> None:
    problems = Problems()
    config = Talosconfig(
        contexts={
            "a": TalosContext(crt=CLIENT),
            "b": TalosContext(),
            "c": TalosContext(crt="broken"),
        }
    )

    found = talosconfig_lifetimes(config, NOW, problems)

    assert [(one.name, one.subject) for one in found] == [("talosconfig a", "O=os:admin")]
    assert [one.code for one in problems] == ["certificate.unreadable"]
