"""Which key sets which value of a machine configuration before any patch.

`source.field` names a field of a record that knows its origins; `a|b` the first of the two that was
written. Any other text names a default. A path holds for everything below it that has no line of
its own, `[0]` is the first item of a list and `[]` any other.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from stockman.crypto.pem import CertificateAndKey
from stockman.model.desired import Desired, Node
from stockman.model.origin import Origin, Position, Traced
from stockman.model.secret import Secret
from stockman.talos.documents import Document
from stockman.talos.machine.network import ALIAS, mirror_hosts
from stockman.talos.patches.schema import Branch, Items, Leaf, Tree
from stockman.talos.secrets.bundle import SecretsBundle

BY_TALOS = "as Talos has it"
"""Also written by `talosctl gen config` of the contract."""
_CILIUM = "stockman, Cilium does it"
_COREDNS = "stockman, CoreDNS comes as a component"
_ENCRYPTED = "node.encrypt_disk"
_DISK = "node.disk_selector|node.disk"
_MODULES = "node.kernel_modules|node.talos.nvidia"
_SYSCTLS = "node.talos.sysctls|node.talos.nvidia"
_NODE_IP = "node.talos.kubelet.node_ip_subnets|network.node_cidr"
_CLUSTER_DNS = "node.talos.kubelet.cluster_dns|kubernetes.coredns_addr"
_KUBELET_ARGUMENTS = "node.talos.kubelet.extra_args|component talos-ccm.enabled"
_ACCESS = "component tuppr.enabled|component talos-ccm.enabled|component talos-backup.enabled"
_SEARCH_DOMAINS = "stockman, names are looked up as written"
_ENDPOINT_NAMES = {"[0]": "kubernetes.api_addr", "": "kubernetes.api_tls_sans"}


def _endpoint_rules(path: str) -> dict[str, str]:
    return {f"{path}{place}": rule for place, rule in _ENDPOINT_NAMES.items()}


def _host_dns_rules(path: str) -> dict[str, str]:
    return {
        f"{path}.enabled": "talos.host_dns.enabled",
        f"{path}.forwardKubeDNSToHost": "talos.host_dns.forward_kube_dns",
        f"{path}.resolveMemberNames": "talos.host_dns.resolve_member_names",
    }


def _link_rules(path: str) -> dict[str, str]:
    """Return rules for the link with the node's address, or its VLAN, in the v1alpha1 document."""
    return {
        path: "network.addressing",
        f"{path}.deviceSelector": "node.mac_addr",
        f"{path}.interface": "node.bond",
        f"{path}.bond": "node.bond",
        f"{path}.mtu": "node.mtu",
        f"{path}.addresses": "node.address",
        f"{path}.routes": "node.routes",
        f"{path}.routes[0]": "network.default_gateway",
        f"{path}.routes[0].network": BY_TALOS,
        f"{path}.vip": "kubernetes.api_addr",
        f"{path}.vlanId": "network.vlan_tag",
    }


