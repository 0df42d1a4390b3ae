"""Certificates, keys and tokens; all of these kinds are for administrators only."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.facts import (
    certificate,
    certificate_and_key,
    full_hostname,
    private_key,
    url_parts,
)
from stockman_lab.talos.cosi.kinds.network_addresses import routed_addresses
from stockman_lab.talos.cosi.registry import kind

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective import Effective
    from stockman_lab.talos.config.node_setting import Authority
    from stockman_lab.talos.machine import Machine


def _issuing(authority: Authority) -> dict[str, str] | None:
    """A CA that can sign. None: its key is not here."""
    return certificate_and_key(authority.crt, authority.key) if authority.key else None


def _accepted(own: Authority, more: tuple[str, ...]) -> list[dict[str, str]]:
    certificates = [certificate(one) for one in more]
    return [*certificates, certificate(own.crt)] if own.crt else certificates


@kind("OSRootSecrets.secrets.talos.dev", "secrets.RootOSController")
def os_root_secrets(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.is_partial:
        return {}
    names = [cert_san for cert_san in config.cert_sans if not _is_address(cert_san)]
    if config.features.talos_api_access:
        names += ["talos", "talos.default"]
    return {
        "os": {
            "issuingCA": _issuing(config.os_ca),
            "acceptedCAs": _accepted(config.os_ca, config.accepted_cas),
            "certSANIPs": [cert_san for cert_san in config.cert_sans if _is_address(cert_san)],
            "certSANDNSNames": names,
            "token": config.token,
        }
    }


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@kind("EtcdRootSecrets.secrets.talos.dev", "secrets.RootEtcdController")
def etcd_root_secrets(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not config.is_controlplane:
        return {}
    return {"etcd": {"etcdCA": _issuing(config.etcd_ca)}}


@kind("KubernetesRootSecrets.secrets.talos.dev", "secrets.RootKubernetesController")
def kubernetes_root_secrets(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not config.is_controlplane:
        return {}
    kubernetes, port = config.kubernetes, config.features.kube_prism_port
    local = f"https://127.0.0.1:{port}" if port else f"https://localhost:{kubernetes.api_port}"
    first = [
        str(ipaddress.ip_network(service_subnet, strict=False)[1])
        for service_subnet in kubernetes.service_subnets
    ]
    token, _, secret = config.bootstrap_token.partition(".")
    account = config.service_account_key
    return {
        "k8s": {
            "name": config.cluster_name,
            "endpoint": url_parts(config.endpoint),
            "local_endpoint": url_parts(local),
            "certSANs": list(kubernetes.api_cert_sans),
            "apiServerIPs": first,
            "dnsDomain": kubernetes.dns_domain,
            "issuingCA": _issuing(config.k8s_ca),
            "acceptedCAs": _accepted(config.k8s_ca, config.k8s_accepted_cas),
            "aggregatorCA": _issuing(config.aggregator_ca),
            "acceptedAggregatorCAs": _accepted(config.aggregator_ca, ()),
            "serviceAccount": private_key(account) if account else None,
            "issuerURL": config.endpoint,
            "apiAudiences": [config.endpoint],
            "aesCBCEncryptionSecret": config.aescbc_secret,
            "bootstrapTokenID": token,
            "bootstrapTokenSecret": secret,
            "secretboxEncryptionSecret": config.secretbox_secret,
        }
    }


@kind("CertSANs.secrets.talos.dev", "secrets.APICertSANsController")
def cert_sans(machine: Machine) -> Contents:
    config = machine.config
    addresses = routed_addresses(machine)
    if config is None or config.is_partial:
        names = {"ips": addresses, "fqdn": "maintenance-service.talos.dev"}
        return {"maintenance": names} if addresses else {}
    contents = {"api": _api_names(machine, config, addresses)}
    if config.is_controlplane:
        contents["k8s"] = _kubernetes_names(machine, config, addresses)
    return contents


def _own_names(machine: Machine) -> list[str]:
    return list(dict.fromkeys((machine.hostname, full_hostname(machine))))


def _api_names(machine: Machine, config: Effective, addresses: list[str]) -> dict[str, object]:
    more = [cert_san for cert_san in config.cert_sans if _is_address(cert_san)]
    names = [cert_san for cert_san in config.cert_sans if not _is_address(cert_san)]
    return {
        "ips": sorted({*addresses, *more}),
        "dnsNames": sorted({*_own_names(machine), *names}),
        "fqdn": full_hostname(machine),
    }


def _kubernetes_names(
    machine: Machine, config: Effective, addresses: list[str]
) -> dict[str, object]:
    kubernetes = config.kubernetes
    first = [
        str(ipaddress.ip_network(service_subnet, strict=False)[1])
        for service_subnet in kubernetes.service_subnets
    ]
    api_cert_sans = [
        api_cert_san for api_cert_san in kubernetes.api_cert_sans if _is_address(api_cert_san)
    ]
    service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"]
    names = [
        api_cert_san for api_cert_san in kubernetes.api_cert_sans if not _is_address(api_cert_san)
    ]
    full = f"kubernetes.default.svc.{kubernetes.dns_domain}"
    own = [*_own_names(machine), *service, full, "localhost", *names]
    return {
        "ips": sorted({*addresses, *api_cert_sans, *first, "127.0.0.1"}),
        "dnsNames": sorted(set(own)),
        "fqdn": full_hostname(machine),
    }


@kind("ApiCertificates.secrets.talos.dev", "secrets.APIController")
def api_certificates(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.is_partial or machine.state.api != "secured":
        return {}
    return {"api": {"acceptedCAs": _accepted(config.os_ca, config.accepted_cas)}}


@kind("KubeletSecrets.secrets.talos.dev", "secrets.KubeletController")
def kubelet_secrets(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.is_partial:
        return {}
    token, _, secret = config.bootstrap_token.partition(".")
    port = config.features.kube_prism_port
    endpoint = f"https://127.0.0.1:{port}" if port else config.endpoint
    return {
        "kubelet": {
            "endpoint": url_parts(endpoint),
            "acceptedCAs": _accepted(config.k8s_ca, config.k8s_accepted_cas),
            "bootstrapTokenID": token,
            "bootstrapTokenSecret": secret,
        }
    }
