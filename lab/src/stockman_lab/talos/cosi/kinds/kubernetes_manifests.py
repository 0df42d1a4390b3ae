"""What a control plane brings into its cluster, and that it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.registry import kind
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


@kind("Manifests.kubernetes.talos.dev", "k8s.ManifestController")
def manifests(machine: Machine) -> Contents:
    side = machine.land.kubernetes
    if side is None or not machine.is_controlplane or not machine.runs("etcd"):
        return {}
    return {name: {"items": list(items)} for name, items in side.manifests(machine).items()}


@kind("ManifestStatuses.kubernetes.talos.dev", "k8s.ManifestApplyController")
def manifest_statuses(machine: Machine) -> Contents:
    applied = list(manifests(machine)) if has_static_pods(machine) else []
    return {"manifests": {"manifestsApplied": applied}} if applied else {}