_V1ALPHA1_RULES: dict[str, str] = {
    "": BY_TALOS,
    "machine.type": "node.role",
    **_endpoint_rules("machine.certSANs"),
    "machine.kubelet.image": "kubernetes.version",
    "machine.kubelet.clusterDNS": _CLUSTER_DNS,
    "machine.kubelet.extraArgs": _KUBELET_ARGUMENTS,
    "machine.kubelet.extraConfig": "node.talos.kubelet.extra_config",
    "machine.kubelet.extraMounts": "node.talos.kubelet.extra_mounts",
    "machine.kubelet.nodeIP": _NODE_IP,
    "machine.network.hostname": "node.name",
    "machine.network.interfaces": "node.links",
    **_link_rules("machine.network.interfaces[0]"),
    "machine.network.interfaces[0].vlans": "node.vlans",
    "machine.network.interfaces[0].vlans[].dhcp": "node.vlans",
    "machine.network.nameservers": "network.dns_servers",
    "machine.network.disableSearchDomain": _SEARCH_DOMAINS,
    "machine.network.extraHostEntries": "node.talos.host_entries",
    "machine.network.kubespan": "talos.kubespan",
    "machine.install.disk": _DISK,
    "machine.install.diskSelector": _DISK,
    "machine.install.image": "talos.version",
    "machine.registries": "talos.registries",
    "machine.time": "network.ntp_servers",
    "machine.time.servers": "network.ntp_servers",
    "machine.kernel.modules": _MODULES,
    "machine.sysctls": _SYSCTLS,
    "machine.sysfs": "node.talos.sysfs",
    "machine.udev.rules": "node.talos.udev_rules",
    "machine.env": "node.talos.environment",
    "machine.files": "node.talos.nvidia",
    "machine.features.kubePrism.enabled": "talos.kube_prism.enabled",
    "machine.features.kubePrism.port": "talos.kube_prism.port",
    **_host_dns_rules("machine.features.hostDNS"),
    "machine.features.kubernetesTalosAPIAccess": _ACCESS,
    "machine.nodeLabels": "node.labels",
    "machine.nodeLabels.node.kubernetes.io/exclude-from-external-load-balancers": BY_TALOS,
    "machine.nodeAnnotations": "node.annotations",
    "machine.nodeTaints": "node.taints",
    "cluster.controlPlane.endpoint": "kubernetes.api_endpoint",
    "cluster.clusterName": "cluster.name",
    "cluster.network.cni": _CILIUM,
    "cluster.network.podSubnets": "kubernetes.pod_cidr",
    "cluster.network.serviceSubnets": "kubernetes.svc_cidr",
    "cluster.apiServer.image": "kubernetes.version",
    "cluster.apiServer.extraArgs": "kubernetes.extra_args.api_server|kubernetes.oidc",
    **_endpoint_rules("cluster.apiServer.certSANs"),
    "cluster.controllerManager.image": "kubernetes.version",
    "cluster.controllerManager.extraArgs": "kubernetes.extra_args.controller_manager",
    "cluster.proxy.image": "kubernetes.version",
    "cluster.proxy.disabled": _CILIUM,
    "cluster.scheduler.image": "kubernetes.version",
    "cluster.scheduler.extraArgs": "kubernetes.extra_args.scheduler",
    "cluster.discovery.enabled": "talos.discovery",
    "cluster.etcd.advertisedSubnets": "network.node_cidr",
    "cluster.etcd.extraArgs": "kubernetes.extra_args.etcd",
    "cluster.extraManifests": "kubernetes.extra_manifests",
    "cluster.inlineManifests": "kubernetes.inline_manifests",
    "cluster.coreDNS.disabled": _COREDNS,
    "cluster.externalCloudProvider": "component proxmox-ccm.enabled|component talos-ccm.enabled",
    "cluster.allowSchedulingOnControlPlanes": "kubernetes.schedule_on_controllers",
}

_LINK_RULES = {
    "name": "stockman, the link with the node's address",
    "up": "stockman, the link with the node's address",
    "mtu": "node.mtu",
    "addresses": "node.address",
    "routes": "node.routes",
    "routes[0]": "network.default_gateway",
}
TAGGED_LINK_RULES = _link_rules("machine.network.interfaces[0].vlans[0]")
"""Additional rules of the v1alpha1 document if the node's address is on a VLAN."""
VLAN_KIND = "VLANConfig"
OTHER_VLAN_RULES = {"": "node.vlans"}
OTHER_CARD_RULES = {"": "node.bond"}

_IMAGE = {"image": "kubernetes.version"}

OTHER_LINK_FIELDS = ("name", "mtu", "addresses", "routes", "dhcp", "vlans", "mac_addr")
"""Fields of further links; most have the same name in the document."""

