"""Objects of every kind, with little said, so that a server has much to fill in."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

POD_SPEC: Object = {
    "containers": [
        {
            "name": "c",
            "image": "i",
            "ports": [{"containerPort": 80}],
            "livenessProbe": {"httpGet": {"port": 80}},
            "readinessProbe": {"grpc": {"port": 1}},
            "env": [
                {"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "b", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "d", "value": ""},
            ],
            "resources": {"limits": {"cpu": "1000m", "memory": "0.5Gi"}},
        },
        {"name": "d", "image": "x:1", "lifecycle": {"preStop": {"exec": {"command": ["a"]}}}},
    ],
    "initContainers": [{"name": "i", "image": f"127.0.0.1:5000/x@sha256:{'0' * 64}"}],
    "volumes": [
        {"name": "nothing"},
        {"name": "secret", "secret": {"secretName": "x"}},
        {"name": "config", "configMap": {"name": "x"}},
        {"name": "host", "hostPath": {"path": "/x"}},
        {
            "name": "downward",
            "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.name"}}]},
        },
        {
            "name": "iscsi",
            "iscsi": {"targetPortal": "10.42.0.1", "iqn": "iqn.2001-04.x:y", "lun": 0},
        },
        {
            "name": "claim",
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    }
                }
            },
        },
    ],
    "tolerations": [{"operator": "Exists"}],
    "nodeSelector": {"b": "1", "a": "2"},
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}
    ],
}
TEMPLATE: Object = {"metadata": {"labels": {"a": "b"}}, "spec": POD_SPEC}
SELECTOR: Object = {"matchLabels": {"a": "b"}}
JOB_TEMPLATE: Object = {"spec": {**POD_SPEC, "restartPolicy": "Never"}}
CLAIM: Object = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1000Mi"}},
}
RBAC = "rbac.authorization.k8s.io/v1"
ADMISSION = "admissionregistration.k8s.io/v1"
SCALED: Object = {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}


@dataclass(frozen=True)
class Sample:
    """An object, and where it is sent."""

    path: str
    content: Object

    @property
    def label(self) -> str:
        return f"{self.content['kind']}-{self.content['metadata']['name']}"


def _sample(api_version: str, kind: str, plural: str, name: str, **content: Any) -> Sample:
    namespace = "" if plural in CLUSTER_WIDE else "/namespaces/default"
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    made = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **content}
    return Sample(f"{root}{namespace}/{plural}", copy.deepcopy(made))


CLUSTER_WIDE = {
    *("persistentvolumes", "namespaces", "nodes", "storageclasses", "csidrivers", "csinodes"),
    *("volumeattachments", "ingressclasses", "clusterroles", "clusterrolebindings"),
    *("priorityclasses", "validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
    *("customresourcedefinitions", "apiservices", "flowschemas", "runtimeclasses"),
}

WORKLOADS = [
    _sample("v1", "Pod", "pods", "plain", spec=POD_SPEC),
    _sample(
        "apps/v1",
        "Deployment",
        "deployments",
        "plain",
        spec={"selector": SELECTOR, "template": TEMPLATE},
    ),
    _sample(
        "apps/v1",
        "Deployment",
        "deployments",
        "recreated",
        spec={
            "replicas": 0,
            "minReadySeconds": 0,
            "strategy": {"type": "Recreate"},
            "selector": SELECTOR,
            "template": TEMPLATE,
        },
    ),
    _sample(
        "apps/v1",
        "Deployment",
        "deployments",
        "surging",
        spec={
            "strategy": {"rollingUpdate": {"maxSurge": 3}},
            "selector": SELECTOR,
            "template": TEMPLATE,
        },
    ),
    _sample(
        "apps/v1",
        "DaemonSet",
        "daemonsets",
        "plain",
        spec={"selector": SELECTOR, "template": TEMPLATE},
    ),
    _sample(
        "apps/v1",
        "StatefulSet",
        "statefulsets",
        "plain",
        spec={
            "selector": SELECTOR,
            "serviceName": "x",
            "template": TEMPLATE,
            "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": CLAIM}],
        },
    ),
    _sample(
        "apps/v1",
        "ReplicaSet",
        "replicasets",
        "plain",
        spec={"selector": SELECTOR, "template": TEMPLATE},
    ),
    _sample(
        "apps/v1",
        "ReplicaSet",
        "replicasets",
        "choosy",
        spec={
            "selector": {
                "matchLabels": {"z": "1", "a": "b"},
                "matchExpressions": [
                    {"key": "m", "operator": "In", "values": ["y", "x"]},
                    {"key": "b", "operator": "Exists"},
                    {"key": "n", "operator": "DoesNotExist"},
                    {"key": "o", "operator": "NotIn", "values": ["q"]},
                ],
            },
            "template": {
                "metadata": {"labels": {"z": "1", "a": "b", "m": "x", "b": ""}},
                "spec": POD_SPEC,
            },
        },
    ),
    _sample(
        "apps/v1",
        "ControllerRevision",
        "controllerrevisions",
        "plain",
        revision=3,
        data={"a": 1},
    ),
    _sample(
        "v1",
        "ReplicationController",
        "replicationcontrollers",
        "plain",
        spec={"template": TEMPLATE},
    ),
    _sample(
        "batch/v1",
        "CronJob",
        "cronjobs",
        "plain",
        spec={"schedule": "* * * * *", "jobTemplate": {"spec": {"template": JOB_TEMPLATE}}},
    ),
    _sample("batch/v1", "Job", "jobs", "plain", spec={"template": JOB_TEMPLATE}),
    _sample("v1", "PodTemplate", "podtemplates", "plain", template=TEMPLATE),
    _sample(
        "policy/v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        "plain",
        spec={"minAvailable": 1, "selector": SELECTOR},
    ),
    _sample(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        "new",
        spec={"maxReplicas": 3, "scaleTargetRef": SCALED},
    ),
    _sample(
        "autoscaling/v1",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        "old",
        spec={"maxReplicas": 3, "scaleTargetRef": SCALED},
    ),
]
DATA = [
    _sample("v1", "Secret", "secrets", "plain", data={"a": "YQ=="}),
    _sample("v1", "ConfigMap", "configmaps", "plain", data={"b": "1", "a": "2"}),
    _sample("v1", "ConfigMap", "configmaps", "empty"),
    _sample("v1", "ServiceAccount", "serviceaccounts", "plain"),
    _sample("v1", "Namespace", "namespaces", "plain"),
    _sample(
        "v1",
        "LimitRange",
        "limitranges",
        "plain",
        spec={"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1000Gi"}}]},
    ),
    _sample(
        "v1",
        "Event",
        "events",
        "old",
        involvedObject={"kind": "Pod", "namespace": "default", "name": "x"},
        reason="Tested",
        message=" done\n",
        type="Normal",
        firstTimestamp="2026-01-01T00:00:00Z",
        lastTimestamp="2026-01-02T00:00:00Z",
        count=4,
        source={"component": "kubelet", "host": "n1"},
    ),
    _sample(
        "events.k8s.io/v1",
        "Event",
        "events",
        "new",
        regarding={"kind": "Pod", "namespace": "default", "name": "x"},
        reason="Tested",
        note="done",
        type="Normal",
        eventTime="2026-01-01T00:00:00.500000Z",
        reportingController="example.org/tester",
        reportingInstance="one",
        action="Test",
    ),
    _sample(
        "coordination.k8s.io/v1",
        "Lease",
        "leases",
        "plain",
        spec={
            "holderIdentity": "a",
            "renewTime": "2026-01-01T00:00:00.123456Z",
            "leaseDurationSeconds": 40,
        },
    ),
]
STORAGE = [
    _sample(
        "v1",
        "PersistentVolume",
        "persistentvolumes",
        "plain",
        spec={
            "capacity": {"storage": "1.5Gi"},
            "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
            "hostPath": {"path": "/x"},
            "claimRef": {"namespace": "default", "name": "c"},
            "storageClassName": "fast",
        },
    ),
    _sample("v1", "PersistentVolumeClaim", "persistentvolumeclaims", "plain", spec=CLAIM),
    _sample(
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        "bound",
        spec={**CLAIM, "volumeName": "plain", "storageClassName": "fast"},
    ),
    _sample("storage.k8s.io/v1", "StorageClass", "storageclasses", "plain", provisioner="x"),
    _sample("storage.k8s.io/v1", "CSIDriver", "csidrivers", "plain", spec={}),
    _sample("storage.k8s.io/v1", "CSINode", "csinodes", "plain", spec={"drivers": []}),
    _sample(
        "storage.k8s.io/v1",
        "VolumeAttachment",
        "volumeattachments",
        "plain",
        spec={"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}},
    ),
]
NETWORK = [
    _sample(
        "v1",
        "Endpoints",
        "endpoints",
        "plain",
        subsets=[
            {
                "addresses": [{"ip": f"10.42.1.{one}"} for one in range(1, 6)],
                "ports": [{"port": 80}],
            }
        ],
    ),
    _sample(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        "endpointslices",
        "plain",
        addressType="IPv4",
        endpoints=[{"addresses": [f"10.42.1.{one}"]} for one in range(1, 6)],
        ports=[{"port": 80}],
    ),
    _sample(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "networkpolicies",
        "plain",
        spec={"podSelector": {}, "egress": [{"ports": [{"port": 80}]}]},
    ),
    _sample(
        "networking.k8s.io/v1",
        "Ingress",
        "ingresses",
        "plain",
        spec={
            "tls": [{"hosts": ["a"]}],
            "rules": [{"host": f"h{one}.example"} for one in range(5)],
        },
    ),
    _sample(
        "networking.k8s.io/v1",
        "IngressClass",
        "ingressclasses",
        "plain",
        spec={
            "controller": "a.example/b",
            "parameters": {"kind": "K", "name": "n", "apiGroup": "k.example"},
        },
    ),
    _sample(
        "v1",
        "Service",
        "services",
        "plain",
        spec={"ports": [{"port": 80}], "selector": {"a": "b"}},
    ),
    _sample(
        "v1",
        "Service",
        "services",
        "balanced",
        spec={
            "type": "LoadBalancer",
            "ports": [
                {"port": 80, "targetPort": "http", "name": "a"},
                {"port": 81, "name": "b"},
            ],
            "sessionAffinity": "ClientIP",
        },
    ),
    _sample(
        "v1",
        "Service",
        "services",
        "elsewhere",
        spec={"type": "ExternalName", "externalName": "a.example"},
    ),
]
CLUSTER = [
    _sample("v1", "Node", "nodes", "plain", spec={"unschedulable": True}),
    _sample(RBAC, "ClusterRole", "clusterroles", "empty"),
    _sample(
        RBAC,
        "ClusterRole",
        "clusterroles",
        "plain",
        rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    ),
    _sample(RBAC, "Role", "roles", "plain", rules=[]),
    _sample(
        RBAC,
        "ClusterRoleBinding",
        "clusterrolebindings",
        "plain",
        roleRef={"kind": "ClusterRole", "name": "view"},
        subjects=[
            {"kind": "User", "name": "a"},
            {"kind": "Group", "name": "b"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "default"},
        ],
    ),
    _sample(
        RBAC,
        "RoleBinding",
        "rolebindings",
        "plain",
        roleRef={"kind": "ClusterRole", "name": "view"},
    ),
    _sample("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "plain", value=10),
    _sample("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", "plain", handler="x"),
    _sample(
        ADMISSION,
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        "plain",
        webhooks=[
            {
                "name": "a.b.example",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "x", "namespace": "y"}},
                "rules": [
                    {
                        "operations": ["CREATE"],
                        "apiGroups": ["none.example"],
                        "apiVersions": ["v1"],
                        "resources": ["nothings"],
                    }
                ],
            }
        ],
    ),
    _sample(
        ADMISSION,
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        "plain",
        webhooks=[
            {
                "name": "a.b.example",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://a.example/x"},
            }
        ],
    ),
    _sample(
        "apiregistration.k8s.io/v1",
        "APIService",
        "apiservices",
        "v1.foo.example",
        spec={
            "group": "foo.example",
            "version": "v1",
            "groupPriorityMinimum": 10,
            "versionPriority": 10,
            "service": {"name": "a", "namespace": "b"},
        },
    ),
    _sample(
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema",
        "flowschemas",
        "plain",
        spec={"priorityLevelConfiguration": {"name": "x"}},
    ),
]
SAMPLES = [*WORKLOADS, *DATA, *STORAGE, *NETWORK, *CLUSTER]
