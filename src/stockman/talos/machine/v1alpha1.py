"""The v1alpha1 document of contracts up to 1.13, as `talosctl gen config` makes it."""

from __future__ import annotations

from stockman.talos.machine.facts import Document, Machine, encoded, encoded_key
from stockman.talos.machine.old_network import old_network

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


def v1alpha1(machine: Machine) -> Document:
    """The document that every machine has."""
    return {
        "version": "v1alpha1",
        "debug": False,
        "persist": True,
        "machine": _machine(machine),
        "cluster": _cluster(machine),
    }


def _machine(machine: Machine) -> Document:
    node = machine.node
    section: Document = {
        "type": "controlplane" if machine.is_controller else "worker",
        "token": machine.bundle.trustdinfo.token,
        "ca": encoded(machine.bundle.certs.os, with_key=machine.is_controller),
        "certSANs": api_names(machine),
        "kubelet": _kubelet(machine),
    }
    network = old_network(machine)
    if network is not None:
        section["network"] = network
    section["install"] = install(machine)
    if not machine.styled(1, 12):
        section["registries"] = _registries(machine)
        section["time"] = {"servers": list(machine.cluster.network.ntp_servers)}
    section["features"] = _features(machine)
    if node.kernel_modules:
        section["kernel"] = {"modules": [{"name": name} for name in node.kernel_modules]}
    labels = {NO_LOAD_BALANCING: ""} if machine.is_controller else {}
    labels |= node.labels
    if labels:
        section["nodeLabels"] = labels
    if node.annotations:
        section["nodeAnnotations"] = dict(node.annotations)
    if node.taints:
        section["nodeTaints"] = dict(node.taints)
    return section


def api_names(machine: Machine) -> list[str]:
    """Names and addresses under which the Talos API of a machine is reached too."""
    return [str(machine.cluster.kubernetes.api_addr), *machine.cluster.kubernetes.api_tls_sans]


def _kubelet(machine: Machine) -> Document:
    kubelet: Document = {
        "image": f"ghcr.io/siderolabs/kubelet:{machine.kubernetes}",
        "defaultRuntimeSeccompProfileEnabled": True,
        "nodeIP": {"validSubnets": [str(machine.cluster.network.node_cidr)]},
        "disableManifestsDirectory": True,
    }
    if machine.enabled("talos-ccm"):
        kubelet["extraArgs"] = {"rotate-server-certificates": "true"}
    return kubelet


def install(machine: Machine) -> Document:
    """Where and what Talos installs."""
    disk = machine.node.disk
    section: Document = (
        {"disk": disk} if disk.startswith("/") else {"diskSelector": {"serial": disk}}
    )
    section |= {"image": machine.image.installer, "wipe": False}
    if machine.styled(1, 12):
        section["grubUseUKICmdline"] = True
    return section


def _registries(machine: Machine) -> Document:
    mirrors: Document = {}
    config: Document = {}
    for host, mirror in machine.cluster.talos.registries.items():
        entry: Document = {"endpoints": list(mirror.endpoints)}
        if mirror.skip_fallback:
            entry["skipFallback"] = True
        mirrors[host] = entry
        if mirror.username is not None and mirror.password is not None:
            config[host] = {"auth": {"username": mirror.username, "password": mirror.password}}
    section: Document = {}
    if mirrors:
        section["mirrors"] = mirrors
    if config:
        section["config"] = config
    return section


def _features(machine: Machine) -> Document:
    features: Document = {}
    if not machine.styled(1, 12):
        features |= {"rbac": True, "stableHostname": True, "apidCheckExtKeyUsage": True}
    access = talos_access(machine)
    if access is not None:
        features["kubernetesTalosAPIAccess"] = {"enabled": True, **access}
    return features | {
        "diskQuotaSupport": True,
        "kubePrism": {"enabled": True, "port": 7445},
        "hostDNS": {"enabled": True, "forwardKubeDNSToHost": True},
    }


_ACCESS = {
    "tuppr": ("os:admin", "system-upgrade"),
    "talos-ccm": ("os:reader", "kube-system"),
    "talos-backup": ("os:etcd:backup", "talos-backup"),
}
"""Role and namespace that components need to reach the Talos API from inside."""


def talos_access(machine: Machine) -> Document | None:
    """Who may reach the Talos API from inside of Kubernetes; controllers alone can allow it."""
    wanted = [_ACCESS[name] for name in _ACCESS if machine.enabled(name)]
    if not wanted or not machine.is_controller:
        return None
    return {
        "allowedRoles": sorted({role for role, _ in wanted}),
        "allowedKubernetesNamespaces": sorted({namespace for _, namespace in wanted}),
    }


def _cluster(machine: Machine) -> Document:
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
        return section | {"ca": encoded(bundle.certs.k8s, with_key=False), **_shared(machine)}
    if bundle.secrets.secretboxencryptionsecret is not None:
        section["secretboxEncryptionSecret"] = bundle.secrets.secretboxencryptionsecret
    if bundle.secrets.aescbcencryptionsecret is not None:
        section["aescbcEncryptionSecret"] = bundle.secrets.aescbcencryptionsecret
    return section | {
        "ca": encoded(bundle.certs.k8s, with_key=True),
        "aggregatorCA": encoded(bundle.certs.k8saggregator, with_key=True),
        "serviceAccount": {"key": encoded_key(bundle.certs.k8sserviceaccount)},
        "apiServer": _api_server(machine),
        "controllerManager": {
            "image": f"registry.k8s.io/kube-controller-manager:{machine.kubernetes}"
        },
        "proxy": {"disabled": True, "image": f"registry.k8s.io/kube-proxy:{machine.kubernetes}"},
        "scheduler": {"image": f"registry.k8s.io/kube-scheduler:{machine.kubernetes}"},
        **_shared(machine),
        "etcd": {
            "ca": encoded(bundle.certs.etcd, with_key=True),
            "advertisedSubnets": [str(machine.cluster.network.node_cidr)],
        },
        "coreDNS": {"disabled": True},
        "allowSchedulingOnControlPlanes": kubernetes.schedule_on_controllers,
    }


def _shared(machine: Machine) -> Document:
    section: Document = {
        "discovery": {
            "enabled": True,
            "registries": {"kubernetes": {"disabled": True}, "service": {}},
        }
    }
    if machine.enabled("proxmox-ccm", "talos-ccm"):
        section["externalCloudProvider"] = {"enabled": True}
    return section


def _api_server(machine: Machine) -> Document:
    section: Document = {"image": f"registry.k8s.io/kube-apiserver:{machine.kubernetes}"}
    arguments = oidc_arguments(machine)
    if arguments:
        section["extraArgs"] = arguments
    section["certSANs"] = api_names(machine)
    if not machine.styled(1, 12):
        section["disablePodSecurityPolicy"] = True
    return section | {
        "admissionControl": [{"name": "PodSecurity", "configuration": POD_SECURITY}],
        "auditPolicy": AUDIT_POLICY,
    }


def oidc_arguments(machine: Machine) -> Document:
    """Arguments that let the API take logins of an identity provider; none without one."""
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
