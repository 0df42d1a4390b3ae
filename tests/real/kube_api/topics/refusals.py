"""Objects of many kinds with something wrong about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.kube_api.bodies import APPS, BATCH, CORE, POLICY, SELECTOR, made, pod_spec, template
from tests.real.kube_api.talking import MERGE, STRATEGIC, Step

RBAC = "/apis/rbac.authorization.k8s.io/v1"
RBAC_VERSION = "rbac.authorization.k8s.io/v1"


def refusals() -> Iterator[Step]:
    yield from _created()
    yield from _changed()


def _created() -> Iterator[Step]:
    path_without_type = {"http": {"paths": [{"path": "x", "backend": {}}]}}
    cases: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("/api/v1/namespaces", "Namespace", "v1", {"metadata": {"name": "A_b"}}),
        ("/api/v1/nodes", "Node", "v1", {"metadata": {"name": "A_b"}}),
        (
            "/api/v1/nodes",
            "Node",
            "v1",
            {"spec": {"taints": [{"key": "a", "effect": "Foo"}, {"effect": "NoSchedule"}]}},
        ),
        (
            f"{APPS}/deployments",
            "Deployment",
            "apps/v1",
            {
                "metadata": {"name": "up", "labels": {"a": "b c"}},
                "spec": {"selector": SELECTOR, "template": template()},
            },
        ),
        (
            "/apis/networking.k8s.io/v1/namespaces/NS/ingresses",
            "Ingress",
            "networking.k8s.io/v1",
            {"spec": {}},
        ),
        (
            "/apis/networking.k8s.io/v1/namespaces/NS/ingresses",
            "Ingress",
            "networking.k8s.io/v1",
            {"spec": {"rules": [path_without_type]}},
        ),
        (
            f"{RBAC}/namespaces/NS/roles",
            "Role",
            RBAC_VERSION,
            {"rules": [{"apiGroups": [""]}]},
        ),
        (
            f"{RBAC}/namespaces/NS/rolebindings",
            "RoleBinding",
            RBAC_VERSION,
            {"roleRef": {}, "subjects": [{"kind": "Foo"}]},
        ),
        (
            f"{RBAC}/clusterrolebindings",
            "ClusterRoleBinding",
            RBAC_VERSION,
            {
                "roleRef": {"kind": "ClusterRole", "name": "x"},
                "subjects": [{"kind": "ServiceAccount", "name": "x"}],
            },
        ),
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            "PriorityClass",
            "scheduling.k8s.io/v1",
            {"value": 2000000000},
        ),
        (
            "/apis/storage.k8s.io/v1/storageclasses",
            "StorageClass",
            "storage.k8s.io/v1",
            {},
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/NS/leases",
            "Lease",
            "coordination.k8s.io/v1",
            {"spec": {"leaseDurationSeconds": 0}},
        ),
        (f"{CORE}/serviceaccounts", "ServiceAccount", "v1", {"metadata": {"name": "I"}}),
        (
            f"{POLICY}/poddisruptionbudgets",
            "PodDisruptionBudget",
            "policy/v1",
            {"spec": {"minAvailable": -1}},
        ),
        (
            "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            "autoscaling/v2",
            {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "x"}}},
        ),
    )
    for path, kind, version, content in cases:
        yield Step("POST", path, made(kind, version, "NS-z", **content))


def _changed() -> Iterator[Step]:
    spec = {"serviceName": "x", "selector": SELECTOR, "template": template()}
    yield Step("POST", f"{APPS}/statefulsets", made("StatefulSet", "apps/v1", "z", spec=spec))
    yield Step("PATCH", f"{APPS}/statefulsets/z", {"spec": {"serviceName": "y"}}, MERGE)
    yield Step("PATCH", f"{APPS}/statefulsets/z", {"spec": {"replicas": -1}}, MERGE)
    yield Step("PATCH", f"{APPS}/statefulsets/z", {"spec": {"replicas": 3}}, MERGE)
    job = {"template": {"spec": pod_spec(restartPolicy="Never")}}
    yield Step("POST", f"{BATCH}/jobs", made("Job", "batch/v1", "z", spec=job))
    yield Step("PATCH", f"{BATCH}/jobs/z", {"spec": {"completions": 5}}, STRATEGIC)
    yield Step("PATCH", f"{BATCH}/jobs/z", {"spec": {"parallelism": 5}}, STRATEGIC)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = f"{CORE}/persistentvolumeclaims"
    yield Step("POST", claims, made("PersistentVolumeClaim", "v1", "z", spec=claim))
    smaller = {"spec": {"resources": {"requests": {"storage": "500Mi"}}}}
    yield Step("PATCH", f"{claims}/z", smaller, MERGE)
