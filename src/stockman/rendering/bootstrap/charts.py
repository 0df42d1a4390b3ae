"""Helm charts of the apps, for programs other than Flux that install them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.app import Object
from stockman.catalog.component import Phase
from stockman.catalog.selection import SelectedComponent
from stockman.model.record import record
from stockman.rendering.app_order import OrderedApp

_FOLDER = "app"
"""Directory in which helmfile looks for the values of a release."""


@record
class Chart:
    """A chart and its Helm release."""

    component: str
    release: str
    """Also the name of the directory with its values, below that of the namespace."""
    namespace: str
    source: str
    """`oci://...` including the chart name, or the URL of a repository."""
    name: str
    """Chart name in a repository; empty for OCI, whose URL contains it."""
    version: str
    folder: str
    """Directory of the app below that of the component."""
    has_definitions: bool
    """Whether the chart may install custom resource definitions."""
    is_waited_for: bool
    """Whether all of its objects can become ready before anything else is installed."""

    @property
    def is_main(self) -> bool:
        """Whether its values are in the usual directory."""
        return self.folder == _FOLDER

    @property
    def is_oci(self) -> bool:
        return self.source.startswith("oci://")


def charts_before_flux(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> tuple[Chart, ...]:
    """Return the releases that the cluster needs before Flux can run, in order.

    Suspended apps are left to Flux.
    """
    ready = (placed for placed in apps if not placed.app.pending)
    known = {chart.component: chart for chart in all_charts(ready) if chart.is_main}
    first = [item for item in selection if item.component.phase.before_flux]
    first = [item for item in first if item.component.phase is not Phase.DEFINITIONS]
    return tuple(known[name] for name in _order_names(first) if name in known)


def charts_with_crds(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> tuple[Chart, ...]:
    """Return the releases with CRDs that must exist before their release is installed."""
    placed = tuple(apps)
    chosen = tuple(selection)
    early = {chart.component for chart in charts_before_flux(chosen, placed)}
    bringing = {item.component.name for item in chosen if item.component.definitions} - early
    return tuple(
        chart
        for chart in all_charts(placed)
        if chart.is_main and chart.has_definitions and chart.component in bringing
    )


def all_charts(apps: Iterable[OrderedApp]) -> Iterator[Chart]:
    """Return every chart that is installed as its own release."""
    for placed in apps:
        objects = {
            str(content.get("kind")): content
            for sheet in placed.app.sheets
            for content in sheet.objects
        }
        release = objects.get("HelmRelease")
        if release is not None:
            yield _chart(placed, release, objects)


def _chart(placed: OrderedApp, release: Object, objects: Mapping[str, Object]) -> Chart:
    if "OCIRepository" in objects:
        spec = _part_of_sheet(objects["OCIRepository"], "spec")
        source, name, version = str(spec["url"]), "", str(_part_of_sheet(spec, "ref")["tag"])
    else:
        chart_spec = _part_of_sheet(
            _part_of_sheet(_part_of_sheet(release, "spec"), "chart"), "spec"
        )
        source = str(_part_of_sheet(objects["HelmRepository"], "spec")["url"])
        name, version = str(chart_spec["chart"]), str(chart_spec["version"])
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
    """Return names by phase; within a phase dependencies come first."""
    left = sorted(selection, key=lambda item: (item.component.phase.rank, item.component.name))
    while left:
        waiting = {item.component.name for item in left}
        free = next(item for item in left if not waiting & set(item.context.facts.requires))
        yield free.component.name
        left.remove(free)


def _part_of_sheet(mapping: Object, key: str) -> Object:
    value = mapping[key]
    if not isinstance(value, dict):
        raise TypeError(f"{key} is a mapping")
    return value
