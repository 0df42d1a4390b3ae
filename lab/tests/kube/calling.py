"""API servers of staged worlds, asked without a wire."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from stockman_lab.core.dice import Dice
from stockman_lab.kube.api.messages import Request
from stockman_lab.servers.kube_calls import Answer, KubeCalls
from stockman_lab.servers.kube_certificates import authority_of
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

from lab.tests.talos.staged import machine, staged
from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
    read_certificate,
)

JSON = {"content-type": "application/json"}


def certificate(result: Machine, name: str, *groups: str, days: int = 1) -> bytes:
    """What somebody shows, in DER."""
    from datetime import timedelta

    from cryptography.hazmat.primitives.serialization import Encoding

    assert result.config is not None
    start = datetime.fromtimestamp(result.now, UTC)
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(start, timedelta(days=days)),
        purposes=(Purpose.CLIENT,),
        organizations=groups,
        common_name=name,
    )
    pair = issue_certificate(authority_of(result.config), leaf, Dice(1).random_bytes)
    return read_certificate(pair.crt).public_bytes(Encoding.DER)


class KubeAsking:
    """Asks the API server of the first machine of a world, as an administrator at first."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world or staged()
        self.machine = machine(self.world)
        self.calls = KubeCalls(self.world.talos, lambda: self.world.kubernetes)
        self.certificate: bytes | None = certificate(self.machine, "admin", "system:masters")
        self.headers: dict[str, str] = {}

    def answer(self, method: str, path: str, body: object = None, **query: str) -> Answer:
        """What becomes of a request."""
        content = b"" if body is None else json.dumps(body).encode()
        requested = {name: [text] for name, text in query.items()}
        request = Request(method, path, requested, {**JSON, **self.headers}, content)
        return self.calls.answer(self.machine, request, self.certificate)

    def ask(self, method: str, path: str, body: object = None, **query: str) -> tuple[int, Any]:
        """Status and content of the answer to a request."""
        response = self.answer(method, path, body, **query).response
        assert response is not None
        return response.status, json.loads(response.body)

    def become(self, name: str, *groups: str) -> None:
        """Ask as somebody else from now on."""
        self.certificate = certificate(self.machine, name, *groups)

    def show(self, token: str) -> None:
        """Ask with a token from now on."""
        self.certificate = None
        self.headers = {"authorization": f"Bearer {token}"}

    def token(self, namespace: str, account: str, **spec: object) -> str:
        """A token of a service account."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        status, result = self.ask("POST", path, {"spec": spec})
        assert status == 201, result
        return str(result["status"]["token"])


def config_map(name: str) -> dict[str, object]:
    """A small object."""
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}
