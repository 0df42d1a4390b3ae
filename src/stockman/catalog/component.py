"""What a component may do outside of Kubernetes: in Proxmox VE, and through the Talos API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import TypeAlias

from stockman.catalog.app import App, PlainFile
from stockman.catalog.conditions import Condition, SmokeTest, in_namespace
from stockman.config.presets import Dialect
from stockman.model.component import Component as Wish
from stockman.model.component import ComponentFacts
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused
from stockman.model.origin import Traced
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class ProxmoxAccess:
    """The user, role and token that a component has in Proxmox VE."""

    user: str
    """`stockman-csi@pve`."""
    token: str
    """Name of its token."""
    role: str
    privileges: tuple[str, ...]
    privileges_from_9: tuple[str, ...] = ()
    """Further privileges, which Proxmox VE has from version 9 on."""
    paths: tuple[str, ...] = ("/",)
    """Where the role is given, to the user and to its token."""


@record
class TalosAccess:
    """The role with which a component reaches the Talos API from inside of the cluster."""

    role: str
    """As in its facts, from which machine configurations allow it."""
    secret: str
    """Secret that Talos makes for it."""


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


@record
class KnownProblem:
    """One known problem."""

    shows: str
    """What people see."""
    because: str
    fix: str


@record
class Alert:
    """One rule of Prometheus."""

    name: str
    expr: str
    holds: str
    """How long the expression has to hold, `10m`."""
    severity: str
    """`critical` or `warning`."""
    summary: str
    """One sentence; may use `{{ $labels.node }}`."""
    metrics: tuple[str, ...]
    """Names of metrics in the expression; each is in the table of metrics that exist."""


@record
class Tunnel:
    """Credentials of a Cloudflare tunnel."""

    id: str
    token: Secret


@record
class InputFiles:
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
class ComponentContext:
    """A component's surroundings; nothing else may influence what it renders."""

    desired: Desired
    cluster: Cluster
    wish: Wish
    """The user's keys for this component."""
    known: ComponentFacts
    settings: object
    """The component's own settings, a record of the class that it declares."""
    materials: InputFiles
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


Apps: TypeAlias = Callable[[ComponentContext], Iterable[App]]
Check: TypeAlias = Callable[[ComponentContext, Problems], None]
Files: TypeAlias = Callable[[ComponentContext], Iterable[PlainFile]]
SmokeTestFor: TypeAlias = Callable[[ComponentContext], SmokeTest | None]


@record
class NoSettings(Traced):
    """A component that has no settings of its own."""


def _no_check(scene: ComponentContext, problems: Problems) -> None:
    """Whatever the schema of its settings lets through is fine."""


def _no_files(scene: ComponentContext) -> Iterable[PlainFile]:
    """All that it has is applied by Flux."""
    return ()


@record
class Component:
    """One component of the catalog. Its versions and sources stand in its `facts.json`."""

    name: str
    about: str
    """What it is for, in one sentence."""
    phase: Phase
    apps: Apps
    """What it puts into the repository."""
    ready: tuple[Condition, ...]
    """What holds once it works."""
    trial: SmokeTest | None
    """What it is for, tried. None: its conditions prove all there is to prove."""
    settings: type[Traced] = NoSettings
    """The class of its own settings."""
    trial_of: SmokeTestFor | None = None
    """The trial where it depends on the configuration. None: `trial` is right everywhere."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Confidential settings that it reads, each with what it is; REGION stands for a name."""
    files: Files = _no_files
    """Files that it keeps in the repository besides its apps; nothing in the cluster reads them."""
    check: Check = _no_check
    """Rules between its settings and the rest of the configuration."""
    proxmox: ProxmoxAccess | None = None
    """None: it does not talk to Proxmox VE."""
    talos: TalosAccess | None = None
    """None: it does not talk to Talos."""
    alerts: tuple[Alert, ...] = ()
    troubles: tuple[KnownProblem, ...] = ()
    definitions: tuple[str, ...] = ()
    """Groups of custom resources that it brings, `cilium.io`."""

    def conditions(self, scene: ComponentContext) -> tuple[Condition, ...]:
        """What holds once it works, in the namespace that it was given."""
        return in_namespace(self.ready, scene.known.namespace, scene.namespace)

    def trial_in(self, scene: ComponentContext) -> SmokeTest | None:
        """The trial of this configuration. None: there is nothing to try."""
        return self.trial_of(scene) if self.trial_of is not None else self.trial
