"""Checks of the servers that the configuration names."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from stockman.app.doctor import CHECKS
from stockman.assessment.doctor.check import CheckResult, CheckStatus
from stockman.ports.environment import Certificate, ServerAddress, Trust
from tests.app.doctor.fakes import (
    CLASSIC,
    CLUSTER,
    FINGERPRINT,
    NOW,
    PLANTED,
    TRUSTED,
    FakeMachine,
    FakeNetwork,
    scene,
    told,
)

PROXMOX = """\
proxmox:
  endpoint: https://127.66.0.4:8006
"""
TWO = PROXMOX + "  endpoints: [https://127.66.0.5:8006]\n"
STRANGE = replace(TRUSTED, flaw="self-signed certificate")


def asked(name: str, network: FakeNetwork, more: str = "", **changes: Any) -> list[CheckResult]:
    check = next(check for check in CHECKS if check.name == name)
    return asyncio.run(told(check, scene(CLUSTER + more, **changes), network))


def test_a_trusted_certificate_is_well() -> None:
    network = FakeNetwork(certificates={"127.66.0.4:8006": TRUSTED})

    (finding,) = asked("reach.proxmox", network, PROXMOX)

    assert finding.status is CheckStatus.OK
    assert finding.subject == "the Proxmox API, region pve, https://127.66.0.4:8006"
    assert finding.summary == "it answers; its certificate is trusted until 2031-01-01"


@pytest.mark.parametrize(
    ("tls", "trust"),
    [
        ("", Trust()),
        ("  tls: {ca_file: pve.pem}\n", Trust(ca=b"the CA")),
        (f'  tls: {{fingerprint: "{FINGERPRINT}"}}\n', Trust(fingerprint=FINGERPRINT.lower())),
    ],
)
def test_the_certificate_is_judged_as_the_configuration_says(tls: str, trust: Trust) -> None:
    network = FakeNetwork(certificates={"127.66.0.4:8006": TRUSTED})
    machine = FakeMachine(CLASSIC, contents={"pve.pem": b"the CA"})

    asked("reach.proxmox", network, PROXMOX + tls, machine=machine)

    assert network.trusts == [trust]


def test_a_ca_file_that_is_missing_fails_and_nobody_is_asked() -> None:
    network = FakeNetwork(certificates={"127.66.0.4:8006": TRUSTED})

    (finding,) = asked("reach.proxmox", network, PROXMOX + "  tls: {ca_file: pve.pem}\n")

    assert (finding.status, finding.summary) == (
        CheckStatus.FAIL,
        "its CA file pve.pem cannot be read",
    )
    assert network.dialled == []


def test_a_certificate_that_is_not_trusted_fails_and_shows_its_fingerprint() -> None:
    network = FakeNetwork(certificates={"127.66.0.4:8006": STRANGE})

    (finding,) = asked("reach.proxmox", network, PROXMOX)

    assert finding.status is CheckStatus.FAIL
    assert finding.summary == "its certificate is not trusted: self-signed certificate"
    assert FINGERPRINT in finding.fix
    assert "`proxmox.tls.fingerprint`" in finding.fix


@pytest.mark.parametrize(
    ("flaw", "days", "status", "seen"),
    [
        ("", 15, CheckStatus.OK, "is trusted until"),
        ("", 13, CheckStatus.WARN, "ends on"),
        ("", -1, CheckStatus.WARN, "ended on"),
        ("certificate has expired", -1, CheckStatus.FAIL, "has expired"),
    ],
)
def test_the_end_of_a_certificate_is_told_in_time(
    flaw: str, days: int, status: CheckStatus, seen: str
) -> None:
    shown = Certificate(fingerprint=FINGERPRINT, expires=NOW + timedelta(days=days), flaw=flaw)
    network = FakeNetwork(certificates={"127.66.0.4:8006": shown})

    (finding,) = asked("reach.proxmox", network, PROXMOX)

    assert finding.status is status
    assert seen in finding.summary


def test_a_proxmox_that_is_silent_fails_with_the_place_of_its_key() -> None:
    (finding,) = asked("reach.proxmox", FakeNetwork(), PROXMOX)

    assert (finding.status, finding.summary) == (CheckStatus.FAIL, "connection refused")
    assert "proxmox.endpoint (cluster.yaml:15:13)" in finding.fix


def test_one_endpoint_of_a_region_that_answers_is_enough() -> None:
    network = FakeNetwork(certificates={"127.66.0.5:8006": TRUSTED})

    first, second = asked("reach.proxmox", network, TWO)

    assert first.status is CheckStatus.WARN
    assert first.summary == "connection refused; another endpoint answers"
    assert second.status is CheckStatus.OK


def test_a_strange_certificate_stays_a_failure_beside_a_good_one() -> None:
    network = FakeNetwork(certificates={"127.66.0.4:8006": STRANGE, "127.66.0.5:8006": TRUSTED})

    assert [text.status for text in asked("reach.proxmox", network, TWO)] == [
        CheckStatus.FAIL,
        CheckStatus.OK,
    ]


def test_a_strange_certificate_does_not_excuse_a_silent_endpoint() -> None:
    network = FakeNetwork(certificates={"127.66.0.5:8006": STRANGE})

    assert [text.status for text in asked("reach.proxmox", network, TWO)] == [CheckStatus.FAIL] * 2


def test_a_token_must_not_travel_in_the_clear() -> None:
    network = FakeNetwork(open_ports=["127.66.0.4:8006"])

    (finding,) = asked("reach.proxmox", network, PROXMOX.replace("https", "http"))

    assert finding.status is CheckStatus.WARN
    assert "without TLS" in finding.summary


def test_the_connect_map_is_followed() -> None:
    network = FakeNetwork(certificates={"127.66.0.9:1": TRUSTED})
    connect = "  connect: {'127.66.0.4:8006': '127.66.0.9:1'}\n"

    (finding,) = asked("reach.proxmox", network, PROXMOX + connect)

    assert finding.status is CheckStatus.OK
    assert network.dialled == [ServerAddress(host="127.66.0.9", port=1, name="127.66.0.4")]


def test_an_api_that_is_not_there_yet_is_a_warning() -> None:
    (silent,) = asked("reach.kubernetes", FakeNetwork())
    (there,) = asked("reach.kubernetes", FakeNetwork(open_ports=["127.66.0.10:6443"]))

    assert silent.status is CheckStatus.WARN
    assert there.status is CheckStatus.OK


def test_a_name_without_an_address_is_told_once_by_its_own_check() -> None:
    (finding,) = asked("reach.factory", FakeNetwork())

    assert finding.status is CheckStatus.SKIP
    assert finding.summary == "factory.test has no address, see `reach.names`"


def test_behind_a_proxy_silence_proves_nothing() -> None:
    machine = FakeMachine(variables={"HTTPS_PROXY": "http://127.66.0.99:3128"})
    network = FakeNetwork(names={"factory.test": ("127.66.0.7",)})

    (finding,) = asked("reach.factory", network, machine=machine)

    assert finding.status is CheckStatus.UNKNOWN
    assert "$HTTPS_PROXY may reach it" in finding.summary


def test_no_credential_is_ever_given_to_the_network() -> None:
    network = FakeNetwork()

    asked("reach.proxmox", network, PROXMOX + f"  token_secret: {PLANTED}\n")

    assert PLANTED not in repr(network.__dict__)