ORIGIN_RULES: Mapping[str, Mapping[str, str]] = {
    "": _V1ALPHA1_RULES,
    "HostnameConfig": {"hostname": "node.name"},
    "LinkAliasConfig": {"": "node.mac_addr"},
    "LinkConfig": {"": "node.links", **_LINK_RULES},
    VLAN_KIND: {"": "network.vlan_tag", **_LINK_RULES},
    "DHCPv4Config": {"": "network.addressing"},
    "Layer2VIPConfig": {"": "kubernetes.api_addr"},
    "ResolverConfig": {
        "nameservers": "network.dns_servers",
        "searchDomains": _SEARCH_DOMAINS,
        **_host_dns_rules("hostDNS"),
    },
    "TimeSyncConfig": {"ntp.servers": "network.ntp_servers"},
    "UnattendedInstallConfig": {
        "installer.image": "talos.version",
        "provisioning.diskSelector": _DISK,
    },
    "VolumeConfig": {
        "": "node.talos.ephemeral|node.encrypt_disk",
        "encryption": _ENCRYPTED,
        "mount": BY_TALOS,
    },
    "UserVolumeConfig": {"": "node.talos.volumes"},
    "RawVolumeConfig": {"": "node.talos.volumes"},
    "SwapVolumeConfig": {"": "node.talos.volumes"},
    "KernelModuleConfig": {"": _MODULES},
    "SysctlConfig": {"params": _SYSCTLS},
    "SysfsConfig": {"params": "node.talos.sysfs"},
    "UdevRulesConfig": {"rules": "node.talos.udev_rules"},
    "EnvironmentConfig": {"variables": "node.talos.environment"},
    "CRICustomizationConfig": {"": "node.talos.nvidia"},
    "WatchdogTimerConfig": {"": "node.talos.watchdog"},
    "KmsgLogConfig": {"": "node.talos.kernel_logs"},
    "TrustedRootsConfig": {"": "node.talos.trusted_roots"},
    "StaticHostConfig": {"": "node.talos.host_entries"},
    "KubeSpanConfig": {"": "talos.kubespan"},
    "NetworkDefaultActionConfig": {"": "talos.firewall.enabled"},
    "NetworkRuleConfig": {"": "talos.firewall.rules|talos.firewall.enabled"},
    "BondConfig": {**_LINK_RULES, "": "node.bond", "name": "node.bond", "up": "node.bond"},
    "DiscoveryServiceConfig": {"": "talos.discovery", "endpoint": BY_TALOS},
    "KubePrismConfig": {"port": "talos.kube_prism.port"},
    "KubeExternalManifestConfig": {"": "kubernetes.extra_manifests"},
    "KubeInlineManifestConfig": {"": "kubernetes.inline_manifests"},
    "RegistryMirrorConfig": {"": "talos.registries"},
    "RegistryAuthConfig": {"": "talos.registries"},
    "RegistryTLSConfig": {"": "talos.registries"},
    "KubeClusterConfig": {"clusterName": "cluster.name", "endpoint": "kubernetes.api_endpoint"},
    "KubeNodeConfig": {
        "nodeIP": _NODE_IP,
        "labels": "node.labels",
        "labels.node-role.kubernetes.io/control-plane": BY_TALOS,
        "labels.node.kubernetes.io/exclude-from-external-load-balancers": BY_TALOS,
        "annotations": "node.annotations",
        "taints": "node.taints",
        "taints.node-role.kubernetes.io/control-plane": "kubernetes.schedule_on_controllers",
    },
    "KubeletConfig": {
        **_IMAGE,
        "config": "node.talos.kubelet.extra_config",
        "extraArgs": _KUBELET_ARGUMENTS,
        "clusterDNS": _CLUSTER_DNS,
    },
    "KubeNetworkConfig": {
        "podSubnets": "kubernetes.pod_cidr",
        "serviceSubnets": "kubernetes.svc_cidr",
    },
    "KubeAuthenticationConfig": {"configuration.jwt": "kubernetes.oidc"},
    "KubeServiceAccountConfig": {"issuer.issuerURL": "kubernetes.api_endpoint"},
    "KubeTalosAPIAccessConfig": {"": _ACCESS},
    "KubeAPIServerConfig": {
        **_IMAGE,
        "extraArgs": "kubernetes.extra_args.api_server",
        **_endpoint_rules("certExtraSANs"),
    },
    "KubeControllerManagerConfig": {
        **_IMAGE,
        "extraArgs": "kubernetes.extra_args.controller_manager",
    },
    "KubeSchedulerConfig": {**_IMAGE, "extraArgs": "kubernetes.extra_args.scheduler"},
    "KubeProxyConfig": {**_IMAGE, "enabled": _CILIUM},
    "KubeCoreDNSConfig": {"enabled": _COREDNS},
}


