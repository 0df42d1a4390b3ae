"""What the flux-operator makes of a FluxInstance: Flux's controllers, and what they sync."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_RBAC = "rbac.authorization.k8s.io"
_VERSION = re.compile(r"v?(\d+|x|\*)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?")
_EDITED = (
    "notification.toolkit.fluxcd.io",
    "source.toolkit.fluxcd.io",
    "source.extensions.fluxcd.io",
    "helm.toolkit.fluxcd.io",
    "image.toolkit.fluxcd.io",
    "kustomize.toolkit.fluxcd.io",
)
_USUAL = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")


class NotBuilt(Exception):
    """Why nothing can be made of a FluxInstance."""


@cache
def _images() -> dict[str, dict[str, list[str]]]:
    text = files(__package__).joinpath("instance_images.json").read_text("utf-8")
    images: dict[str, dict[str, list[str]]] = json.loads(text)
    return images


def matched(desired: str) -> str:
    """The newest version of Flux that fits `2.x`; raises `NotBuilt`."""
    match = _VERSION.fullmatch(desired.strip().removeprefix("="))
    if match is None:
        raise NotBuilt(f"semver '{desired}' parse error: improper constraint: {desired}")
    groups = [group for group in match.groups() if group not in (None, "x", "*")]
    fitting = [image for image in _images() if image[1:].split(".")[: len(groups)] == groups]
    if not fitting:
        raise NotBuilt(f"no match found for semver: {desired}")
    return max(fitting, key=lambda item: tuple(int(part) for part in item[1:].split(".")))


@dataclass(frozen=True, slots=True)
class Instance:
    """A FluxInstance, read."""

    content: Object
    version: str

    @property
    def namespace(self) -> str:
        return str(metadata_of(self.content)["namespace"])

    @property
    def components(self) -> list[str]:
        return [
            str(component)
            for component in part_of(self.content, "spec").get("components") or _USUAL
        ]

    @property
    def registry(self) -> str:
        registry = part_of(self.content, "spec", "distribution").get("registry")
        return str(registry or "ghcr.io/fluxcd")

    @property
    def images(self) -> list[Object]:
        """As its status lists them."""
        known = _images()[self.version]
        return [
            {
                "digest": f"sha256:{known[component][1]}",
                "name": component,
                "repository": f"{self.registry}/{component}",
                "tag": known[component][0],
            }
            for component in self.components
            if component in known
        ]


def objects(instance: Instance) -> list[Object]:
    """Everything, in the order in which it is applied."""
    result = [
        *definitions("flux", *instance.components),
        _namespace(instance),
        *_roles(instance),
        *(item for image in instance.images for item in _component(instance, image)),
        *_sync(instance),
    ]
    for item in result:
        _mark(instance, item)
    return result


def _mark(instance: Instance, content: Object) -> None:
    about = content["metadata"]
    owner = metadata_of(instance.content)
    about["labels"] = {
        **(about.get("labels") or {}),
        "app.kubernetes.io/instance": instance.namespace,
        "app.kubernetes.io/managed-by": "flux-operator",
        "app.kubernetes.io/part-of": "flux",
        "app.kubernetes.io/version": instance.version,
        "fluxcd.controlplane.io/name": owner["name"],
        "fluxcd.controlplane.io/namespace": owner["namespace"],
    }
    about["annotations"] = {
        **(about.get("annotations") or {}),
        "kustomize.toolkit.fluxcd.io/prune": "Disabled",
        "kustomize.toolkit.fluxcd.io/ssa": "Ignore",
    }


def _namespace(instance: Instance) -> Object:
    about = {
        "name": instance.namespace,
        "labels": {
            "pod-security.kubernetes.io/warn": "restricted",
            "pod-security.kubernetes.io/warn-version": "latest",
        },
        "annotations": {"fluxcd.controlplane.io/prune": "disabled"},
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": about}


def _roles(instance: Instance) -> Iterator[Object]:
    space = instance.namespace
    scopes = [{"operator": "In", "scopeName": "PriorityClass", "values": _critical()}]
    yield {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": f"critical-pods-{space}", "namespace": space},
        "spec": {"hard": {"pods": "1000"}, "scopeSelector": {"matchExpressions": scopes}},
    }
    rules = [{"apiGroups": [item], "resources": ["*"], "verbs": ["*"]} for item in _EDITED]
    rules += [
        _rule("", "namespaces,secrets,configmaps,serviceaccounts", "get,list,watch"),
        _rule("", "events", "create,patch"),
        _rule("", "configmaps,configmaps/status", "get,list,watch,create,update,patch,delete"),
        _rule("coordination.k8s.io", "leases", "get,list,watch,create,update,patch,delete"),
        _rule("", "serviceaccounts/token", "create"),
    ]
    yield _role(f"crd-controller-{space}", rules)
    edit = {"apiGroups": [*_EDITED], "resources": ["*"]}
    change = ["create", "delete", "deletecollection", "patch", "update"]
    yield _role(f"flux-edit-{space}", [{**edit, "verbs": change}], "admin", "edit")
    look = ["get", "list", "watch"]
    yield _role(f"flux-view-{space}", [{**edit, "verbs": look}], "admin", "edit", "view")
    yield _binding(f"cluster-reconciler-{space}", "cluster-admin", space, _USUAL[1:3])
    yield _binding(f"crd-controller-{space}", f"crd-controller-{space}", space, _USUAL)


def _critical() -> list[str]:
    return ["system-node-critical", "system-cluster-critical"]


def _rule(group: str, resources: str, verbs: str) -> Object:
    return {
        "apiGroups": [group],
        "resources": resources.split(","),
        "verbs": verbs.split(","),
    }


def _role(name: str, rules: list[Object], *aggregated: str) -> Object:
    labels = {f"{_RBAC}/aggregate-to-{item}": "true" for item in aggregated}
    about: Object = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": about, "rules": rules}


def _binding(name: str, role: str, space: str, accounts: tuple[str, ...]) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [
            {"kind": "ServiceAccount", "name": account, "namespace": space} for account in accounts
        ],
    }


def _component(instance: Instance, image: Object) -> Iterator[Object]:
    name, space = str(image["name"]), instance.namespace
    labels = {"app.kubernetes.io/component": name}
    about: Object = {"name": name, "namespace": space, "labels": dict(labels)}
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about}
    told = {**labels, "control-plane": "controller"}
    ports = {"source-controller": [(name, "http")], "notification-controller": [(name, "http")]}
    served = ports.get(name, [])
    if name == "notification-controller":
        served = [*served, ("webhook-receiver", "http-webhook")]
    for service, target in served:
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": service, "namespace": space, "labels": dict(told)},
            "spec": {
                "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": target}],
                "selector": {"app": name},
                "type": "ClusterIP",
            },
        }
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": space, "labels": dict(told)},
        "spec": _deployment(instance, image, labels),
    }


def _deployment(instance: Instance, image: Object, labels: Object) -> Object:
    name = str(image["name"])
    inner = {"app": name, **labels, "app.kubernetes.io/part-of": "flux"}
    scraped = {"prometheus.io/port": "8080", "prometheus.io/scrape": "true"}
    is_source = name == "source-controller"
    volumes = [
        {"emptyDir": {}, "name": item} for item in (["data", "tmp"] if is_source else ["temp"])
    ]
    deployment: Object = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"annotations": scraped, "labels": inner},
            "spec": {
                "containers": [_container(instance, image)],
                "nodeSelector": {"kubernetes.io/os": "linux"},
                "securityContext": {"fsGroup": 1337},
                "serviceAccountName": name,
                "terminationGracePeriodSeconds": {
                    "helm-controller": 600,
                    "kustomize-controller": 60,
                }.get(name, 10),
                "volumes": volumes,
            },
        },
    }
    if name != "notification-controller":
        deployment["template"]["spec"]["priorityClassName"] = "system-cluster-critical"
    if is_source:
        deployment["strategy"] = {"type": "Recreate"}
    return deployment


def _container(instance: Instance, image: Object) -> Object:
    name, space = str(image["name"]), instance.namespace
    domain = part_of(instance.content, "spec", "cluster").get("domain") or "cluster.local"
    args = ["--watch-all-namespaces=true", "--log-level=info", "--log-encoding=json"]
    args.append("--enable-leader-election")
    if name != "notification-controller":
        args.insert(0, f"--events-addr=http://notification-controller.{space}.svc.{domain}./")
    ports = [("http-prom", 8080), ("healthz", 9440)]
    probe: Object = {"httpGet": {"path": "/readyz", "port": "healthz"}}
    mounts = [{"mountPath": "/tmp", "name": "temp"}]
    if name == "source-controller":
        address = f"source-controller.$(RUNTIME_NAMESPACE).svc.{domain}."
        args += ["--storage-path=/data", f"--storage-adv-addr={address}"]
        probe = {"httpGet": {"path": "/", "port": "http"}}
        mounts = [{"mountPath": "/data", "name": "data"}, {"mountPath": "/tmp", "name": "tmp"}]
        ports.insert(0, ("http", 9090))
    if name == "notification-controller":
        ports = [("http", 9090), ("http-webhook", 9292), *ports]
    own = {"fieldRef": {"fieldPath": "metadata.namespace"}}
    return {
        "args": args,
        "env": [{"name": "RUNTIME_NAMESPACE", "valueFrom": own}],
        "image": f"{image['repository']}:{image['tag']}@{image['digest']}",
        "imagePullPolicy": "IfNotPresent",
        "name": "manager",
        "ports": [
            {"containerPort": number, "name": port, "protocol": "TCP"} for port, number in ports
        ],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "healthz"}},
        "readinessProbe": probe,
        "resources": {
            "limits": {"cpu": "1000m", "memory": "1Gi"},
            "requests": {"cpu": "100m", "memory": "64Mi"},
        },
        "volumeMounts": mounts,
    }


def _sync(instance: Instance) -> Iterator[Object]:
    sync = part_of(instance.content, "spec", "sync")
    if not sync.get("url"):
        return
    name, kind = str(sync.get("name") or instance.namespace), str(sync.get("kind"))
    about = {"name": name, "namespace": instance.namespace}
    spec: Object = {"interval": sync.get("interval") or "1m0s", "url": sync["url"]}
    reference = {"GitRepository": "name", "OCIRepository": "tag"}.get(kind)
    if reference is not None:
        spec["ref"] = {reference: sync.get("ref")}
    else:
        spec |= {"bucketName": sync.get("ref"), "endpoint": spec.pop("url")}
    if sync.get("pullSecret"):
        spec["secretRef"] = {"name": sync["pullSecret"]}
    if sync.get("provider"):
        spec["provider"] = sync["provider"]
    source = "source.toolkit.fluxcd.io/v1"
    yield {"apiVersion": source, "kind": kind, "metadata": dict(about), "spec": spec}
    yield {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": dict(about),
        "spec": {
            "interval": "10m0s",
            "path": sync.get("path"),
            "prune": True,
            "sourceRef": {"kind": kind, "name": name},
        },
    }


def ids(contents: list[Object]) -> list[Object]:
    """Objects as an inventory lists them."""
    result = []
    for item in contents:
        about = metadata_of(item)
        group, _, version = str(item["apiVersion"]).rpartition("/")
        name = str(about["name"]).replace(":", "__")
        key = f"{about.get('namespace', '')}_{name}_{group}_{item['kind']}"
        result.append({"id": key, "v": version})
    return result


def patches_of(content: Object) -> list[Object]:
    """Patches that a FluxInstance asks for."""
    return entries_of(content, "spec", "kustomize", "patches")
