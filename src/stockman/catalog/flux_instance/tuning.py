"""Resource and concurrency settings of the Flux controllers."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.config.writers.yaml_writer import render_yaml

_BUILDERS = "(kustomize-controller|helm-controller|source-controller)"
_APPLIERS = "(helm-controller|kustomize-controller)"


def _flags(target: str, *flags: str) -> Object:
    operations = [
        {"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": flag}
        for flag in flags
    ]
    return {"patch": render_yaml(operations), "target": {"kind": "Deployment", "name": target}}


def _memory() -> Object:
    limits = {"name": "manager", "resources": {"limits": {"memory": "1Gi"}}}
    patch: Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "all"},
        "spec": {"template": {"spec": {"containers": [limits]}}},
    }
    return {"patch": render_yaml(patch), "target": {"kind": "Deployment", "name": _BUILDERS}}


def _in_memory_builds() -> Object:
    volume = {"name": "temp", "emptyDir": {"medium": "Memory"}}
    patch = [{"op": "replace", "path": "/spec/template/spec/volumes/0", "value": volume}]
    return {
        "patch": render_yaml(patch),
        "target": {"kind": "Deployment", "name": "kustomize-controller"},
    }


PATCHES: tuple[Object, ...] = (
    _flags(_BUILDERS, "--concurrent=10", "--requeue-dependency=5s"),
    _memory(),
    _flags("kustomize-controller", "--concurrent=20"),
    _in_memory_builds(),
    _flags(
        "source-controller",
        "--helm-cache-max-size=10",
        "--helm-cache-ttl=60m",
        "--helm-cache-purge-interval=5m",
    ),
    _flags(
        "helm-controller",
        "--feature-gates=OOMWatch=true,DisableChartDigestTracking=true",
        "--oom-watch-memory-threshold=95",
        "--oom-watch-interval=500ms",
    ),
    _flags(
        "kustomize-controller",
        "--sops-age-secret=sops-age",
        "--feature-gates=CancelHealthCheckOnNewRevision=true",
    ),
    _flags(_APPLIERS, "--watch-configs-label-selector=owner!=helm"),
)
"""Patches for the controllers, in order."""
