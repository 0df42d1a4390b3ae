"""Charts of the apps of a repository, as programs other than Flux install them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.app import Object
from stockman.catalog.component import Phase
from stockman.catalog.selection import SelectedComponent
from stockman.model.record import record
from stockman.rendering.app_order import OrderedApp

_FOLDER = "app"
"""Directory in which programs look for the values of a release."""


@record
class Chart:
    """A chart, and the release that it is installed as."""

    component: str
    release: str
    """Also the directory below the namespace's that holds its values."""
    namespace: str
    source: str
    """Where it comes from: `oci://...` with its name, or the address of a repository."""
    name: str
    """Its name in a repository; empty for OCI, whose address holds it."""
    version: str
    folder: str
    """Directory below the component's own."""
    has_definitions: bool
    """Whether the custom resource definitions that it may bring are not turned off."""
    is_waited_for: bool
    """Whether all that it brings can run before anything else is installed."""

    @property
    def is_main(self) -> bool:
        """Whether its values stand where programs look for them."""
        return self.folder == _FOLDER

    @property
    def is_oci(self) -> bool:
        return self.source.startswith("oci://")


def charts_before_flux(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> tuple[Chart, ...]:
    """The releases without which the cluster cannot follow its repository, in their order.

    An app that still waits for something is left to Flux, which has it suspended.
    """
    ready = (placed for placed in apps if not placed.app.pending)
    known = {chart.component: chart for chart in all_charts(ready) if chart.is_main}
    first = [one for one in selection if one.component.phase.before_flux]
    first = [one for one in first if one.component.phase is not Phase.DEFINITIONS]
    return tuple(known[name] for name in _order_names(first) if name in known)


def charts_with_crds(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> tuple[Chart, ...]:
    """The releases that bring kinds and come later than objects of these kinds may."""
    placed = tuple(apps)
    chosen = tuple(selection)
    early = {chart.component for chart in charts_before_flux(chosen, placed)}
    bringing = {one.component.name for one in chosen if one.component.definitions} - early
    return tuple(
        chart
        for chart in all_charts(placed)
        if chart.is_main and chart.has_definitions and chart.component in bringing
    )


def all_charts(apps: Iterable[OrderedApp]) -> Iterator[Chart]:
    """Every chart that is installed as a release of its own."""
    for placed in apps:
        objects = {
            str(one.get("kind")): one for sheet in placed.app.sheets for one in sheet.objects
        }
        release = objects.get("HelmRelease")
        if release is not None:
            yield _chart(placed, release, objects)


def _chart(placed: OrderedApp, release: Object, objects: Mapping[str, Object]) -> Chart:
    if "OCIRepository" in objects:
        spec = _part_of_sheet(objects["OCIRepository"], "spec")
        source, name, version = str(spec["url"]), "", str(_part_of_sheet(spec, "ref")["tag"])
    else:
        wanted = _part_of_sheet(_part_of_sheet(_part_of_sheet(release, "spec"), "chart"), "spec")
        source = str(_part_of_sheet(objects["HelmRepository"], "spec")["url"])
        name, version = str(wanted["chart"]), str(wanted["version"])
    return Chart(
        component=placed.owner,
        release=placed.folder,
        namespace=placed.app.namespace,
        source=source,
        name=name,
        version=version,
        folder=placed.app.folder,
        has_definitions=_has_crds(release),
        is_waited_for=_has_dependents(release),
    )


def _has_crds(release: Object) -> bool:
    values = _part_of_sheet(release, "spec").get("values")
    wished = values.get("crds") if isinstance(values, dict) else None
    return not isinstance(wished, dict) or wished.get("enabled") is not False


def _has_dependents(release: Object) -> bool:
    install = _part_of_sheet(release, "spec").get("install")
    return not isinstance(install, dict) or install.get("disableWait") is not True


def _order_names(selection: Iterable[SelectedComponent]) -> Iterator[str]:
    """Names by phase; within a phase what others need comes before them."""
    left = sorted(selection, key=lambda one: (one.component.phase.rank, one.component.name))
    while left:
        waiting = {one.component.name for one in left}
        free = next(one for one in left if not waiting & set(one.scene.known.requires))
        yield free.component.name
        left.remove(free)


def _part_of_sheet(mapping: Object, key: str) -> Object:
    found = mapping[key]
    if not isinstance(found, dict):
        raise TypeError(f"{key} is a mapping")
    return found
