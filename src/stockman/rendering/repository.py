"""The whole repository of a cluster, before anything is encrypted or written."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from stockman.catalog.scene import Materials
from stockman.catalog.selection import Selected, selected
from stockman.config.presets import Dialect
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
from stockman.rendering.applications import application_files
from stockman.rendering.arrangement import Placed, arranged
from stockman.rendering.surroundings import Surroundings, surrounding_files
from stockman.rendering.talos_part import Patches
from stockman.rendering.tree import FileTree, RenderedFile

_NO_PATCHES: Patches = MappingProxyType({})
_STRICTNESS = ("", "restricted", "baseline", "privileged")


@record
class Rendered:
    """Files, and the apps they come from."""

    tree: FileTree
    apps: tuple[Placed, ...]
    selection: tuple[Selected, ...]


def rendered_repository(
    desired: Desired,
    materials: Materials,
    dialect: Dialect,
    problems: Problems,
    patches: Patches = _NO_PATCHES,
) -> Rendered:
    """Every file that stockman renders for a cluster; mistakes in settings become problems.

    `dialect` is that of the configuration, whose repository may be laid out as that of the other.
    `patches` change the machines' configurations; they are told to the tools of others too.
    """
    cluster = _cluster(desired)
    layout = cluster.repository.layout or dialect
    selection = selected(desired, cluster, materials, layout, problems)
    if problems.errors:
        return Rendered(tree=FileTree(), apps=(), selection=())
    apps = arranged(selection)
    tree = FileTree(application_files(apps, _security(selection, apps)))
    around = Surroundings(
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
    for file in surrounding_files(around, selection, apps, problems):
        tree.add(file)
    return Rendered(tree=tree, apps=apps, selection=selection)


def _security(selection: Iterable[Selected], apps: Iterable[Placed]) -> dict[str, str]:
    """Per namespace, the level that its most demanding component needs."""
    wanted = {one.component.name: one.scene.known.pod_security for one in selection}
    levels: dict[str, str] = {}
    for placed in apps:
        namespace = placed.app.namespace
        both = (levels.get(namespace, ""), wanted.get(placed.owner, ""))
        levels[namespace] = max(both, key=_STRICTNESS.index)
    return levels


def _cluster(desired: Desired) -> Cluster:
    if desired.cluster is None:
        raise Refused(no_cluster(has_guests=bool(desired.guests)))
    return desired.cluster


def no_cluster(*, has_guests: bool) -> Problem:
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
