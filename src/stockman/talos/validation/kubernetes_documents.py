"""Rules of documents about Kubernetes, since 1.14."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_interface

from stockman.talos.validation.cluster_section import (
    check_authorizer_type,
    check_endpoint,
    check_resources,
)
from stockman.talos.validation.formats import (
    CERTIFICATE,
    HIGHEST_PORT,
    base64_key_error,
    is_subdomain,
    private_key_error,
)
from stockman.talos.validation.machine_section import check_roles
from stockman.talos.validation.report import ConfigValue, Rule, check_name, required
from stockman.talos.validation.shared_rules import (
    UrlForm,
    check_annotations,
    check_labels,
    check_node_subnets,
    check_protected_fields,
    check_taints,
    valid_url,
)
from stockman.talos.validation.system_documents import check_certificate_pair, check_pem, report_pem

_LEAST_HOST_BITS = 4
_MOST_SERVICE_BITS = 20
_MOST_NODES_BITS = 16
_MASKS = {4: ("nodeCIDRMaskSizeIPv4", 32, 24), 6: ("nodeCIDRMaskSizeIPv6", 128, 64)}


def _check_kube_network(document: ConfigValue) -> None:
    for key, most, _ in _MASKS.values():
        mask = document[key]
        if not 0 <= mask.number <= most:
            what, why = f"{mask.name} is {mask.number}", f"lengths of networks are 1 to {most}"
            mask.error("machine.range", what, why=why, fix="leave it out")
    pods, services = document["podSubnets"], document["serviceSubnets"]
    _check_subnets(pods, lambda bits, version: _pod_subnet_error(document, bits, version))
    _check_subnets(services, _service_subnet_error)
    if len(pods.items) != len(services.items):
        _report_subnet(services, "pods and services must use the same address families")


def _check_subnets(subnets: ConfigValue, find_error: Callable[[int, int], str]) -> None:
    networks = subnets.items
    if not 1 <= len(networks) <= 2:
        _report_subnet(subnets, "it must have one network, or one of each address family")
        return
    versions = []
    for subnet in networks:
        if why := _subnet_error(subnet, find_error):
            _report_subnet(subnet, why)
            return
        versions.append(ip_interface(subnet.text).version)
    if len(set(versions)) != len(versions):
        _report_subnet(subnets, "the two networks must be of different address families")


def _subnet_error(subnet: ConfigValue, find_error: Callable[[int, int], str]) -> str:
    if not subnet.text:
        return "it is empty"
    interface = ip_interface(subnet.text)
    bits = interface.network.prefixlen
    if interface.ip != interface.network.network_address:
        return f"{subnet.text} is an address in {interface.network}, not a network"
    if interface.max_prefixlen - bits < _LEAST_HOST_BITS:
        return f"{subnet.text} has too few addresses"
    return find_error(bits, interface.version)


def _pod_subnet_error(document: ConfigValue, bits: int, version: int) -> str:
    key, most, usual = _MASKS[version]
    configured = document[key].number
    if not 0 <= configured <= most:
        return ""
    mask = configured or usual
    if bits > mask:
        return f"it is smaller than the /{mask} that every node gets"
    if mask - bits > _MOST_NODES_BITS:
        return f"it is too large for nodes that get a /{mask}: at most {_MOST_NODES_BITS} bits more"
    return ""


def _service_subnet_error(bits: int, version: int) -> str:
    host_bits = (32 if version == 4 else 128) - bits
    return "it is larger than Kubernetes supports" if host_bits > _MOST_SERVICE_BITS else ""


def _report_subnet(field: ConfigValue, why: str) -> None:
    field.error(
        "machine.subnet",
        f"{field.name} is not supported by Kubernetes",
        why=why,
        fix="use networks such as 10.42.0.0/16 and 10.43.0.0/16: `cluster_pod_cidr` and"
        " `cluster_svc_cidr`",
    )


_DENIED_ARGUMENTS = ("anonymous-auth", "oidc-", "authentication-config", "authorization-config")
_DENIED_AUTHORIZATION = ("authorization-mode", "authorization-webhook-")
_PROXY_MODES = ("nftables", "iptables", "ipvs")
_MANIFEST_URL = UrlForm("download URL", ("http", "https"), "https://example.com/manifest.yaml")
_DISCOVERY_URL = UrlForm(
    "discovery service", ("http", "https", "grpc"), "https://discovery.talos.dev/", needs_host=True
)


def _check_api_server_ca(document: ConfigValue) -> None:
    """Check the CAs of the API server: the issuing one, and others that it accepts."""
    if document["issuingCA"].present:
        check_certificate_pair(document["issuingCA"])
    for accepted in document["acceptedCAs"].items:
        check_pem(accepted, CERTIFICATE)


def _check_aggregator_ca(document: ConfigValue) -> None:
    if not document["issuingCA"].present:
        document["issuingCA"].missing("the API server needs it for aggregated APIs")


def _check_arguments(document: ConfigValue) -> None:
    for key, entry in document["extraArgs"].entries.items():
        if key.startswith((*_DENIED_ARGUMENTS, *_DENIED_AUTHORIZATION)):
            kind = "KubeAuthorizerConfig" if "authoriz" in key else "KubeAuthenticationConfig"
            entry.error(
                "machine.authorization",
                f"{entry.name} is not supported as an argument",
                why="authentication and authorization have their own documents",
                fix=f"add a document {kind}",
            )


def _check_resources(document: ConfigValue) -> None:
    check_resources(document["resources"])


def _unless_disabled(*rules: Rule) -> Rule:
    """Return rules for a document that is not checked if its component is disabled."""

    def check(document: ConfigValue) -> None:
        if not document["enabled"].present or document["enabled"].flag:
            for rule in rules:
                rule(document)

    return check


def _check_proxy(document: ConfigValue) -> None:
    mode, default = document["mode"], "the default is nftables"
    mode.check_word(_PROXY_MODES, why="modes are {}", fix=f"leave it out: {default}")
    if mode.text in _PROXY_MODES[1:]:
        mode.warn(
            "machine.doubtful",
            f"kube-proxy uses {mode.text}",
            why="Kubernetes is phasing it out",
            fix=f"leave the mode out: {default}",
        )
    if not document["extraArgs"].is_empty:
        document["extraArgs"].warn(
            "machine.doubtful",
            "kube-proxy has extra arguments",
            why="it also has a configuration, which takes precedence over arguments",
            fix="use `config:` instead",
        )


def _check_kubelet_config(document: ConfigValue) -> None:
    check_protected_fields(document["config"])


def _check_node(document: ConfigValue) -> None:
    check_node_subnets(document.down("nodeIP.validSubnets"))
    check_labels(document["labels"])
    check_annotations(document["annotations"])
    check_taints(document["taints"])


def _check_cluster_endpoint(document: ConfigValue) -> None:
    endpoint = document["endpoint"]
    if endpoint.present:
        check_endpoint(endpoint)
    else:
        endpoint.missing("the machine needs it to reach the Kubernetes API")


def _check_authorizer(document: ConfigValue) -> None:
    kind, webhook = document["type"], document["webhook"]
    check_authorizer_type(kind)
    if kind.text == "Webhook":
        webhook.require("the API server calls the authorizer at its address")
    elif not webhook.is_empty:
        webhook.warn(
            "machine.doubtful",
            f"{webhook.name} is set, but not used",
            why=f"the type is {kind.text or 'none'}, not Webhook",
            fix="remove it, or set `type: Webhook`",
        )


def _check_kubeprism(document: ConfigValue) -> None:
    document["port"].check_range(1, HIGHEST_PORT, "ports are", "write 7445")


def _check_manifest_name(document: ConfigValue) -> None:
    name = document["name"]
    if not is_subdomain(name.text):
        name.error(
            "machine.name",
            f"{name.text!r} is not a valid name of a {document.kind}",
            why="it may only contain lower-case letters, digits, - and .",
            fix="rename it",
        )


def _check_service_account(document: ConfigValue) -> None:
    key, issuer = document.down("issuer.privateKey"), document.down("issuer.issuerURL")
    if key.require("tokens are signed with it") and (wrong := private_key_error(key.text)):
        report_pem(key, wrong)
    if not issuer.present:
        issuer.missing("tokens name their issuer")


def _check_talos_api_access(document: ConfigValue) -> None:
    roles = document["allowedRoles"]
    if roles.is_empty:
        roles.warn(
            "machine.incomplete",
            "KubeTalosAPIAccessConfig allows no role",
            why="pods may use the Talos API, but have no permissions",
            fix="add roles, os:reader for example, or remove the document",
        )
    check_roles(roles)


def _check_cluster_secret(document: ConfigValue) -> None:
    secret = document["clusterSecret"]
    wrong = base64_key_error(secret.text) if secret.text else ""
    if wrong:
        secret.error(
            "machine.discovery",
            f"{secret.name} is not a valid key",
            why=wrong,
            fix="use `cluster.secret` of the secrets bundle",
        )


_MEMBERS = "cluster members find each other by it"
_HAS_IMAGE = required("image", "Talos runs this image")
_COMPONENT_RULES = (_HAS_IMAGE, _check_resources)

RULES: dict[str, tuple[Rule, ...]] = {
    "DiscoveryIdentityConfig": (
        required("clusterID", _MEMBERS),
        required("clusterSecret", _MEMBERS),
        _check_cluster_secret,
    ),
    "DiscoveryServiceConfig": (
        check_name,
        valid_url("endpoint", "a discovery service needs a URL", _DISCOVERY_URL),
    ),
    "KubeAPIServerCAConfig": (_check_api_server_ca,),
    "KubeAPIServerConfig": (_HAS_IMAGE, _check_arguments, _check_resources),
    "KubeAdmissionControlConfig": (check_name,),
    "KubeAggregatorCAConfig": (_check_aggregator_ca, _check_api_server_ca),
    "KubeAuthorizerConfig": (
        check_name,
        required("type", "the API server requires it for every authorizer"),
        _check_authorizer,
    ),
    "KubeClusterConfig": (
        required("clusterName", "certificates and tokens name the cluster"),
        _check_cluster_endpoint,
    ),
    "KubeControllerManagerConfig": (_unless_disabled(*_COMPONENT_RULES),),
    "KubeEtcdEncryptionConfig": (
        required("config", "it defines how secrets are encrypted in etcd"),
    ),
    "KubeExternalManifestConfig": (
        _check_manifest_name,
        valid_url("url", "the manifest is downloaded from it", _MANIFEST_URL),
    ),
    "KubeFlannelCNIConfig": (
        required("backendType", "flannel supports several backends"),
        _check_resources,
    ),
    "KubeInlineManifestConfig": (_check_manifest_name,),
    "KubeNetworkConfig": (_check_kube_network,),
    "KubeNodeConfig": (_check_node,),
    "KubePrismConfig": (_check_kubeprism,),
    "KubeProxyConfig": (_unless_disabled(*_COMPONENT_RULES, _check_proxy),),
    "KubeSchedulerConfig": (_unless_disabled(*_COMPONENT_RULES),),
    "KubeServiceAccountConfig": (_check_service_account,),
    "KubeStaticPodConfig": (
        _check_manifest_name,
        required("pod", "it defines what the kubelet runs"),
    ),
    "KubeTalosAPIAccessConfig": (_check_talos_api_access,),
    "KubeletConfig": (_HAS_IMAGE, _check_kubelet_config),
}
