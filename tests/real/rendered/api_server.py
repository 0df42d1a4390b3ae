"""A real kube-apiserver on a real etcd, on loopback alone, for one session of tests."""

from __future__ import annotations

import json
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.message import Message
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from tests.real.ports import free_port
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

TOKEN = "the-token-of-a-test"


class ApiServer:
    """The server, and kubectl as its administrator."""

    def __init__(self, kubectl: Path, config: Path, address: str, etcd: str) -> None:
        self._kubectl = kubectl
        self._config = config
        self.address = address
        """Where it listens, as `127.0.0.1:6443`."""
        self.etcd = etcd
        """The address of the etcd below it."""

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def ask(self, *command: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._kubectl, "--kubeconfig", self._config, *command],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def is_ready(self) -> bool:
        """Whether it says so."""
        try:
            return self.sent("GET", "/readyz").body == b"ok"
        except (HTTPException, OSError):
            return False

    def told(self, path: str) -> str:
        """What the server answers to a path."""
        answer = self.ask("get", "--raw", path)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    def sent(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        accept: str = "application/json",
        content_type: str = "application/json",
    ) -> Answer:
        """The answer to a request as it goes over the wire."""
        connection = HTTPSConnection(self.address, context=_unverified(), timeout=60)
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": accept}
        if body is not None:
            headers["Content-Type"] = content_type
        try:
            connection.request(method, path, body, headers)
            getresponse = connection.getresponse()
            return Answer(getresponse.status, getresponse.headers, getresponse.read())
        finally:
            connection.close()


def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Answer(NamedTuple):
    """What came back over the wire."""

    status: int
    headers: Message
    body: bytes

    @property
    def content(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@contextmanager
def api_server(place: Path, real_tool: RealTool, *, accounts: bool = False) -> Iterator[ApiServer]:
    """The server while it runs; its data stays in the directory.

    With accounts, pods have to have one that is there, as they usually do.
    """
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (place / "sa.key").write_bytes(text)
    (place / "tokens.csv").write_text(f'{TOKEN},admin,admin,"system:masters"\n')
    port = free_port()
    config = place / "kubeconfig"
    config.write_text(_kubeconfig(port))
    with ExitStack() as stack:
        etcd = stack.enter_context(etcd_server(place, real_tool))
        stack.enter_context(
            running(
                place / "apiserver.log",
                real_tool("kube-apiserver"),
                f"--etcd-servers={etcd}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                f"--secure-port={port}",
                f"--cert-dir={place / 'certificates'}",
                f"--token-auth-file={place / 'tokens.csv'}",
                f"--service-account-key-file={place / 'sa.key'}",
                f"--service-account-signing-key-file={place / 'sa.key'}",
                "--service-account-issuer=https://127.0.0.1",
                "--authorization-mode=RBAC",
                "--service-cluster-ip-range=10.43.0.0/16",
                *([] if accounts else ["--disable-admission-plugins=ServiceAccount"]),
            )
        )
        found = ApiServer(real_tool("kubectl"), config, f"127.0.0.1:{port}", etcd)
        wait_until(found.is_ready, lambda: (place / "apiserver.log").read_text()[-2000:])
        yield found


@contextmanager
def etcd_server(place: Path, real_tool: RealTool) -> Iterator[str]:
    """An etcd while it runs, by its address; it goes on with the data that it finds."""
    clients, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    with running(
        place / "etcd.log",
        *(real_tool("etcd"), "--data-dir", place / "etcd", "--unsafe-no-fsync"),
        *("--listen-client-urls", clients, "--advertise-client-urls", clients),
        *("--listen-peer-urls", peers),
    ):
        yield clients


@contextmanager
def running(log: Path, *command: str | Path) -> Iterator[None]:
    with log.open("w") as output_file:
        process = subprocess.Popen(command, stdout=output_file, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _kubeconfig(port: int) -> str:
    server = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "one", "cluster": server}],
            "users": [{"name": "one", "user": {"token": TOKEN}}],
            "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
            "current-context": "one",
        }
    )
