"""Defaults of built-in kinds: values, and rules where a value depends on others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]

_MODE = 0o644
_CONTAINER: Mapping[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_WEBHOOK: Mapping[str, Any] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_RBAC = "rbac.authorization.k8s.io"

PLAIN: Mapping[str, Mapping[str, Any]] = {
    "core.v1.PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
    },
    "core.v1.Container": _CONTAINER,
    "core.v1.ContainerPort": {"protocol": "TCP"},
    "core.v1.EndpointPort": {"protocol": "TCP"},
    "core.v1.ServicePort": {"protocol": "TCP"},
    "core.v1.Probe": {
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    },
    "core.v1.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.v1.SecretVolumeSource": {"defaultMode": _MODE},
    "core.v1.ConfigMapVolumeSource": {"defaultMode": _MODE},
    "core.v1.DownwardAPIVolumeSource": {"defaultMode": _MODE},
    "core.v1.ProjectedVolumeSource": {"defaultMode": _MODE},
    "core.v1.HostPathVolumeSource": {"type": ""},
    "core.v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core.v1.Secret": {"type": "Opaque"},
    "core.v1.PersistentVolumeSpec": {
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    },
    "core.v1.PersistentVolumeStatus": {"phase": "Pending"},
    "core.v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core.v1.PersistentVolumeClaimStatus": {"phase": "Pending"},
    "core.v1.NamespaceStatus": {"phase": "Active"},
    "core.v1.ServiceSpec": {"sessionAffinity": "None", "type": "ClusterIP"},
    "apps.v1.DeploymentSpec": {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "apps.v1.DeploymentStrategy": {"type": "RollingUpdate"},
    "apps.v1.ReplicaSetSpec": {"replicas": 1},
    "apps.v1.DaemonSetSpec": {"revisionHistoryLimit": 10},
    "apps.v1.DaemonSetUpdateStrategy": {"type": "RollingUpdate"},
    "apps.v1.StatefulSetSpec": {
        "podManagementPolicy": "OrderedReady",
        "persistentVolumeClaimRetentionPolicy": {},
        "replicas": 1,
        "revisionHistoryLimit": 10,
    },
    "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    },
    "batch.v1.CronJobSpec": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "storage.v1.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    "storage.v1.CSIDriverSpec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
        "requiresRepublish": False,
        "seLinuxMount": False,
    },
    "networking.v1.NetworkPolicyPort": {"protocol": "TCP"},
    "rbac.v1.RoleRef": {"apiGroup": _RBAC},
    "admissionregistration.v1.ValidatingWebhook": _WEBHOOK,
    "admissionregistration.v1.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    "admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.MatchResources": {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
    },
    "admissionregistration.v1.ServiceReference": {"port": 443},
    "scheduling.v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "discovery.v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "apiextensions.v1.CustomResourceDefinitionSpec": {"conversion": {"strategy": "None"}},
    "apiextensions.v1.ServiceReference": {"port": 443},
    "apiregistration.v1.ServiceReference": {"port": 443},
}
"""By the name of the type: what a field is when it is absent, or empty where Go cannot tell."""


def _pull_policy(container: Object) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")


def pull_policy(image: str) -> str:
    """How an image is pulled that says nothing about it."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2] or ("" if digest else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def _volume(volume: Object) -> None:
    if not any(value is not None for name, value in volume.items() if name != "name"):
        volume["emptyDir"] = {}


def _pod(pod: Object) -> None:
    spec = pod.setdefault("spec", {})
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        limits = resources.get("limits")
        if limits:
            resources["requests"] = {**limits, **(resources.get("requests") or {})}
        for port in (container.get("ports") or ()) if spec.get("hostNetwork") else ():
            if not port.get("hostPort"):
                port["hostPort"] = port.get("containerPort")
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True


