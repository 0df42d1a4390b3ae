"""talosctl, Talos' own library and OpenSSL judge bundles, certificates and talosconfig."""

import json
import re
import shutil
import socket
import ssl
import subprocess
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    is_issued_by,
    issue_certificate,
)
from stockman.crypto.private_keys import read_key, standard_key_pem
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.credentials.talosconfig import (
    Talosconfig,
    client_context,
    merge_talosconfigs,
    read_talosconfig,
    talosconfig_text,
)
from stockman.talos.secrets.bundle import bundle_text
from stockman.talos.secrets.bundle_reader import import_bundle, read_bundle
from tests.real.talos_pki import CLOCK, ENTROPY, bundle, issuer, output
from tools.pytest_plugin import RealTool

VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
NEWEST = "1.14.1"
HOUR = timedelta(hours=1)


def config_of(*roles: TalosRole, name: str = "meadow") -> Talosconfig:
    context = client_context(
        bundle().certs.os.crt, issuer().talos_client(roles), endpoints=["127.0.0.1"]
    )
    return Talosconfig(context=name, contexts={name: context})


def written(path: Path, text: Secret) -> Path:
    path.write_text(text.reveal())
    return path


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> dict[str, Path]:
    """What each talosctl makes of our bundle, by version."""
    directories = {}
    for version in VERSIONS:
        directory = tmp_path_factory.mktemp(version)
        secrets = written(directory / "secrets.yaml", bundle_text(bundle()))
        output(
            *(real_tool(f"talosctl@{version}"), "gen", "config", "meadow"),
            *("https://127.0.0.1:6443", "--with-secrets", secrets, "--output", directory),
        )
        directories[version] = directory
    return directories


@pytest.mark.parametrize("version", VERSIONS)
def test_talosctl_makes_configurations_from_our_bundle_that_it_finds_valid(
    version: str, generated: dict[str, Path], real_tool: RealTool
) -> None:
    talosctl = real_tool(f"talosctl@{version}")

    for role in ("controlplane", "worker"):
        config = generated[version] / f"{role}.yaml"
        output(talosctl, "validate", "--strict", "--mode", "metal", "--config", config)


@pytest.mark.parametrize("version", VERSIONS)
def test_our_bundle_comes_back_from_the_configuration_that_talosctl_made(
    version: str, generated: dict[str, Path]
) -> None:
    problems = Problems()
    text = (generated[version] / "controlplane.yaml").read_text()

    found = import_bundle("controlplane.yaml", Secret(text), problems)

    assert list(problems) == []
    assert found == bundle()


@pytest.mark.parametrize("version", VERSIONS)
def test_talosctl_writes_the_bundle_of_a_configuration_as_we_do(
    version: str, generated: dict[str, Path], real_tool: RealTool, tmp_path: Path
) -> None:
    theirs = tmp_path / "secrets.yaml"

    output(
        *(real_tool(f"talosctl@{version}"), "gen", "secrets", "--output-file", theirs),
        *("--from-controlplane-config", generated[version] / "controlplane.yaml"),
    )

    assert theirs.read_text() == bundle_text(bundle()).reveal()


