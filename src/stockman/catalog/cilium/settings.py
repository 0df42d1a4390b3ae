"""Settings of Cilium, and rules between them."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.catalog.component import ComponentContext
from stockman.model.formats import Example
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class CiliumSettings(Traced):
    """Features of Cilium."""

    encryption: Literal["none", "wireguard"] = "none"
    """Encryption of traffic between nodes. Traffic between pods of one node is not encrypted."""
    node_encryption: bool = False
    """Whether traffic of the nodes themselves is encrypted too; needs `encryption`."""
    mutual_authentication: bool = False
    """Whether SPIRE verifies identities of workloads for policies that require it. Beta; does not
    encrypt."""
    hubble: bool = False
    """Whether network flows are recorded and can be queried."""
    hubble_ui: bool = False
    """Whether the Hubble web page is published on the internal gateway; enables `hubble`. It has no
    login."""
    gateway_api: bool = False
    """Whether Cilium serves gateways of the class `cilium`, in addition to envoy-gateway."""
    l7_policies: bool = True
    """Enable policies on HTTP, gRPC and DNS. They use a proxy on each node; when it restarts,
    connections under such a policy are interrupted."""
    l2_interfaces: tuple[Annotated[str, Example("^eth[0-9]+$")], ...] = ()
    """Regular expressions for links that announce addresses. Empty: all links."""


def settings_of(context: ComponentContext) -> CiliumSettings:
    """Return the settings of Cilium; the defaults if it was enabled by another component."""
    settings = context.settings
    return settings if isinstance(settings, CiliumSettings) else CiliumSettings()


def check(context: ComponentContext, problems: Problems) -> None:
    """Report settings that contradict each other."""
    settings = settings_of(context)
    if settings.node_encryption and settings.encryption == "none":
        problems.error(
            "cilium.encryption",
            "cilium encrypts traffic of nodes, but encryption is off",
            why="node_encryption extends encryption, which is set to none",
            fix="set encryption to wireguard, or remove node_encryption",
            at=settings.where("node_encryption"),
        )
    if settings.gateway_api and not settings.l7_policies:
        problems.error(
            "cilium.gateway",
            "cilium serves gateways, but its proxy is off",
            why="gateways need the proxy, which l7_policies enables",
            fix="remove l7_policies: false, or gateway_api",
            at=settings.where("gateway_api"),
        )
    if settings.mutual_authentication and settings.encryption == "none":
        problems.warn(
            "cilium.authentication",
            "cilium verifies identities, but traffic is not encrypted",
            why="mutual authentication does not encrypt the connection",
            fix="set encryption to wireguard too",
            at=settings.where("mutual_authentication"),
        )
