"""Every certificate of a workspace."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from stockman.app.client_config.certificate_list import list_certificates
from stockman.app.client_config.files import ClientFileOptions
from stockman.app.client_config.kubeconfig import write_kubeconfig
from stockman.app.client_config.talosconfig import TalosconfigOptions, write_talosconfig
from stockman.app.secrets.keyring import Keyring
from stockman.assessment.status.observed import CertificateList
from stockman.talos.credentials.certificates import CertificateState
from stockman.talos.secrets.bundle import bundle_text
from tests.app.secret_workspace import NOBODY, keyring, store_in
from tests.app.start_doors import NOON
from tests.app.workspaces import BUNDLE, doors, workspace
from tests.talos.made import bundle

TALOSCONFIG = "talos/clusterconfig/talosconfig"
AUTHORITIES = ["certs.etcd", "certs.k8s", "certs.k8saggregator", "certs.os"]
DAY = timedelta(days=1)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = workspace(tmp_path / "meadow")
    write_talosconfig(TalosconfigOptions(directory=path), doors())
    write_kubeconfig(ClientFileOptions(directory=path), doors())
    return path


def listed(directory: Path, now: datetime = NOON, keys: Keyring | None = None) -> CertificateList:
    return list_certificates(directory, keyring() if keys is None else keys, {}, now)


def problems(certificate_list: CertificateList) -> list[tuple[str, str]]:
    return [(problem.code, problem.what) for problem in certificate_list.problems]


def test_authorities_and_clients_are_listed(directory: Path) -> None:
    found = listed(directory)

    assert [
        (certificate.file, certificate.name, certificate.ours) for certificate in found.certificates
    ] == [
        *((BUNDLE, name, True) for name in AUTHORITIES),
        (TALOSCONFIG, "meadow", True),
        ("kubeconfig", "admin@meadow", True),
    ]
    talos, admin = found.certificates[-2:]
    assert (talos.organizations, talos.days_left) == (("os:admin",), 365)
    assert (admin.subject, admin.standing) == ("O=system:masters, CN=admin", CertificateState.VALID)
    assert (found.problems, found.not_read) == ((), ())


@pytest.mark.parametrize(
    ("after", "code"),
    [(336 * DAY, "certificate.due"), (366 * DAY, "certificate.expired")],
)
def test_clients_that_end_are_told(directory: Path, after: timedelta, code: str) -> None:
    found = problems(listed(directory, NOON + after))

    assert [name for name, _ in found] == [code, code]
    assert [f"of meadow in {TALOSCONFIG}" in what for _, what in found] == [False, True]


def test_a_certificate_of_the_future_is_told(directory: Path) -> None:
    codes = {code for code, _ in problems(listed(directory, NOON - DAY))}

    assert codes == {"certificate.early"}


def test_an_authority_that_ends_is_told(directory: Path) -> None:
    found = listed(directory, NOON + 3660 * DAY)

    assert [certificate.standing for certificate in found.certificates[:4]] == [
        CertificateState.ENDED
    ] * 4
    assert ("certificate.expired", f"the certificate of certs.os in {BUNDLE} has expired") in (
        problems(found)
    )


def test_without_an_identity_clients_are_listed_with_the_authorities_they_name(
    directory: Path,
) -> None:
    found = listed(directory, keys=NOBODY)

    assert [
        (certificate.file, certificate.name, certificate.kind, certificate.ours)
        for certificate in found.certificates
    ] == [
        (TALOSCONFIG, "meadow", "client", None),
        (TALOSCONFIG, "meadow", "authority", None),
        ("kubeconfig", "admin@meadow", "client", None),
        ("kubeconfig", "meadow", "authority", None),
    ]
    assert [problem.code for problem in found.not_read] == ["key.none"]


def test_a_client_of_another_cluster_is_told_apart(directory: Path) -> None:
    other = bundle.__wrapped__()
    store_in(directory).write(BUNDLE, bundle_text(other).reveal().encode())

    ours = {
        certificate.name: certificate.ours
        for certificate in listed(directory).certificates
        if certificate.kind == "client"
    }

    assert ours == {"meadow": False, "admin@meadow": False}


def test_files_that_cannot_be_read_are_told(directory: Path) -> None:
    (directory / TALOSCONFIG).write_text("contexts: {a: {crt: '%'}}\n")
    (directory / "kubeconfig").write_text(
        "users: [{name: me, user: {client-certificate-data: '%'}}]\n"
    )

    assert [code for code, _ in problems(listed(directory))] == [
        "certificate.unreadable",
        "talosconfig.unreadable",
    ]


def test_text_that_is_no_certificate_is_told(directory: Path) -> None:
    (directory / "kubeconfig").write_text(
        "users: [{name: me, user: {client-certificate-data: bm9wZQ==}}]\n"
    )

    assert problems(listed(directory)) == [
        ("certificate.unreadable", "the certificate of me cannot be read")
    ]


def test_an_empty_directory_has_none(tmp_path: Path) -> None:
    assert listed(tmp_path) == CertificateList(certificates=(), problems=(), not_read=())
