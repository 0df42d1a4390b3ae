"""Secrets, volumes, nodes, leases, roles, events, namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import CORE, made
from tests.real.kube_api.talking import MERGE, STRATEGIC, Step, asked


def others() -> Iterator[Step]:
    yield Step(
        "POST",
        f"{CORE}/secrets",
        made("Secret", "v1", "s", stringData={"a": "b"}, data={"c": "ZA=="}),
    )
    yield Step("POST", f"{CORE}/secrets", made("Secret", "v1", "bad", data={"c": "%"}))
    yield Step("POST", f"{CORE}/secrets", made("Secret", "v1", "bad", data={"c d": "ZA=="}))
    yield Step("PATCH", f"{CORE}/secrets/s", {"type": "other"}, MERGE)
    yield Step("PATCH", f"{CORE}/secrets/s", {"immutable": True}, MERGE)
    yield Step("PATCH", f"{CORE}/secrets/s", {"data": {"a": "ZA=="}}, MERGE)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    yield Step(
        "POST",
        f"{CORE}/persistentvolumeclaims",
        made("PersistentVolumeClaim", "v1", "c", spec=claim),
    )
    yield Step(
        "POST",
        f"{CORE}/persistentvolumeclaims",
        made("PersistentVolumeClaim", "v1", "bad", spec={}),
    )
    yield Step("DELETE", f"{CORE}/persistentvolumeclaims/c")
    yield Step("GET", f"{CORE}/persistentvolumeclaims/c")
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"},
    }
    yield Step(
        "POST", "/api/v1/persistentvolumes", made("PersistentVolume", "v1", "NS", spec=volume)
    )
    yield Step(
        "POST", "/api/v1/persistentvolumes", made("PersistentVolume", "v1", "NS-bad", spec={})
    )
    yield Step("DELETE", "/api/v1/persistentvolumes/NS")
    node = made("Node", "v1", "NS", status={"capacity": {"cpu": "4"}})
    yield Step("POST", "/api/v1/nodes", node)
    yield Step("PATCH", "/api/v1/nodes/NS", {"spec": {"unschedulable": True}}, STRATEGIC)
    yield Step(
        "PATCH",
        "/api/v1/nodes/NS",
        {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
        MERGE,
    )
    yield Step(
        "PATCH",
        "/api/v1/nodes/NS/status",
        {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
        STRATEGIC,
    )
    yield Step(
        "GET", asked("/api/v1/nodes", fieldSelector="spec.unschedulable=true,metadata.name=NS")
    )
    yield Step("DELETE", "/api/v1/nodes/NS")
    leases = "/apis/coordination.k8s.io/v1/namespaces/NS/leases"
    yield Step(
        "POST",
        leases,
        made(
            "Lease",
            "coordination.k8s.io/v1",
            "l",
            spec={
                "holderIdentity": "a",
                "leaseDurationSeconds": 15,
                "renewTime": "2026-01-01T00:00:00.000000Z",
            },
        ),
    )
    yield Step(
        "PUT",
        f"{leases}/l",
        made("Lease", "coordination.k8s.io/v1", "l", spec={"holderIdentity": "b"}),
    )
    yield Step(
        "PUT",
        f"{leases}/new",
        made("Lease", "coordination.k8s.io/v1", "new", spec={"holderIdentity": "b"}),
    )
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    yield Step(
        "POST",
        f"{rbac}/namespaces/NS/roles",
        made("Role", "rbac.authorization.k8s.io/v1", "r:x", rules=rules),
    )
    bound = {
        "roleRef": {"kind": "Role", "name": "r:x", "apiGroup": "rbac.authorization.k8s.io"},
        "subjects": [
            {"kind": "User", "name": "u"},
            {"kind": "ServiceAccount", "name": "default", "namespace": "NS"},
        ],
    }
    yield Step(
        "POST",
        f"{rbac}/namespaces/NS/rolebindings",
        made("RoleBinding", "rbac.authorization.k8s.io/v1", "b", **bound),
    )
    yield Step(
        "PATCH", f"{rbac}/namespaces/NS/rolebindings/b", {"roleRef": {"name": "other"}}, MERGE
    )
    yield Step(
        "POST",
        "/apis/storage.k8s.io/v1/storageclasses",
        made("StorageClass", "storage.k8s.io/v1", "NS", provisioner="x.example"),
    )
    yield Step("DELETE", "/apis/storage.k8s.io/v1/storageclasses/NS")
    yield Step(
        "POST",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        made("PriorityClass", "scheduling.k8s.io/v1", "NS", value=5),
    )
    yield Step("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/NS")
    policies = "/apis/networking.k8s.io/v1/namespaces/NS"
    yield Step(
        "POST",
        f"{policies}/networkpolicies",
        made("NetworkPolicy", "networking.k8s.io/v1", "n", spec={"podSelector": {}}),
    )
    rule = {
        "host": "a.example",
        "http": {
            "paths": [
                {
                    "path": "/",
                    "pathType": "Prefix",
                    "backend": {"service": {"name": "a", "port": {"number": 80}}},
                }
            ]
        },
    }
    yield Step(
        "POST",
        f"{policies}/ingresses",
        made("Ingress", "networking.k8s.io/v1", "i", spec={"rules": [rule]}),
    )
    event = made(
        "Event",
        "v1",
        "e",
        involvedObject={"kind": "Pod", "name": "a", "namespace": "NS"},
        reason="R",
        message="M",
        type="Normal",
    )
    yield Step("POST", f"{CORE}/events", event)
    yield Step("GET", "/apis/events.k8s.io/v1/namespaces/NS/events/e")
    yield Step("GET", asked(f"{CORE}/events", fieldSelector="involvedObject.name=a"))
    yield Step(
        "POST",
        f"{CORE}/endpoints",
        made(
            "Endpoints",
            "v1",
            "e",
            subsets=[{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}],
        ),
    )
    yield Step(
        "POST",
        "/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices",
        made(
            "EndpointSlice",
            "discovery.k8s.io/v1",
            "e",
            addressType="IPv4",
            endpoints=[{"addresses": ["10.0.0.1"]}],
            ports=[{"port": 80}],
        ),
    )
    yield Step(
        "POST",
        f"{CORE}/limitranges",
        made(
            "LimitRange", "v1", "l", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]}
        ),
    )
    yield Step(
        "POST",
        f"{CORE}/resourcequotas",
        made("ResourceQuota", "v1", "q", spec={"hard": {"pods": "10"}}),
    )
    yield Step("DELETE", "/api/v1/namespaces/default")
    yield Step("DELETE", "/api/v1/namespaces/NS")
    yield Step("GET", "/api/v1/namespaces/NS")
    yield Step("POST", f"{CORE}/configmaps", made("ConfigMap", "v1", "late"))
    yield Step(
        "PUT",
        "/api/v1/namespaces/NS/finalize",
        {"metadata": {"name": "NS"}, "spec": {"finalizers": []}},
    )
    yield Step("GET", "/api/v1/namespaces/NS")
