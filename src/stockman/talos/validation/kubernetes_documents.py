"""Rules of documents about Kubernetes, since 1.14."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_interface

from stockman.talos.patches.scalars import parse_url
from stockman.talos.validation.cluster_section import (
    check_authorizer_type,
    check_endpoint,
    check_resources,
)
from stockman.talos.validation.formats import (
    CERTIFICATE,
    base64_key_error,
    is_subdomain,
    split_host_port,
)
from stockman.talos.validation.link_documents import check_name
from stockman.talos.validation.machine_section import check_roles
from stockman.talos.validation.registry_documents import (
    check_certificate_pair,
    check_pem,
    check_private_key,
)
from stockman.talos.validation.report import ConfigValue, ValidationReport
from stockman.talos.validation.shared_rules import (
    check_annotations,
    check_labels,
    check_node_subnets,
    check_protected_fields,
    check_taints,
)

_LEAST_HOST_BITS = 4
_MOST_SERVICE_BITS = 20
_MOST_NODES_BITS = 16
_MASKS = {4: ("nodeCIDRMaskSizeIPv4", 32, 24), 6: ("nodeCIDRMaskSizeIPv6", 128, 64)}


def check_kube_network(report: ValidationReport, document: ConfigValue) -> None:
    for key, most, _ in _MASKS.values():
        mask = document[key]
        if not 0 <= mask.number <= most:
            report.error(
                "machine.range",
                mask,
                f"{mask.name} is {mask.number}",
                why=f"lengths of networks are 1 to {most}",
                fix="leave it out",
            )
    pods, services = document["podSubnets"], document["serviceSubnets"]
    _check_subnets(report, pods, lambda bits, version: _pod_subnet_error(document, bits, version))
    _check_subnets(report, services, _service_subnet_error)
    if len(pods.items) != len(services.items):
        _report_subnet(report, services, "pods and services must use the same address families")


def _check_subnets(
    report: ValidationReport, subnets: ConfigValue, find_error: Callable[[int, int], str]
) -> None:
    networks = subnets.items
    if not 1 <= len(networks) <= 2:
        _report_subnet(report, subnets, "it must have one network, or one of each address family")
        return
    versions = []
    for subnet in networks:
        why = _subnet_error(subnet, find_error)
        if why:
            _report_subnet(report, subnet, why)
            return
        versions.append(ip_interface(subnet.text).version)
    if len(set(versions)) != len(versions):
        _report_subnet(report, subnets, "the two networks must be of different address families")


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


def _report_subnet(report: ValidationReport, field: ConfigValue, why: str) -> None:
    report.error(
        "machine.subnet",
        field,
        f"{field.name} is not supported by Kubernetes",
        why=why,
        fix="use networks such as 10.42.0.0/16 and 10.43.0.0/16: `cluster_pod_cidr` and"
        " `cluster_svc_cidr`",
    )


_DENIED_ARGUMENTS = ("anonymous-auth", "oidc-", "authentication-config", "authorization-config")
_DENIED_AUTHORIZATION = ("authorization-mode", "authorization-webhook-")
_PROXY_MODES = ("nftables", "iptables", "ipvs")
_HIGHEST_PORT = 65535


def check_api_server_ca(report: ValidationReport, document: ConfigValue) -> None:
    """Check the CAs of the API server: the issuing one, and others that it accepts."""
    if document["issuingCA"].present:
        check_certificate_pair(report, document["issuingCA"])
    for accepted in document["acceptedCAs"].items:
        check_pem(report, accepted, CERTIFICATE)


def check_aggregator_ca(report: ValidationReport, document: ConfigValue) -> None:
    if not document["issuingCA"].present:
        report.missing(document["issuingCA"], "the API server needs it for aggregated APIs")
    check_api_server_ca(report, document)


def _check_image(report: ValidationReport, document: ConfigValue) -> None:
    if not document["image"].text:
        report.missing(document["image"], "Talos runs this image")


def check_api_server(report: ValidationReport, document: ConfigValue) -> None:
    _check_image(report, document)
    for key, entry in document["extraArgs"].entries.items():
        if key.startswith((*_DENIED_ARGUMENTS, *_DENIED_AUTHORIZATION)):
            kind = "KubeAuthorizerConfig" if "authoriz" in key else "KubeAuthenticationConfig"
            report.error(
                "machine.authorization",
                entry,
                f"{entry.name} is not supported as an argument",
                why="authentication and authorization have their own documents",
                fix=f"add a document {kind}",
            )
    check_resources(report, document["resources"])


def check_component(report: ValidationReport, document: ConfigValue) -> None:
    """Check a component that can be disabled: then nothing else is checked."""
    if is_disabled(document):
        return
    _check_image(report, document)
    check_resources(report, document["resources"])


def is_disabled(document: ConfigValue) -> bool:
    return document["enabled"].present and not document["enabled"].flag


def check_proxy(report: ValidationReport, document: ConfigValue) -> None:
    if is_disabled(document):
        return
    check_component(report, document)
    mode = document["mode"]
    if mode.text and mode.text not in _PROXY_MODES:
        report.error(
            "machine.word",
            mode,
            f"{mode.name} is {mode.text!r}",
            why=f"modes are {', '.join(_PROXY_MODES)}",
            fix="leave it out: the default is nftables",
        )
    elif mode.text not in ("", "nftables"):
        report.warn(
            "machine.doubtful",
            mode,
            f"kube-proxy uses {mode.text}",
            why="Kubernetes is phasing it out",
            fix="leave the mode out: the default is nftables",
        )
    if not document["extraArgs"].is_empty:
        report.warn(
            "machine.doubtful",
            document["extraArgs"],
            "kube-proxy has extra arguments",
            why="it also has a configuration, which takes precedence over arguments",
            fix="use `config:` instead",
        )


def check_kubelet_document(report: ValidationReport, document: ConfigValue) -> None:
    _check_image(report, document)
    check_protected_fields(report, document["config"])


def check_node(report: ValidationReport, document: ConfigValue) -> None:
    check_node_subnets(report, document.down("nodeIP.validSubnets"))
    check_labels(report, document["labels"])
    check_annotations(report, document["annotations"])
    check_taints(report, document["taints"])


def check_cluster_document(report: ValidationReport, document: ConfigValue) -> None:
    if not document["clusterName"].text:
        report.missing(document["clusterName"], "certificates and tokens name the cluster")
    endpoint = document["endpoint"]
    if not endpoint.present:
        report.missing(endpoint, "the machine needs it to reach the Kubernetes API")
    else:
        check_endpoint(report, endpoint)


def check_authorizer(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    kind, webhook = document["type"], document["webhook"]
    if not kind.text:
        report.missing(kind, "the API server requires it for every authorizer")
    check_authorizer_type(report, kind)
    if kind.text == "Webhook" and webhook.is_empty:
        report.missing(webhook, "the API server calls the authorizer at its address")
    elif kind.text != "Webhook" and not webhook.is_empty:
        report.warn(
            "machine.doubtful",
            webhook,
            f"{webhook.name} is set, but not used",
            why=f"the type is {kind.text or 'none'}, not Webhook",
            fix="remove it, or set `type: Webhook`",
        )


def check_etcd_encryption(report: ValidationReport, document: ConfigValue) -> None:
    if document["config"].is_empty:
        report.missing(document["config"], "it defines how secrets are encrypted in etcd")


def check_flannel(report: ValidationReport, document: ConfigValue) -> None:
    if not document["backendType"].text:
        report.missing(document["backendType"], "flannel supports several backends")
    check_resources(report, document["resources"])


def check_kubeprism(report: ValidationReport, document: ConfigValue) -> None:
    port = document["port"]
    if not 1 <= port.number <= _HIGHEST_PORT:
        report.error(
            "machine.range",
            port,
            f"{port.name} is {port.number}",
            why=f"ports are 1 to {_HIGHEST_PORT}",
            fix="write 7445",
        )


def check_manifest_name(report: ValidationReport, document: ConfigValue) -> None:
    name = document["name"]
    if not is_subdomain(name.text):
        report.error(
            "machine.name",
            name,
            f"{name.text!r} is not a valid name of a {document.label.partition(' ')[0]}",
            why="it may only contain lower-case letters, digits, - and .",
            fix="rename it",
        )


def check_external_manifest(report: ValidationReport, document: ConfigValue) -> None:
    check_manifest_name(report, document)
    target = document["url"]
    if not target.present:
        report.missing(target, "the manifest is downloaded from it")
    elif parse_url(target.text).scheme not in ("http", "https"):
        report.error(
            "machine.url",
            target,
            f"{target.name} is not a valid download URL",
            why="its scheme is neither http nor https",
            fix="use a URL such as https://example.com/manifest.yaml",
        )


def check_static_pod(report: ValidationReport, document: ConfigValue) -> None:
    check_manifest_name(report, document)
    if document["pod"].is_empty:
        report.missing(document["pod"], "it defines what the kubelet runs")


def check_service_account(report: ValidationReport, document: ConfigValue) -> None:
    key, issuer = document.down("issuer.privateKey"), document.down("issuer.issuerURL")
    if not key.text:
        report.missing(key, "tokens are signed with it")
    else:
        check_private_key(report, key)
    if not issuer.present:
        report.missing(issuer, "tokens name their issuer")


def check_talos_api_access(report: ValidationReport, document: ConfigValue) -> None:
    roles = document["allowedRoles"]
    if roles.is_empty:
        report.warn(
            "machine.incomplete",
            roles,
            "KubeTalosAPIAccessConfig allows no role",
            why="pods may use the Talos API, but have no permissions",
            fix="add roles, os:reader for example, or remove the document",
        )
    check_roles(report, roles)


def check_discovery_service(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    endpoint = document["endpoint"]
    if not endpoint.present:
        report.missing(endpoint, "a discovery service needs a URL")
        return
    url = parse_url(endpoint.text)
    if url.scheme not in ("http", "https", "grpc") or not split_host_port(url.host)[0]:
        report.error(
            "machine.url",
            endpoint,
            f"{endpoint.name} is not a valid discovery service",
            why="its scheme is not http, https or grpc, or its host is missing",
            fix="write https://discovery.talos.dev/",
        )


def check_discovery_identity(report: ValidationReport, document: ConfigValue) -> None:
    for key in ("clusterID", "clusterSecret"):
        if not document[key].text:
            report.missing(document[key], "cluster members find each other by it")
    secret = document["clusterSecret"]
    wrong = base64_key_error(secret.text) if secret.text else ""
    if wrong:
        report.error(
            "machine.discovery",
            secret,
            f"{secret.name} is not a valid key",
            why=wrong,
            fix="use `cluster.secret` of the secrets bundle",
        )
