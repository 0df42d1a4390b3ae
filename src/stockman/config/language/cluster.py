"""Keys of the cluster: name, network, Kubernetes, gateways, repository, DNS and ingress."""

from __future__ import annotations

from dataclasses import field
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from stockman.model.control_plane import ExtraArguments, InlineManifest, Oidc
from stockman.model.formats import (
    ADDRESS_POOL,
    DNS_LABEL,
    GIT_URL,
    HOST_OR_ADDRESS,
    HTTP_URL,
    ORIGIN_URL,
    Asn,
    Domain,
    Example,
    Name,
    Vlan,
)
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version


@record
class ClusterSection(Traced):
    """The cluster itself."""

    name: Name = "kubernetes"
    """Name of the cluster in kubeconfig, talosconfig and file names."""


@record
class NetworkSection(Traced):
    """The network of the nodes."""

    node_cidr: Annotated[IPv4Network | None, Example("127.66.0.0/24")] = None
    """Node network, without host bits."""
    dns_servers: tuple[IPv4Address, ...] = (IPv4Address("1.1.1.1"), IPv4Address("1.0.0.1"))
    """DNS servers of the nodes."""
    ntp_servers: tuple[Annotated[str, HOST_OR_ADDRESS], ...] = (
        "162.159.200.1",
        "162.159.200.123",
    )
    """Time servers of the nodes. IP addresses work before DNS does."""
    default_gateway: IPv4Address | None = None
    """Default gateway of the nodes. None: the first address of the node network."""
    vlan_tag: Vlan | None = None
    """VLAN that the nodes tag themselves, on a trunk port. None: untagged. To tag on the Proxmox
    bridge, use `vlan_id` of the VM."""
    addressing: Literal["static", "dhcp"] = "static"
    """static: addresses are part of the machine configuration. dhcp: DHCP reservations by MAC
    address assign the same addresses."""


@record
class ApiSection(Traced):
    """The Kubernetes API."""

    addr: Annotated[IPv4Address | None, Example("127.66.0.10")] = None
    """Virtual IP address of the API, held by one controller at a time. With a single controller it
    can be the address of that controller."""
    endpoint: Annotated[str, ORIGIN_URL, Example("https://api.example.com:6443")] | None = None
    """URL of the API if it differs from the address: a DNS name or a load balancer. None: `addr`
    with port 6443."""
    tls_sans: tuple[Domain, ...] = ()
    """Additional names in the certificate of the API."""


@record
class KubernetesSection(Traced):
    """Kubernetes version, networks and API."""

    version: Version | None = None
    """Kubernetes version. None: the default of the Talos version."""
    pod_cidr: IPv4Network = IPv4Network("10.42.0.0/16")
    """Pod network."""
    svc_cidr: IPv4Network = IPv4Network("10.43.0.0/16")
    """Service network."""
    coredns_addr: IPv4Address | None = None
    """Address of the cluster DNS service. None: the tenth address of the service network."""
    api: ApiSection = ApiSection()
    """The Kubernetes API."""
    schedule_on_controllers: bool | None = None
    """Whether controllers run workloads. None: only if there are no workers."""
    oidc: Oidc | None = None
    """Login through an identity provider. None: no identity provider."""
    extra_args: ExtraArguments = ExtraArguments()
    """Arguments of control plane programs."""
    extra_manifests: dict[Annotated[str, DNS_LABEL], Annotated[str, HTTP_URL]] = field(
        default_factory=dict
    )
    """URLs of manifests that Talos applies when the cluster starts, by name."""
    inline_manifests: dict[Annotated[str, DNS_LABEL], InlineManifest] = field(default_factory=dict)
    """Manifests that Talos applies when the cluster starts, by name."""


@record
class GatewaysSection(Traced):
    """IP addresses of the gateways."""

    internal: IPv4Address | None = None
    """Address of the gateway for the local network."""
    dns: IPv4Address | None = None
    """Address of the DNS server that resolves names of the cluster's domain in the local
    network."""
    external: IPv4Address | None = None
    """Address of the gateway for the internet. None: nothing is published."""


@record
class RepositorySection(Traced):
    """The Git repository that the cluster follows."""

    url: Annotated[str, GIT_URL] | None = None
    """URL of the repository."""
    branch: str = "main"
    """Branch that Flux follows."""
    webhook_provider: Literal["github", "gitlab", "generic-hmac", "none"] = "github"
    """Provider of webhooks for new commits. none: Flux only polls."""
    known_hosts: str | None = None
    """SSH host keys of the Git server. None: those of github.com, gitlab.com and codeberg.org."""
    ci: Literal["github", "gitlab", "none"] | None = None
    """CI system for which a pipeline is rendered. None: that of the Git host, if it is github or
    gitlab."""
    renovate: bool = True
    """Whether the configuration of Renovate is rendered."""
    tasks: bool = False
    """Whether a Taskfile.yaml (with cluster.toml: a justfile) with common tasks is rendered."""
    layout: Literal["classic", "toml"] | None = None
    """Layout of rendered files: classic is for talhelper, helmfile.d and go-task; toml is for topf,
    helmfile and just. None: that of the dialect of the files."""


@record
class DomainSection(Traced):
    """DNS domain of the cluster."""

    name: Domain | None = None
    """Domain of published services."""


@record
class DnsSection(Traced):
    """Public DNS."""

    provider: Literal["cloudflare", "none"] = "cloudflare"
    """DNS provider of the domain. none: nothing is published."""
    token: Secret | None = None
    """API token that may edit the zone."""


@record
class IngressSection(Traced):
    """How traffic from the internet reaches the external gateway."""

    mode: Literal["cloudflare-tunnel", "direct", "none"] | None = None
    """Ingress mode. None: a tunnel with Cloudflare DNS, otherwise none."""


@record
class BgpSection(Traced):
    """BGP between Cilium and a router. All three keys must be set, or none."""

    router_addr: IPv4Address | None = None
    """IP address of the router."""
    router_asn: Asn | None = None
    """AS number of the router."""
    node_asn: Asn | None = None
    """AS number of the nodes."""


@record
class CiliumSection(Traced):
    """Pod network and load balancing."""

    loadbalancer_mode: Literal["dsr", "snat"] = "dsr"
    """How replies are sent: directly from the node (dsr) or through the node that received the
    request (snat)."""
    loadbalancer_pool: tuple[Annotated[str, ADDRESS_POOL], ...] = ()
    """Additional addresses for LoadBalancer services, besides the gateways."""
    bgp: BgpSection = BgpSection()
    """BGP settings, to announce addresses by BGP instead of layer 2."""


@record
class SpegelSection(Traced):
    """Image sharing between nodes."""

    enabled: bool | None = None
    """Whether nodes share images. None: if there is more than one node."""
