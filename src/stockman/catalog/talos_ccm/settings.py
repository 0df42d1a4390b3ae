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
    """Where labels of nodes come from, besides the machines' own meta-data."""

    transformations: tuple[
        Annotated[object, Example("{name: zone, labels: {topology.kubernetes.io/zone: a}}")], ...
    ] = ()
    """Rules that set labels, annotations or metadata, as the component's own documentation
    describes them. Empty: what the machines' meta-data says."""


def settings_of(scene: ComponentContext) -> TalosCcmSettings:
    """The component's settings."""
    settings = scene.settings
    return settings if isinstance(settings, TalosCcmSettings) else TalosCcmSettings()


def check(scene: ComponentContext, problems: Problems) -> None:
    """Report transformations that are none, and labels that nobody sets."""
    settings = settings_of(scene)
    for index, one in enumerate(settings.transformations):
        if not isinstance(one, dict) or "name" not in one:
            problems.error(
                "component.transformation",
                f"transformation {index + 1} of talos-ccm has no name",
                why="each is a mapping with a name and what it sets",
                fix="write it as `name: ...` with labels, annotations or platformMetadata",
                at=settings.where(f"transformations[{index}]"),
            )
    alone = not scene.on("proxmox-ccm")
    if alone and not settings.transformations and scene.cluster.talos.platform == "metal":
        problems.warn(
            "component.unlabelled",
            "talos-ccm owns the nodes, and nothing says their region and zone",
            why="metal machines have no meta-data, and there are no transformations",
            fix="use platform nocloud, add transformations, or turn proxmox-ccm on",
            at=scene.wish.where("enabled"),
        )
