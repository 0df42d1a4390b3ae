"""Settings of Cilium, and which of them go together."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.catalog.component import ComponentContext
from stockman.model.formats import Example
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class CiliumSettings(Traced):
    """What of Cilium is switched on."""

    encryption: Literal["none", "wireguard"] = "none"
    """Encryption of traffic between nodes. Pods on one node talk in the clear."""
    node_encryption: bool = False
    """Whether traffic of the nodes themselves is encrypted too; needs `encryption`."""
    mutual_authentication: bool = False
    """Identities of workloads are proved by SPIRE where a policy asks for it. Beta; it encrypts
    nothing by itself."""
    hubble: bool = False
    """Whether flows are recorded and can be queried."""
    hubble_ui: bool = False
    """The web page of Hubble, on the internal gateway; turns `hubble` on. It has no login."""
    gateway_api: bool = False
    """Whether Cilium serves gateways of the class `cilium`, besides envoy-gateway."""
    l7_policies: bool = True
    """Policies on HTTP, gRPC and DNS. They pass through a proxy on each node; when that restarts,
    connections under such a policy break."""
    l2_interfaces: tuple[Annotated[str, Example("^eth[0-9]+$")], ...] = ()
    """Regular expressions for links that announce addresses. Empty: all of them."""


def settings_of(scene: ComponentContext) -> CiliumSettings:
    """Cilium's settings; the defaults where another component asks."""
    settings = scene.settings
    return settings if isinstance(settings, CiliumSettings) else CiliumSettings()


def check(scene: ComponentContext, problems: Problems) -> None:
    """Report settings that contradict each other."""
    settings = settings_of(scene)
    if settings.node_encryption and settings.encryption == "none":
        problems.error(
            "cilium.encryption",
            "cilium encrypts traffic of nodes, but no traffic at all",
            why="node_encryption extends encryption, which is none",
            fix="set encryption to wireguard, or remove node_encryption",
            at=settings.where("node_encryption"),
        )
    if settings.gateway_api and not settings.l7_policies:
        problems.error(
            "cilium.gateway",
            "cilium serves gateways without its proxy",
            why="gateways need the proxy that l7_policies turns off",
            fix="remove l7_policies: false, or gateway_api",
            at=settings.where("gateway_api"),
        )
    if settings.mutual_authentication and settings.encryption == "none":
        problems.warn(
            "cilium.authentication",
            "cilium proves identities, but sends everything in the clear",
            why="mutual authentication happens beside the connection and does not encrypt it",
            fix="set encryption to wireguard too",
            at=settings.where("mutual_authentication"),
        )
