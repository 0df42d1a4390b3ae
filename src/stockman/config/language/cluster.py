"""Keys of the whole cluster: name, network, Kubernetes, gateways, repository, domain, edge."""

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
    """Name of the cluster, in kubeconfig, talosconfig and file names."""


@record
class NetworkSection(Traced):
    """The network that the nodes are in."""

    node_cidr: Annotated[IPv4Network | None, Example("127.66.0.0/24")] = None
    """Network of the nodes, without host bits."""
    dns_servers: tuple[IPv4Address, ...] = (IPv4Address("1.1.1.1"), IPv4Address("1.0.0.1"))
    """Name servers of the nodes."""
    ntp_servers: tuple[Annotated[str, HOST_OR_ADDRESS], ...] = (
        "162.159.200.1",
        "162.159.200.123",
    )
    """Time servers of the nodes; addresses work before DNS does."""
    default_gateway: IPv4Address | None = None
    """Default route of the nodes. None: the first address of the node network."""
    vlan_tag: Vlan | None = None
    """VLAN that the nodes tag themselves (trunk port). None: untagged; for a tag on the
    Proxmox bridge use the VM's `vlan_id`."""
    addressing: Literal["static", "dhcp"] = "static"
    """static: addresses are part of the machine configuration. dhcp: reservations by MAC
    address give the same addresses."""


@record
class ApiSection(Traced):
    """The Kubernetes API."""

    addr: Annotated[IPv4Address | None, Example("127.66.0.10")] = None
    """Virtual address of the API, held by one controller at a time; or, without a virtual one, the
    address of the only controller."""
    endpoint: Annotated[str, ORIGIN_URL, Example("https://api.example.com:6443")] | None = None
    """How machines reach the API, where that is not its address: a name, or a load balancer.
    None: `addr`, at port 6443."""
    tls_sans: tuple[Domain, ...] = ()
    """Further names in the API's certificate."""


@record
class KubernetesSection(Traced):
    """Kubernetes: version, networks, API."""

    version: Version | None = None
    """Version. None: the default of the Talos version."""
    pod_cidr: IPv4Network = IPv4Network("10.42.0.0/16")
    """Network of the pods."""
    svc_cidr: IPv4Network = IPv4Network("10.43.0.0/16")
    """Network of the services."""
    coredns_addr: IPv4Address | None = None
    """Address of cluster DNS. None: the tenth of the service network."""
    api: ApiSection = ApiSection()
    """The API."""
    schedule_on_controllers: bool | None = None
    """Whether controllers take work. None: only when there are no workers."""
    oidc: Oidc | None = None
    """None: no identity provider."""
    extra_args: ExtraArguments = ExtraArguments()
    """Arguments of the control plane's programs."""
    extra_manifests: dict[Annotated[str, DNS_LABEL], Annotated[str, HTTP_URL]] = field(
        default_factory=dict
    )
    """Addresses of manifests that Talos applies when the cluster comes up, by name."""
    inline_manifests: dict[Annotated[str, DNS_LABEL], InlineManifest] = field(default_factory=dict)
    """Manifests that Talos applies when the cluster comes up, by name."""


@record
class GatewaysSection(Traced):
    """Addresses of the gateways."""

    internal: IPv4Address | None = None
    """Gateway of services for the local network."""
    dns: IPv4Address | None = None
    """DNS server for names of the cluster's domain in the local network."""
    external: IPv4Address | None = None
    """Gateway of services for the internet. None: nothing is published."""


@record
class RepositorySection(Traced):
    """The Git repository that the cluster follows."""

    url: Annotated[str, GIT_URL] | None = None
    """Address of the repository."""
    branch: str = "main"
    """Branch that Flux follows."""
    webhook_provider: Literal["github", "gitlab", "generic-hmac", "none"] = "github"
    """Who calls when there is a new commit; none: Flux only polls."""
    known_hosts: str | None = None
    """SSH host keys of the Git server. None: those of github.com, gitlab.com, codeberg.org."""
    ci: Literal["github", "gitlab", "none"] | None = None
    """Whose CI checks changes of the repository. None: that of its host, where it is one of
    these."""
    renovate: bool = True
    """Whether the configuration of Renovate is rendered."""
    tasks: bool = False
    """Whether a Taskfile.yaml (cluster.toml: a justfile) with the usual names of tasks is
    rendered."""
    layout: Literal["classic", "toml"] | None = None
    """Where rendered files stand: classic is for talhelper, helmfile.d and go-task, toml for topf,
    helmfile and just. None: that of the files in which this is written."""


@record
class DomainSection(Traced):
    """The cluster's DNS domain."""

    name: Domain | None = None
    """Domain of published services."""


@record
class DnsSection(Traced):
    """Public DNS."""

    provider: Literal["cloudflare", "none"] = "cloudflare"
    """Who serves the domain; none: nothing is published."""
    token: Secret | None = None
    """API token that may edit the zone."""


@record
class IngressSection(Traced):
    """How the internet reaches the external gateway."""

    mode: Literal["cloudflare-tunnel", "direct", "none"] | None = None
    """None: a tunnel with Cloudflare DNS, otherwise none."""


@record
class BgpSection(Traced):
    """BGP between Cilium and a router: all three keys or none."""

    router_addr: IPv4Address | None = None
    """Address of the router."""
    router_asn: Asn | None = None
    """AS number of the router."""
    node_asn: Asn | None = None
    """AS number of the nodes."""


@record
class CiliumSection(Traced):
    """Network of the pods and load balancing."""

    loadbalancer_mode: Literal["dsr", "snat"] = "dsr"
    """How replies travel: straight from the node (dsr) or back through the first one (snat)."""
    loadbalancer_pool: tuple[Annotated[str, ADDRESS_POOL], ...] = ()
    """Further addresses for LoadBalancer services, besides the gateways."""
    bgp: BgpSection = BgpSection()
    """Announce addresses by BGP instead of layer 2."""


@record
class SpegelSection(Traced):
    """Image sharing between nodes."""

    enabled: bool | None = None
    """None: with more than one node."""
