"""Rules of KubeNetworkConfig: networks of pods and services."""

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
        _report_subnet(report, services, "pods and services have networks of the same families")


def _check_subnets(
    report: ValidationReport, subnets: ConfigValue, fault: Callable[[int, int], str]
) -> None:
    found = subnets.items
    if not 1 <= len(found) <= 2:
        _report_subnet(report, subnets, "there is one network, or one of each family")
        return
    versions = []
    for subnet in found:
        why = _subnet_error(subnet, fault)
        if why:
            _report_subnet(report, subnet, why)
            return
        versions.append(ip_interface(subnet.text).version)
    if len(set(versions)) != len(versions):
        _report_subnet(report, subnets, "two networks are of two families")


def _subnet_error(subnet: ConfigValue, fault: Callable[[int, int], str]) -> str:
    if not subnet.text:
        return "it is empty"
    interface = ip_interface(subnet.text)
    bits = interface.network.prefixlen
    if interface.ip != interface.network.network_address:
        return f"{subnet.text} is an address in {interface.network}, not a network"
    if interface.max_prefixlen - bits < _LEAST_HOST_BITS:
        return f"{subnet.text} has too few addresses"
    return fault(bits, interface.version)


def _pod_subnet_error(document: ConfigValue, bits: int, version: int) -> str:
    key, most, usual = _MASKS[version]
    told = document[key].number
    if not 0 <= told <= most:
        return ""
    mask = told or usual
    if bits > mask:
        return f"it is smaller than the /{mask} that every node gets"
    if mask - bits > _MOST_NODES_BITS:
        return f"it is too large for nodes that get a /{mask}: at most {_MOST_NODES_BITS} bits more"
    return ""


def _service_subnet_error(bits: int, version: int) -> str:
    host_bits = (32 if version == 4 else 128) - bits
    return "it is larger than Kubernetes takes" if host_bits > _MOST_SERVICE_BITS else ""


def _report_subnet(report: ValidationReport, part: ConfigValue, why: str) -> None:
    report.error(
        "machine.subnet",
        part,
        f"{part.name} is not what Kubernetes takes",
        why=why,
        fix="write networks such as 10.42.0.0/16 and 10.43.0.0/16: `cluster_pod_cidr` and"
        " `cluster_svc_cidr`",
    )


_DENIED_ARGUMENTS = ("anonymous-auth", "oidc-", "authentication-config", "authorization-config")
_DENIED_AUTHORIZATION = ("authorization-mode", "authorization-webhook-")
_PROXY_MODES = ("nftables", "iptables", "ipvs")
_HIGHEST_PORT = 65535


def check_api_server_ca(report: ValidationReport, document: ConfigValue) -> None:
    """The authority of the API server: an issuing one, and others that are trusted."""
    if document["issuingCA"].present:
        check_certificate_pair(report, document["issuingCA"])
    for accepted in document["acceptedCAs"].items:
        check_pem(report, accepted, CERTIFICATE)


def check_aggregator_ca(report: ValidationReport, document: ConfigValue) -> None:
    if not document["issuingCA"].present:
        report.missing(document["issuingCA"], "the API server speaks to its extensions by it")
    check_api_server_ca(report, document)


def _check_image(report: ValidationReport, document: ConfigValue) -> None:
    if not document["image"].text:
        report.missing(document["image"], "Talos runs what the image holds")


def check_api_server(report: ValidationReport, document: ConfigValue) -> None:
    _check_image(report, document)
    for key, entry in document["extraArgs"].entries.items():
        if key.startswith((*_DENIED_ARGUMENTS, *_DENIED_AUTHORIZATION)):
            kind = "KubeAuthorizerConfig" if "authoriz" in key else "KubeAuthenticationConfig"
            report.error(
                "machine.authorization",
                entry,
                f"{entry.name} cannot be an argument",
                why="who may do what has documents of its own",
                fix=f"write a document {kind}",
            )
    check_resources(report, document["resources"])