def _pod_spec(spec: Object) -> None:
    """The account of a pod has two names; the newer one wins."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _service_spec(spec: Object) -> None:
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client_ip = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client_ip.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for port in spec.get("ports") or ():
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    kind = spec["type"]
    is_outside = kind in ("NodePort", "LoadBalancer")
    if (is_outside or (kind == "ClusterIP" and spec.get("externalIPs"))) and not spec.get(
        "externalTrafficPolicy"
    ):
        spec["externalTrafficPolicy"] = "Cluster"
    if spec.get("internalTrafficPolicy") is None and (is_outside or kind == "ClusterIP"):
        spec["internalTrafficPolicy"] = "Cluster"
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True


def _service(service: Object) -> None:
    if (service.get("spec") or {}).get("type") != "LoadBalancer":
        return
    balancer = (service.get("status") or {}).get("loadBalancer") or {}
    for item in balancer.get("ingress") or ():
        if item.get("ip") and item.get("ipMode") is None:
            item["ipMode"] = "VIP"


def _namespace(namespace: Object) -> None:
    metadata = namespace.setdefault("metadata", {})
    if metadata.get("name"):
        labels = metadata.get("labels") or {}
        metadata["labels"] = {**labels, "kubernetes.io/metadata.name": metadata["name"]}


def _node_status(status: Object) -> None:
    if status.get("allocatable") is None and status.get("capacity") is not None:
        status["allocatable"] = dict(status["capacity"])


def _rolling(**values: object) -> Callable[[Object], None]:
    def rule(strategy: Object) -> None:
        if strategy["type"] == "RollingUpdate":
            rolling_update = strategy.get("rollingUpdate") or {}
            result = {name: one for name, one in rolling_update.items() if one is not None}
            strategy["rollingUpdate"] = {**values, **result}

    return rule


def _stateful_set_strategy(strategy: Object) -> None:
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
    rolling_update = strategy.get("rollingUpdate")
    is_rolling = strategy["type"] == "RollingUpdate"
    if is_rolling and rolling_update is not None and rolling_update.get("partition") is None:
        rolling_update["partition"] = 0


def _stateful_set_spec(spec: Object) -> None:
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.update(kind="PersistentVolumeClaim", apiVersion="v1")


def _job(job: Object) -> None:
    labels = (((job.get("spec") or {}).get("template") or {}).get("metadata") or {}).get("labels")
    metadata = job.setdefault("metadata", {})
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)
    _job_spec(job.setdefault("spec", {}))


def _job_spec(spec: Object) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    failure = spec.get("podFailurePolicy") is not None
    for name, value in (
        ("parallelism", 1),
        ("backoffLimit", 6 if spec.get("backoffLimitPerIndex") is None else (1 << 31) - 1),
        ("completionMode", "NonIndexed"),
        ("suspend", False),
        ("podReplacementPolicy", "Failed" if failure else "TerminatingOrFailed"),
        ("manualSelector", False),
    ):
        if spec.get(name) is None:
            spec[name] = value


def _network_policy_spec(spec: Object) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def _subject(subject: Object) -> None:
    if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
        subject["apiGroup"] = _RBAC


def _definition(definition: Object) -> None:
    status = definition.setdefault("status", {})
    versions = (definition.get("spec") or {}).get("versions") or ()
    if not status.get("storedVersions"):
        names = [version.get("name", "") for version in versions if version.get("storage")]
        status["storedVersions"] = names[:1]


def _names(names: Object) -> None:
    kind = names.get("kind") or ""
    names["singular"] = names.get("singular") or kind.lower()
    if kind and not names.get("listKind"):
        names["listKind"] = f"{kind}List"


def _definition_spec(spec: Object) -> None:
    names = spec.get("names")
    spec["names"] = names = names if isinstance(names, dict) else {}
    _names(names)


SPECIAL: Mapping[str, Callable[[Object], None]] = {
    "core.v1.Container": _pull_policy,
    "core.v1.Volume": _volume,
    "core.v1.Pod": _pod,
    "core.v1.PodSpec": _pod_spec,
    "core.v1.ServiceSpec": _service_spec,
    "core.v1.Service": _service,
    "core.v1.Namespace": _namespace,
    "core.v1.NodeStatus": _node_status,
    "apps.v1.DeploymentStrategy": _rolling(maxUnavailable="25%", maxSurge="25%"),
    "apps.v1.DaemonSetUpdateStrategy": _rolling(maxUnavailable=1, maxSurge=0),
    "apps.v1.StatefulSetUpdateStrategy": _stateful_set_strategy,
    "apps.v1.StatefulSetSpec": _stateful_set_spec,
    "batch.v1.Job": _job,
    "networking.v1.NetworkPolicySpec": _network_policy_spec,
    "rbac.v1.Subject": _subject,
    "apiextensions.v1.CustomResourceDefinition": _definition,
    "apiextensions.v1.CustomResourceDefinitionSpec": _definition_spec,
}
"""By the name of the type: what is filled in depending on other fields, after the values."""
