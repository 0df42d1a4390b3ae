"""How upgrades are carried out: engine, strategy, width, canaries, windows, gates, budgets."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import Between, CronText, DurationText, Example, Name, NodeNameText

Strategy = Literal["pets", "cattle"]


@record
class Window(Traced):
    """A time span in which upgrades and restarts of machines may begin."""

    start: CronText
    """When it opens, as five cron fields."""
    duration: DurationText = "4h"
    """How long it stays open."""
    timezone: Annotated[str, Example("Europe/Berlin")] = "UTC"
    """Time zone of `start`."""


@record
class HealthGate(Traced):
    """A condition on a Kubernetes object that has to hold before each step."""

    name: Name
    """Name shown in plans."""
    api_version: Annotated[str, Example("v1")]
    """API version of the object."""
    kind: Annotated[str, Example("Node")]
    """Kind of the object."""
    expr: Annotated[str, Example('status.phase == "Active"')]
    """CEL expression over `object` and `status`; true lets the upgrade go on."""
    namespace: str | None = None
    """None: cluster-scoped, or all namespaces."""
    object_name: str | None = None
    """None: every object of the kind that `selector` matches."""
    selector: str | None = None
    """Label selector. None: all objects of the kind."""
    timeout: DurationText = "10m"
    """How long to wait for it."""


@record
class Budgets(Traced):
    """Limits that stop an upgrade."""

    max_unavailable: Annotated[int, Between(0, 1000)] = 1
    """Nodes that may be down at once, for whatever reason."""
    max_failures: Annotated[int, Between(0, 1000)] = 0
    """Nodes that may fail before the run stops."""
    drain_timeout: DurationText = "10m"
    """Time for pods to leave a node."""
    node_timeout: DurationText = "30m"
    """Time for one node from start to healthy."""


@record
class ClassUpgrade(Traced):
    """Exceptions for the nodes of one class."""

    strategy: Strategy | None = None
    """None: as for all."""
    width: Annotated[int, Between(1, 100)] | None = None
    """None: as for all."""


@record
class Upgrade(Traced):
    """How Talos and Kubernetes are upgraded. One engine owns it, never two."""

    engine: Literal["stockman", "tuppr"] = "stockman"
    """Who carries upgrades out: stockman itself, or the tuppr controller in the cluster."""
    strategy: Strategy = "pets"
    """pets: in place. cattle: a new VM for each node. Controllers are always one at a time."""
    width: Annotated[int, Between(1, 100)] = 1
    """Workers in work at once."""
    domains: Literal["host", "region", "none"] = "host"
    """Two nodes of one domain are never in work together."""
    canary: tuple[NodeNameText, ...] = ()
    """Nodes that go first, alone."""
    soak: DurationText = "10m"
    """How long canaries have to stay healthy before the rest follows."""
    windows: tuple[Window, ...] = ()
    """When upgrades begin, and restarts that a change needs. Empty: any time."""
    gates: tuple[HealthGate, ...] = ()
    """Conditions besides those that stockman always checks."""
    budgets: Budgets = Budgets()
    """Limits that stop an upgrade."""
    classes: dict[str, ClassUpgrade] = field(default_factory=dict)
    """Exceptions by node class."""