def check_component(report: ValidationReport, document: ConfigValue) -> None:
    """A component that can be turned off: then nothing else is looked at."""
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
            fix="leave it out: nftables is taken",
        )
    elif mode.text not in ("", "nftables"):
        report.warn(
            "machine.doubtful",
            mode,
            f"kube-proxy works with {mode.text}",
            why="Kubernetes is leaving that way",
            fix="leave the mode out: nftables is taken",
        )
    if not document["extraArgs"].is_empty:
        report.warn(
            "machine.doubtful",
            document["extraArgs"],
            "kube-proxy gets arguments",
            why="it has a configuration too, and passes over arguments that stand there",
            fix="write `config:` instead",
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
        report.missing(endpoint, "the machine would not find the Kubernetes API")
    else:
        check_endpoint(report, endpoint)


def check_authorizer(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    kind, webhook = document["type"], document["webhook"]
    if not kind.text:
        report.missing(kind, "the API server needs it of every authorizer")
    check_authorizer_type(report, kind)
    if kind.text == "Webhook" and webhook.is_empty:
        report.missing(webhook, "an authorizer elsewhere is asked at an address")
    elif kind.text != "Webhook" and not webhook.is_empty:
        report.warn(
            "machine.doubtful",
            webhook,
            f"{webhook.name} is there, and nobody asks it",
            why=f"the type is {kind.text or 'none'}, not Webhook",
            fix="remove it, or write `type: Webhook`",
        )


def check_etcd_encryption(report: ValidationReport, document: ConfigValue) -> None:
    if document["config"].is_empty:
        report.missing(document["config"], "it says how secrets are encrypted in etcd")


def check_flannel(report: ValidationReport, document: ConfigValue) -> None:
    if not document["backendType"].text:
        report.missing(document["backendType"], "flannel has several ways to carry packets")
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
            f"{name.text!r} is no name of a {document.label.partition(' ')[0]}",
            why="it has small letters, digits, - and . only",
            fix="rename it",
        )


def check_external_manifest(report: ValidationReport, document: ConfigValue) -> None:
    check_manifest_name(report, document)
    target = document["url"]
    if not target.present:
        report.missing(target, "a manifest is downloaded from somewhere")
    elif parse_url(target.text).scheme not in ("http", "https"):
        report.error(
            "machine.url",
            target,
            f"{target.name} is no URL to download from",
            why="its scheme is neither http nor https",
            fix="write a URL such as https://example.com/manifest.yaml",
        )


def check_static_pod(report: ValidationReport, document: ConfigValue) -> None:
    check_manifest_name(report, document)
    if document["pod"].is_empty:
        report.missing(document["pod"], "the kubelet runs what it says")


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
            why="pods may use the Talos API, and are allowed nothing",
            fix="write roles, os:reader for example, or remove the document",
        )
    check_roles(report, roles)


def check_discovery_service(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    endpoint = document["endpoint"]
    if not endpoint.present:
        report.missing(endpoint, "a discovery service has a URL")
        return
    parts = parse_url(endpoint.text)
    if parts.scheme not in ("http", "https", "grpc") or not split_host_port(parts.host)[0]:
        report.error(
            "machine.url",
            endpoint,
            f"{endpoint.name} is no discovery service",
            why="its scheme is none of http, https and grpc, or its host is missing",
            fix="write https://discovery.talos.dev/",
        )


def check_discovery_identity(report: ValidationReport, document: ConfigValue) -> None:
    for key in ("clusterID", "clusterSecret"):
        if not document[key].text:
            report.missing(document[key], "members of a cluster find each other by it")
    secret = document["clusterSecret"]
    wrong = base64_key_error(secret.text) if secret.text else ""
    if wrong:
        report.error(
            "machine.discovery",
            secret,
            f"{secret.name} is no key",
            why=wrong,
            fix="take `cluster.secret` of the secrets bundle",
        )
