"""A repository, and a cluster of the lab that follows it."""

from __future__ import annotations

from pathlib import Path
from subprocess import run

import yaml

from tests.real.kube_served import Kubectl

URL = "https://git.example.org/home.git"
_SPACE = "flux-system"
_SOURCE = {
    "apiVersion": "source.toolkit.fluxcd.io/v1",
    "kind": "GitRepository",
    "metadata": {"name": "home", "namespace": _SPACE},
    "spec": {"interval": "1m", "url": URL, "ref": {"branch": "main"}},
}
_APPS = {
    "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
    "kind": "Kustomization",
    "metadata": {"name": "apps", "namespace": _SPACE},
    "spec": {
        "interval": "10m",
        "path": "./apps",
        "prune": True,
        "wait": True,
        "sourceRef": {"kind": "GitRepository", "name": "home"},
    },
}
_FILES = {
    "apps/wool.yaml": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "wool", "namespace": "default"},
        "data": {"colour": "white"},
    },
    "apps/source.yaml": {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository",
        "metadata": {"name": "coredns", "namespace": _SPACE},
        "spec": {
            "interval": "1h",
            "url": "oci://ghcr.io/coredns/charts/coredns",
            "ref": {"tag": "1.45.0"},
        },
    },
    "apps/release.yaml": {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "coredns", "namespace": _SPACE},
        "spec": {
            "interval": "1h",
            "chartRef": {"kind": "OCIRepository", "name": "coredns"},
            "values": {"serviceAccount": {"create": True}},
        },
    },
}


def repository(place: Path) -> Path:
    """A bare repository with one commit."""
    work, bare = place / "work", place / "home.git"
    for name, content in _FILES.items():
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(content), "utf-8")
    who = ("-c", "user.name=shepherd", "-c", "user.email=shepherd@example.org")
    for command in (
        ("init", "-q", "--bare", "-b", "main", bare),
        ("init", "-q", "-b", "main", work),
        ("-C", work, "add", "."),
        ("-C", work, *who, "commit", "-q", "-m", "all"),
        ("-C", work, "push", "-q", bare, "main"),
    ):
        run(["git", *command], check=True, capture_output=True)
    return bare


def follow(kubectl: Kubectl, bare: Path) -> None:
    """Have the cluster follow the repository, and wait until it does."""
    kubectl.lab.world.state.repositories[URL] = str(bare)
    kubectl.told("apply", "-f", "-", text=yaml.safe_dump_all([_SOURCE, _APPS]))
    for name in ("ks/apps", "hr/coredns"):
        kubectl.told("wait", "-n", _SPACE, name, "--for=condition=Ready", "--timeout=50s")
