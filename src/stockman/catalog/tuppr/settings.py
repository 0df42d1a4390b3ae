"""Settings of tuppr: from where upgrades start, and what has to be well before them."""

from __future__ import annotations

from stockman.catalog.component import ComponentContext
from stockman.model.compatibility import Verdict, upgrade_compatibility
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.version import Version


@record
class TupprSettings(Traced):
    """What tuppr checks before and while it upgrades."""

    running_talos: Version | None = None
    """The Talos version that runs now, where known: a step that Talos does not allow is then
    refused here, because tuppr does not look. None: not known."""
    volsync_gate: bool = False
    """Wait for backups of VolSync that are on their way."""
    ceph_gate: bool = False
    """Wait until Ceph is healthy before each node."""


def settings_of(scene: ComponentContext) -> TupprSettings:
    """The component's settings."""
    settings = scene.settings
    return settings if isinstance(settings, TupprSettings) else TupprSettings()


def check(scene: ComponentContext, problems: Problems) -> None:
    """Refuse a version that cannot be reached in one step from the one that runs."""
    settings = settings_of(scene)
    running, wanted = settings.running_talos, scene.cluster.talos.version
    if running is None:
        return
    fit = upgrade_compatibility("Talos", running, wanted)
    if fit.verdict is Verdict.REFUSED:
        problems.error(
            "tuppr.path",
            f"tuppr would upgrade Talos from {running} to {wanted}",
            why=fit.reason,
            fix="set talos.version to a version on the way",
            at=scene.cluster.talos.where("version") or settings.where("running_talos"),
        )
