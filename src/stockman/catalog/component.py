"""The definition of a component: everything stockman knows of it, in one record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from stockman.catalog.access import ProxmoxAccess, TalosAccess
from stockman.catalog.app import App, PlainFile
from stockman.catalog.phases import Phase
from stockman.catalog.readiness import Condition, Trial, moved
from stockman.catalog.scene import Scene
from stockman.catalog.troubles import Alert, Trouble
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record

Apps: TypeAlias = Callable[[Scene], Iterable[App]]
Check: TypeAlias = Callable[[Scene, Problems], None]
Files: TypeAlias = Callable[[Scene], Iterable[PlainFile]]
TrialOf: TypeAlias = Callable[[Scene], Trial | None]


@record
class NoSettings(Traced):
    """A component that has no settings of its own."""


def _accept(scene: Scene, problems: Problems) -> None:
    """Whatever the schema of its settings lets through is fine."""


def _no_files(scene: Scene) -> Iterable[PlainFile]:
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
    trial: Trial | None
    """What it is for, tried. None: its conditions prove all there is to prove."""
    settings: type[Traced] = NoSettings
    """The class of its own settings."""
    trial_of: TrialOf | None = None
    """The trial where it depends on the configuration. None: `trial` is right everywhere."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Confidential settings that it reads, each with what it is; REGION stands for a name."""
    files: Files = _no_files
    """Files that it keeps in the repository besides its apps; nothing in the cluster reads them."""
    check: Check = _accept
    """Rules between its settings and the rest of the configuration."""
    proxmox: ProxmoxAccess | None = None
    """None: it does not talk to Proxmox VE."""
    talos: TalosAccess | None = None
    """None: it does not talk to Talos."""
    alerts: tuple[Alert, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    definitions: tuple[str, ...] = ()
    """Groups of custom resources that it brings, `cilium.io`."""

    def conditions(self, scene: Scene) -> tuple[Condition, ...]:
        """What holds once it works, in the namespace that it was given."""
        return moved(self.ready, scene.known.namespace, scene.namespace)

    def trial_in(self, scene: Scene) -> Trial | None:
        """The trial of this configuration. None: there is nothing to try."""
        return self.trial_of(scene) if self.trial_of is not None else self.trial
