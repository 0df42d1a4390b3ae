"""Resolve the configuration to the desired state: apply all defaults and expand all short forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from stockman.config.components import resolve_components
from stockman.config.defaults import complete_hardware, require
from stockman.config.language.configuration import Configuration
from stockman.config.load import LoadedConfig
from stockman.config.resolve_nodes import resolve_nodes
from stockman.config.rules.networks import first_address
from stockman.config.rules.vms import proxmox_clusters
from stockman.model import compatibility
from stockman.model.desired import (
    Bgp,
    Cilium,
    Cluster,
    Desired,
    Edge,
    Gateways,
    Kubernetes,
    Network,
    Repository,
    Talos,
)
from stockman.model.errors import Refused
from stockman.model.git_address import git_host
from stockman.model.guest import Guest
from stockman.model.origin import Origin, Traced, derivation
from stockman.model.policies import Backup
from stockman.model.problem import Problem
from stockman.model.version import Version

_DNS_INDEX = 10
_API_PORT = 6443
_GUESTS_NAME = "guests"


def resolve(loaded: LoadedConfig) -> Desired:
    """Return the desired state; refuses configurations with errors or required encrypted values."""
    _check_ready(loaded)
    estate = loaded.configuration
    clusters = proxmox_clusters(estate.proxmox) if estate.proxmox is not None else ()
    return Desired(
        origins=estate.origins,
        name=configuration_name(estate),
        cluster=_cluster(estate) if estate.nodes else None,
        nodes=resolve_nodes(estate),
        proxmox=clusters,
        connect=dict(estate.proxmox.connect) if estate.proxmox is not None else {},
        components=resolve_components(estate),
        upgrade=estate.upgrade,
        backup=_backup(estate),
        lock=estate.lock,
        guests=tuple(_resolve_guest(guest) for guest in estate.guests),
        hosts=estate.hosts,
        drift=estate.drift,
    )


def configuration_name(estate: Configuration) -> str:
    """Return the name of the cluster, or of guests without a cluster."""
    is_named = bool(estate.nodes) or "name" in estate.cluster.origins
    return estate.cluster.name if is_named else _GUESTS_NAME


def _check_ready(loaded: LoadedConfig) -> None:
    errors = loaded.problems.errors
    if errors:
        raise Refused(
            Problem(
                code="config.unresolved",
                what="the configuration has mistakes",
                where=errors[0].where,
                why=f"{len(errors)} found, the first: {errors[0].what}",
                fix="run `stockman validate` and put them right",
            )
        )
    if loaded.encrypted:
        first = loaded.encrypted[0]
        raise Refused(
            Problem(
                code="config.encrypted",
                what=f"{first.name} is encrypted",
                where=first.at,
                why="encrypted and needed: "
                f"{', '.join(origin.name for origin in loaded.encrypted)}",
                fix="give the values in the clear; only secrets have to be encrypted",
            )
        )


def _cluster(estate: Configuration) -> Cluster:
    spegel = estate.spegel.enabled
    return Cluster(
        origins={
            **_rename_origins(estate.cluster, name="name"),
            "spegel": estate.spegel.origins.get("enabled")
            or derivation("from the number of nodes"),
        },
        name=estate.cluster.name,
        network=_network(estate),
        kubernetes=_kubernetes(estate),
        gateways=_gateways(estate),
        repository=_repository(estate),
        edge=_edge(estate),
        cilium=_cilium(estate),
        spegel=len(estate.nodes) > 1 if spegel is None else spegel,
        talos=_talos(estate),
    )


def _network(estate: Configuration) -> Network:
    network = estate.network
    cidr = require(network.node_cidr)
    origins = dict(network.origins)
    if network.default_gateway is None:
        origins["default_gateway"] = derivation("first address of the node network")
    return Network(
        origins=origins,
        node_cidr=cidr,
        dns_servers=network.dns_servers,
        ntp_servers=network.ntp_servers,
        default_gateway=network.default_gateway or first_address(cidr),
        vlan_tag=network.vlan_tag,
        addressing=network.addressing,
    )


def talos_version(estate: Configuration) -> Version:
    """Return the Talos version of the cluster."""
    return estate.talos.version or compatibility.default_talos_version()


def _kubernetes(estate: Configuration) -> Kubernetes:
    kubernetes = estate.kubernetes
    line = compatibility.talos_line(talos_version(estate))
    origins = {
        **kubernetes.origins,
        **_rename_origins(
            kubernetes.api, api_addr="addr", api_endpoint="endpoint", api_tls_sans="tls_sans"
        ),
    }
    endpoint = kubernetes.api.endpoint
    if endpoint is None:
        endpoint = f"https://{require(kubernetes.api.addr)}:{_API_PORT}"
        if "api_addr" in origins:
            origins["api_endpoint"] = origins["api_addr"]
    version = kubernetes.version
    if version is None:
        version = require(line).kubernetes_default
        origins["version"] = derivation(f"default of Talos {talos_version(estate).minor_text}")
    if kubernetes.coredns_addr is None:
        origins["coredns_addr"] = derivation("tenth address of the service network")
    scheduled = kubernetes.schedule_on_controllers
    if scheduled is None:
        scheduled = all(node.controller for node in estate.nodes)
        origins["schedule_on_controllers"] = derivation(
            "there are no workers" if scheduled else "there are workers"
        )
    return Kubernetes(
        origins=origins,
        version=version,
        pod_cidr=kubernetes.pod_cidr,
        svc_cidr=kubernetes.svc_cidr,
        coredns_addr=kubernetes.coredns_addr or kubernetes.svc_cidr[_DNS_INDEX],
        api_addr=require(kubernetes.api.addr),
        api_endpoint=endpoint,
        api_tls_sans=kubernetes.api.tls_sans,
        schedule_on_controllers=scheduled,
        oidc=kubernetes.oidc,
        extra_args=kubernetes.extra_args,
        extra_manifests=kubernetes.extra_manifests,
        inline_manifests=kubernetes.inline_manifests,
    )


def _gateways(estate: Configuration) -> Gateways:
    gateways = estate.gateways
    return Gateways(
        origins=gateways.origins,
        internal=require(gateways.internal),
        dns=require(gateways.dns),
        external=gateways.external,
    )


def _repository(estate: Configuration) -> Repository:
    repository = estate.repository
    url = require(repository.url)
    origins = {**repository.origins, "private": derivation("from the form of the address")}
    if repository.ci is None:
        origins["ci"] = derivation("from the host of the address")
    return Repository(
        origins=origins,
        url=url,
        branch=repository.branch,
        private=not url.startswith("https://"),
        webhook_provider=repository.webhook_provider,
        known_hosts=repository.known_hosts,
        ci=repository.ci or _ci(url, repository.webhook_provider),
        renovate=repository.renovate,
        tasks=repository.tasks,
        layout=repository.layout,
    )


def _ci(url: str, webhook_provider: str) -> Literal["github", "gitlab", "none"]:
    server = git_host(url)
    if server == "github.com":
        return "github"
    return "gitlab" if "gitlab" in (*server.split("."), webhook_provider) else "none"


def _edge(estate: Configuration) -> Edge:
    provider = estate.dns.provider
    origins = {
        **_rename_origins(estate.domain, domain="name"),
        **_rename_origins(estate.dns, dns_provider="provider", dns_token="token"),
        **_rename_origins(estate.ingress, ingress_mode="mode"),
    }
    mode = estate.ingress.mode
    if mode is None:
        mode = "none" if provider == "none" else "cloudflare-tunnel"
        origins["ingress_mode"] = derivation("follows the DNS provider")
    return Edge(
        origins=origins,
        domain=estate.domain.name,
        dns_provider=provider,
        dns_token=estate.dns.token,
        ingress_mode=mode,
    )


def _cilium(estate: Configuration) -> Cilium:
    cilium = estate.cilium
    bgp = cilium.bgp
    return Cilium(
        origins=cilium.origins,
        loadbalancer_mode=cilium.loadbalancer_mode,
        loadbalancer_pool=cilium.loadbalancer_pool,
        bgp=Bgp(
            origins=bgp.origins,
            router_addr=bgp.router_addr,
            router_asn=require(bgp.router_asn),
            node_asn=require(bgp.node_asn),
        )
        if bgp.router_addr is not None
        else None,
    )


def _talos(estate: Configuration) -> Talos:
    talos = estate.talos
    version = talos_version(estate)
    origins = dict(talos.origins)
    if talos.version is None:
        origins["version"] = derivation("the newest that stockman was tested with")
    if talos.contract is None:
        origins["contract"] = derivation("the line of the version")
    contract = talos.contract or version
    return Talos(
        origins=origins,
        version=version,
        contract=Version(*contract.line),
        platform=talos.platform,
        factory_url=talos.factory_url,
        patches=talos.patches,
        patch_order=talos.patch_order,
        registries=talos.registries,
        discovery=talos.discovery,
        kubespan=talos.kubespan,
        kube_prism=talos.kube_prism,
        host_dns=talos.host_dns,
        firewall=talos.firewall,
    )


def _backup(estate: Configuration) -> Backup:
    backup = estate.backup
    origins = dict(backup.origins)
    enabled = backup.enabled
    if "enabled" not in origins and backup.targets:
        enabled = True
        origins["enabled"] = derivation("there is a target")
    targets = tuple(
        replace(
            target,
            prefix=estate.cluster.name,
            origins={**target.origins, "prefix": derivation("the cluster's name")},
        )
        if not target.prefix
        else target
        for target in backup.targets
    )
    return replace(backup, origins=origins, enabled=enabled, targets=targets)


def _resolve_guest(guest: Guest) -> Guest:
    vm = guest.vm
    return guest if vm is None else replace(guest, vm=complete_hardware(vm, vm.datastore))


def _rename_origins(section: Traced, **names: str) -> dict[str, Origin]:
    return {new: section.origins[old] for new, old in names.items() if old in section.origins}
