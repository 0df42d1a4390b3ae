"""Clusters in which pods run `helm`."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.registry import CONTROLLERS

from lab.tests.kube.nodes.running import Running

IMAGE = "docker.io/alpine/helm:4.0.1"
JOBS = "/apis/batch/v1/namespaces/install/jobs"
ECHO = ("upgrade", "--install", "echo", "oci://ghcr.io/home-operations/charts/echo")
ECHO_OF = (*ECHO, "--version", "0.2.3", "--namespace", "default")

_MADE: dict[object, bytes] = {}
"""Clusters that were made in this process: each once, and a copy for everybody who asks."""


class Installing(Running):
    """A cluster with all controllers, and a namespace for installs."""

    values: tuple[str, ...] = ()
    """What else is said where it is prepared."""

    def __init__(self, *names: str, flux: tuple[type[Controller], ...] = ()) -> None:
        desired = (type(self), names, self.values)
        if desired in _MADE and not flux:
            self._go_on(_MADE[desired], CONTROLLERS)
            return
        super().__init__(*(names or ("n1",)), more=(*CONTROLLERS, *flux))
        self._prepare()
        if not flux:
            _MADE[desired] = self.kept()

    def _prepare(self) -> None:
        self.settle()
        self.network()
        labels = {"kubernetes.io/os": "linux", "node-role.kubernetes.io/control-plane": ""}
        for name in self.hosts.by_name:
            self.ask("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})
        self.made("/api/v1/namespaces", {"metadata": {"name": "install"}})
        binding = {
            "metadata": {"name": "installer"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{"kind": "ServiceAccount", "name": "helm", "namespace": "install"}],
        }
        role = {
            "metadata": {"name": "cluster-admin"},
            "rules": [
                {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
                {"nonResourceURLs": ["*"], "verbs": ["*"]},
            ],
        }
        self.made("/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
        self.made("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
        for name in ("helm", "weak"):
            body = {"metadata": {"name": name}}
            self.made("/api/v1/namespaces/install/serviceaccounts", body)
        self.settle()

    def made(self, path: str, body: Any) -> Any:
        """What is created."""
        answer = self.ask("POST", path, body)
        assert answer["kind"] != "Status", answer
        return answer

    def job(self, *arguments: str, name: str = "one", account: str = "helm", **pod: Any) -> None:
        """A job that runs a command, to its end."""
        container = {"name": "helm", "image": IMAGE, "args": list(arguments)}
        container.update(pod.pop("container", {}))
        spec = {
            "serviceAccountName": account,
            "restartPolicy": "Never",
            "containers": [container],
            **pod,
        }
        job = {"backoffLimit": 0, "template": {"spec": spec}}
        self.made(JOBS, {"metadata": {"name": name}, "spec": job})
        self.settle()

    def status(self, name: str = "one") -> Any:
        return self.ask("GET", f"{JOBS}/{name}")["status"]

    def log(self, name: str = "one") -> list[str]:
        """What the newest pod of a job wrote."""
        notes = self.controllers.state.notes
        texts = [text for key, text in notes.items() if key.startswith(f"act install/{name}-")]
        return [line for _, line in json.loads(texts[-1])["lines"]]

    def releases(self, namespace: str = "default") -> list[Any]:
        """All releases of a namespace, as Helm reads them."""
        result = self.ask("GET", f"/api/v1/namespaces/{namespace}/secrets")["items"]
        return [
            json.loads(gzip.decompress(base64.b64decode(base64.b64decode(item["data"]["release"]))))
            for item in result
            if item["type"] == "helm.sh/release.v1"
        ]

    def named(self, path: str) -> list[str]:
        return [item["metadata"]["name"] for item in self.ask("GET", path)["items"]]
