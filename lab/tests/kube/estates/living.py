"""Clusters of the lab that follow what is rendered for them, installed as operators do it."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stockman_lab.kube.api.messages import Request, User, read_query
from stockman_lab.kube.clusters.clusters import KubernetesCluster
from stockman_lab.pve.access.state import Token
from stockman_lab.pve.access.state import User as AccessUser
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staged, Staging, stage_files
from stockman_lab.world.world import World

from lab.tests.kube.estates.written import Written
from stockman.config.presets import NETWORKS
from tests.fast_yaml import dump_yaml, load_yaml

OPERATOR = User("admin", ("system:masters", "system:authenticated"))
HELM = "docker.io/alpine/helm:4.0.1"
SYSTEM, FLUX = "kube-system", "flux-system"
_KINDS = {
    "Namespace": "/api/v1/namespaces",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}
_BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "installer"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    },
    "subjects": [{"kind": "ServiceAccount", "name": "installer", "namespace": SYSTEM}],
}


@dataclass
class Living:
    """A cluster, and short ways to ask it."""

    world: World
    staged: Staged
    written: Written
    cluster: KubernetesCluster = field(init=False)

    def __post_init__(self) -> None:
        first = self.world.talos.machine(*next(iter(self.staged.machines.values())))
        cluster = self.world.kubernetes.cluster_of(first)
        assert cluster is not None
        self.cluster = cluster

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        key, _, query = path.partition("?")
        request = Request(
            method=method,
            path=key,
            query=read_query(query),
            headers={"content-type": kind},
            body=b"" if body is None else json.dumps(body).encode(),
            user=OPERATOR,
        )
        return json.loads(self.cluster.handle(request).body)

    def items(self, path: str) -> list[Any]:
        item: list[Any] = self.ask("GET", path).get("items", [])
        return item

    def apply(self, content: Any) -> Any:
        """Apply an object as its owner, by server-side apply."""
        about = content["metadata"]
        kind = _KINDS[content["kind"]].format(about.get("namespace", ""))
        path = f"{kind}/{about['name']}?fieldManager=operator"
        answer = self.ask("PATCH", path, content, "application/apply-patch+yaml")
        assert answer["kind"] != "Status", answer
        return answer

    # -- what an operator does ---------------------------------------------------------------------

    def prepare(self) -> None:
        """Make namespaces, the account of installs, and the secrets that Flux starts with."""
        for namespace in self.written.namespaces():
            self.apply(namespace)
        account = {"name": "installer", "namespace": SYSTEM}
        self.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        self.apply(_BINDING)
        for secret in (*self.written.bootstrap_secrets(), *self.written.early_secrets()):
            self.apply(secret)
            self._let_in(secret)

    def _let_in(self, secret: Any) -> None:
        """Have the tokens in Proxmox VE that the configuration of a component names."""
        plain = secret.get("stringData", {}).get("config.yaml")
        packed = secret.get("data", {}).get("config.yaml", "")
        read = load_yaml(plain or base64.b64decode(packed).decode() or "{}")
        for one in read.get("clusters", ()):
            user, _, name = one["token_id"].partition("!")
            for cluster in self.world.clusters.values():
                known = cluster.state.access.users.setdefault(user, AccessUser())
                known.tokens[name] = Token(secret=one["token_secret"])

    def install(self, release: Any) -> None:
        """Install a chart by a Job, and wait for its end."""
        name = f"install-{release['name']}"
        about = {"name": name, "namespace": SYSTEM}
        values = dump_yaml(release["values"])
        supplied = {"values.yaml": values}
        self.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": supplied})
        self.apply(
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": about, "spec": _job(release)}
        )
        self.world.settle()
        status = self.ask("GET", f"/apis/batch/v1/namespaces/{SYSTEM}/jobs/{name}")["status"]
        ended = [
            condition["type"]
            for condition in status.get("conditions", ())
            if condition["status"] == "True"
        ]
        assert "Complete" in ended, (name, status, self.log(name))

    def log(self, job: str) -> list[str]:
        """What the pods of a job wrote."""
        notes = self.cluster.controllers.state.notes
        return [
            line
            for key, text in notes.items()
            if key.startswith(f"act {SYSTEM}/{job}-")
            for _, line in json.loads(text)["lines"]
        ]

    def bootstrap(self) -> None:
        """All that happens before Flux takes over, and what Flux does then."""
        self.prepare()
        for release in self.written.releases:
            self.install(release)
        self.world.settle()

    # -- what became of it -------------------------------------------------------------------------

    def revisions(self) -> dict[str, list[tuple[int, str]]]:
        """Revisions and states of all releases of Helm."""
        result: dict[str, list[tuple[int, str]]] = {}
        for item in self.items("/api/v1/secrets"):
            if item.get("type") == "helm.sh/release.v1":
                text = base64.b64decode(base64.b64decode(item["data"]["release"]))
                content = json.loads(gzip.decompress(text))
                name = f"{content['namespace']}/{content['name']}"
                result.setdefault(name, []).append((content["version"], content["info"]["status"]))
        return {name: sorted(one) for name, one in result.items()}


def _job(release: Any) -> Any:
    chart = [release["chart"]]
    if not release["chart"].startswith("oci://"):
        chart = [release["chart"], "--repo", release["repository"]]
    container = {
        "name": "helm",
        "image": HELM,
        "args": [
            *("upgrade", "--install", release["name"], *chart),
            *("--version", release["version"], "--namespace", release["namespace"]),
            *("--values", "/values/values.yaml", "--timeout", "10m"),
            *(["--wait"] if release["wait"] else []),
        ],
        "env": [
            {"name": "KUBERNETES_SERVICE_HOST", "value": "127.0.0.1"},
            {"name": "KUBERNETES_SERVICE_PORT", "value": "7445"},
        ],
        "volumeMounts": [{"name": "values", "mountPath": "/values"}],
    }
    pod = {
        "serviceAccountName": "installer",
        "restartPolicy": "OnFailure",
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "tolerations": [{"operator": "Exists"}],
        "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
        "containers": [container],
        "volumes": [{"name": "values", "configMap": {"name": f"install-{release['name']}"}}],
    }
    return {"backoffLimit": 3, "template": {"spec": pod}}


def living(written: Written, path: Path) -> Living:
    """The cluster of an estate, bootstrapped without anything in it."""
    preset = written.preset
    network = NETWORKS[preset]
    world = preset_world(PresetOptions(preset, network))
    world.state.repositories[written.url] = str(written.repository(path))
    staging = Staging(preset=preset, network=network, network_plugin=False)
    return Living(world, stage_files(world, written.texts, staging), written)
