"""A real etcd and a real kube-apiserver run on the authorities of a bundle of ours."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.model.secret import Secret
from stockman.talos.credentials.kubeconfig import render_kubeconfig
from tests.real.ports import free_port
from tests.real.talos_pki import CLOCK, ENTROPY, bundle, issuer
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

HOUR = timedelta(hours=1)


def leaf(authority: CertificateAndKey, name: str, *purposes: Purpose) -> CertificateAndKey:
    certificate_request = CertificateRequest(
        period=ValidityPeriod.lasting(CLOCK.now(), HOUR),
        purposes=purposes,
        common_name=name,
        dns_names=("localhost",),
        addresses=(ip_address("127.0.0.1"),),
    )
    return issue_certificate(authority, certificate_request, ENTROPY.random_bytes)


def put(directory: Path, name: str, pair: CertificateAndKey) -> None:
    (directory / f"{name}.crt").write_text(pair.crt)
    (directory / f"{name}.key").write_text(pair.key.reveal())


@contextmanager
def running(log: Path, *command: str | Path) -> Iterator[None]:
    with log.open("w") as output_file:
        process = subprocess.Popen(command, stdout=output_file, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


class Server:
    """The API server, and clients that knock at its door."""

    def __init__(self, directory: Path, kubectl: Path, endpoint: str) -> None:
        self._directory = directory
        self._kubectl = kubectl
        self._endpoint = endpoint

    def config(self, client: CertificateAndKey, authority: str = "") -> Path:
        path = self._directory / "kubeconfig"
        trusted = authority or bundle().certs.k8s.crt
        path.write_text(render_kubeconfig("meadow", self._endpoint, trusted, client).reveal())
        return path

    def with_token(self, token: str) -> Path:
        """A kubeconfig whose user has a token and no certificate."""
        text = self.config(issuer().kubernetes_admin()).read_text()
        kept = [line for line in text.splitlines() if "client-key-data" not in line]
        shown = [f"      token: {token}" if "client-cert" in line else line for line in kept]
        path = self._directory / "with-token"
        path.write_text("\n".join(shown))
        return path

    def ask(self, config: Path, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._kubectl, "--kubeconfig", config, "--request-timeout", "10s", *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def wait(self) -> None:
        config = self.config(issuer().kubernetes_admin())
        wait_until(
            lambda: self.ask(config, "get", "--raw", "/readyz").stdout == "ok",
            lambda: (self._directory / "apiserver.log").read_text()[-2000:],
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Server]:
    mktemp = tmp_path_factory.mktemp("kubernetes")
    certs = bundle().certs
    put(mktemp, "etcd-ca", certs.etcd)
    put(mktemp, "k8s-ca", certs.k8s)
    put(mktemp, "front", certs.k8saggregator)
    both = (Purpose.SERVER, Purpose.CLIENT)
    put(mktemp, "etcd", leaf(certs.etcd, "etcd", *both))
    put(mktemp, "etcd-client", leaf(certs.etcd, "kube-apiserver", Purpose.CLIENT))
    put(mktemp, "apiserver", leaf(certs.k8s, "kube-apiserver", Purpose.SERVER))
    (mktemp / "sa.key").write_text(certs.k8sserviceaccount.reveal())
    (mktemp / "encryption.yaml").write_text(_encryption())
    etcd_port, peer_port, api_port = free_port(), free_port(), free_port()
    etcd_url = f"https://127.0.0.1:{etcd_port}"
    found = Server(mktemp, real_tool("kubectl"), f"https://127.0.0.1:{api_port}")
    with ExitStack() as stack:
        stack.enter_context(
            running(
                mktemp / "etcd.log",
                *(real_tool("etcd"), "--data-dir", mktemp / "etcd", "--unsafe-no-fsync"),
                *("--listen-client-urls", etcd_url, "--advertise-client-urls", etcd_url),
                *("--listen-peer-urls", f"http://127.0.0.1:{peer_port}"),
                *("--cert-file", mktemp / "etcd.crt", "--key-file", mktemp / "etcd.key"),
                *("--trusted-ca-file", mktemp / "etcd-ca.crt", "--client-cert-auth"),
            )
        )
        stack.enter_context(
            running(
                mktemp / "apiserver.log",
                real_tool("kube-apiserver"),
                f"--etcd-servers={etcd_url}",
                f"--etcd-cafile={mktemp / 'etcd-ca.crt'}",
                f"--etcd-certfile={mktemp / 'etcd-client.crt'}",
                f"--etcd-keyfile={mktemp / 'etcd-client.key'}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                f"--secure-port={api_port}",
                f"--tls-cert-file={mktemp / 'apiserver.crt'}",
                f"--tls-private-key-file={mktemp / 'apiserver.key'}",
                f"--client-ca-file={mktemp / 'k8s-ca.crt'}",
                f"--requestheader-client-ca-file={mktemp / 'front.crt'}",
                f"--service-account-key-file={mktemp / 'sa.key'}",
                f"--service-account-signing-key-file={mktemp / 'sa.key'}",
                "--service-account-issuer=https://127.0.0.1",
                f"--encryption-provider-config={mktemp / 'encryption.yaml'}",
                "--authorization-mode=Node,RBAC",
                "--service-cluster-ip-range=10.96.0.0/12",
            )
        )
        found.wait()
        yield found


def test_the_administrator_of_our_kubeconfig_is_let_in(server: Server) -> None:
    config = server.config(issuer().kubernetes_admin())

    answer = server.ask(config, "auth", "whoami", "-o", "json")

    assert answer.returncode == 0, answer.stderr
    user = json.loads(answer.stdout)["status"]["userInfo"]
    assert user["username"] == "admin"
    assert set(user["groups"]) == {"system:masters", "system:authenticated"}


def test_the_administrator_may_write_what_is_encrypted_and_read_it_again(server: Server) -> None:
    config = server.config(issuer().kubernetes_admin())

    made = server.ask(config, "create", "secret", "generic", "wool", "--from-literal=a=b")
    read = server.ask(config, "get", "secret", "wool", "-o", "jsonpath={.data.a}")

    assert made.returncode == 0, made.stderr
    assert read.stdout == "Yg=="


def test_the_service_account_key_signs_tokens_that_are_accepted(server: Server) -> None:
    config = server.config(issuer().kubernetes_admin())
    server.ask(config, "create", "serviceaccount", "shepherd")

    token = server.ask(config, "create", "token", "shepherd").stdout.strip()
    answer = server.ask(
        *(server.with_token(token), "auth", "whoami"),
        *("-o", "jsonpath={.status.userInfo.username}"),
    )

    assert answer.stdout == "system:serviceaccount:default:shepherd"


def test_a_certificate_that_ended_is_turned_away(server: Server) -> None:
    late = replace(issuer(), now=CLOCK.now() - 2 * HOUR)

    answer = server.ask(server.config(late.kubernetes_admin(HOUR)), "auth", "whoami")

    assert answer.returncode != 0
    assert "Unauthorized" in answer.stderr or "logged in" in answer.stderr


def test_a_certificate_of_another_authority_is_turned_away(server: Server) -> None:
    stranger = leaf(bundle().certs.k8saggregator, "admin", Purpose.CLIENT)

    answer = server.ask(server.config(stranger), "auth", "whoami")

    assert answer.returncode != 0


def test_a_server_of_another_authority_is_not_believed(server: Server) -> None:
    config = server.config(issuer().kubernetes_admin(), authority=bundle().certs.etcd.crt)

    answer = server.ask(config, "get", "--raw", "/readyz")

    assert answer.returncode != 0
    assert "certificate signed by unknown authority" in answer.stderr


def _encryption() -> str:
    secret = bundle().secrets.secretboxencryptionsecret
    key = {"name": "key2", "secret": (secret or Secret("")).reveal()}
    return json.dumps(
        {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": [
                {
                    "resources": ["secrets"],
                    "providers": [{"secretbox": {"keys": [key]}}, {"identity": {}}],
                }
            ],
        }
    )
