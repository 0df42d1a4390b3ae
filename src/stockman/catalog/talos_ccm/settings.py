"""Settings of the Talos cloud controller manager."""

from __future__ import annotations

from typing import Annotated

from stockman.catalog.component import ComponentContext
from stockman.model.formats import Example
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class TalosCcmSettings(Traced):
    """Sources of node labels, besides the machines' meta-data."""

    transformations: tuple[
        Annotated[object, Example("{name: zone, labels: {topology.kubernetes.io/zone: a}}")], ...
    ] = ()
    """Rules that set labels, annotations or metadata, as described in the documentation of the
    component. Empty: the meta-data of the machines is used."""


def settings_of(context: ComponentContext) -> TalosCcmSettings:
    """Return the component's settings."""
    settings = context.settings
    return settings if isinstance(settings, TalosCcmSettings) else TalosCcmSettings()


def check(context: ComponentContext, problems: Problems) -> None:
    """Report invalid transformations, and labels that nothing sets."""
    settings = settings_of(context)
    for index, transformation in enumerate(settings.transformations):
        if not isinstance(transformation, dict) or "name" not in transformation:
            problems.error(
                "component.transformation",
                f"transformation {index + 1} of talos-ccm has no name",
                why="each must be a mapping with a name and what it sets",
                fix="write it as `name: ...` with labels, annotations or platformMetadata",
                at=settings.where(f"transformations[{index}]"),
            )
    alone = not context.is_enabled("proxmox-ccm")
    if alone and not settings.transformations and context.cluster.talos.platform == "metal":
        problems.warn(
            "component.unlabelled",
            "talos-ccm manages the nodes, but nothing sets their region and zone",
            why="metal machines have no meta-data, and there are no transformations",
            fix="use platform nocloud, add transformations, or enable proxmox-ccm",
            at=context.options.where("enabled"),
        )
