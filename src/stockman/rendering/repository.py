"""Render the repository of a cluster, before anything is encrypted or written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType

from stockman.catalog.component import InputFiles
from stockman.catalog.selection import SelectedComponent, select_components
from stockman.config.language import Dialect
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
from stockman.rendering.applications import OrderedApp, application_files, order_apps
from stockman.rendering.bootstrap import (
    all_charts,
    bootstrap_secrets,
    charts_before_flux,
    charts_with_crds,
    helmfile_files,
)
from stockman.rendering.flux import cluster_files
from stockman.rendering.renovate import renovate_file
from stockman.rendering.sops_rules import sops_rules_file
from stockman.rendering.talos_files import Patches, talos_files
from stockman.rendering.tasks import ci_files, task_files
from stockman.rendering.tree import FileTree, RenderedFile

_NO_PATCHES: Patches = MappingProxyType({})
_SECURITY_LEVELS = ("", "restricted", "baseline", "privileged")


@record
class RenderedRepository:
    """The rendered files and the apps they come from."""

    tree: FileTree
    apps: tuple[OrderedApp, ...]
    selection: tuple[SelectedComponent, ...]


def render_repository(
    desired: Desired,
    materials: InputFiles,
    dialect: Dialect,
    problems: Problems,
    patches: Patches = _NO_PATCHES,
) -> RenderedRepository:
    """Render all files of a cluster; errors in settings are added to the problems.

    `dialect` is that of the configuration; the repository may have the layout of the other one.
    `patches` are the machine configuration patches, which talhelper and topf get too.
    """
    cluster = _cluster(desired)
    layout = cluster.repository.layout or dialect
    selection = select_components(desired, cluster, materials, layout, problems)
    if problems.errors:
        return RenderedRepository(tree=FileTree(), apps=(), selection=())
    apps = order_apps(selection)
    tree = FileTree(application_files(apps, _pod_security_levels(selection, apps)))
    inputs = RepositoryInputs(
        desired=desired,
        cluster=cluster,
        materials=materials,
        dialect=dialect,
        layout=layout,
        patches=patches,
    )
    for selected in selection:
        for kept in selected.component.files(selected.context):
            tree.add(RenderedFile(path=kept.path, owner=selected.component.name, text=kept.text))
    for file in repository_files(inputs, selection, apps, problems):
        tree.add(file)
    return RenderedRepository(tree=tree, apps=apps, selection=selection)


def _pod_security_levels(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> dict[str, str]:
    """Return the most permissive pod security level that a component needs, by namespace."""
    requested = {
        selected.component.name: selected.context.facts.pod_security for selected in selection
    }
    levels: dict[str, str] = {}
    for placed in apps:
        namespace = placed.app.namespace
        both = (levels.get(namespace, ""), requested.get(placed.owner, ""))
        levels[namespace] = max(both, key=_SECURITY_LEVELS.index)
    return levels


def _cluster(desired: Desired) -> Cluster:
    if desired.cluster is None:
        raise Refused(cluster_missing(has_guests=bool(desired.guests)))
    return desired.cluster


def cluster_missing(*, has_guests: bool) -> Problem:
    """Return the problem of a configuration without a cluster."""
    if has_guests:
        return Problem(
            code="render.no-cluster",
            what="there is nothing to render: guests and hosts need no files",
            why=(
                "the configuration has no nodes, so there is no cluster that follows a repository"
            ),
            fix="continue with `stockman plan`; for a cluster, add nodes to nodes.yaml",
            severity=Severity.WARNING,
        )
    return Problem(
        code="render.no-cluster",
        what="there is nothing to render",
        why="the configuration has no nodes, so there is no cluster",
        fix="add nodes to nodes.yaml",
    )


@record
class RepositoryInputs:
    """Input for the files that do not belong to a component."""

    desired: Desired
    cluster: Cluster
    materials: InputFiles
    dialect: Dialect
    """Dialect of the configuration."""
    layout: Dialect
    """Dialect whose directory layout the repository uses."""
    patches: Patches


def repository_files(
    inputs: RepositoryInputs,
    selection: tuple[SelectedComponent, ...],
    apps: tuple[OrderedApp, ...],
    problems: Problems,
) -> Iterator[RenderedFile]:
    """Return the files that do not belong to a component."""
    cluster, materials, layout = inputs.cluster, inputs.materials, inputs.layout
    repository = cluster.repository
    yield from sops_rules_file(inputs.dialect, materials.age_recipient)
    if apps:
        # A cluster without components is managed by others and does not follow this repository.
        yield from cluster_files(cluster)
        yield from bootstrap_secrets(cluster, materials, layout, problems)
        yield from helmfile_files(
            charts_with_crds(selection, apps), charts_before_flux(selection, apps), layout
        )
    yield from talos_files(inputs.desired, layout, inputs.patches, problems, inputs.dialect)
    yield from ci_files(repository)
    if repository.renovate:
        yield from renovate_file(inputs.desired, all_charts(apps))
    if repository.tasks:
        yield from task_files(layout)
