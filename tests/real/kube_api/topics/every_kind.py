"""One small object of many kinds."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import APPS, CORE, made, template
from tests.real.kube_api.talking import MERGE, Step


def every_kind() -> Iterator[Step]:
    """One small object of many kinds: what the server makes of it."""
    networking, storage = "/apis/networking.k8s.io/v1", "/apis/storage.k8s.io/v1"
    hooks = "/apis/admissionregistration.k8s.io/v1"
    hook = {
        "name": "a.NS.example",
        "clientConfig": {"service": {"name": "a", "namespace": "NS"}},
        "rules": [
            {
                "apiGroups": ["none.example"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["none"],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    for path, kind, version, content in (
        (
            "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            "autoscaling/v2",
            {
                "spec": {
                    "maxReplicas": 3,
                    "scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"},
                }
            },
        ),
        (
            f"{networking}/ingressclasses",
            "IngressClass",
            "networking.k8s.io/v1",
            {"spec": {"controller": "a.example/b"}},
        ),
        (f"{storage}/csidrivers", "CSIDriver", "storage.k8s.io/v1", {"spec": {}}),
        (
            f"{storage}/csinodes",
            "CSINode",
            "storage.k8s.io/v1",
            {"spec": {"drivers": [{"name": "a", "nodeID": "b"}]}},
        ),
        (
            f"{storage}/volumeattachments",
            "VolumeAttachment",
            "storage.k8s.io/v1",
            {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
        ),
        (
            f"{hooks}/validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            "admissionregistration.k8s.io/v1",
            {"webhooks": [hook]},
        ),
        (
            f"{hooks}/mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            "admissionregistration.k8s.io/v1",
            {"webhooks": [hook]},
        ),
        (
            "/apis/node.k8s.io/v1/runtimeclasses",
            "RuntimeClass",
            "node.k8s.io/v1",
            {"handler": "runc"},
        ),
        (
            f"{CORE}/replicationcontrollers",
            "ReplicationController",
            "v1",
            {"spec": {"template": template()}},
        ),
        (f"{CORE}/podtemplates", "PodTemplate", "v1", {"template": template()}),
        (
            f"{APPS}/controllerrevisions",
            "ControllerRevision",
            "apps/v1",
            {"revision": 1, "data": {"a": 1}},
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            "ClusterRole",
            "rbac.authorization.k8s.io/v1",
            {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            "ClusterRoleBinding",
            "rbac.authorization.k8s.io/v1",
            {
                "roleRef": {"kind": "ClusterRole", "name": "x"},
                "subjects": [{"kind": "Group", "name": "g"}],
            },
        ),
        (f"{CORE}/serviceaccounts", "ServiceAccount", "v1", {}),
        (
            "/apis/events.k8s.io/v1/namespaces/NS/events",
            "Event",
            "events.k8s.io/v1",
            {
                "eventTime": "2026-01-01T00:00:00.000000Z",
                "action": "a",
                "reason": "r",
                "type": "Normal",
                "reportingController": "c.example/c",
                "reportingInstance": "i",
                "regarding": {"namespace": "NS"},
            },
        ),
    ):
        yield Step("POST", path, made(kind, version, "NS-x", **content))
        yield Step("GET", f"{path}/NS-x")
        yield Step("PATCH", f"{path}/NS-x", {"metadata": {"labels": {"a": "b"}}}, MERGE)
        yield Step("PUT", f"{path}/NS-x", made(kind, version, "NS-x", **content))
        yield Step("PUT", f"{path}/NS-y", made(kind, version, "NS-y", **content))
        yield Step("DELETE", f"{path}/NS-y")
        yield Step("DELETE", f"{path}/NS-x")
