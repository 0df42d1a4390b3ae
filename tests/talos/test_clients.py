"""Roles, client certificates and the administrator's kubeconfig."""

import base64
from datetime import timedelta

import pytest
from cryptography import x509

from stockman.config.source.tree import to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.crypto.certificates import (
    is_issued_by,
    key_matches_certificate,
    read_certificate,
    read_certificate_facts,
)
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.certificates import ClientIssuer
from stockman.talos.credentials.kubeconfig import client_certificates, render_kubeconfig
from stockman.talos.credentials.roles import TalosRole, organizations
from tests.talos.made import NOW, bundle, dice

BACKDATED = timedelta(minutes=10)
ISSUER = ClientIssuer(bundle=bundle(), talos=Version(1, 13, 9), now=NOW, random_bytes=dice())


@pytest.mark.parametrize("role", TalosRole)
def test_every_role_is_an_organization_of_the_certificate(role: TalosRole) -> None:
    client = ISSUER.talos_client([role])

    assert read_certificate_facts(client.crt).organizations == (role.value,)
    assert is_issued_by(client.crt, bundle().certs.os.crt)
    assert key_matches_certificate(client.crt, client.key)


def test_roles_are_sorted_and_each_stands_once() -> None:
    roles = [TalosRole.READER, TalosRole.ADMIN, TalosRole.READER]

    assert organizations(roles, Version(1, 11)) == ("os:admin", "os:reader")


@pytest.mark.parametrize("role", [TalosRole.IMAGE_VERIFIER, TalosRole.META_WRITER])
def test_a_role_that_a_talos_does_not_know_is_refused(role: TalosRole) -> None:
    with pytest.raises(Refused, match=r"talos\.unknown-role"):
        organizations([role], Version(1, 12, 11))

    assert organizations([role], Version(1, 13, 0)) == (role.value,)


def test_a_certificate_without_a_role_is_refused() -> None:
    with pytest.raises(Refused, match=r"talos\.no-role"):
        ISSUER.talos_client([])


def test_a_talos_client_holds_for_a_year_or_as_long_as_told() -> None:
    year = read_certificate_facts(ISSUER.talos_client([TalosRole.ADMIN]).crt).period
    hour = read_certificate_facts(
        ISSUER.talos_client([TalosRole.ADMIN], timedelta(hours=1)).crt
    ).period

    assert (year.start, year.end) == (NOW - BACKDATED, NOW + timedelta(days=365))
    assert hour.end == NOW + timedelta(hours=1)


def test_the_administrator_of_kubernetes_is_the_one_of_talos() -> None:
    admin = ISSUER.kubernetes_admin()

    certificate_facts = read_certificate_facts(admin.crt)
    usage = read_certificate(admin.crt).extensions.get_extension_for_class(x509.KeyUsage).value
    assert (certificate_facts.common_name, certificate_facts.organizations) == (
        "admin",
        ("system:masters",),
    )
    assert certificate_facts.period == (NOW - BACKDATED, NOW + timedelta(days=365))
    assert usage.digital_signature
    assert usage.key_encipherment
    assert is_issued_by(admin.crt, bundle().certs.k8s.crt)
    assert admin.key.reveal().startswith("-----BEGIN EC PRIVATE KEY-----")


def test_a_kubeconfig_has_the_names_of_talos() -> None:
    admin = ISSUER.kubernetes_admin()
    authority = bundle().certs.k8s.crt

    text = render_kubeconfig("meadow", "https://127.0.0.1:6443", authority, admin)

    user = {
        "client-certificate-data": _base64(admin.crt),
        "client-key-data": _base64(admin.key.reveal()),
    }
    cluster = {
        "server": "https://127.0.0.1:6443",
        "certificate-authority-data": _base64(authority),
    }
    context = {"cluster": "meadow", "namespace": "default", "user": "admin@meadow"}
    assert to_plain_data(read_yaml("kubeconfig", text.reveal())) == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "meadow", "cluster": cluster}],
        "users": [{"name": "admin@meadow", "user": user}],
        "contexts": [{"name": "admin@meadow", "context": context}],
        "current-context": "admin@meadow",
    }


def test_certificates_are_found_in_a_kubeconfig_again() -> None:
    admin = ISSUER.kubernetes_admin()
    text = render_kubeconfig("meadow", "https://127.0.0.1:6443", bundle().certs.k8s.crt, admin)
    problems = Problems()

    assert client_certificates("kubeconfig", text, problems) == {"admin@meadow": admin.crt}
    assert list(problems) == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("users: [{name: a, user: {token: x}}, {name: b}]", []),
        ("users: [{name: a, user: {client-certificate-data: x}}]", ["certificate.unreadable"]),
        ("users: [", ["yaml.syntax"]),
    ],
)
def test_a_kubeconfig_without_certificates_has_none(text: str, codes: list[str]) -> None:
    problems = Problems()

    assert client_certificates("kubeconfig", Secret(text), problems) == {}
    assert [problem.code for problem in problems] == codes


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
