"""The definition of a component: everything stockman knows about it, in one record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import TypeAlias, TypeVar

from stockman.catalog.app import App, PlainFile
from stockman.catalog.conditions import Condition, SmokeTest, in_namespace
from stockman.config.language import Dialect
from stockman.model.component import Component as ComponentOptions
from stockman.model.component import ComponentFacts
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused
from stockman.model.origin import Traced
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret

SettingsT = TypeVar("SettingsT", bound=Traced)


@record
class ProxmoxAccess:
    """User, role and token of a component in Proxmox VE."""

    user: str
    """`stockman-csi@pve`."""
    token: str
    """Name of its token."""
    role: str
    privileges: tuple[str, ...]
    privileges_from_9: tuple[str, ...] = ()
    """Additional privileges, which exist in Proxmox VE 9 and later."""
    paths: tuple[str, ...] = ("/",)
    """Paths on which the user and its token get the role."""


@record
class TalosAccess:
    """The role of a component in the Talos API, which it uses from inside of the cluster."""

    role: str
    """The role that machine configurations allow."""
    secret: str
    """Secret that Talos creates for it."""


class Phase(Enum):
    """Phases of the installation, in order; each one starts when the previous one is ready."""

    DEFINITIONS = "definitions"
    """Custom resource definitions that others need."""
    NETWORK = "network"
    """The pod network; nodes become ready."""
    CLOUD = "cloud"
    """Node identities; needed by pods that do not tolerate new nodes."""
    DNS = "dns"
    """Name resolution."""
    DELIVERY = "delivery"
    """Flux follows the repository and installs everything else."""
    PLATFORM = "platform"
    """Services for applications: certificates, storage, gateways, monitoring."""
    APPLICATIONS = "applications"
    """Applications of users."""

    @property
    def rank(self) -> int:
        """Position in the order."""
        return list(Phase).index(self)

    @property
    def before_flux(self) -> bool:
        """Whether the cluster needs it before Flux can follow the repository."""
        return self.rank <= Phase.DELIVERY.rank


@record
class KnownProblem:
    """A known problem: symptom, cause and fix."""

    symptom: str
    """What users observe."""
    cause: str
    fix: str


@record
class Alert:
    """A Prometheus alert rule."""

    name: str
    expr: str
    holds: str
    """How long the expression has to be true, `10m`."""
    severity: str
    """`critical` or `warning`."""
    summary: str
    """One sentence; may use `{{ $labels.node }}`."""
    metrics: tuple[str, ...]
    """Names of the metrics in the expression; each is in the table of metrics."""


@record
class Tunnel:
    """Credentials of a Cloudflare tunnel."""

    id: str
    token: Secret


@record
class InputFiles:
    """Input from files beside the configuration."""

    age_recipient: str
    age_identity: Secret
    deploy_key: Secret | None = None
    """None: the repository is public."""
    webhook_token: Secret | None = None
    """None: no webhook notifies Flux of a push."""
    tunnel: Tunnel | None = None
    """None: there is no tunnel."""
    proxmox_authorities: Mapping[str, str] = field(default_factory=dict)
    """CA certificates of Proxmox clusters from `tls.ca_file`, by region."""
    machine_templates: Mapping[str, Secret] = field(default_factory=dict)
    """Machine configurations for new nodes, by name of the worker they are copied from."""


@record
class ComponentContext:
    """All inputs of a component: nothing else influences its files."""

    desired: Desired
    cluster: Cluster
    options: ComponentOptions
    """The user's configuration of this component."""
    facts: ComponentFacts
    settings: object
    """The component's own settings, a record of the class it declares."""
    materials: InputFiles
    dialect: Dialect
    enabled: Mapping[str, str]
    """All enabled components, with the reason."""

    @property
    def namespace(self) -> str:
        return self.options.namespace or self.facts.namespace

    @property
    def tag(self) -> str:
        """Version of the chart, with the prefix used in its registry."""
        if self.options.version is None:
            return self.facts.tag
        prefix = "v" if self.facts.tag.startswith("v") else ""
        return f"{prefix}{self.options.version}"

    def settings_as(self, cls: type[SettingsT]) -> SettingsT:
        """Return the settings as a record of this class; defaults if it has none."""
        return self.settings if isinstance(self.settings, cls) else cls()

    def is_enabled(self, name: str) -> bool:
        """Return whether another component is enabled."""
        return name in self.enabled

    @property
    def domain(self) -> str:
        """The domain in rendered files; Flux substitutes it."""
        return "${SECRET_DOMAIN}"

    def require(self, value: Secret | None, key: str) -> Secret:
        """Return a required secret; raises `Refused` if it is missing."""
        if value is None:
            raise Refused(
                Problem(
                    code="component.secret",
                    what=f"{self.facts.name} needs {key}",
                    why="the component is enabled, and it cannot work without it",
                    fix=f"set {key}, or disable {self.facts.name}",
                )
            )
        return value