@pytest.fixture(scope="module")
def their_bundle(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> str:
    """What talosctl makes by itself; an RSA key of its own takes it seconds."""
    path = tmp_path_factory.mktemp("theirs") / "secrets.yaml"
    output(real_tool(f"talosctl@{NEWEST}"), "gen", "secrets", "--output-file", path)
    return path.read_text()


def test_a_bundle_of_talosctl_is_the_same_after_we_rewrote_it(their_bundle: str) -> None:
    problems = Problems()

    secrets_bundle = read_bundle("secrets.yaml", Secret(their_bundle), problems)

    assert list(problems) == []
    assert secrets_bundle is not None
    assert bundle_text(secrets_bundle).reveal() == their_bundle


@pytest.mark.parametrize("version", ["1.11.5", NEWEST])
def test_the_library_of_talos_finds_no_fault_with_our_secrets(
    version: str, generated: dict[str, Path], real_tool: RealTool
) -> None:
    text = (generated[version] / "controlplane.yaml").read_text()

    assert output(real_tool(f"check-machinery@{version}"), text=text) == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_talosconfig_of_talosctl_is_the_same_after_we_rewrote_it(
    version: str, generated: dict[str, Path]
) -> None:
    text = (generated[version] / "talosconfig").read_text()

    talosconfig = read_talosconfig("talosconfig", Secret(text), Problems())

    assert talosconfig is not None
    assert talosconfig_text(talosconfig).reveal() == text
    assert is_issued_by(talosconfig.contexts["meadow"].crt, bundle().certs.os.crt)


@pytest.mark.parametrize("version", ["1.11.5", NEWEST])
@pytest.mark.parametrize("role", TalosRole, ids=lambda role: role.value)
def test_talosctl_reads_every_role(
    role: TalosRole, version: str, real_tool: RealTool, tmp_path: Path
) -> None:
    path = written(tmp_path / "talosconfig", talosconfig_text(config_of(role, TalosRole.READER)))

    talosctl = real_tool(f"talosctl@{version}")
    found = output(talosctl, "--talosconfig", path, "config", "info", "--output", "json")

    info = json.loads(found)
    assert info["context"] == "meadow"
    assert info["endpoints"] == ["127.0.0.1"]
    # A client shows roles that it does not know as they are.
    assert sorted(info["roles"]) == sorted({role.value, TalosRole.READER.value})


@pytest.mark.parametrize("version", VERSIONS)
def test_talosctl_merges_as_we_do(version: str, real_tool: RealTool, tmp_path: Path) -> None:
    ours = config_of(TalosRole.ADMIN)
    both, _ = merge_talosconfigs(ours, config_of(TalosRole.OPERATOR))
    theirs = config_of(TalosRole.READER)
    into = written(tmp_path / "into", talosconfig_text(both))
    other = written(tmp_path / "other", talosconfig_text(theirs))

    output(real_tool(f"talosctl@{version}"), "--talosconfig", into, "config", "merge", other)

    wanted, renames = merge_talosconfigs(both, theirs)
    assert [rename.after for rename in renames] == ["meadow-2"]
    assert into.read_text() == talosconfig_text(wanted).reveal()


def test_talosctl_and_a_server_of_ours_trust_each_other(
    real_tool: RealTool, tmp_path: Path
) -> None:
    server = issue_certificate(
        bundle().certs.os,
        CertificateRequest(
            period=ValidityPeriod.lasting(CLOCK.now(), HOUR),
            purposes=(Purpose.SERVER,),
            addresses=(ip_address("127.0.0.1"),),
        ),
        ENTROPY.random_bytes,
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        endpoint = f"127.0.0.1:{listener.getsockname()[1]}"
        context = client_context(
            bundle().certs.os.crt, issuer().talos_client([TalosRole.ADMIN]), endpoints=[endpoint]
        )
        config = Talosconfig(context="meadow", contexts={"meadow": context})
        path = written(tmp_path / "talosconfig", talosconfig_text(config))
        talosctl = subprocess.Popen(
            [real_tool(f"talosctl@{NEWEST}"), "--talosconfig", path, "-n", "127.0.0.1", "version"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            connection, _ = listener.accept()
            connection.settimeout(20)
            # The handshake ends only when each side has accepted the other's certificate, and
            # the first bytes of HTTP/2 come only after that.
            with _server_side(server.crt, server.key, tmp_path).wrap_socket(
                connection, server_side=True
            ) as stream:
                preface = stream.recv(24)
                subject = (stream.getpeercert() or {})["subject"]
        finally:
            talosctl.kill()
            talosctl.wait()

    assert preface.startswith(b"PRI * HTTP/2.0")
    assert subject == ((("organizationName", "os:admin"),),)


def _server_side(crt: str, key: Secret, directory: Path) -> ssl.SSLContext:
    (directory / "server.crt").write_text(crt)
    written(directory / "server.key", standard_key_pem(read_key(key)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "server.crt", directory / "server.key")
    context.load_verify_locations(cadata=bundle().certs.os.crt)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    return context


@pytest.fixture(scope="module")
def openssl() -> str:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("there is no openssl on this machine")
    return program


def test_openssl_accepts_both_chains(openssl: str, tmp_path: Path) -> None:
    client_issuer = issuer()
    chains = {
        "os": (bundle().certs.os.crt, client_issuer.talos_client(list(TalosRole)).crt),
        "k8s": (bundle().certs.k8s.crt, client_issuer.kubernetes_admin().crt),
    }

    for name, (authority, client) in chains.items():
        (tmp_path / "ca.crt").write_text(authority)
        (tmp_path / f"{name}.crt").write_text(client)
        found = output(
            *(openssl, "verify", "-x509_strict", "-purpose", "sslclient"),
            *("-CAfile", tmp_path / "ca.crt", tmp_path / f"{name}.crt"),
        )
        assert found.endswith(": OK\n")


@pytest.mark.parametrize("name", ["etcd", "k8s", "k8saggregator", "os"])
def test_openssl_sees_no_difference_between_an_authority_of_talosctl_and_ours(
    name: str, openssl: str, their_certificates: dict[str, str]
) -> None:
    ours = getattr(bundle().certs, name).crt

    assert _shown(openssl, ours) == _shown(openssl, their_certificates[name])


def test_openssl_sees_no_difference_between_a_client_of_talosctl_and_ours(
    openssl: str, their_certificates: dict[str, str]
) -> None:
    ours = issuer().talos_client([TalosRole.ADMIN]).crt

    assert _shown(openssl, ours) == _shown(openssl, their_certificates["client"])


@pytest.fixture(scope="module")
def their_certificates(generated: dict[str, Path], their_bundle: str) -> dict[str, str]:
    theirs = read_bundle("secrets.yaml", Secret(their_bundle), Problems())
    assert theirs is not None
    text = Secret((generated[NEWEST] / "talosconfig").read_text())
    config = read_talosconfig("talosconfig", text, Problems())
    assert config is not None
    names = ("etcd", "k8s", "k8saggregator", "os")
    return {name: getattr(theirs.certs, name).crt for name in names} | {
        "client": config.contexts["meadow"].crt
    }


def _shown(openssl: str, certificate: str) -> str:
    """A certificate in words, without what differs each time: numbers, times."""
    text = output(openssl, "x509", "-noout", "-text", text=certificate)
    text = re.sub(r"(?m)^ +(?:[0-9A-Fa-f]{2}:)+[0-9A-Fa-f]{0,2}$", "NUMBERS", text)
    text = re.sub(r"(?:NUMBERS\n)+", "NUMBERS\n", text)
    return re.sub(r"(?m)(Not (?:Before|After ?) ?: ).*$", r"\1", text)
