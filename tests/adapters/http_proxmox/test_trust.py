"""Whom the adapter trusts, and what it sends before it does: nothing."""

import ssl

import pytest

from stockman.adapters.proxmox.endpoint import tls_context
from stockman.model.errors import Refused, Unreachable
from stockman.ports.environment import Trust
from tests.adapters.http_proxmox.scripted import Answer, ScriptedServer, identity
from tests.adapters.http_proxmox.talking import talk, trouble

VERSION = Answer({"version": "9.1.4", "release": "9.1"})


def server() -> ScriptedServer:
    return ScriptedServer(lambda _: VERSION)


@pytest.mark.parametrize("spelled", [str, str.lower, lambda text: text.replace(":", "")])
def test_the_pinned_certificate_is_trusted_however_it_is_spelled(spelled: type[str]) -> None:
    pinned = Trust(fingerprint=spelled(identity().fingerprint))

    assert talk(server(), lambda pve: pve.version(), trust=pinned).release == "9.1"


def test_each_endpoint_may_have_a_certificate_of_its_own() -> None:
    pinned = Trust(fingerprint=identity(1).fingerprint, further=(identity().fingerprint,))

    assert talk(server(), lambda pve: pve.version(), trust=pinned).release == "9.1"


@pytest.mark.parametrize(
    ("trust", "why"),
    [
        (Trust(fingerprint=identity(1).fingerprint), identity().fingerprint),
        (Trust(ca=identity(1).ca.crt.encode()), "issuer certificate"),
        (Trust(), "certificate"),
    ],
    ids=["fingerprint", "authority", "system"],
)
def test_another_certificate_gets_no_token(trust: Trust, why: str) -> None:
    listening = server()

    problem = trouble(Refused, lambda: talk(listening, lambda pve: pve.version(), trust=trust))

    assert problem.code == "proxmox.certificate"
    assert why in problem.why
    assert listening.asked == []


def test_a_certificate_that_nobody_vouches_for_is_shown_to_be_pinned() -> None:
    problem = trouble(Refused, lambda: talk(server(), lambda pve: pve.version(), trust=Trust()))

    assert identity().fingerprint in problem.fix


def test_a_ca_that_is_none_is_refused() -> None:
    problem = trouble(Refused, lambda: tls_context(Trust(ca=b"-----BEGIN NONSENSE-----")))

    assert problem.code == "proxmox.authority"


@pytest.mark.parametrize("trust", [Trust(), Trust(fingerprint="AB" * 32)])
def test_nothing_older_than_tls_1_2_is_spoken(trust: Trust) -> None:
    assert tls_context(trust).minimum_version == ssl.TLSVersion.TLSv1_2


def test_tls_1_2_is_enough() -> None:
    old = server()
    old.newest_tls = ssl.TLSVersion.TLSv1_2

    assert talk(old, lambda pve: pve.version()).release == "9.1"


def test_a_server_without_tls_is_unreachable() -> None:
    plain = server()
    plain.encrypted = False

    problem = trouble(Unreachable, lambda: talk(plain, lambda pve: pve.version()))

    assert "TLS" in problem.why
    assert plain.asked == []
