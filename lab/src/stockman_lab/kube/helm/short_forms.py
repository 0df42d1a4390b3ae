"""Short forms of objects in descriptions of charts, and the objects that they stand for.

An entry is named after its kind: `Deployment: NAME`. What it says beside that, in few words:
`containers` (names and images), `init`, `ports`, `from` (the path of values with tolerations,
resources and the like), `pod` (parts of the pod as they are), `match` (labels of its pods),
`component`, `claims` (name, size and class of volumes); `account` is a service account with what
it may do; `raw` is an object as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stockman_lab.kube.helm.filling import Scope
from stockman_lab.kube.helm.values import merged
from stockman_lab.kube.objects import Object, Tree, copied, metadata_of

_RBAC = "rbac.authorization.k8s.io"
_CLUSTER_WIDE = frozenset(
    {
        "APIService",
        "CSIDriver",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "GatewayClass",
        "MutatingWebhookConfiguration",
        "Namespace",
        "PriorityClass",
        "RuntimeClass",
        "StorageClass",
        "ValidatingWebhookConfiguration",
        "ClusterPolicy",
        "NodeFeatureRule",
    }
)
_COMPONENT = "app.kubernetes.io/component"


@dataclass(frozen=True, slots=True)
class Made:
    """What all objects of a release share."""

    scope: Scope
    labels: Object
    selector: Object

    def value(self, path: str) -> Tree:
        """A value by its path; None: it is not given."""
        return self.scope.looked_up(f".{path}", None) if path else self.scope.values


def objects(entries: list[Object], made: Made) -> Iterator[Object]:
    """What short forms stand for."""
    for entry in entries:
        kind = next(iter(entry))
        form = _FORMS.get(kind)
        if form is None:
            raise ValueError(f"no short form is called {kind}")
        yield from form(entry, made)


def labelled(content: Object, labels: Object) -> Object:
    """An object with more labels; those that it has win."""
    about = content.setdefault("metadata", {})
    about["labels"] = {**labels, **(about.get("labels") or {})}
    return content


def place(content: Object, namespace: str) -> None:
    """Give an object that lies in a namespace its own."""
    if content["kind"] not in _CLUSTER_WIDE and "namespace" not in metadata_of(content):
        content["metadata"]["namespace"] = namespace


# -- pods --------------------------------------------------------------------------------------


def _match(entry: Object, made: Made) -> Object:
    components = dict(entry.get("match") or made.selector)
    if "component" in entry:
        components[_COMPONENT] = entry["component"]
    return components


def _template(entry: Object, made: Made) -> Object:
    match = _match(entry, made)
    tree: Tree = made.value(str(entry.get("from") or "")) if "from" in entry else {}
    tree = tree if isinstance(tree, dict) else {}
    about: Object = {"labels": {**match, **(tree.get("podLabels") or {})}}
    if tree.get("podAnnotations"):
        about["annotations"] = tree["podAnnotations"]
    spec: Object = {"containers": _containers(entry, tree)}
    if "init" in entry:
        spec["initContainers"] = [_container(*item) for item in entry["init"].items()]
    if "account" in entry:
        spec["serviceAccountName"] = entry["account"]
    for name in ("nodeSelector", "tolerations", "affinity", "priorityClassName"):
        if tree.get(name):
            spec[name] = tree[name]
    if tree.get("topologySpreadConstraints"):
        spec["topologySpreadConstraints"] = tree["topologySpreadConstraints"]
    return {"metadata": about, "spec": merged(entry.get("pod") or {}, spec)}


def _containers(entry: Object, content: Object) -> list[Object]:
    containers = [_container(name, image) for name, image in entry["containers"].items()]
    first = containers[0]
    if "ports" in entry:
        first["ports"] = [_port(*item) for item in entry["ports"].items()]
        port = next(iter(entry["ports"]))
        first["readinessProbe"] = {"httpGet": {"path": "/healthz", "port": port}}
    if content.get("resources"):
        first["resources"] = content["resources"]
    for name in ("args", "env", "envFrom", "volumeMounts"):
        if entry.get(name):
            first[name] = entry[name]
    return containers


def _container(name: str, image: str) -> Object:
    return {"name": name, "image": image, "imagePullPolicy": "IfNotPresent"}


def _port(name: str, number: Tree) -> Object:
    kind = "UDP" if name.endswith("udp") or name == "dns" else "TCP"
    return {"name": name, "containerPort": int(number), "protocol": kind}


def _workload(entry: Object, made: Made) -> Iterator[Object]:
    kind = next(iter(entry))
    spec: Object = {
        "selector": {"matchLabels": _match(entry, made)},
        "template": _template(entry, made),
    }
    if kind != "DaemonSet":
        spec["replicas"] = entry.get("replicas", 1)
    if kind == "StatefulSet":
        spec["serviceName"] = entry.get("service", entry[kind])
        if entry.get("claims"):
            spec["volumeClaimTemplates"] = [_claim(claim) for claim in entry["claims"]]
    for name in ("strategy", "updateStrategy"):
        if name in entry:
            spec[name] = entry[name]
    yield _object("apps/v1", entry, made, {"spec": spec})


def _claim(content: Object) -> Object:
    spec: Object = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": content["size"]}},
    }
    if content.get("class"):
        spec["storageClassName"] = content["class"]
    return {"metadata": {"name": content["name"]}, "spec": spec}


def _cron_job(entry: Object, made: Made) -> Iterator[Object]:
    inner = _template(entry, made)
    inner["spec"].setdefault("restartPolicy", "Never")
    spec = {
        "schedule": entry["schedule"],
        "suspend": bool(entry.get("suspend")),
        "concurrencyPolicy": "Forbid",
        "jobTemplate": {"spec": {**(entry.get("job") or {}), "template": inner}},
    }
    yield _object("batch/v1", entry, made, {"spec": spec})


# -- others ------------------------------------------------------------------------------------


def _object(version: str, entry: Object, made: Made, content: Object) -> Object:
    kind = next(iter(entry))
    about: Object = {"name": str(entry[kind])}
    labels = {**made.labels, **(entry.get("labels") or {})}
    if "component" in entry:
        labels[_COMPONENT] = entry["component"]
    about["labels"] = labels
    if entry.get("annotations"):
        about["annotations"] = entry["annotations"]
    if "namespace" in entry:
        about["namespace"] = entry["namespace"]
    return {"apiVersion": version, "kind": kind, "metadata": about, **copied(content)}


def _service(entry: Object, made: Made) -> Iterator[Object]:
    ports = []
    for name, told in entry["ports"].items():
        port, _, target = str(told).partition(">")
        kind = "UDP" if name.endswith("udp") or name == "dns" else "TCP"
        inner: Tree = int(target) if target.isdigit() else target or name
        ports.append({"name": name, "port": int(port), "protocol": kind, "targetPort": inner})
    spec: Object = {"ports": ports, "selector": _match(entry, made)}
    for name in ("type", "clusterIP", "loadBalancerClass", "externalTrafficPolicy"):
        if entry.get(name):
            spec[name] = entry[name]
    yield _object("v1", entry, made, {"spec": spec})


def _budget(entry: Object, made: Made) -> Iterator[Object]:
    spec: Object = {"selector": {"matchLabels": _match(entry, made)}}
    for name in ("minAvailable", "maxUnavailable"):
        if name in entry:
            spec[name] = entry[name]
    yield _object("policy/v1", entry, made, {"spec": spec})


def _plain(version: str, *parts: str) -> Callable[[Object, Made], Iterator[Object]]:
    def form(entry: Object, made: Made) -> Iterator[Object]:
        yield _object(version, entry, made, {name: entry[name] for name in parts if name in entry})

    return form


def _raw(entry: Object, made: Made) -> Iterator[Object]:
    yield labelled(copied(entry["raw"]), made.labels)


def _account(entry: Object, made: Made) -> Iterator[Object]:
    """A service account; with `may` a role of the whole cluster, with `is` one that is there."""
    name, space = str(entry["account"]), made.scope.names["namespace"]
    if entry.get("create", True):
        yield _object("v1", {"ServiceAccount": name}, made, {})
    subjects = [{"kind": "ServiceAccount", "name": name, "namespace": space}]
    role = str(entry.get("role", name))
    if "may" in entry:
        rules = {"rules": [_rule(item) for item in entry["may"]]}
        yield _object(f"{_RBAC}/v1", {"ClusterRole": role}, made, rules)
    if "may" in entry or "is" in entry:
        reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": entry.get("is", role)}
        binding = {"roleRef": reference, "subjects": subjects}
        yield _object(f"{_RBAC}/v1", {"ClusterRoleBinding": role}, made, binding)


def _rule(text: str) -> Object:
    """`group resources verbs`, each with commas; `-` is the group of pods and the like."""
    group, resources, verbs = text.split()
    return {
        "apiGroups": ["" if item == "-" else item for item in group.split(",")],
        "resources": resources.split(","),
        "verbs": verbs.split(","),
    }


_FORMS: dict[str, Callable[[Object, Made], Iterator[Object]]] = {
    "Deployment": _workload,
    "DaemonSet": _workload,
    "StatefulSet": _workload,
    "CronJob": _cron_job,
    "Service": _service,
    "PodDisruptionBudget": _budget,
    "ConfigMap": _plain("v1", "data"),
    "Secret": _plain("v1", "data", "stringData", "type"),
    "CSIDriver": _plain("storage.k8s.io/v1", "spec"),
    "raw": _raw,
    "account": _account,
}
