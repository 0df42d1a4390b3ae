"""Settings of tuppr: running version, and checks before upgrades."""

from __future__ import annotations

from stockman.catalog.component import ComponentContext
from stockman.model.compatibility import Verdict, upgrade_compatibility
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.version import Version


@record
class TupprSettings(Traced):
    """Checks before and during upgrades."""

    running_talos: Version | None = None
    """The Talos version that runs now, if known: steps that Talos does not support are then
    refused, because tuppr does not check. None: unknown."""
    volsync_gate: bool = False
    """Wait for running VolSync backups."""
    ceph_gate: bool = False
    """Wait until Ceph is healthy before each node."""


def settings_of(context: ComponentContext) -> TupprSettings:
    """Return the component's settings."""
    settings = context.settings
    return settings if isinstance(settings, TupprSettings) else TupprSettings()


def check(context: ComponentContext, problems: Problems) -> None:
    """Refuse a version that cannot be reached in one step."""
    settings = settings_of(context)
    running, desired = settings.running_talos, context.cluster.talos.version
    if running is None:
        return
    fit = upgrade_compatibility("Talos", running, desired)
    if fit.verdict is Verdict.REFUSED:
        problems.error(
            "tuppr.path",
            f"tuppr would upgrade Talos from {running} to {desired}",
            why=fit.reason,
            fix="set talos.version to an intermediate version",
            at=context.cluster.talos.where("version") or settings.where("running_talos"),
        )
