"""What a component sees when it is rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.config.presets import Dialect
from stockman.model.component import Component as Wish
from stockman.model.components import KnownComponent
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class Tunnel:
    """Credentials of a Cloudflare tunnel."""

    id: str
    token: Secret


@record
class Materials:
    """What does not stand in the configuration but in files next to it."""

    age_recipient: str
    age_identity: Secret
    deploy_key: Secret | None = None
    """None: the repository is read without a key."""
    webhook_token: Secret | None = None
    """None: nothing tells the cluster of a push."""
    tunnel: Tunnel | None = None
    """None: there is no tunnel."""
    proxmox_authorities: Mapping[str, str] = field(default_factory=dict)
    """Certificates of the authorities that Proxmox clusters name in `tls.ca_file`, by region."""
    machine_templates: Mapping[str, Secret] = field(default_factory=dict)
    """Machine configurations for new nodes like a worker, by that worker's name."""


@record
class Scene:
    """A component's surroundings; nothing else may influence what it renders."""

    desired: Desired
    cluster: Cluster
    wish: Wish
    """The user's keys for this component."""
    known: KnownComponent
    settings: object
    """The component's own settings, a record of the class that it declares."""
    materials: Materials
    dialect: Dialect
    enabled: Mapping[str, str]
    """Every component that is on, with the reason."""

    @property
    def namespace(self) -> str:
        return self.wish.namespace or self.known.namespace

    @property
    def tag(self) -> str:
        """Version of the chart as its registry spells it."""
        if self.wish.version is None:
            return self.known.tag
        prefix = "v" if self.known.tag.startswith("v") else ""
        return f"{prefix}{self.wish.version}"

    def on(self, name: str) -> bool:
        """Whether another component is on."""
        return name in self.enabled

    @property
    def domain(self) -> str:
        """The domain as rendered files name it; it is substituted by Flux."""
        return "${SECRET_DOMAIN}"

    def needed(self, value: Secret | None, key: str) -> Secret:
        """A secret that the component cannot do without."""
        if value is None:
            raise Refused(
                Problem(
                    code="component.secret",
                    what=f"{self.known.name} lacks {key}",
                    why="the component is on, and it cannot work without it",
                    fix=f"set {key}, or turn {self.known.name} off",
                )
            )
        return value
