"""What `talosctl gen config` makes of a machine by itself, up to contract 1.13, without secrets.

Every tool that makes machine configurations starts from it: what their result says beyond this was
asked for by somebody.
"""

from __future__ import annotations

from stockman.model.record import record
from stockman.talos.machine.inputs import Document
from stockman.talos.machine.v1alpha1 import AUDIT_POLICY, NO_LOAD_BALANCING, POD_SECURITY

BUNDLE_PATHS: tuple[tuple[str, ...], ...] = (
    ("machine", "token"),
    ("machine", "ca"),
    ("cluster", "id"),
    ("cluster", "secret"),
    ("cluster", "token"),
    ("cluster", "secretboxEncryptionSecret"),
    ("cluster", "aescbcEncryptionSecret"),
    ("cluster", "ca"),
    ("cluster", "aggregatorCA"),
    ("cluster", "serviceAccount"),
    ("cluster", "etcd", "ca"),
)
"""Fields of the v1alpha1 document that the secrets bundle decides."""


@record
class GenConfigOptions:
    """What one says to `talosctl gen config`."""

    contract: tuple[int, int]
    """The style of the configuration, `(1, 13)`."""
    is_controller: bool
    cluster_name: str
    endpoint: str
    kubernetes: str
    """As image tags write it, `v1.36.0`."""
    pod_networks: tuple[str, ...] = ("10.244.0.0/16",)
    service_networks: tuple[str, ...] = ("10.96.0.0/12",)
    dns_domain: str = "cluster.local"
    machine_names: tuple[str, ...] = ()
    api_names: tuple[str, ...] = ()
    schedule_on_controllers: bool = False
    installer: str = ""

    def styled(self, major: int, minor: int) -> bool:
        """Whether the contract is this line or a newer one."""
        return self.contract >= (major, minor)


def generate_config(wishes: GenConfigOptions) -> Document:
    """The v1alpha1 document of a machine, without what comes out of the secrets bundle."""
    return {
        "version": "v1alpha1",
        "debug": False,
        "persist": True,
        "machine": _machine(wishes),
        "cluster": _controller(wishes) if wishes.is_controller else _cluster(wishes),
    }


def without_bundle_values(document: Document) -> Document:
    """A v1alpha1 document without what comes out of the secrets bundle."""
    return _without_path(document, ())


def _without_path(mapping: Document, path: tuple[str, ...]) -> Document:
    kept: Document = {}
    for key, value in mapping.items():
        inner = (*path, key)
        if inner not in BUNDLE_PATHS:
            kept[key] = _without_path(value, inner) if isinstance(value, dict) else value
    return kept


def _machine(wishes: GenConfigOptions) -> Document:
    install: Document = {"image": wishes.installer, "wipe": False}
    features: Document = {}
    if wishes.styled(1, 12):
        install["grubUseUKICmdline"] = True
    else:
        features |= {"rbac": True, "stableHostname": True, "apidCheckExtKeyUsage": True}
    section: Document = {
        "type": "controlplane" if wishes.is_controller else "worker",
        "certSANs": list(wishes.machine_names),
        "kubelet": {
            "image": f"ghcr.io/siderolabs/kubelet:{wishes.kubernetes}",
            "defaultRuntimeSeccompProfileEnabled": True,
            "disableManifestsDirectory": True,
        },
        "install": install,
        "features": features
        | {
            "diskQuotaSupport": True,
            "kubePrism": {"enabled": True, "port": 7445},
            "hostDNS": {"enabled": True, "forwardKubeDNSToHost": True},
        },
    }
    if wishes.is_controller:
        section["nodeLabels"] = {NO_LOAD_BALANCING: ""}
    return section


def _cluster(wishes: GenConfigOptions) -> Document:
    return {
        "controlPlane": {"endpoint": wishes.endpoint},
        "clusterName": wishes.cluster_name,
        "network": {
            "dnsDomain": wishes.dns_domain,
            "podSubnets": list(wishes.pod_networks),
            "serviceSubnets": list(wishes.service_networks),
        },
        "discovery": {
            "enabled": True,
            "registries": {"kubernetes": {"disabled": True}, "service": {}},
        },
    }


def _controller(wishes: GenConfigOptions) -> Document:
    image = "registry.k8s.io/{}:" + wishes.kubernetes
    api: Document = {"image": image.format("kube-apiserver")}
    names = list(wishes.api_names)
    if not wishes.styled(1, 12):
        # Up to 1.11 the host of the endpoint is added to the names of the API's certificate.
        host = wishes.endpoint.partition("://")[2].rpartition(":")[0] or wishes.endpoint
        names = list(dict.fromkeys((host, *names)))
        api["disablePodSecurityPolicy"] = True
    section = _cluster(wishes) | {
        "apiServer": api
        | {
            "certSANs": names,
            "admissionControl": [{"name": "PodSecurity", "configuration": POD_SECURITY}],
            "auditPolicy": AUDIT_POLICY,
        },
        "controllerManager": {"image": image.format("kube-controller-manager")},
        "proxy": {"image": image.format("kube-proxy")},
        "scheduler": {"image": image.format("kube-scheduler")},
    }
    if wishes.schedule_on_controllers:
        section["allowSchedulingOnControlPlanes"] = True
    return section
