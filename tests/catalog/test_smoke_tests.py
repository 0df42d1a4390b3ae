"""Smoke tests in a cluster whose components are ready: each fails until its component works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from stockman_lab.core.faults import Effect

from lab.tests.kube.helm.installing import Installing
from stockman.assessment.kubernetes import desired_kubernetes
from stockman.catalog.registry import component, names
from stockman.model.errors import Rejected
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.rendering.repository import render_repository
from stockman.steps.base import GateAnswer
from stockman.steps.kubernetes.readiness import ComponentReady
from tests.catalog.estates import MATERIALS, wanted
from tests.catalog.everything import EVERYTHING
from tests.steps.kube_cluster import ports_of

Content = dict[str, Any]
READY: Content = {"conditions": [{"type": "Ready", "status": "True"}]}
GATEWAY = "gateway.networking.k8s.io/v1"
KARPENTER = "karpenter.proxmox.sinextra.dev/v1alpha1"
TUPPR = "tuppr.home-operations.com/v1alpha1"
NVIDIA = "nvcr.io/nvidia/k8s-device-plugin:v0.17.4"
METRICS_SERVER = "registry.k8s.io/metrics-server/metrics-server:v0.8.1"
CERT_MANAGER = "quay.io/jetstack/cert-manager-controller:v1.19.1"
PROXMOX_CSI = "ghcr.io/sergelogvinov/proxmox-csi-controller:v0.16.0"
CEPH_CSI = "quay.io/cephcsi/cephcsi:v3.16.2"
NOT_NAMESPACED = frozenset(
    {
        *("ClusterIssuer", "GatewayClass", "NodeMetrics", "NodePool"),
        *("ProxmoxNodeClass", "TalosUpgrade", "APIService", "Node", "StorageClass"),
    }
)
PLURALS = {
    "GatewayClass": "gatewayclasses",
    "GitRepository": "gitrepositories",
    "NetworkAttachmentDefinition": "network-attachment-definitions",
    "NodeMetrics": "nodes",
    "ProxmoxNodeClass": "proxmoxnodeclasses",
    "StorageClass": "storageclasses",
}
BUILT_IN = frozenset(
    {
        *("v1", "apps/v1", "batch/v1", "storage.k8s.io/v1", "certificates.k8s.io/v1"),
        *("apiregistration.k8s.io/v1", "apiextensions.k8s.io/v1"),
    }
)


@cache
def everything() -> DesiredKubernetes:
    desired = wanted(EVERYTHING, "fifteen-node")
    assert desired.cluster is not None
    files = replace(MATERIALS, machine_templates={"k8s-work-1": Secret("a machine")})
    rendered = render_repository(desired, files, "classic", Problems())
    return desired_kubernetes(desired.cluster, rendered)


SMOKE_TESTS = {test.component: test for test in everything().smoke_tests}


def path_of(api_version: str, kind: str, namespace: str) -> str:
    root = f"/api/{api_version}" if api_version == "v1" else f"/apis/{api_version}"
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{inside}/{PLURALS.get(kind, f'{kind.lower()}s')}"


def serve(cluster: Installing, api_version: str, kind: str) -> None:
    """Serve a custom kind that keeps all fields."""
    group, _, version = api_version.rpartition("/")
    plural = PLURALS.get(kind, f"{kind.lower()}s")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
        },
        "spec": {
            "group": group,
            "scope": "Cluster" if kind in NOT_NAMESPACED else "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }
    cluster.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)


def create(
    cluster: Installing, api_version: str, kind: str, name: str, namespace: str = "", **more: Any
) -> None:
    """Create an object, with its namespace, and serve its kind."""
    if namespace:
        cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    if api_version not in BUILT_IN:
        serve(cluster, api_version, kind)
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}
    cluster.made(path_of(api_version, kind, namespace), body)


def set_status(cluster: Installing, path: tuple[str, str, str], name: str, status: Content) -> None:
    answer = cluster.ask("PATCH", f"{path_of(*path)}/{name}/status", {"status": status})
    assert answer["kind"] != "Status", answer


def workload(name: str, image: str) -> Content:
    labels = {"app": name}
    pod = {"containers": [{"name": "program", "image": image}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {"spec": {"selector": {"matchLabels": labels}, "template": template}}


STATUSES: dict[str, Content] = {
    "APIService": {"conditions": [{"type": "Available", "status": "True"}]},
    "CephCluster": {"phase": "Connected"},
    "GatewayClass": {"conditions": [{"type": "Accepted", "status": "True"}]},
}
"""Status of kinds that make a component ready; others have the condition Ready."""
SPECS = {
    "APIService": {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"name": "metrics-server", "namespace": "kube-system"},
    },
    "CephCluster": {"external": {"enable": True}},
}
DEFINITIONS = {
    "cephclusters.ceph.rook.io": ("ceph.rook.io/v1", "CephCluster"),
    "kubernetesupgrades.tuppr.home-operations.com": (TUPPR, "KubernetesUpgrade"),
    "network-attachment-definitions.k8s.cni.cncf.io": (
        "k8s.cni.cncf.io/v1",
        "NetworkAttachmentDefinition",
    ),
    "nodepools.karpenter.sh": ("karpenter.sh/v1", "NodePool"),
    "proxmoxnodeclasses.karpenter.proxmox.sinextra.dev": (KARPENTER, "ProxmoxNodeClass"),
    "talosupgrades.tuppr.home-operations.com": (TUPPR, "TalosUpgrade"),
}
"""Version and kind of each custom resource definition that a component needs."""


def ready_cluster(name: str, image: str = "example.org/does-nothing:1") -> Installing:
    """Return a cluster in which a component is ready; its programs do nothing."""
    cluster = Installing("k8s-ctrl-1")
    for condition in everything().conditions[name]:
        api_version, kind = condition.api_version, condition.kind
        if kind in ("Deployment", "DaemonSet"):
            content = workload(condition.name, image)
            create(cluster, api_version, kind, condition.name, condition.namespace, **content)
        elif kind == "CustomResourceDefinition":
            serve(cluster, *DEFINITIONS[condition.name])
        elif kind != "Node":
            name_or_first = condition.name or "first"
            more = {"spec": SPECS[kind]} if kind in SPECS else {}
            create(cluster, api_version, kind, name_or_first, condition.namespace, **more)
            status = STATUSES.get(kind, READY)
            path = (api_version, kind, condition.namespace)
            set_status(cluster, path, name_or_first, status)
    cluster.settle()
    gate = ComponentReady(component=name, conditions=tuple(everything().conditions[name]))
    verdict = asyncio.run(gate.check(ports_of(cluster)))
    assert verdict.answer is GateAnswer.GO, verdict.because
    return cluster


Change = Callable[[Installing], None]


def nothing(cluster: Installing) -> None:
    """Change nothing."""


def commands_fail(cluster: Installing) -> None:
    """Let every command in a pod fail."""
    for host in cluster.hosts.hosts():
        host.faults["run"] = Effect.FAIL


def commands_succeed(cluster: Installing) -> None:
    for host in cluster.hosts.hosts():
        host.faults.clear()


def run_program(image: str) -> Change:
    """Return a change that starts a program."""

    def run(cluster: Installing) -> None:
        content = workload("program", image)
        create(cluster, "apps/v1", "Deployment", "program", "default", **content)
        cluster.settle()

    return run


def with_objects(*objects: tuple[str, str, str, str]) -> Change:
    """Return a change that creates objects without a status."""

    def add(cluster: Installing) -> None:
        for api_version, kind, name, namespace in objects:
            create(cluster, api_version, kind, name, namespace)

    return add


def with_status(status: Content, *objects: tuple[str, str, str, str]) -> Change:
    """Return a change of the status of objects."""

    def change(cluster: Installing) -> None:
        for api_version, kind, name, namespace in objects:
            set_status(cluster, (api_version, kind, namespace), name, status)

    return change


def serve_certificates(cluster: Installing) -> None:
    for kind in ("Issuer", "Certificate"):
        serve(cluster, "cert-manager.io/v1", kind)


def add_service(cluster: Installing) -> None:
    spec = {"type": "LoadBalancer", "ports": [{"port": 53, "protocol": "UDP"}]}
    create(cluster, "v1", "Service", "k8s-gateway", "network", spec=spec)


def add_cron_job(cluster: Installing) -> None:
    commands_fail(cluster)
    pod = workload("backup", "example.org/backup:1")["spec"]["template"]
    pod["spec"]["restartPolicy"] = "Never"
    job = {"spec": {"backoffLimit": 0, "template": pod}}
    spec = {"schedule": "0 3 * * *", "jobTemplate": job}
    create(cluster, "batch/v1", "CronJob", "talos-backup", "talos-backup", spec=spec)


def add_storage_class(name: str, provisioner: str) -> Change:
    """Return a change that creates a storage class."""

    def add(cluster: Installing) -> None:
        more = {"provisioner": provisioner, "volumeBindingMode": "Immediate"}
        create(cluster, "storage.k8s.io/v1", "StorageClass", name, **more)

    return add


def identify_node(provider_id: str) -> Change:
    """Return a change that gives the node an identity, a region and a zone."""

    def identify(cluster: Installing) -> None:
        labels = {f"topology.kubernetes.io/{name}": "pve" for name in ("region", "zone")}
        change = {"metadata": {"labels": labels}, "spec": {"providerID": provider_id}}
        cluster.ask("PATCH", "/api/v1/nodes/k8s-ctrl-1", change)

    return identify


def add_gpu(cluster: Installing) -> None:
    cluster.hosts.by_name["k8s-ctrl-1"].gpus = 1
    run_program(NVIDIA)(cluster)


def refuse_tuppr(cluster: Installing) -> None:
    create(cluster, *TUPPR_ACCOUNT)
    with_status({"failureReason": "role os:admin is not allowed"}, TUPPR_ACCOUNT)(cluster)
    create(cluster, *TUPPR_UPGRADE)
    with_status({"phase": "Completed"}, TUPPR_UPGRADE)(cluster)


TUPPR_ACCOUNT = ("talos.dev/v1alpha1", "ServiceAccount", "tuppr-talosconfig", "system-upgrade")
TUPPR_UPGRADE = (TUPPR, "TalosUpgrade", "controllers", "")
ROUTE = (GATEWAY, "HTTPRoute", "echo", "default")
INTERNAL = (GATEWAY, "Gateway", "envoy-internal", "network")
FLUX = (
    ("source.toolkit.fluxcd.io/v1", "GitRepository", "flux-system", "flux-system"),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "cluster-apps", "flux-system"),
)
NEW_NODES = (
    (KARPENTER, "ProxmoxNodeClass", "default", ""),
    ("karpenter.sh/v1", "NodePool", "default", ""),
)
ROUTED: Content = {"parents": [{"conditions": [{"type": "Accepted", "status": "True"}]}]}
PROGRAMMED: Content = {"conditions": [{"type": "Programmed", "status": "True"}]}
BALANCED: Content = {"loadBalancer": {"ingress": [{"ip": "10.20.66.53"}]}}
DNS = ("v1", "Service", "k8s-gateway", "network")

CASES: dict[str, tuple[Change, Change]] = {
    "cert-manager": (serve_certificates, run_program(CERT_MANAGER)),
    "cilium": (commands_fail, commands_succeed),
    "coredns": (commands_fail, commands_succeed),
    "echo": (with_objects(ROUTE), with_status(ROUTED, ROUTE)),
    "envoy-gateway": (with_objects(INTERNAL), with_status(PROGRAMMED, INTERNAL)),
    "flux-instance": (with_objects(*FLUX), with_status(READY, *FLUX)),
    "k8s-gateway": (add_service, with_status(BALANCED, DNS)),
    "karpenter": (with_objects(*NEW_NODES), with_status(READY, *NEW_NODES)),
    "metrics-server": (nothing, run_program(METRICS_SERVER)),
    "multus": (commands_fail, commands_succeed),
    "nvidia": (nothing, add_gpu),
    "proxmox-ccm": (nothing, identify_node("proxmox://pve/101")),
    "proxmox-csi": (
        add_storage_class("proxmox", "csi.proxmox.sinextra.dev"),
        run_program(PROXMOX_CSI),
    ),
    "rook-ceph": (
        add_storage_class("ceph-rbd", "rook-ceph.rbd.csi.ceph.com"),
        run_program(CEPH_CSI),
    ),
    "talos-backup": (add_cron_job, commands_succeed),
    "talos-ccm": (nothing, identify_node("talos://k8s-ctrl-1")),
    "tuppr": (refuse_tuppr, with_status({"failureReason": None}, TUPPR_ACCOUNT)),
}
"""What is broken although the component is ready, and what repairs it."""


@pytest.mark.parametrize("name", SMOKE_TESTS)
def test_a_smoke_test_fails_until_its_component_works(name: str) -> None:
    break_component, repair = CASES[name]
    cluster = ready_cluster(name)
    ports, smoke_test = ports_of(cluster), SMOKE_TESTS[name]
    break_component(cluster)

    with pytest.raises(Rejected) as failure:
        asyncio.run(smoke_test.test(ports))
    assert failure.value.problem.code == "kube.smoke-test-failed"
    assert "is not served" not in failure.value.problem.why

    repair(cluster)
    asyncio.run(smoke_test.test(ports))


def test_every_smoke_test_of_the_catalog_is_tried() -> None:
    tested = {name for name in names() if component(name).smoke_test is not None}

    assert tested <= set(SMOKE_TESTS) == set(CASES)