Apps: TypeAlias = Callable[[ComponentContext], Iterable[App]]
Check: TypeAlias = Callable[[ComponentContext, Problems], None]
Files: TypeAlias = Callable[[ComponentContext], Iterable[PlainFile]]
SmokeTestFor: TypeAlias = Callable[[ComponentContext], SmokeTest | None]


@record
class NoSettings(Traced):
    """Settings of a component without settings of its own."""


def _no_check(context: ComponentContext, problems: Problems) -> None:
    """No rules beyond the schema of the settings."""


def _no_files(context: ComponentContext) -> Iterable[PlainFile]:
    """No files beyond its apps."""
    return ()


@record
class Component:
    """A component of the catalog. Its versions and sources are in its `facts.json`."""

    name: str
    about: str
    """Its purpose, in one sentence."""
    phase: Phase
    apps: Apps
    """Returns its apps in the repository."""
    ready: tuple[Condition, ...]
    """Conditions that are true when it works."""
    smoke_test: SmokeTest | None = None
    """Test of its function. None: the conditions are sufficient."""
    settings: type[Traced] = NoSettings
    """The class of its own settings."""
    smoke_test_for: SmokeTestFor | None = None
    """Returns a test that depends on the configuration. None: `smoke_test` is always used."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Secrets in its settings, each with a description; REGION stands for a name."""
    files: Files = _no_files
    """Returns other files in the repository, which are not applied."""
    check: Check = _no_check
    """Rules between its settings and the rest of the configuration."""
    proxmox: ProxmoxAccess | None = None
    """None: it does not use Proxmox VE."""
    proxmox_for: Callable[[ComponentOptions], ProxmoxAccess] | None = None
    """Returns the access that depends on its configuration. None: `proxmox` is always used."""
    talos: TalosAccess | None = None
    """None: it does not use Talos."""
    alerts: tuple[Alert, ...] = ()
    known_problems: tuple[KnownProblem, ...] = ()
    definitions: tuple[str, ...] = ()
    """API groups of its custom resources, `cilium.io`."""

    def proxmox_access(self, options: ComponentOptions) -> ProxmoxAccess | None:
        """Return the access that a configuration of the component needs. None: it needs none."""
        return self.proxmox_for(options) if self.proxmox_for is not None else self.proxmox

    def conditions(self, context: ComponentContext) -> tuple[Condition, ...]:
        """Return the conditions, in the namespace of the configuration."""
        return in_namespace(self.ready, context.facts.namespace, context.namespace)

    def smoke_test_in(self, context: ComponentContext) -> SmokeTest | None:
        """Return the smoke test, in the namespace of the configuration. None: there is none."""
        test = self.smoke_test_for(context) if self.smoke_test_for is not None else self.smoke_test
        if test is None or context.namespace == context.facts.namespace:
            return test
        return test.moved(context.facts.namespace, context.namespace)
