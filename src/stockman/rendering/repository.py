"""The whole repository of a cluster, before anything is encrypted or written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType

from stockman.catalog.component import InputFiles
from stockman.catalog.selection import SelectedComponent, select_components
from stockman.config.presets import Dialect
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
from stockman.rendering.app_order import OrderedApp, order_apps
from stockman.rendering.applications import application_files
from stockman.rendering.bootstrap.charts import all_charts, charts_before_flux, charts_with_crds
from stockman.rendering.bootstrap.helmfile import helmfile_files
from stockman.rendering.bootstrap.secrets import bootstrap_secrets
from stockman.rendering.ci import ci_files
from stockman.rendering.flux import cluster_files
from stockman.rendering.renovate import renovate_file
from stockman.rendering.sops_rules import sops_rules_file
from stockman.rendering.talos_files import Patches, talos_files
from stockman.rendering.tasks import task_files
from stockman.rendering.tree import FileTree, RenderedFile

_NO_PATCHES: Patches = MappingProxyType({})
_SECURITY_LEVELS = ("", "restricted", "baseline", "privileged")


@record
class RenderedRepository:
    """Files, and the apps they come from."""

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
    """Every file that stockman renders for a cluster; mistakes in settings become problems.

    `dialect` is that of the configuration, whose repository may be laid out as that of the other.
    `patches` change the machines' configurations; they are told to the tools of others too.
    """
    cluster = _cluster(desired)
    layout = cluster.repository.layout or dialect
    selection = select_components(desired, cluster, materials, layout, problems)
    if problems.errors:
        return RenderedRepository(tree=FileTree(), apps=(), selection=())
    apps = order_apps(selection)
    tree = FileTree(application_files(apps, _pod_security_levels(selection, apps)))
    around = RepositoryInputs(
        desired=desired,
        cluster=cluster,
        materials=materials,
        dialect=dialect,
        layout=layout,
        patches=patches,
    )
    for one in selection:
        for kept in one.component.files(one.scene):
            tree.add(RenderedFile(path=kept.path, owner=one.component.name, text=kept.text))
    for file in repository_files(around, selection, apps, problems):
        tree.add(file)
    return RenderedRepository(tree=tree, apps=apps, selection=selection)


def _pod_security_levels(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> dict[str, str]:
    """Per namespace, the level that its most demanding component needs."""
    wanted = {one.component.name: one.scene.known.pod_security for one in selection}
    levels: dict[str, str] = {}
    for placed in apps:
        namespace = placed.app.namespace
        both = (levels.get(namespace, ""), wanted.get(placed.owner, ""))
        levels[namespace] = max(both, key=_SECURITY_LEVELS.index)
    return levels


def _cluster(desired: Desired) -> Cluster:
    if desired.cluster is None:
        raise Refused(cluster_missing(has_guests=bool(desired.guests)))
    return desired.cluster


def cluster_missing(*, has_guests: bool) -> Problem:
    """There is no repository to render; guests do without one."""
    if has_guests:
        return Problem(
            code="render.no-cluster",
            what="there is nothing to render: guests and hosts need no files",
            why="the configuration has no nodes, and so no cluster that follows a repository",
            fix="go on with `stockman plan`; for a cluster, add nodes to nodes.yaml",
            severity=Severity.WARNING,
        )
    return Problem(
        code="render.no-cluster",
        what="there is nothing to render",
        why="the configuration has no nodes, and so no cluster",
        fix="add nodes to nodes.yaml",
    )


@record
class RepositoryInputs:
    """What these files are made from."""

    desired: Desired
    cluster: Cluster
    materials: InputFiles
    dialect: Dialect
    """Of the files that say what should be."""
    layout: Dialect
    """Whose users find the files where they expect them."""
    patches: Patches


def repository_files(
    around: RepositoryInputs,
    selection: tuple[SelectedComponent, ...],
    apps: tuple[OrderedApp, ...],
    problems: Problems,
) -> Iterator[RenderedFile]:
    """The files that belong to no component."""
    cluster, materials, layout = around.cluster, around.materials, around.layout
    repository = cluster.repository
    yield from sops_rules_file(around.dialect, materials.age_recipient)
    if apps:
        # A cluster without any component is brought up by others, and follows nothing of ours.
        yield from cluster_files(cluster)
        yield from bootstrap_secrets(cluster, materials, layout, problems)
        yield from helmfile_files(
            charts_with_crds(selection, apps), charts_before_flux(selection, apps), layout
        )
    yield from talos_files(around.desired, layout, around.patches, problems, around.dialect)
    yield from ci_files(repository)
    if repository.renovate:
        yield from renovate_file(around.desired, all_charts(apps))
    if repository.tasks:
        yield from task_files(layout)
