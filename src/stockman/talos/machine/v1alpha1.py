"""The v1alpha1 document of contracts up to 1.13, as `talosctl gen config` creates it."""

from __future__ import annotations

from stockman.model.component import all_component_facts
from stockman.talos.documents import Document
from stockman.talos.machine.inputs import MachineInputs, encode_key, encode_pair, file_text
from stockman.talos.machine.network import host_dns_fields, network_section, registry_section
from stockman.talos.machine.storage import (
    RUNTIME,
    RUNTIME_FILE,
    install_disk_fields,
    is_default_runtime,
    kernel_modules,
    sysctls,
)

POD_SECURITY: Document = {
    "apiVersion": "pod-security.admission.config.k8s.io/v1alpha1",
    "defaults": {
        "audit": "restricted",
        "audit-version": "latest",
        "enforce": "baseline",
        "enforce-version": "latest",
        "warn": "restricted",
        "warn-version": "latest",
    },
    "exemptions": {"namespaces": ["kube-system"], "runtimeClasses": [], "usernames": []},
    "kind": "PodSecurityConfiguration",
}
AUDIT_POLICY: Document = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [{"level": "Metadata"}],
}
NO_LOAD_BALANCING = "node.kubernetes.io/exclude-from-external-load-balancers"


def v1alpha1_document(machine: MachineInputs) -> Document:
    """Return the v1alpha1 document."""
    return {
        "version": "v1alpha1",
        "debug": False,
        "persist": True,
        "machine": _machine(machine),
        "cluster": _cluster(machine),
    }


def _machine(machine: MachineInputs) -> Document:
    node = machine.node
    section: Document = {
        "type": "controlplane" if machine.is_controller else "worker",
        "token": machine.bundle.trustdinfo.token,
        "ca": encode_pair(machine.bundle.certs.os, with_key=machine.is_controller),
        "certSANs": api_names(machine),
        "kubelet": _kubelet(machine),
    }
    network = network_section(machine)
    if network is not None:
        section["network"] = network
    section["install"] = install_section(machine)
    if not machine.contract_at_least(1, 12):
        section["registries"] = registry_section(machine)
        section["time"] = {"servers": list(machine.cluster.network.ntp_servers)}
    section["features"] = _features(machine)
    section |= _kernel(machine)
    labels = {NO_LOAD_BALANCING: ""} if machine.is_controller else {}
    labels |= node.labels
    if labels:
        section["nodeLabels"] = labels
    if node.annotations:
        section["nodeAnnotations"] = dict(node.annotations)
    if node.taints:
        section["nodeTaints"] = dict(node.taints)
    return section


def api_names(machine: MachineInputs) -> list[str]:
    """Return additional names and addresses of the machine's Talos API."""
    return [str(machine.cluster.kubernetes.api_addr), *machine.cluster.kubernetes.api_tls_sans]


def _kernel(machine: MachineInputs) -> Document:
    settings = machine.settings
    modules = [{"name": name} for name in kernel_modules(machine)]
    section: Document = {
        "kernel": {"modules": modules} if modules else {},
        "sysctls": sysctls(machine),
        "sysfs": dict(settings.sysfs),
        "udev": {"rules": list(settings.udev_rules)} if settings.udev_rules else {},
        "env": {} if machine.contract_at_least(1, 13) else dict(settings.environment),
    }
    if is_default_runtime(machine):
        file = {"content": RUNTIME, "path": RUNTIME_FILE, "op": "create"}
        section["files"] = [file]
    return {name: content for name, content in section.items() if content}


def _kubelet(machine: MachineInputs) -> Document:
    settings = machine.settings.kubelet
    kubelet: Document = {
        "image": f"ghcr.io/siderolabs/kubelet:{machine.kubernetes}",
        "clusterDNS": [str(server) for server in machine.cluster_dns],
        "extraArgs": machine.kubelet_arguments,
        "extraMounts": [
            {
                "destination": mount.destination or mount.source,
                "type": "bind",
                "source": mount.source,
                "options": list(mount.options),
            }
            for mount in settings.extra_mounts
        ],
        "extraConfig": dict(settings.extra_config),
        "defaultRuntimeSeccompProfileEnabled": True,
        "nodeIP": {"validSubnets": machine.node_ip_subnets},
        "disableManifestsDirectory": True,
    }
    return {name: value for name, value in kubelet.items() if value}


def install_section(machine: MachineInputs) -> Document:
    """Return the `install` section.

    Kernel arguments are part of the image: `extraKernelArgs` and `grubUseUKICmdline` exclude each
    other.
    """
    section = install_disk_fields(machine) | {"image": machine.image.installer, "wipe": False}
    if machine.contract_at_least(1, 12):
        section["grubUseUKICmdline"] = True
    return section


def _features(machine: MachineInputs) -> Document:
    features: Document = {}
    if not machine.contract_at_least(1, 12):
        features |= {"rbac": True, "stableHostname": True, "apidCheckExtKeyUsage": True}
    access = talos_access(machine)
    if access is not None:
        features["kubernetesTalosAPIAccess"] = {"enabled": True, **access}
    prism = machine.cluster.talos.kube_prism
    return features | {
        "diskQuotaSupport": True,
        "kubePrism": {"enabled": prism.enabled, "port": prism.port},
        "hostDNS": host_dns_fields(machine),
    }


