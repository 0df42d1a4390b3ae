"""Rules of documents about Kubernetes, since 1.14."""

from __future__ import annotations

from stockman.talos.patches.addresses import url
from stockman.talos.validation.cluster_section import (
    check_authorizer_type,
    check_endpoint,
    check_resources,
)
from stockman.talos.validation.forms import is_subdomain, why_no_key
from stockman.talos.validation.kubelet_rules import check_protected, check_subnets
from stockman.talos.validation.link_documents import check_named
from stockman.talos.validation.machine_section import check_roles
from stockman.talos.validation.node_marks import check_annotations, check_labels, check_taints
from stockman.talos.validation.part import Part
from stockman.talos.validation.pem_texts import CERTIFICATE
from stockman.talos.validation.places import host_and_port
from stockman.talos.validation.registry_documents import (
    check_identity,
    check_pem,
    check_private_key,
)
from stockman.talos.validation.report import Report

_DENIED = ("anonymous-auth", "oidc-", "authentication-config", "authorization-config")
_DENIED_AUTHORIZATION = ("authorization-mode", "authorization-webhook-")
_PROXY_MODES = ("nftables", "iptables", "ipvs")
_HIGHEST_PORT = 65535


def check_authority(report: Report, document: Part) -> None:
    """The authority of the API server: an issuing one, and others that are trusted."""
    if document["issuingCA"].present:
        check_identity(report, document["issuingCA"])
    for accepted in document["acceptedCAs"].items:
        check_pem(report, accepted, CERTIFICATE)


def check_aggregator(report: Report, document: Part) -> None:
    if not document["issuingCA"].present:
        report.missing(document["issuingCA"], "the API server speaks to its extensions by it")
    check_authority(report, document)


def _check_image(report: Report, document: Part) -> None:
    if not document["image"].text:
        report.missing(document["image"], "Talos runs what the image holds")


def check_api_server(report: Report, document: Part) -> None:
    _check_image(report, document)
    for key, entry in document["extraArgs"].entries.items():
        if key.startswith((*_DENIED, *_DENIED_AUTHORIZATION)):
            kind = "KubeAuthorizerConfig" if "authoriz" in key else "KubeAuthenticationConfig"
            report.error(
                "machine.authorization",
                entry,
                f"{entry.name} cannot be an argument",
                why="who may do what has documents of its own",
                fix=f"write a document {kind}",
            )
    check_resources(report, document["resources"])


def check_component(report: Report, document: Part) -> None:
    """A component that can be turned off: then nothing else is looked at."""
    if is_off(document):
        return
    _check_image(report, document)
    check_resources(report, document["resources"])


def is_off(document: Part) -> bool:
    return document["enabled"].present and not document["enabled"].flag


def check_proxy(report: Report, document: Part) -> None:
    if is_off(document):
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


def check_kubelet_document(report: Report, document: Part) -> None:
    _check_image(report, document)
    check_protected(report, document["config"])


def check_node(report: Report, document: Part) -> None:
    check_subnets(report, document.down("nodeIP.validSubnets"))
    check_labels(report, document["labels"])
    check_annotations(report, document["annotations"])
    check_taints(report, document["taints"])


def check_cluster_document(report: Report, document: Part) -> None:
    if not document["clusterName"].text:
        report.missing(document["clusterName"], "certificates and tokens name the cluster")
    endpoint = document["endpoint"]
    if not endpoint.present:
        report.missing(endpoint, "the machine would not find the Kubernetes API")
    else:
        check_endpoint(report, endpoint)


def check_authorizer(report: Report, document: Part) -> None:
    check_named(report, document)
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


def check_etcd_encryption(report: Report, document: Part) -> None:
    if document["config"].is_empty:
        report.missing(document["config"], "it says how secrets are encrypted in etcd")


def check_flannel(report: Report, document: Part) -> None:
    if not document["backendType"].text:
        report.missing(document["backendType"], "flannel has several ways to carry packets")
    check_resources(report, document["resources"])


def check_prism(report: Report, document: Part) -> None:
    port = document["port"]
    if not 1 <= port.number <= _HIGHEST_PORT:
        report.error(
            "machine.range",
            port,
            f"{port.name} is {port.number}",
            why=f"ports are 1 to {_HIGHEST_PORT}",
            fix="write 7445",
        )


def check_manifest_name(report: Report, document: Part) -> None:
    name = document["name"]
    if not is_subdomain(name.text):
        report.error(
            "machine.name",
            name,
            f"{name.text!r} is no name of a {document.label.partition(' ')[0]}",
            why="it has small letters, digits, - and . only",
            fix="rename it",
        )


def check_external_manifest(report: Report, document: Part) -> None:
    check_manifest_name(report, document)
    target = document["url"]
    if not target.present:
        report.missing(target, "a manifest is downloaded from somewhere")
    elif url(target.text).scheme not in ("http", "https"):
        report.error(
            "machine.url",
            target,
            f"{target.name} is no URL to download from",
            why="its scheme is neither http nor https",
            fix="write a URL such as https://example.com/manifest.yaml",
        )


def check_static_pod(report: Report, document: Part) -> None:
    check_manifest_name(report, document)
    if document["pod"].is_empty:
        report.missing(document["pod"], "the kubelet runs what it says")


def check_service_account(report: Report, document: Part) -> None:
    key, issuer = document.down("issuer.privateKey"), document.down("issuer.issuerURL")
    if not key.text:
        report.missing(key, "tokens are signed with it")
    else:
        check_private_key(report, key)
    if not issuer.present:
        report.missing(issuer, "tokens name their issuer")


def check_access(report: Report, document: Part) -> None:
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


def check_discovery_service(report: Report, document: Part) -> None:
    check_named(report, document)
    endpoint = document["endpoint"]
    if not endpoint.present:
        report.missing(endpoint, "a discovery service has a URL")
        return
    parts = url(endpoint.text)
    if parts.scheme not in ("http", "https", "grpc") or not host_and_port(parts.host)[0]:
        report.error(
            "machine.url",
            endpoint,
            f"{endpoint.name} is no discovery service",
            why="its scheme is none of http, https and grpc, or its host is missing",
            fix="write https://discovery.talos.dev/",
        )


def check_discovery_identity(report: Report, document: Part) -> None:
    for key in ("clusterID", "clusterSecret"):
        if not document[key].text:
            report.missing(document[key], "members of a cluster find each other by it")
    secret = document["clusterSecret"]
    wrong = why_no_key(secret.text) if secret.text else ""
    if wrong:
        report.error(
            "machine.discovery",
            secret,
            f"{secret.name} is no key",
            why=wrong,
            fix="take `cluster.secret` of the secrets bundle",
        )
