"""What Talos itself puts into a cluster as soon as the API answers, from its configuration."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stockman_lab.kube.api.messages import User
from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.nodes import core_dns, talos_access
from stockman_lab.kube.nodes.core_dns import SYSTEM, account_of, bound, made, role
from stockman_lab.kube.objects import Object

if TYPE_CHECKING:
    from stockman_lab.kube.api.server import Api
    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.machine import Machine

_TALOS = User("kubernetes-admin", ("system:masters", "system:authenticated"))
_FLANNEL_IMAGES = {
    "1.11": "ghcr.io/siderolabs/flannel:v0.27.4",
    "1.12": "ghcr.io/siderolabs/flannel:v0.27.4",
    "1.13": "ghcr.io/siderolabs/flannel:v0.28.8",
    "1.14": "ghcr.io/siderolabs/flannel:v0.28.9",
}
"""By minor of Talos."""
_EVERYWHERE = [
    {"effect": "NoSchedule", "operator": "Exists"},
    {"effect": "NoExecute", "operator": "Exists"},
]


def apply_manifests(api: Api, machine: Machine) -> None:
    """Create what is missing of them; what is there is left alone."""
    config = machine.config
    if config is None:
        return
    client = Client(api, "talos", _TALOS)
    for content in manifests(machine, config):
        try:
            client.create(str(content["apiVersion"]), str(content["kind"]), content)
        except Refused:
            continue


def manifests(machine: Machine, config: Effective) -> list[Object]:
    """All of them, in the order of their names on a machine."""
    return [item for group in manifest_groups(machine, config).values() for item in group]


def manifest_groups(machine: Machine, config: Effective) -> dict[str, list[Object]]:
    """The same by their names on a machine."""
    kubernetes, objects = config.kubernetes, dict[str, list[Object]]()
    if config.bootstrap_token:
        objects["00-kubelet-bootstrapping-token"] = [_bootstrap_token(config.bootstrap_token)]
    if kubernetes.cni == "flannel":
        objects["05-flannel"] = list(_flannel(machine, config))
    if kubernetes.proxy.enabled:
        objects["10-kube-proxy"] = list(_proxy(config))
    if kubernetes.core_dns.enabled:
        objects["11-core-dns"] = list(core_dns.workload(config))
        objects["11-core-dns-svc"] = [core_dns.service(config)]
    objects["11-kube-config-in-cluster"] = [_kubeconfig_in_cluster(config)]
    if config.features.talos_api_access:
        objects["12-talos-api-service"] = [talos_access.service()]
        objects["13-talos-service-account-crd"] = [talos_access.definition()]
    for manifest in kubernetes.manifests:
        objects[f"99-{manifest.name}"] = list(_written(manifest.text))
    return objects


def _written(text: str) -> Iterator[Object]:
    if not text:
        return
    import yaml

    try:
        result = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError:
        return
    for item in result:
        if isinstance(item, dict) and item.get("kind") and item.get("apiVersion"):
            yield item


def _bootstrap_token(token: str) -> Object:
    identity, _, secret = token.partition(".")
    data = {
        "token-id": identity,
        "token-secret": secret,
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": "system:bootstrappers:nodes",
    }
    encoded = {name: base64.b64encode(one.encode()).decode() for name, one in data.items()}
    kind = "bootstrap.kubernetes.io/token"
    name = f"bootstrap-token-{identity}"
    return made("v1", "Secret", name, SYSTEM, type=kind, data=encoded)


def _daemon_set(name: str, labels: dict[str, str], spec: Object) -> Object:
    template = {"metadata": {"labels": labels}, "spec": spec}
    whole = {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        "template": template,
    }
    return made("apps/v1", "DaemonSet", name, SYSTEM, labels=labels, spec=whole)


def _flannel(machine: Machine, config: Effective) -> Iterator[Object]:
    rules = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch"]},
        {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]},
    ]
    yield role("flannel", rules)
    yield bound("flannel", "flannel", "flannel")
    yield account_of("flannel")
    network = {
        "Network": next(
            (pod_subnet for pod_subnet in config.kubernetes.pod_subnets if ":" not in pod_subnet),
            "",
        ),
        "Backend": {"Type": "vxlan", "Port": 4789},
    }
    plugins = [
        {"type": "flannel", "delegate": {"hairpinMode": True, "isDefaultGateway": True}},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ]
    cni = {"name": "cbr0", "cniVersion": "1.0.0", "plugins": plugins}
    labels = {"k8s-app": "flannel", "tier": "node"}
    data = {"cni-conf.json": json.dumps(cni, indent=2), "net-conf.json": json.dumps(network)}
    yield made("v1", "ConfigMap", "kube-flannel-cfg", SYSTEM, labels=labels, data=data)
    image = _FLANNEL_IMAGES[machine.minor]
    mounts = [
        {"name": "run", "mountPath": "/run/flannel"},
        {"name": "flannel-cfg", "mountPath": "/etc/kube-flannel/"},
    ]
    container = {
        "name": "kube-flannel",
        "image": image,
        "command": ["/opt/bin/flanneld"],
        "args": ["--ip-masq", "--kube-subnet-mgr"],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {
                "name": "POD_NAMESPACE",
                "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}},
            },
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "50Mi"}},
        "securityContext": {"privileged": False, "capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}},
        "volumeMounts": mounts,
    }
    install = {
        "name": "install-config",
        "image": image,
        "command": ["cp"],
        "args": ["-f", "/etc/kube-flannel/cni-conf.json", "/etc/cni/net.d/10-flannel.conflist"],
        "volumeMounts": [
            {"name": "cni", "mountPath": "/etc/cni/net.d"},
            {"name": "flannel-cfg", "mountPath": "/etc/kube-flannel/"},
        ],
    }
    spec = {
        "containers": [container],
        "initContainers": [install],
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "serviceAccountName": "flannel",
        "tolerations": _EVERYWHERE,
        "volumes": [
            {"name": "run", "hostPath": {"path": "/run/flannel"}},
            {"name": "cni", "hostPath": {"path": "/etc/cni/net.d"}},
            {"name": "flannel-cfg", "configMap": {"name": "kube-flannel-cfg"}},
        ],
    }
    yield _daemon_set("kube-flannel", labels, spec)


def _proxy(config: Effective) -> Iterator[Object]:
    yield account_of("kube-proxy")
    yield bound("kube-proxy", "system:node-proxier", "kube-proxy")
    subnets = ",".join(config.kubernetes.pod_subnets)
    container = {
        "name": "kube-proxy",
        "image": config.kubernetes.proxy.image,
        "command": [
            "/usr/local/bin/kube-proxy",
            f"--cluster-cidr={subnets}",
            "--conntrack-max-per-core=0",
            "--hostname-override=$(NODE_NAME)",
            "--kubeconfig=/etc/kubernetes/kubeconfig",
            f"--proxy-mode={config.kubernetes.proxy_mode or 'nftables'}",
        ],
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "kubeconfig", "mountPath": "/etc/kubernetes", "readOnly": True}],
    }
    spec = {
        "containers": [container],
        "hostNetwork": True,
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "kube-proxy",
        "tolerations": _EVERYWHERE,
        "volumes": [{"name": "kubeconfig", "configMap": {"name": "kubeconfig-in-cluster"}}],
    }
    yield _daemon_set("kube-proxy", {"k8s-app": "kube-proxy", "tier": "node"}, spec)


def _kubeconfig_in_cluster(config: Effective) -> Object:
    """How pods in the network of their machine find the API before there are services."""
    account = "/var/run/secrets/kubernetes.io/serviceaccount"
    cluster = {"server": config.endpoint, "certificate-authority": f"{account}/ca.crt"}
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": "service-account", "user": {"tokenFile": f"{account}/token"}}],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": "service-account"}}],
        "current-context": "local",
    }
    data = {"kubeconfig": json.dumps(kubeconfig)}
    return made("v1", "ConfigMap", "kubeconfig-in-cluster", SYSTEM, data=data)