def talos_access(machine: MachineInputs) -> Document | None:
    """Return who may use the Talos API from Kubernetes; only controllers can allow it."""
    facts = [
        component
        for component in all_component_facts()
        if component.talos_role and machine.enabled(component.name)
    ]
    if not facts or not machine.is_controller:
        return None
    configured = machine.desired.components
    return {
        "allowedRoles": sorted({component.talos_role for component in facts}),
        "allowedKubernetesNamespaces": sorted(
            {configured[component.name].namespace or component.namespace for component in facts}
        ),
    }


def _cluster(machine: MachineInputs) -> Document:
    bundle, kubernetes = machine.bundle, machine.cluster.kubernetes
    section: Document = {
        "id": bundle.cluster.id,
        "secret": bundle.cluster.secret,
        "controlPlane": {"endpoint": machine.endpoint},
        "clusterName": machine.cluster.name,
        "network": {
            "cni": {"name": "none"},
            "dnsDomain": "cluster.local",
            "podSubnets": [str(kubernetes.pod_cidr)],
            "serviceSubnets": [str(kubernetes.svc_cidr)],
        },
        "token": bundle.secrets.bootstraptoken,
    }
    if not machine.is_controller:
        return section | {
            "ca": encode_pair(bundle.certs.k8s, with_key=False),
            **_discovery(machine),
        }
    if bundle.secrets.secretboxencryptionsecret is not None:
        section["secretboxEncryptionSecret"] = bundle.secrets.secretboxencryptionsecret
    if bundle.secrets.aescbcencryptionsecret is not None:
        section["aescbcEncryptionSecret"] = bundle.secrets.aescbcencryptionsecret
    return section | {
        "ca": encode_pair(bundle.certs.k8s, with_key=True),
        "aggregatorCA": encode_pair(bundle.certs.k8saggregator, with_key=True),
        "serviceAccount": {"key": encode_key(bundle.certs.k8sserviceaccount)},
        "apiServer": _api_server(machine),
        "controllerManager": _program(
            machine, "kube-controller-manager", kubernetes.extra_args.controller_manager
        ),
        "proxy": _proxy(machine),
        "scheduler": _program(machine, "kube-scheduler", kubernetes.extra_args.scheduler),
        **_discovery(machine),
        "etcd": etcd_section(machine),
        **({} if machine.has_core_dns else {"coreDNS": {"disabled": True}}),
        **_manifests(machine),
        "allowSchedulingOnControlPlanes": kubernetes.schedule_on_controllers,
    }


def _program(machine: MachineInputs, name: str, arguments: dict[str, str]) -> Document:
    image: Document = {"image": f"registry.k8s.io/{name}:{machine.kubernetes}"}
    return image | ({"extraArgs": dict(arguments)} if arguments else {})


def _proxy(machine: MachineInputs) -> Document:
    off = {} if machine.has_kube_proxy else {"disabled": True}
    return {**off, "image": f"registry.k8s.io/kube-proxy:{machine.kubernetes}"}


def etcd_section(machine: MachineInputs) -> Document:
    """Return the `etcd` section, which every contract has."""
    section: Document = {
        "ca": encode_pair(machine.bundle.certs.etcd, with_key=True),
        "advertisedSubnets": [str(machine.cluster.network.node_cidr)],
    }
    arguments = machine.cluster.kubernetes.extra_args.etcd
    return section | ({"extraArgs": dict(arguments)} if arguments else {})


def _manifests(machine: MachineInputs) -> Document:
    section: Document = {
        "extraManifests": list(machine.cluster.kubernetes.extra_manifests.values()),
        "inlineManifests": [
            {"name": name, "contents": contents} for name, contents in inline_manifests(machine)
        ],
    }
    return {name: content for name, content in section.items() if content}


def inline_manifests(machine: MachineInputs) -> list[tuple[str, str]]:
    """Return manifests by name, with the texts of their files."""
    return [
        (
            name,
            manifest.contents
            if manifest.file is None
            else file_text(machine, manifest.file, manifest.where("file")),
        )
        for name, manifest in machine.cluster.kubernetes.inline_manifests.items()
    ]


def _discovery(machine: MachineInputs) -> Document:
    section: Document = {
        "discovery": {
            "enabled": machine.cluster.talos.discovery,
            "registries": {"kubernetes": {"disabled": True}, "service": {}},
        }
    }
    if machine.enabled("proxmox-ccm", "talos-ccm"):
        section["externalCloudProvider"] = {"enabled": True}
    return section


def _api_server(machine: MachineInputs) -> Document:
    arguments = oidc_arguments(machine) | machine.cluster.kubernetes.extra_args.api_server
    section = _program(machine, "kube-apiserver", arguments)
    section["certSANs"] = api_names(machine)
    if not machine.contract_at_least(1, 12):
        section["disablePodSecurityPolicy"] = True
    return section | {
        "admissionControl": [{"name": "PodSecurity", "configuration": POD_SECURITY}],
        "auditPolicy": AUDIT_POLICY,
    }


def oidc_arguments(machine: MachineInputs) -> dict[str, str]:
    """Return arguments for logins with an identity provider; none without one."""
    oidc = machine.cluster.kubernetes.oidc
    if oidc is None:
        return {}
    return {
        "oidc-issuer-url": oidc.issuer_url,
        "oidc-client-id": oidc.client_id,
        "oidc-username-claim": oidc.username_claim,
        "oidc-username-prefix": oidc.username_prefix,
        "oidc-groups-claim": oidc.groups_claim,
        "oidc-groups-prefix": oidc.groups_prefix,
    }
