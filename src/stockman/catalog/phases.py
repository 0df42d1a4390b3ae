"""When a component comes up: a phase begins when the one before it is ready."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The order in which a cluster comes to life."""

    DEFINITIONS = "definitions"
    """Custom resource definitions that others count on."""
    NETWORK = "network"
    """Pods reach each other; nodes become ready."""
    CLOUD = "cloud"
    """Nodes get their identity, before anything that does not tolerate a new node."""
    DNS = "dns"
    """Names resolve."""
    DELIVERY = "delivery"
    """The cluster follows its repository; from here on Flux installs everything."""
    PLATFORM = "platform"
    """What applications build on: certificates, storage, gateways, monitoring."""
    APPLICATIONS = "applications"
    """What people use."""

    @property
    def rank(self) -> int:
        """Its place in the order."""
        return list(Phase).index(self)

    @property
    def before_flux(self) -> bool:
        """Whether it has to be there before the cluster can follow its repository."""
        return self.rank <= Phase.DELIVERY.rank
