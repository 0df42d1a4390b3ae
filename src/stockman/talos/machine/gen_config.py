"""The output of `talosctl gen config` for a machine up to contract 1.13, without secrets.

Every tool that generates machine configurations starts from it; differences are explicit settings.
"""

from __future__ import annotations

from stockman.model.record import record
from stockman.talos.documents import Document
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
"""Fields of the v1alpha1 document that come from the secrets bundle."""


@record
class GenConfigOptions:
    """Arguments of `talosctl gen config`."""

    contract: tuple[int, int]
    """The contract of the configuration, `(1, 13)`."""
    is_controller: bool
    cluster_name: str
    endpoint: str
    kubernetes: str
    """In the form of image tags, `v1.36.0`."""
    pod_networks: tuple[str, ...] = ("10.244.0.0/16",)
    service_networks: tuple[str, ...] = ("10.96.0.0/12",)
    dns_domain: str = "cluster.local"
    machine_names: tuple[str, ...] = ()
    api_names: tuple[str, ...] = ()
    schedule_on_controllers: bool = False
    installer: str = ""

    def contract_at_least(self, major: int, minor: int) -> bool:
        """Whether the contract is this line or a newer one."""
        return self.contract >= (major, minor)


def generate_config(options: GenConfigOptions) -> Document:
    """Return the v1alpha1 document of a machine, without values of the secrets bundle."""
    return {
        "version": "v1alpha1",
        "debug": False,
        "persist": True,
        "machine": _machine(options),
        "cluster": _controller(options) if options.is_controller else _cluster(options),
    }


def without_bundle_values(document: Document) -> Document:
    """Return a v1alpha1 document without values of the secrets bundle."""
    return _without_path(document, ())


def _without_path(mapping: Document, path: tuple[str, ...]) -> Document:
    kept: Document = {}
    for key, value in mapping.items():
        inner = (*path, key)
        if inner not in BUNDLE_PATHS:
            kept[key] = _without_path(value, inner) if isinstance(value, dict) else value
    return kept


def _machine(options: GenConfigOptions) -> Document:
    install: Document = {"image": options.installer, "wipe": False}
    features: Document = {}
    if options.contract_at_least(1, 12):
        install["grubUseUKICmdline"] = True
    else:
        features |= {"rbac": True, "stableHostname": True, "apidCheckExtKeyUsage": True}
    section: Document = {
        "type": "controlplane" if options.is_controller else "worker",
        "certSANs": list(options.machine_names),
        "kubelet": {
            "image": f"ghcr.io/siderolabs/kubelet:{options.kubernetes}",
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
    if options.is_controller:
        section["nodeLabels"] = {NO_LOAD_BALANCING: ""}
    return section


def _cluster(options: GenConfigOptions) -> Document:
    return {
        "controlPlane": {"endpoint": options.endpoint},
        "clusterName": options.cluster_name,
        "network": {
            "dnsDomain": options.dns_domain,
            "podSubnets": list(options.pod_networks),
            "serviceSubnets": list(options.service_networks),
        },
        "discovery": {
            "enabled": True,
            "registries": {"kubernetes": {"disabled": True}, "service": {}},
        },
    }


def _controller(options: GenConfigOptions) -> Document:
    image = "registry.k8s.io/{}:" + options.kubernetes
    api: Document = {"image": image.format("kube-apiserver")}
    names = list(options.api_names)
    if not options.contract_at_least(1, 12):
        # Up to 1.11 the host of the endpoint is added to the names of the API's certificate.
        host = options.endpoint.partition("://")[2].rpartition(":")[0] or options.endpoint
        names = list(dict.fromkeys((host, *names)))
        api["disablePodSecurityPolicy"] = True
    section = _cluster(options) | {
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
    if options.schedule_on_controllers:
        section["allowSchedulingOnControlPlanes"] = True
    return section