_NOWHERE = Position("", 0, 0)
BUNDLE = "secrets bundle"
DEFAULT = "default"
_TAGGED_RULES = {**ORIGIN_RULES[""], **TAGGED_LINK_RULES}
_LINK_KINDS = ("LinkConfig", "VLANConfig", "DHCPv4Config", "LinkAliasConfig")


class OriginSources:
    """Sources of values for all configurations of one cluster, by name."""

    def __init__(self, desired: Desired, bundle: SecretsBundle) -> None:
        if desired.cluster is None:
            raise ValueError("nodes without a cluster")
        self._cluster = desired.cluster
        self._components = desired.components
        self._mirrors = {
            host: mirror
            for registry, mirror in desired.cluster.talos.registries.items()
            for host in (registry, *mirror_hosts(registry, mirror))
        }
        self._bundle = {
            text: Origin(_NOWHERE, BUNDLE, name)
            for text, name in bundle_value_names(bundle).items()
        }

    def of(self, node: Node) -> NodeOrigins:
        """Return the sources of one node's configuration."""
        cluster = self._cluster
        traced: dict[str, Traced] = {
            "node": node,
            "schematic": node.schematic,
            "cluster": cluster,
            "network": cluster.network,
            "kubernetes": cluster.kubernetes,
            "kubernetes.extra_args": cluster.kubernetes.extra_args,
            "talos": cluster.talos,
            "talos.kube_prism": cluster.talos.kube_prism,
            "talos.host_dns": cluster.talos.host_dns,
            "talos.firewall": cluster.talos.firewall,
            "node.talos": node.settings,
            "node.talos.kubelet": node.settings.kubelet,
            **{f"link {link.name}": link for link in node.links},
            **{f"mirror {host}": mirror for host, mirror in self._mirrors.items()},
            **{f"component {name}": component for name, component in self._components.items()},
        }
        tag = cluster.network.vlan_tag
        contract = cluster.talos.contract.minor_text
        return NodeOrigins(traced, self._bundle, contract, "" if tag is None else str(tag))


class NodeOrigins:
    """Determines the origin of every value in one node's configuration."""

    def __init__(
        self, traced: Mapping[str, Traced], bundle: Mapping[str, Origin], contract: str, tag: str
    ) -> None:
        self._traced = traced
        self._bundle = bundle
        self._contract = contract
        self._tag = tag
        """The VLAN with the node's address. Empty: the address is on the link itself."""
        self._known: dict[str, Origin] = {}

    def tree(self, document: Document) -> Branch:
        """Return a document with an origin for every value."""
        kind = str(document.get("kind", ""))
        rules = self._rules(kind, str(document.get("name", "")))
        start = self._origin(rules.get("", BY_TALOS))
        entries = {
            key: self._traced_tree(value, key, start, rules) for key, value in document.items()
        }
        return Branch(start, entries)

    def _rules(self, kind: str, name: str) -> Mapping[str, str]:
        """Return the rules for a document; for links and mirrors they depend on its name."""
        if kind.startswith("Registry") and f"mirror {name}" in self._traced:
            source = f"mirror {name}"
            fields = ("endpoints", "username", "password")
            return {"": f"{source}.", **{field: f"{source}.{field}" for field in fields}}
        base, _, tag = name.partition(".")
        source = f"link {base}"
        if kind in _LINK_KINDS and source in self._traced:
            return {"": f"{source}.", **{field: f"{source}.{field}" for field in OTHER_LINK_FIELDS}}
        if kind == VLAN_KIND and tag != self._tag:
            return OTHER_VLAN_RULES
        if kind == "LinkAliasConfig" and name != ALIAS:
            return OTHER_CARD_RULES
        return _TAGGED_RULES if not kind and self._tag else ORIGIN_RULES.get(kind, {})

    def _traced_tree(
        self, value: object, path: str, origin: Origin, rules: Mapping[str, str]
    ) -> Tree:
        rule = rules.get(path)
        if rule is not None:
            origin = self._origin(rule)
        if isinstance(value, dict):
            entries = {
                key: self._traced_tree(item, f"{path}.{key}", origin, rules)
                for key, item in value.items()
            }
            return Branch(origin, entries)
        if isinstance(value, list | tuple):
            return Items(origin, self._items(value, path, origin, rules))
        text = value.reveal() if isinstance(value, Secret) else value
        if isinstance(text, str) and text in self._bundle:
            origin = self._bundle[text]
        return Leaf(value, origin)

    def _items(
        self, values: Iterable[object], path: str, origin: Origin, rules: Mapping[str, str]
    ) -> list[Tree]:
        first = f"{path}[0]" in rules
        source, _, field = rules.get(path, "").rpartition(".")
        traced = self._traced.get(source)
        written = {} if traced is None else traced.origins
        items = []
        for index, item in enumerate(values):
            if first and index == 0:
                items.append(self._traced_tree(item, f"{path}[0]", origin, rules))
            else:
                own = written.get(f"{field}[{index - first}]")
                item_origin = origin if own is None else _name_origin(own)
                items.append(self._traced_tree(item, f"{path}[]", item_origin, rules))
        return items

    def _origin(self, rule: str) -> Origin:
        if rule not in self._known:
            self._known[rule] = self._find_origin(rule)
        return self._known[rule]

    def _find_origin(self, rule: str) -> Origin:
        if rule == BY_TALOS:
            return Origin(_NOWHERE, DEFAULT, f"Talos {self._contract}")
        known = ""
        for candidate in rule.split("|"):
            source, _, field = candidate.rpartition(".")
            traced = self._traced.get(source)
            if traced is None:
                continue
            written = traced.origins.get(field)
            if written is not None:
                return _name_origin(written)
            known = _rule_text(candidate)
        return Origin(_NOWHERE, DEFAULT, known or rule)


def _name_origin(origin: Origin) -> Origin:
    """Return an origin that also names its key."""
    if origin.is_derived:
        return origin
    via = f"{origin.name}, {origin.via}" if origin.via else origin.name
    return Origin(origin.at, origin.name, via)


def _rule_text(rule: str) -> str:
    return rule.removeprefix("mirror ").removeprefix("component ")


def bundle_value_names(bundle: SecretsBundle) -> dict[str, str]:
    """Map every text of a bundle, in all forms of configurations, to the name of its value."""
    secrets = bundle.secrets
    certs = bundle.certs
    values: dict[str, Secret | None] = {
        "cluster.id": Secret(bundle.cluster.id),
        "cluster.secret": bundle.cluster.secret,
        "secrets.bootstraptoken": secrets.bootstraptoken,
        "secrets.secretboxencryptionsecret": secrets.secretboxencryptionsecret,
        "secrets.aescbcencryptionsecret": secrets.aescbcencryptionsecret,
        "trustdinfo.token": bundle.trustdinfo.token,
        "certs.k8sserviceaccount.key": certs.k8sserviceaccount,
    }
    pairs: dict[str, CertificateAndKey] = {
        "etcd": certs.etcd,
        "k8s": certs.k8s,
        "k8saggregator": certs.k8saggregator,
        "os": certs.os,
    }
    for name, pair in pairs.items():
        values[f"certs.{name}.crt"] = Secret(pair.crt)
        values[f"certs.{name}.key"] = pair.key
    names: dict[str, str] = {}
    for name, secret in values.items():
        if secret is not None:
            text = secret.reveal()
            names[text] = name
            names[base64.b64encode(text.encode()).decode("ascii")] = name
    return names
